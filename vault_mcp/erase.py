"""A text or a note erased from a vault and all of its history: for its owner, at the command line alone."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vault_mcp import follow
from vault_mcp.change import VAULT_IDENT, stamp_time, trailers
from vault_mcp.errors import BadArgument, RepositoryRefused
from vault_mcp.notes.spellings import spellings
from vault_mcp.storage import files, paths
from vault_mcp.storage.git.erasing import (
    Eraser,
    Rewritten,
    Seen,
    every_path,
    left_in_files,
    look,
    refuse_unfit,
    were_together,
)
from vault_mcp.storage.git.message import Message
from vault_mcp.storage.git.status import uncommitted
from vault_mcp.storage.git.writer import Write, Writer, blob_id

if TYPE_CHECKING:
    from vault_mcp.storage.git.environment import GitProgram
    from vault_mcp.vault import Vault

TOOL = "erase"
INSTEAD = "(erased)"
SHORTEST = 4
"""Characters that a text has at the least: a shorter one stands everywhere."""

LINK = 0o120000
_BINARY = 8192
_LEFT_OVER = ("index-", "timeline-", "bygone-", "own-", "next-index", "file-", "aside-")
"""How the names of files in the state folder begin that can hold words of notes, and are made anew, or tell
of a history that is no more."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be erased: a text, or files by all the paths at which they ever lay."""

    text: str = ""
    paths: tuple[str, ...] = ()
    instead: str = INSTEAD

    @property
    def words(self) -> list[bytes]:
        """The forms in which the text may stand anywhere, the longest first."""
        return [one.encode("utf-8", "surrogateescape") for one in spellings(self.text)] if self.text else []


@dataclass(slots=True)
class Found:
    """What there is of it: in the notes of now, and in every object of the history."""

    now: list[str]
    seen: Seen
    unfinished: bool

    @property
    def any(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.now or self.seen.any or self.unfinished)


@dataclass(slots=True)
class Erased:
    """What was done, and what is left to do."""

    now: list[str]
    rewritten: Rewritten
    signed: int
    left: list[str] = field(default_factory=list)
    remotes: list[str] = field(default_factory=list)


def refuse_short(wanted: Wanted) -> None:
    """See that a text is long enough to be one.

    Raises:
        BadArgument: it is too short, or stands in what would take its place.
    """
    if wanted.text and len(" ".join(wanted.text.split())) < SHORTEST:
        raise BadArgument(f"A text of fewer than {SHORTEST} characters stands everywhere. Give more of it.")
    if wanted.text and any(word in wanted.instead.encode() for word in wanted.words):
        raise BadArgument("What would take the place of the text holds it again. Choose other words.")


def paths_of_note(vault: Vault, lineages: Iterable[int]) -> tuple[str, ...]:
    """Give every path at which notes ever lay, and the conflict notes that a sync put beside them.

    Raises:
        BadArgument: another note lies at one of them now.
    """
    doomed = set(lineages)
    ever = [os.fsdecode(path) for path in every_path(vault.repository.program)]
    with vault.remembering() as reader:
        own = {path for lineage in doomed for path in reader.places_of(lineage)}
        beside = {path for path in ever if _conflict_of(path) & own}
        doomed |= {lineage for path in beside for lineage in reader.lineages_ever_at(path)}
        places = sorted(beside.union(*(reader.places_of(lineage) for lineage in doomed)))
        for path in places:
            there = reader.lineage_at(path)
            if there is not None and there not in doomed:
                raise BadArgument(
                    f"Another note lies at {path} now, where this one lay before: its history would go too. "
                    "Erase the text itself instead (--text)."
                )
    return tuple(places)


_CONFLICT = re.compile(r"(.+) \(conflict [0-9a-f]{7}\)(?: \(\d+\))?(\.[^./]+)?", re.DOTALL)


def _conflict_of(path: str) -> set[str]:
    """Give which files a conflict note, or the copy that it tells of, may have been put beside."""
    found = _CONFLICT.fullmatch(path)
    return {found[1], f"{found[1]}{found[2] or ''}"} if found else set()


def find(vault: Vault, wanted: Wanted) -> Found:
    """Look for it everywhere; nothing is changed.

    Raises:
        RepositoryRefused: the repository is one whose history cannot be rewritten whole.
    """
    repository = vault.repository
    refuse_unfit(repository.program, repository.git_dir, repository.common_dir)
    head = repository.head()
    now = []
    if head is not None:
        doomed = set(wanted.paths)
        words = wanted.words
        for path, mode, blob in repository.tree_paths(head):
            named = any(word in path.encode("utf-8", "surrogateescape") for word in words)
            if path in doomed or named or (mode != LINK and _holds(repository.blob(blob), words)):
                now.append(path)
    return Found(now, look(repository.program, wanted.words), _eraser(vault).unfinished)


def _holds(raw: bytes, words: Iterable[bytes]) -> bool:
    return any(word in raw for word in words) and b"\0" not in raw[:_BINARY]


