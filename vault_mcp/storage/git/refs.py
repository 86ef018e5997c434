"""HEAD, branches and their reflogs as files: read, and moved under Git's own locks."""

from __future__ import annotations

import contextlib
import os
import re

from vault_mcp.errors import RepositoryRefused
from vault_mcp.storage import system
from vault_mcp.storage.git.kept import KeptFile

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
# What git-check-ref-format(1) forbids, as far as a branch is concerned.
_BAD_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|\Z)|[./]\Z", re.ASCII)


def is_sha(text: str) -> bool:
    """Say whether this is the full name of an object: the only form of a revision that Git is ever given."""
    return bool(_SHA.match(text))


class Refs:
    """The refs of one working tree: HEAD is its own, branches are shared between linked working trees."""

    def __init__(self, git_dir: str, common_dir: str) -> None:
        self.common_dir = common_dir
        self._head = KeptFile(f"{git_dir}/HEAD")
        self._ref = KeptFile("")
        self._head_log = f"{git_dir}/logs/HEAD"
        self._packed = f"{common_dir}/packed-refs"
        # What HEAD held last, and the branch that is.
        self._on = "", ""

    def head(self) -> tuple[str, str | None]:
        """Give the branch that HEAD is on (its full name) and that branch's commit.

        Raises:
            RepositoryRefused: HEAD is detached or not to be understood.
        """
        ref = self.branch()
        return ref, self.read(ref)

    def branch(self) -> str:
        """Give the full name of the branch that HEAD is on."""
        content = self._head.content()
        if content is None:
            raise RepositoryRefused("The repository has no HEAD, so it is damaged. Run: git fsck")
        if content == self._on[0]:
            return self._on[1]
        if not content.startswith("ref:"):
            raise RepositoryRefused(
                "HEAD is detached: no branch is checked out. Check one out first, such as: git switch main"
            )
        ref = content[4:].strip()
        if not ref.startswith("refs/heads/") or _BAD_REF.search(ref):
            raise RepositoryRefused("HEAD does not name a branch. Check one out first: git switch main")
        self._on = content, ref
        return ref

    def read(self, ref: str) -> str | None:
        """Give the commit of a branch; None while it has none."""
        content = self._kept(ref).content()
        if content is None:
            return self._packed_refs().get(ref)
        if not _SHA.match(content):
            raise RepositoryRefused(f"The branch {_short(ref)} cannot be read. Run: git fsck")
        return content

    def _kept(self, ref: str) -> KeptFile:
        path = f"{self.common_dir}/{ref}"
        kept = self._ref
        if kept.path != path:
            before, self._ref = self._ref, KeptFile(path)
            before.close()
            return self._ref
        return kept

    def moved(self, ref: str, fd: int, commit: str) -> None:
        """Take over the open file that a branch now is."""
        self._kept(ref).adopt(fd, commit)

    def close(self) -> None:
        """Let go of the files that are kept open."""
        self._head.close()
        self._ref.close()

    def commit(self) -> str | None:
        """Give the commit that is checked out, be it on a branch or not; None before the first."""
        content = self._head.content() or ""
        if content.startswith("ref:"):
            ref = content[4:].strip()
            return None if _BAD_REF.search(ref) else self.read(ref)
        return content if _SHA.match(content) else None

    def signature(self) -> object:
        """Give a token that changes whenever `commit` may give something else."""
        content = self._head.content() or ""
        ref = content[4:].strip() if content.startswith("ref:") else ""
        if not ref or _BAD_REF.search(ref):
            return content
        loose = self._kept(ref).content()
        if loose is not None:
            return content, loose
        with contextlib.suppress(OSError):
            found = os.stat(self._packed)
            return content, found.st_ino, found.st_size, found.st_mtime_ns
        return content

    def _packed_refs(self) -> dict[str, str]:
        try:
            with open(self._packed, encoding="utf-8", errors="surrogateescape") as file:
                lines = file.read().split("\n")
        except FileNotFoundError:
            return {}
        pairs = (line.split(" ", 1) for line in lines if line[:1] not in ("#", "^", ""))
        return {ref: sha for sha, ref in pairs}

    def refuse_in_the_way(self, ref: str) -> None:
        """Refuse a branch to be born whose name another branch takes up as a folder, or the other way."""
        for other in self._packed_refs():
            if other.startswith(f"{ref}/") or ref.startswith(f"{other}/"):
                raise RepositoryRefused(
                    f"The branch {_short(ref)} cannot be made beside {_short(other)}. Check another one out."
                )

    def path(self, ref: str) -> str:
        """Give where a branch is stored; its lock is the same with `.lock` at the end."""
        return f"{self.common_dir}/{ref}"

    def log(self, ref: str, line: bytes, *, create: bool) -> None:
        """Append to the reflogs of a branch and of HEAD, which is on it."""
        flags = os.O_WRONLY | os.O_APPEND | system.BINARY | (os.O_CREAT if create else 0)
        for path in (self._head_log, f"{self.common_dir}/logs/{ref}"):
            try:
                fd = os.open(path, flags, 0o666)
            except FileNotFoundError:
                if not create:
                    continue
                os.makedirs(os.path.dirname(path), exist_ok=True)
                fd = os.open(path, flags, 0o666)
            try:
                os.write(fd, line)
            finally:
                os.close(fd)


def log_line(old: str | None, new: str, who: bytes, reason: bytes) -> bytes:
    """Give a line of a reflog: gitformat-reflog is `<old> <new> <who> <when>TAB<reason>`."""
    return b"%s %s %s\t%s\n" % ((old or "0" * len(new)).encode(), new.encode(), who, reason)


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/").encode("utf-8", "replace").decode()
