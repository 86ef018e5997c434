"""The index's TREE extension: which folders of the index are known as tree objects.

The format is the "Cache tree" of gitformat-index(5). With it `git status` and `git write-tree` need not build
trees. A wrong one would make Git commit something else than the index holds, so what is not certain is
marked unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_mcp.storage.git.trees import Edited

_UNKNOWN = -1


class CacheTree:
    """One folder of the index: how many files it holds at any depth, and its tree, when that is known."""

    __slots__ = ("_parts", "_places", "_written", "count", "inner", "name", "oid")

    def __init__(self, name: bytes, count: int, oid: bytes | None) -> None:
        self.name = name
        self.count = count
        self.oid = oid
        self.inner: dict[bytes, CacheTree] = {}
        # What `body` wrote: each inner folder's part, where in the order it stands, and all of it.
        self._parts: list[bytes] | None = None
        self._places: dict[bytes, int] = {}
        self._written: bytes | None = None

    @classmethod
    def of_nothing(cls) -> CacheTree:
        """Give the root of an empty index: known, and with no tree as yet."""
        return cls(b"", 0, None)

    @classmethod
    def parse(cls, body: bytes) -> CacheTree | None:
        """Read the extension."""
        at = 0

        def folder() -> CacheTree:
            nonlocal at
            end = body.index(b"\0", at)
            line = body.index(b"\n", end)
            count, inner = map(int, body[end + 1 : line].split(b" "))
            made = cls(body[at:end], count, None)
            at = line + 1
            if count >= 0:
                made.oid = body[at : at + 20]
                at += 20
            for _ in range(inner):
                child = folder()
                made.inner[child.name] = child
            return made

        return folder() if body else None

    def body(self) -> bytes:
        """Write the extension."""
        if self._written is None:
            if self._parts is None:
                # Git's order of sub-folders: shorter names first (subtree_name_cmp in its cache-tree.c).
                inner = sorted(self.inner.values(), key=lambda child: (len(child.name), child.name))
                self._parts = [child.body() for child in inner]
                self._places = {child.name: place for place, child in enumerate(inner)}
            head = b"%s\0%d %d\n%s" % (self.name, self.count, len(self._parts), self.oid or b"")
            self._written = head + b"".join(self._parts)
        return self._written

    def _changed(self, child: CacheTree) -> None:
        if self._parts is not None:
            self._parts[self._places[child.name]] = child.body()

    def follow(self, edited: Edited, path: bytes = b"") -> None:
        """Take over the trees of a commit, wherever the index held exactly the trees before it."""
        before, after, grown = edited.folders[path]
        self._written = None
        known = self.count != _UNKNOWN and self.oid == before and after is not None
        for name in edited.inner.get(path, ()):
            below = path + b"/" + name if path else name
            known = self._follow_inner(edited, name, below, known=known) and known
        if known:
            self.count += grown
            self.oid = after
        else:
            self._forget()

    def _follow_inner(self, edited: Edited, name: bytes, path: bytes, *, known: bool) -> bool:
        before, after, _ = edited.folders[path]
        child = self.inner.get(name)
        if after is None:
            if child is not None:
                del self.inner[name]
                self._parts = None
            return child is not None or before is None
        if child is None:
            # New to the commit, and, as this folder was known, new to the index as well. Otherwise the index
            # may hold files there that the commit does not.
            if not known or before is not None:
                return False
            child = self.inner[name] = CacheTree(name, 0, None)
            self._parts = None
        child.follow(edited, path)
        self._changed(child)
        return child.count != _UNKNOWN

    def _forget(self) -> None:
        self.count = _UNKNOWN
        self.oid = None
        self._written = None

    def forget(self, path: bytes) -> None:
        """Mark every folder on the way to a path as unknown."""
        name, _, rest = path.partition(b"/")
        child = self.inner.get(name) if rest else None
        if child is not None:
            child.forget(rest)
            self._changed(child)
        self._forget()