def erase(vault: Vault, wanted: Wanted, found: Found) -> Erased:
    """Take it out of the files, then out of all of history, then the old history out of the repository.

    Raises:
        RepositoryRefused: there are changes that are staged or cannot be committed, or as `find` says.
        StorageFailed: Git could not do it; what stands then is one commit that takes it out of the files.
    """
    repository = vault.repository
    program = repository.program
    refuse_unfit(program, repository.git_dir, repository.common_dir)
    with repository.writing(vault.options.lock_wait) as writer:
        vault.catch_up(writer)
        follow.follow_files(vault, writer, None)
        _refuse_uncommitted(vault)
        if found.seen.folders:
            _refuse_one_name(program, wanted)
        now = _out_of_files(vault, writer, wanted)
        eraser = _eraser(vault)
        done = eraser.run(
            wanted.words,
            wanted.instead.encode(),
            [path.encode("utf-8", "surrogateescape") for path in wanted.paths],
        )
        vault.index.close()
        vault.bygones.close()
        vault.timekeeping.close()
        _forget_index(repository.state_dir)
        repository.wipe_log()
        eraser.clear_up()
        left = _left(vault, wanted)
    remotes = program.run("remote").decode("utf-8", "replace").split()
    return Erased(now, done, found.seen.signed, left, remotes)


def _eraser(vault: Vault) -> Eraser:
    repository = vault.repository
    return Eraser(
        repository.program, repository.common_dir, repository.state_dir, repository.lock_inherited()
    )


def _refuse_uncommitted(vault: Vault) -> None:
    waiting = [one.path for one in uncommitted(vault.repository.program) if not _untracked(vault, one.path)]
    if waiting:
        raise RepositoryRefused(
            f"{paths.shown(waiting[0])} differs from the last commit"
            f"{f', and {len(waiting) - 1} more do' if len(waiting) > 1 else ''}. Commit or take back what is "
            "not committed (git status), then call again."
        )


def _untracked(vault: Vault, path: str) -> bool:
    head = vault.repository.head()
    return head is None or vault.repository.mode_at(head, path) is None


def _refuse_one_name(program: GitProgram, wanted: Wanted) -> None:
    """See that no two files of one commit would get one name, since one of them would be lost.

    Raises:
        BadArgument: some would.
    """
    names: dict[bytes, set[bytes]] = {}
    for path in every_path(program):
        names.setdefault(_without(path, wanted), set()).add(path)
    for name, these in names.items():
        if len(these) > 1 and were_together(program, these):
            raise BadArgument(
                f"Two files would be called {paths.shown(os.fsdecode(name))}, and one be lost. "
                "Choose other words with --with."
            )


def _out_of_files(vault: Vault, writer: Writer, wanted: Wanted) -> list[str]:
    """Commit the files without it, in the owner's name; give those that were changed."""
    head = writer.head
    if head is None:
        return []
    writes: dict[str, Write] = {}
    doomed = set(wanted.paths)
    changed = []
    for path, mode, _ in vault.repository.tree_paths(head):
        found = files.read(vault.root, path) if mode != LINK else None
        if found is None:
            continue
        raw, stat = found
        after = raw if path in doomed or b"\0" in raw[:_BINARY] else _without(raw, wanted)
        name = os.fsdecode(_without(os.fsencode(path), wanted))
        if path in doomed or name != path:
            writes[path] = Write(None, seen=stat, seen_blob=blob_id(raw))
        if path not in doomed and (name != path or after != raw):
            if name != path and files.stat(vault.root, name) is not None:
                raise BadArgument(f"{paths.shown(name)} is there already. Choose other words with --with.")
            there = (stat, blob_id(raw)) if name == path else (None, None)
            writes[name] = Write(after, seen=there[0], seen_blob=there[1], mode=mode)
        if path in doomed or name != path or after != raw:
            changed.append(path)
    if writes:
        at, person = follow.now(), vault.person
        message = Message(f"{TOOL}: {wanted.instead}", "", trailers(TOOL, person.name, stamp_time(at)))
        writer.commit(writes, message, author=person, at=at, committer=VAULT_IDENT)
    return changed


def _without(raw: bytes, wanted: Wanted) -> bytes:
    for word in wanted.words:
        raw = raw.replace(word, wanted.instead.encode())
    return raw


def _forget_index(folder: str) -> None:
    """Remove what is made anew from notes and history; a running server does so at its next look."""
    for name in os.listdir(folder):
        if name.startswith(_LEFT_OVER):
            with contextlib.suppress(OSError):
                os.unlink(f"{folder}/{name}")


def _left(vault: Vault, wanted: Wanted) -> list[str]:
    """Give, as sentences, where the text still stands."""
    words, repository = wanted.words, vault.repository
    if not words:
        said = ("log", "--all", "-1", "--format=%H", "--", *wanted.paths)
        still = repository.program.run("--literal-pathspecs", *said).strip()
        return ["Some branch still has a file at one of its paths."] if still else []
    seen = look(repository.program, words)
    told = []
    if seen.binary:
        told.append(f"{seen.binary} versions of binary files hold it: erase these files by their paths.")
    if seen.commits or seen.files or seen.folders or seen.tags:
        told.append(
            "Some objects still hold it, perhaps in a pack that is marked to be kept (objects/pack/*.keep). "
            "Remove the mark and call again."
        )
    objects = os.path.join(repository.common_dir, "objects")
    inside = left_in_files(repository.common_dir, words, lambda path: path == objects)
    told += [f"{paths.shown(one)} in the Git folder holds it: look at it and remove it." for one in inside]
    git = os.path.join(vault.root, ".git")
    outside = left_in_files(vault.root, words, lambda path: path == git)
    told += [f"{paths.shown(one)} holds it and is not in Git, or is a binary file." for one in outside]
    return told
