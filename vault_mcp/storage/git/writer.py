"""One commit of given files on top of HEAD: all of it or nothing.

The order, and what a kill at each point leaves (docs: architecture):

1. blobs, trees and the commit as loose objects, new bytes in holders: nothing that counts;
2. the intent record: from here on the next writer can finish;
3. `index.lock` and the branch's lock; HEAD is compared with what the commit was built on;
4. each file is compared with what the change has seen, and replaced;
5. the index as it will be, into its lock; the reflogs; the branch (the commit point); the index;
6. locks and holders go, the record is emptied.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from vault_mcp.errors import PathRefused, RepositoryRefused
from vault_mcp.storage import files
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.git.git_lock import GitLock
from vault_mcp.storage.git.index_image import IndexImage
from vault_mcp.storage.git.intent import Intent, IntentFile, Step
from vault_mcp.storage.git.message import VAULT, Ident, Message
from vault_mcp.storage.git.objects import LooseObjects, blob_id, write_all
from vault_mcp.storage.git.placing import Placing, facts, storage_failed
from vault_mcp.storage.git.refs import ZERO, Refs
from vault_mcp.storage.git.trees import FILES, Edited, TreeStore

if TYPE_CHECKING:
    from vault_mcp.storage.git.reader import ObjectReader

__all__ = ["Committed", "Ident", "Message", "Write", "Writer", "blob_id"]

_ATTEMPTS = 20
# `.git` under any name that some system reads as it: git-config(1), core.protectHFS and core.protectNTFS.
_DOT_GIT = re.compile(r"(?:\A|/)[ .]*(?:\.git[ .]*(?::[^/]*)?|git~[0-9]+[ .]*)(?:/|\Z)", re.IGNORECASE)
_IGNORED_BY_HFS = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")


@dataclass(frozen=True, slots=True)
class Write:
    """One file of a commit.

    `content` None takes the file away. `seen` are the disk's facts of the file when the change read it (None:
    there was none) and `seen_blob` the name of the blob that its bytes made. `mode` is Git's mode to record;
    without it an old file keeps its own and a new one is 100644.
    """

    content: bytes | None
    seen: FileStat | None = None
    seen_blob: str | None = None
    mode: int | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit that is in history. `blobs` and `stats` are None for a file that is gone.

    `sha` equals `parent` when HEAD held these very bytes already: then no empty commit is made.
    """

    sha: str
    parent: str | None
    at: int
    blobs: dict[str, str | None]
    stats: dict[str, FileStat | None]


class HeadMovedError(Exception):
    """Somebody else committed since the objects were built: build them again."""


@dataclass(slots=True)
class Workshop:
    """What stays open between the commits of one working tree."""

    root: str
    git_dir: str
    state_dir: str
    objects: LooseObjects
    reader: ObjectReader
    trees: TreeStore
    refs: Refs
    image: IndexImage
    intents: IntentFile
    roots: dict[str, bytes]

    def root_tree(self, commit: str) -> bytes:
        """Give the tree of a commit (20 bytes)."""
        tree = self.roots.get(commit)
        if tree is None:
            kind, body = self.reader.read(commit)
            if kind != b"commit" or not body.startswith(b"tree "):
                raise RepositoryRefused("The last commit cannot be read. Run: git fsck")
            tree = bytes.fromhex(body[5 : body.index(b"\n")].decode())
            self.roots.clear()
            self.roots[commit] = tree
        return tree

    def locks(self, ref: str) -> tuple[GitLock, GitLock]:
        """Give the locks of the index and of a branch."""
        inside = self.git_dir == f"{self.root}/.git"
        folder = ".git" if inside else "(the Git folder)"
        index = GitLock(f"{self.state_dir}/own-index", f"{self.git_dir}/index", f"{folder}/index.lock")
        branch = GitLock(f"{self.state_dir}/own-ref", self.refs.path(ref), f"{folder}/{ref}.lock")
        return index, branch


@dataclass(slots=True)
class _Draft:
    """A commit as objects, not yet reachable."""

    sha: str
    parent: str | None
    edited: Edited
    oids: dict[str, bytes | None]
    modes: dict[str, int]
    message: bytes
    log: bytes


