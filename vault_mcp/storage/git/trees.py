"""Folders as Git stores them, and a commit's tree with a few paths changed.

A tree's body is a run of `<mode> <name>NUL<20 bytes>`, sorted as if folders' names ended in a slash
(gitformat-tree in git-mktree(1) and fsck's treeNotSorted).
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from vault_mcp.errors import PathRefused, RepositoryRefused
from vault_mcp.storage.git.objects import LooseObjects

FOLDER = b"40000"
GITLINK = b"160000"
FILES = (b"100644", b"100755")

_ENTRY = {
    20: re.compile(rb"([0-7]+) ([^\0]+)\0[\s\S]{20}"),
    32: re.compile(rb"([0-7]+) ([^\0]+)\0[\s\S]{32}"),
}
_CACHED_ENTRIES = 400_000


class FolderInTheWayError(Exception):
    """A file is to be where the tree has a folder."""


class Tree:
    """One folder: `keys` are what Git sorts by (a folder's name with a slash), `entries` the raw records."""

    __slots__ = ("entries", "keys", "length")

    def __init__(self, keys: list[bytes], entries: list[bytes], length: int = 20) -> None:
        self.keys = keys
        self.entries = entries
        self.length = length

    @classmethod
    def parse(cls, body: bytes, length: int = 20) -> Tree:
        """Read a tree object's body; names of objects have so many bytes (32 with SHA-256)."""
        keys, entries = [], []
        for found in _ENTRY[length].finditer(body):
            mode, name = found.groups()
            keys.append(name + b"/" if mode == FOLDER else name)
            entries.append(found.group())
        return cls(keys, entries, length)

    def copy(self) -> Tree:
        """Give a tree that can be changed without changing this one."""
        return Tree(self.keys[:], self.entries[:], self.length)

    def find(self, name: bytes) -> tuple[bytes, bytes] | None:
        """Give mode and object of the entry with this name."""
        for key in (name, name + b"/"):
            at = bisect_left(self.keys, key)
            if at < len(self.keys) and self.keys[at] == key:
                entry = self.entries[at]
                return entry[: entry.index(b" ")], entry[-self.length :]
        return None

    def find_folder(self, name: bytes) -> tuple[bytes, bytes] | None:
        """Give mode and object of a folder of this name."""
        key = name + b"/"
        at = bisect_left(self.keys, key)
        if at < len(self.keys) and self.keys[at] == key:
            return FOLDER, self.entries[at][-self.length :]
        return None

    def put(self, name: bytes, mode: bytes, oid: bytes) -> int:
        """Set an entry; return how many entries the tree grew by."""
        key = name + b"/" if mode == FOLDER else name
        at = bisect_left(self.keys, key)
        entry = b"%s %s\0%s" % (mode, name, oid)
        if at < len(self.keys) and self.keys[at] == key:
            self.entries[at] = entry
            return 0
        self.keys.insert(at, key)
        self.entries.insert(at, entry)
        return 1

    def put_file(self, name: bytes, mode: bytes | None, oid: bytes) -> tuple[bytes, int]:
        """Set a file's entry; without a mode the old one stays, and a new file gets a plain one's.

        Returns:
            The mode, and how many entries the tree grew by.

        Raises:
            FolderInTheWayError: the name is a folder's, or a submodule's.
        """
        at = bisect_left(self.keys, name)
        there = at < len(self.keys) and self.keys[at] == name
        if there:
            entry = self.entries[at]
            old = entry[: entry.index(b" ")]
            if old == GITLINK:
                raise FolderInTheWayError
            mode = mode or (old if old in FILES else FILES[0])
            self.entries[at] = b"%s %s\0%s" % (mode, name, oid)
            return mode, 0
        if self.find(name) is not None:
            raise FolderInTheWayError
        mode = mode or FILES[0]
        self.keys.insert(at, name)
        self.entries.insert(at, b"%s %s\0%s" % (mode, name, oid))
        return mode, 1

    def drop(self, key: bytes) -> int:
        """Take out the entry that sorts by `key`; return how many entries that were: 1 or 0."""
        at = bisect_left(self.keys, key)
        if at == len(self.keys) or self.keys[at] != key:
            return 0
        del self.keys[at], self.entries[at]
        return 1

    def items(self) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Give mode, name and object of each entry."""
        for entry in self.entries:
            mode, _, name = entry[: -self.length - 1].partition(b" ")
            yield mode, name, entry[-self.length :]

    def body(self) -> bytes:
        """Give the bytes of the tree object."""
        return b"".join(self.entries)


@dataclass(slots=True)
class Edited:
    """What an edit did to a commit's tree, folder by folder, and which modes its files have now.

    `folders` maps a folder's path (root: empty) to its object before and after and to how many files more it
    holds now, sub-folders included; an object is None where the folder is not there. `inner` names
    the sub-folders of each that were edited.
    """

    root: bytes
    modes: dict[bytes, bytes] = field(default_factory=dict)
    folders: dict[bytes, tuple[bytes | None, bytes | None, int]] = field(default_factory=dict)
    inner: dict[bytes, list[bytes]] = field(default_factory=dict)


class TreeStore:
    """Reads trees through a cache, and writes changed ones as loose objects."""

    def __init__(self, objects: LooseObjects, read: Callable[[str], tuple[bytes, bytes]]) -> None:
        self._objects = objects
        self._read = read
        self._cache: dict[bytes, Tree] = {}
        self._cached = 0
        self._lock = threading.Lock()

    def tree(self, oid: bytes) -> Tree:
        """Give a tree by its name (20 bytes). Not to be changed: copy it first."""
        tree = self._cache.get(oid)
        if tree is None:
            kind, body = self._read(oid.hex())
            if kind != b"tree":
                raise RepositoryRefused("A folder in the last commit is not a tree object. Run: git fsck")
            tree = Tree.parse(body, len(oid))
            self._keep(oid, tree)
        return tree

    def _keep(self, oid: bytes, tree: Tree) -> None:
        with self._lock:  # readers come from several threads
            if self._cached > _CACHED_ENTRIES:
                while self._cached > _CACHED_ENTRIES // 2:
                    oldest = next(iter(self._cache))
                    self._cached -= len(self._cache.pop(oldest).keys)
            if oid not in self._cache:
                self._cached += len(tree.keys)
            self._cache[oid] = tree

    def find(self, root: bytes, path: bytes) -> tuple[bytes, bytes] | None:
        """Give mode and object of a file (or a folder) under a root tree."""
        oid = root
        *folders, name = path.split(b"/")
        for folder in folders:
            entry = self.tree(oid).find(folder)
            if entry is None or entry[0] != FOLDER:
                return None
            oid = entry[1]
        return self.tree(oid).find(name)

    def edit(self, root: bytes | None, changes: Mapping[bytes, tuple[bytes | None, bytes] | None]) -> Edited:
        """Write the root tree with these paths set or taken out (None), and nothing else changed.

        A file is set to mode and blob; a mode of None stands for the one it has.
        """
        top = _Node()
        for path, entry in changes.items():
            at = top
            for name in path.split(b"/"):
                at = at.inner.setdefault(name, _Node())
            at.entry, at.is_file = entry, True
        edited = Edited(b"")
        new, _ = self._edit(root, top, b"", edited)
        if new is None:
            new = self._objects.write(b"tree", b"")
            edited.folders[b""] = (root, new, edited.folders[b""][2])
        edited.root = new
        return edited

    def _edit(
        self, oid: bytes | None, changes: _Node, path: bytes, edited: Edited
    ) -> tuple[bytes | None, int]:
        tree = self.tree(oid).copy() if oid else Tree([], [])
        grown = 0
        for name, change in changes.inner.items():
            below = path + b"/" + name if path else name
            # A file may make room for a folder of its name, or the other way.
            if change.is_file and change.entry is None:
                grown -= tree.drop(name)
            if change.inner:
                edited.inner.setdefault(path, []).append(name)
                grown += self._edit_folder(tree, name, change, below, edited)
            if change.entry is not None:
                try:
                    edited.modes[below], more = tree.put_file(name, *change.entry)
                except FolderInTheWayError:
                    raise PathRefused(
                        f"{_shown(below)} is a folder in the last commit. Choose another path."
                    ) from None
                grown += more
        body = tree.body()
        new = None
        if body:
            new = self._objects.write(b"tree", body)
            self._keep(new, tree)
        edited.folders[path] = (oid, new, grown)
        return new, grown

    def _edit_folder(self, tree: Tree, name: bytes, changes: _Node, path: bytes, edited: Edited) -> int:
        entry = tree.find_folder(name) or tree.find(name)
        if entry is not None and entry[0] != FOLDER:
            what = "a submodule" if entry[0] == GITLINK else "a file"
            raise PathRefused(f"{_shown(path)} is {what} in the last commit, so nothing can lie below it.")
        new, grown = self._edit(entry[1] if entry else None, changes, path, edited)
        if new is None:
            tree.drop(name + b"/")
        else:
            tree.put(name, FOLDER, new)
        return grown


@dataclass(slots=True)
class _Node:
    """A name in the paths of an edit: a file (with no entry: one that goes), a folder, or both in turn."""

    entry: tuple[bytes | None, bytes] | None = None
    is_file: bool = False
    inner: dict[bytes, _Node] = field(default_factory=dict)


def _shown(path: bytes) -> str:
    return path.decode("utf-8", "replace")
