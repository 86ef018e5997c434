"""Make a folder a vault: a repository of its own, two lists of lines, a first commit marked as an import."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass

from vault_mcp.change import VAULT_IDENT, stamp_time, trailers
from vault_mcp.errors import StorageFailed
from vault_mcp.storage import files
from vault_mcp.storage.git.message import Message
from vault_mcp.storage.git.repository import Repository
from vault_mcp.storage.git.writer import Write, blob_id

IGNORE = (".obsidian/workspace*.json", ".trash/", ".DS_Store")
"""Lines for `.gitignore`: what Obsidian and the system change by themselves."""

ATTRIBUTES = ("* -text", "*.md merge=vault")
"""Lines for `.gitattributes`: Git keeps line ends, and merges notes fact by fact where the driver is."""

TOOL = "import"


@dataclass(frozen=True, slots=True)
class Adopted:
    """What `adopt` did: a repository made or not, the lines added to each file, the commit if any."""

    made_repository: bool
    added: dict[str, tuple[str, ...]]
    commit: str | None
    files: int


def is_vault(root: str) -> bool:
    """Say whether the folder has a repository of its own."""
    return os.path.exists(os.path.join(root, ".git"))


def adopt(root: str, *, trusted: bool = False) -> Adopted:
    """Make `root` a vault, or see that it is one; what a person has there keeps its bytes.

    A folder without a repository gets one, and its files go into a first commit in the person's name. In a
    repository that has a history only the missing lines are added and committed; nothing else is touched.

    Raises:
        RepositoryRefused: the folder lies inside another repository, is bare, or Git is missing.
        StorageFailed: the folder cannot be made or written.
    """
    root = os.path.realpath(root)
    fresh = not is_vault(root)
    if fresh:
        try:
            os.makedirs(root, exist_ok=True)
        except OSError as error:
            raise StorageFailed(
                f"The vault's folder cannot be made ({error.strerror}). Choose another folder."
            ) from None
        Repository.create(root)
    repository = Repository.open(root, trusted=trusted)
    try:
        return _adopt(repository, root, fresh)
    finally:
        repository.close()


def _adopt(repository: Repository, root: str, fresh: bool) -> Adopted:
    with repository.writing() as writer:
        added: dict[str, tuple[str, ...]] = {}
        writes: dict[str, Write] = {}
        for name, lines in ((".gitignore", IGNORE), (".gitattributes", ATTRIBUTES)):
            found = files.read(root, name)
            missing = _missing(found[0].decode("utf-8", "replace") if found else "", lines)
            if missing:
                added[name] = missing
                old, stat = found or (None, None)
                writes[name] = Write(
                    _with_lines(old or b"", missing),
                    seen=stat,
                    seen_blob=blob_id(old) if old is not None else None,
                )
        if not writes and writer.head is not None:
            return Adopted(fresh, added, None, 0)
        person, at = repository.person(), int(time.time())

        def message(subject: str) -> Message:
            return Message(subject, "", trailers(TOOL, person.name, stamp_time(at)))

        done = None
        if writes:
            done = writer.commit(
                writes,
                message("import: keep line ends, ignore what Obsidian rewrites"),
                author=person,
                at=at,
                committer=VAULT_IDENT,
            )
        found_files = _existing(repository, root) if fresh else {}
        if found_files:
            done = writer.commit(
                found_files,
                message(f"import: {len(found_files)} files that were here"),
                author=person,
                at=at,
                committer=VAULT_IDENT,
                write_files=False,
            )
        return Adopted(fresh, added, done.sha if done else None, len(found_files))


def _existing(repository: Repository, root: str) -> dict[str, Write]:
    paths = [path for path, _ in files.walk(root) if path.isprintable() or _storable(path)]
    skipped = repository.ignored(paths)
    existing: dict[str, Write] = {}
    for path in paths:
        found = files.read(root, path) if path not in skipped else None
        if found:
            existing[path] = Write(found[0], seen=found[1], seen_blob=blob_id(found[0]))
    return existing


def _storable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
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