class Writer:
    """The write lock of a repository, held. Valid inside `Repository.writing()` only."""

    def __init__(self, workshop: Workshop, *, logs: bool = True) -> None:
        self._shop = workshop
        self._logs = logs
        self.ref, self.head = workshop.refs.head()

    def head_entry(self, path: str) -> tuple[int, str] | None:
        """Give mode and blob of a path in the last commit."""
        if self.head is None:
            return None
        found = self._shop.trees.find(self._shop.root_tree(self.head), encoded(path))
        return (int(found[0], 8), found[1].hex()) if found else None

    def staged_blob(self, path: str) -> str | None:
        """Give the blob of a path in the index: what a person has staged, or else what HEAD has."""
        self._shop.image.load()
        entry = self._shop.image.get(encoded(path))
        return entry[1] if entry else None

    def commit(
        self,
        writes: Mapping[str, Write],
        message: Message,
        *,
        author: Ident,
        at: int,
        write_files: bool = True,
        committer: Ident | None = None,
    ) -> Committed:
        """Commit these files on the branch that is checked out, and nothing else.

        With `write_files` the bytes are put into the working tree; without it they are there already (a
        person's own edit) and only go into history. `at` is in seconds since 1970.

        Raises:
            Stale: a file is not what was seen; nothing was changed.
            PathRefused: a path that cannot be a file of this repository.
            VaultBusy: another Git program does not let go of its lock.
            StorageFailed: the disk said no; the files are as they were.
        """
        for path in writes:
            refuse_unsafe(path)
        try:
            for _ in range(_ATTEMPTS):
                with contextlib.suppress(HeadMovedError):
                    return self._attempt(writes, message, author, committer or VAULT, at, write_files)
                self.ref, self.head = self._shop.refs.head()
        except OSError as error:
            raise storage_failed(error, self._shop.root) from error
        raise RepositoryRefused("The branch moves faster than one can write. Stop the other program first.")

    def _attempt(
        self,
        writes: Mapping[str, Write],
        message: Message,
        author: Ident,
        committer: Ident,
        at: int,
        write_files: bool,
    ) -> Committed:
        shop = self._shop
        draft = self._draft(writes, message, author, committer, at, write_files=write_files)
        placing = Placing(shop.root, shop.state_dir)
        index, branch = shop.locks(self.ref)
        published = False
        try:
            try:
                self._record(draft, writes, placing, message, author, at, write_files=write_files)
                index.take()
                branch.take()
                if shop.refs.head() != (self.ref, self.head):
                    raise HeadMovedError
                shop.image.load()
                created = os.fstat(index.fd)
                found = self._place(writes, placing, write_files=write_files)
                self._write_index(draft, found, index, created)
                if draft.sha != self.head:
                    shop.refs.log(self.ref, draft.log, create=self._logs)
                    write_all(branch.fd, draft.sha.encode() + b"\n")
                    branch.publish()
                published = True
                index.publish()
                placing.finish()
            except BaseException:
                shop.image.forget()
                if not published:
                    placing.undo()
                    shop.intents.clear()
                raise
            else:
                shop.intents.clear()
        finally:
            branch.release()
            index.release()
            placing.close()
        parent, self.head = self.head, draft.sha
        blobs = {path: oid.hex() if oid else None for path, oid in draft.oids.items()}
        stats = {path: facts(stat) if stat else None for path, stat in found.items()}
        return Committed(draft.sha, parent, at, blobs, stats)

    def _draft(
        self,
        writes: Mapping[str, Write],
        message: Message,
        author: Ident,
        committer: Ident,
        at: int,
        *,
        write_files: bool,
    ) -> _Draft:
        shop = self._shop
        root = shop.root_tree(self.head) if self.head else None
        oids: dict[str, bytes | None] = {}
        modes: dict[str, int] = {}
        changes: dict[bytes, tuple[bytes, bytes] | None] = {}
        for path, write in writes.items():
            raw = encoded(path)
            if write.content is None:
                oids[path] = changes[raw] = None
                continue
            oid = oids[path] = shop.objects.write(b"blob", write.content)
            mode = self._mode(root, raw, write, write_files=write_files)
            modes[path] = int(mode, 8)
            changes[raw] = (mode, oid)
        edited = shop.trees.edit(root, changes)
        text = message.render()
        if edited.root == root and self.head:
            return _Draft(self.head, self.head, edited, oids, modes, text, b"")
        parent = b"parent %s\n" % self.head.encode() if self.head else b""
        who = committer.header(at)
        body = b"tree %s\n%sauthor %s\ncommitter %s\n\n%s" % (
            edited.root.hex().encode(),
            parent,
            author.header(at),
            who,
            text,
        )
        sha = shop.objects.write(b"commit", body).hex()
        shop.roots[sha] = edited.root
        first = b"" if self.head else b" (initial)"
        subject = text.split(b"\n", 1)[0]
        log = b"%s %s %s\tcommit%s: %s\n" % ((self.head or ZERO).encode(), sha.encode(), who, first, subject)
        return _Draft(sha, self.head, edited, oids, modes, text, log)

    def _mode(self, root: bytes | None, raw: bytes, write: Write, *, write_files: bool) -> bytes:
        """Give Git's mode: what was asked for, what the last commit has, or a plain file's."""
        if write.mode is not None:
            return b"%o" % write.mode
        if not write_files and write.seen is not None and write.seen.mode & 0o100:
            return FILES[1]
        found = self._shop.trees.find(root, raw) if root else None
        return found[0] if found and found[0] in FILES else FILES[0]

    def _record(
        self,
        draft: _Draft,
        writes: Mapping[str, Write],
        placing: Placing,
        message: Message,
        author: Ident,
        at: int,
        *,
        write_files: bool,
    ) -> None:
        steps = []
        for path, write in writes.items():
            oid = draft.oids[path]
            holder = ""
            if write_files:
                holder = placing.prepare(path, write.content, write.seen, write.seen_blob).holder
            mode = write.seen.mode & 0o7777 if write.seen else None
            steps.append(Step(path, write.seen_blob, oid.hex() if oid else None, mode, holder))
        self._shop.intents.write(
            Intent(
                commit=draft.sha,
                parent=draft.parent,
                ref=self.ref,
                agent=author.name,
                tool=message.trailer("Tool"),
                at=at,
                message=draft.message.decode(),
                write_files=write_files,
                steps=tuple(steps),
            )
        )

    def _place(
        self, writes: Mapping[str, Write], placing: Placing, *, write_files: bool
    ) -> dict[str, os.stat_result | None]:
        if not write_files:
            return {path: placing.look(path, write.seen, write.seen_blob) for path, write in writes.items()}
        placing.place()
        return {file.path: file.put for file in placing.files}

    def _write_index(
        self,
        draft: _Draft,
        found: Mapping[str, os.stat_result | None],
        lock: GitLock,
        created: os.stat_result,
    ) -> None:
        """Write the index as it will be: the image with these paths changed."""
        image = self._shop.image
        for path, oid in draft.oids.items():
            if oid is None:
                image.remove(encoded(path))
        for path, oid in draft.oids.items():
            stat = found[path]
            if oid is not None and stat is not None:
                image.put(encoded(path), draft.modes[path], oid, stat)
        image.follow(draft.edited)
        second = created.st_mtime_ns // 10**9
        image.settle(second, partial(_read, self._shop.root))
        image.write(lock.fd)
        written = os.fstat(lock.fd)
        if written.st_mtime_ns // 10**9 != second:
            # The entries were checked against the second in which we began; an index that says it is younger
            # would call files clean that changed since.
            os.utime(lock.fd, ns=(created.st_atime_ns, created.st_mtime_ns))
            written = os.fstat(lock.fd)
        image.written(written)


def encoded(path: str) -> bytes:
    """Give a path as Git stores it."""
    return path.encode("utf-8", "surrogateescape")


def refuse_unsafe(path: str) -> None:
    """Refuse what can be no path of a working tree: the last line, behind `storage.paths.inside`."""
    parts = path.split("/")
    if "" in parts or "." in parts or ".." in parts or "\0" in path or "\\" in path:
        raise PathRefused("The path does not name a file inside the vault. Give it relative to the vault.")
    plain = path if path.isascii() else _IGNORED_BY_HFS.sub("", path)
    if _DOT_GIT.search(plain):
        raise PathRefused(f"{path} lies in Git's own folder. Choose another path.")


def _read(root: str, path: bytes) -> tuple[bytes, FileStat] | None:
    return files.read(root, path.decode("utf-8", "surrogateescape"))
