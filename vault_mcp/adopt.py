"""Make a folder a vault: a repository of its own, two lists of lines, a first commit marked as an import."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from vault_mcp.change import VAULT_IDENT, stamp_time, trailers
from vault_mcp.errors import NoteUnreadable, StorageFailed
from vault_mcp.storage import files
from vault_mcp.storage.git.discovery import refuse_to_make, repository_around
from vault_mcp.storage.git.message import Message
from vault_mcp.storage.git.repository import Repository
from vault_mcp.storage.git.writer import Write, Writer, blob_id

IGNORE = (".obsidian/workspace*.json", ".trash/", ".DS_Store")
"""Lines for `.gitignore`: what Obsidian and the system change by themselves."""

ATTRIBUTES = ("* -text", "*.md merge=vault")
"""Lines for `.gitattributes`: Git keeps line ends, and merges notes fact by fact where the driver is."""

TOOL = "import"


SHARED = (".gitignore", ".gitattributes", ".vault-mcp.toml")
"""Hidden files that belong into history all the same; others may hold a plugin's passwords."""

BATCH = 64 * 1024 * 1024
"""Bytes of files that one commit takes in at most, since they are held in memory until it is made."""


@dataclass(frozen=True, slots=True)
class Adopted:
    """What `adopt` did.

    Attributes:
        made_repository: whether the folder had none of its own.
        added: the lines added to each file.
        commit: the last commit it made, if any.
        files: how many files were taken into history.
        left_out: files that were not: too large, not readable, or with a name that is not UTF-8.
        around: the working tree of another repository that the folder lies in, "" without one.
        driver: whether Git was told here how notes are merged, and did not know before.
        person: the name that the person's edits are committed under.
    """

    made_repository: bool
    added: dict[str, tuple[str, ...]]
    commit: str | None
    files: int
    left_out: tuple[str, ...] = ()
    around: str = ""
    driver: bool = False
    person: str = ""


def is_vault(root: str) -> bool:
    """Say whether the folder has a repository of its own."""
    return os.path.exists(os.path.join(root, ".git"))


def adopt(root: str, *, trusted: bool = False, nested: bool = False, driver: Sequence[str] = ()) -> Adopted:
    """Make `root` a vault, or see that it is one; what a person has there keeps its bytes.

    A folder without a repository gets one, and its files go into a first commit in the person's name (into
    several when they are large). In a repository that has a history only the missing lines are added and
    committed; nothing else is touched. Inside another repository one is made only if `nested` says so.
    `driver` is the command that Git is to call in this clone to merge notes.

    Raises:
        RepositoryRefused: the folder lies inside another repository, is bare, or Git is missing.
        StorageFailed: the folder cannot be made or written.
    """
    root = os.path.realpath(root)
    fresh = not is_vault(root)
    if fresh:
        refuse_to_make(root, nested=nested)
        try:
            os.makedirs(root, exist_ok=True)
        except OSError as error:
            raise StorageFailed(
                f"The vault's folder cannot be made ({error.strerror}). Choose another folder."
            ) from None
        Repository.create(root)
    repository = Repository.open(root, trusted=trusted)
    try:
        with repository.writing() as writer:
            done = _Adoption(repository, writer, root).run(fresh)
        told = repository.register_driver(driver) if driver else False
        return replace(done, driver=told, person=repository.person().name)
    finally:
        repository.close()


def missing_lines(root: str) -> dict[str, tuple[str, ...]]:
    """Give the lines that `adopt` would add, by file."""
    found = {}
    for name, lines in ((".gitignore", IGNORE), (".gitattributes", ATTRIBUTES)):
        there = files.read(root, name)
        missing = _missing(there[0].decode("utf-8", "replace") if there else "", lines)
        if missing:
            found[name] = missing
    return found


class _Adoption:
    def __init__(self, repository: Repository, writer: Writer, root: str) -> None:
        self.repository = repository
        self.writer = writer
        self.root = root
        self.left_out: list[str] = []
        self.taken = 0
        self.commit: str | None = None

    def run(self, fresh: bool) -> Adopted:
        history = self.writer.head is not None
        added = missing_lines(self.root)
        if added:
            writes = {name: self._with_lines(name, lines) for name, lines in added.items()}
            self._commit(writes, "import: keep line ends, ignore what Obsidian rewrites", write_files=True)
        if fresh or not history:
            for batch in self._batches():
                self._commit(batch, f"import: {len(batch)} files that were here", write_files=False)
                self.taken += len(batch)
        around = repository_around(self.root) or ""
        return Adopted(fresh, added, self.commit, self.taken, tuple(self.left_out), around)

    def _commit(self, writes: dict[str, Write], subject: str, *, write_files: bool) -> None:
        person, at = self.repository.person(), int(time.time())
        message = Message(subject, "", trailers(TOOL, person.name, stamp_time(at)))
        done = self.writer.commit(
            writes, message, author=person, at=at, committer=VAULT_IDENT, write_files=write_files
        )
        self.commit = done.sha

    def _with_lines(self, name: str, lines: tuple[str, ...]) -> Write:
        old, stat = files.read(self.root, name) or (None, None)
        return Write(
            _with_lines(old or b"", lines), seen=stat, seen_blob=blob_id(old) if old is not None else None
        )

    def _batches(self) -> Iterator[dict[str, Write]]:
        """Read the files that are there, as many at a time as one commit takes in."""
        paths = sorted(
            path for path, _ in files.walk(self.root, unreadable=self.left_out) if self._utf8(path)
        )
        paths += [name for name in SHARED if files.stat(self.root, name) is not None]
        skipped = self.repository.ignored(paths)
        batch: dict[str, Write] = {}
        size = 0
        for path in paths:
            found = self._read(path) if path not in skipped else None
            if found is None or self._committed(path, found[0]):
                continue
            batch[path] = Write(found[0], seen=found[1], seen_blob=blob_id(found[0]))
            size += len(found[0])
            if size >= BATCH:
                yield batch
                batch, size = {}, 0
        if batch:
            yield batch

    def _committed(self, path: str, content: bytes) -> bool:
        head = self.writer.head_entry(path)
        return head is not None and head[1] == blob_id(content)

    def _read(self, path: str) -> tuple[bytes, files.FileStat] | None:
        try:
            return files.read(self.root, path)
        except (NoteUnreadable, StorageFailed):
            self.left_out.append(path)
            return None

    def _utf8(self, path: str) -> bool:
        try:
            path.encode()
        except UnicodeEncodeError:
            self.left_out.append(path)
            return False
        return True


def _missing(text: str, lines: tuple[str, ...]) -> tuple[str, ...]:
    have = {line.strip() for line in text.splitlines()}
    # A person who says how text is converted has decided; our line would come last and win over theirs.
    decided = re.search(r"^\*\s.*(?:text|eol|crlf|binary)", text, re.MULTILINE) is not None
    return tuple(line for line in lines if line not in have and not (decided and line == "* -text"))


def _with_lines(old: bytes, lines: tuple[str, ...]) -> bytes:
    end = b"\r\n" if b"\r\n" in old else b"\n"
    joint = b"" if not old or old.endswith(b"\n") else end
    return old + joint + b"".join(line.encode() + end for line in lines)
