"""Follow what others do to the vault: hand edits, commits from outside, files changed while nothing ran.

The index holds the files as they are on disk, and the commit (`index.head`) up to which history was followed.
Everything here that writes holds the vault's lock; comparing files with the index does not.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from vault_mcp.errors import NoteUnreadable, Stale, StorageFailed
from vault_mcp.notes.note import Fact, Note, facts, read_note
from vault_mcp.storage import files
from vault_mcp.storage import paths as path_rules
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.git.difference import changed_files
from vault_mcp.storage.git.writer import Committed, Write, Writer, blob_id
from vault_mcp.storage.index import CommitRow, seen

if TYPE_CHECKING:
    from vault_mcp.vault import Vault

LONGEST_NOTE = 8 * 1024 * 1024
"""Bytes from which a Markdown file is kept and committed, but not read as a note."""


"""What the disk tells of a file unread: size, mtime, ctime, inode, mode."""

BATCH = 2_000
"""Files that are indexed in one transaction."""


def now() -> int:
    """Give this moment in whole seconds, the unit of stamps."""
    return int(time.time())


def is_note(path: str) -> bool:
    """Say whether a file is read as a note."""
    return path[-3:].lower() == ".md"


def note_of(path: str, raw: bytes | None) -> Note | None:
    """Read a file's bytes as a note; None for other files and for text that is not UTF-8."""
    if raw is None or not is_note(path) or len(raw) > LONGEST_NOTE:
        return None
    try:
        return read_note(path, raw.decode())
    except UnicodeDecodeError:
        return None


# -- commits


SYNC = "sync"
"""The tool whose commits are merges."""


def record_commit(
    vault: Vault,
    done: Committed,
    *,
    author: str,
    tool: str,
    session: str,
    subject: str,
    notes: Mapping[str, tuple[Note | None, Note | None]],
) -> None:
    """Put one commit that was just made into the index: its files, and the facts that came and went."""
    row = CommitRow(done.sha, done.parent, done.at, author, tool, session, subject)
    with vault.index.writing() as index:
        for path, blob in done.blobs.items():
            stat = done.stats.get(path)
            if blob is None or stat is None:
                index.remove(path)
            else:
                index.put_file(path, blob, stat, notes[path][1])
        if tool == SYNC:  # Git tells what came with it
            commits = vault.repository.history(done.parent, done.sha)
            in_step = index.history_head == done.parent and index.replay(commits, vault.repository.blobs)
        else:
            in_step = index.append_commit(row, _changes(notes))
        index.set_head(done.sha)
    if not in_step:
        vault.history_behind()


def _changes(
    notes: Mapping[str, tuple[Note | None, Note | None]],
) -> list[tuple[str, tuple[Fact, ...], tuple[Fact, ...]]]:
    return [
        (path, facts(old) if old else (), facts(new) if new else ()) for path, (old, new) in notes.items()
    ]


def follow_head(vault: Vault, writer: Writer) -> None:
    """Bring the index in step with a HEAD that somebody else moved."""
    old, new = vault.index.head, writer.head
    if new is None or old == new:
        return
    repository = vault.repository
    if old is None or not repository.is_ancestor(old, new):
        # A first look, a switch to another branch, or a history that was rewritten.
        follow_files(vault, writer, None)
        with vault.index.writing() as index:
            index.set_head(new)
        vault.history_behind()
        return
    commits = list(repository.history(old, new))
    touched = {path for commit in commits for path, _, _ in commit.changes}
    # What a merge made of our side is no change of its first parent where that is theirs.
    touched.update(changed_files(repository.program, old, new))
    with vault.index.writing() as index:
        in_step = index.history_head == old and index.replay(commits, repository.blobs)
        index.put_off_dating()  # the lines that it is about are still to come
        index.set_head(new)
    if not in_step:
        vault.history_behind()
    follow_files(vault, writer, frozenset(touched))
    with vault.index.writing() as index:
        dated = index.date()
    if dated:
        vault.history_behind()  # there may be more


def align_history(vault: Vault, new: str) -> str | None:
    """See that the history tables end at a commit of the first-parent chain of `new`; give that commit.

    They may not: a branch was rewritten, or moved forward to a merge in which the old end is the other
    parent. What came after the last commit that both have is forgotten then, and has to be read again.
    """
    old = vault.index.history_head
    if old is None or old == new:
        return old
    found = None
    with vault.snapshot() as reader, contextlib.closing(vault.repository.first_parents(new)) as chain:
        for sha in chain:
            if sha == old:
                return old
            if reader.commit(sha) is not None:
                found = sha
                break
    with vault.index.writing() as index:
        if found is None:
            index.reset_history()
        else:
            index.rewind(found)
    return found


# -- files


def follow_files(vault: Vault, writer: Writer, paths: frozenset[str] | None) -> None:
    """Index the files that differ from what is known, and commit those that differ from HEAD as hand edits.

    `paths` None compares every file. Held back from history: what the person has staged, what Git ignores,
    files too large, names that are not UTF-8, and a note that a cloud drive has evicted. With `hand_edits =
    leave` nothing is committed.
    """
    found, gone = compare(vault, paths)
    for path in vault.owed - found.keys() - set(gone):
        stat = files.stat(vault.root, path)
        if stat is None:
            gone.append(path)
        else:
            found[path] = stat
    vault.owed.clear()
    if found or gone:
        _take_in(vault, writer, found, gone)


def follow_found(vault: Vault, writer: Writer, found: Mapping[str, FileStat]) -> None:
    """Do as `follow_files` with files that a comparison has just found to differ, without another look.

    One that another process has taken in since then is passed over.
    """
    with vault.snapshot() as reader:
        known = reader.stats(found)
    _take_in(vault, writer, [path for path, stat in found.items() if known.get(path) != seen(stat)], ())


def _take_in(vault: Vault, writer: Writer, found: Iterable[str], gone: Iterable[str]) -> None:
    changed = _Changed(vault, writer)
    for path in sorted(found):  # folder by folder: so their rows and trees lie side by side
        changed.file(path)
        if len(changed.rows) >= BATCH:
            changed.save()
    for path in gone:
        changed.deleted(path)
    changed.save()


def look_at_files(vault: Vault, paths: frozenset[str] | None) -> None:
    """Index the files that differ from what is known, and commit nothing.

    For a repository that must not be written now, as in the middle of a merge: reading goes on. What is left
    to be committed is kept in `vault.owed`.
    """
    found, gone = compare(vault, paths)
    vault.owed.update(found, gone)
    ignored = vault.repository.ignored(found) if found else set()
    waiting = [path for path in found if path not in ignored]
    for start in range(0, len(waiting), BATCH):
        with vault.index.writing() as index:
            for path in waiting[start : start + BATCH]:
                if (read := _read(vault, path)) is not None:
                    index.put_file(path, blob_id(read[0]), read[1], note_of(path, read[0]))
    with vault.index.writing() as index:
        for path in gone:
            if not _evicted(vault, path):
                index.remove(path)
    if found or gone:
        vault.tell()


def compare(vault: Vault, paths: frozenset[str] | None) -> tuple[dict[str, FileStat], list[str]]:
    """Give the files whose facts on disk are not the known ones, and the known files that are gone."""
    with vault.snapshot() as reader:
        if paths is None:
            # One table of all files, which grows smaller: two take 100 MB more with 100,000 files.
            left = {row[0]: row[2:] for row in reader.files()}
            closed: list[str] = []
            walked = files.walk(vault.root, unreadable=closed)
            whole = ((path, stat) for path, stat in walked if path.isascii() or _utf8(path))
            found = {path: stat for path, stat in whole if left.pop(path, None) != seen(stat)}
            return found, list(_without_closed(vault, left, closed))
        visible = [path for path in paths if not path_rules.is_hidden(path)]
        rows = ((path, reader.file(path)) for path in visible)
        known = {path: seen(row.stat) for path, row in rows if row is not None}
        stats = ((path, files.stat(vault.root, path)) for path in visible)
        on_disk = {path: stat for path, stat in stats if stat is not None}
    found = {path: stat for path, stat in on_disk.items() if known.get(path) != seen(stat)}
    gone = [path for path in known if path not in on_disk]
    return found, gone


def _without_closed(
    vault: Vault, known: dict[str, tuple[int, int, int, int, int]], closed: list[str]
) -> dict[str, tuple[int, int, int, int, int]]:
    """Leave out what lies in folders that cannot be listed: it is unknown, not deleted."""
    for folder in closed:
        vault.trouble(
            f"The folder {path_rules.shown(folder)} cannot be listed, so its notes are left as they were "
            "known. Check its permissions."
        )
        known = {path: facts for path, facts in known.items() if not path.startswith(f"{folder}/")}
    return known


def _read(vault: Vault, path: str) -> tuple[bytes, FileStat] | None:
    """Read a file; one that cannot be read costs itself alone."""
    try:
        return read_saved(vault, path)
    except (NoteUnreadable, StorageFailed) as error:
        vault.trouble(str(error))
        return None


def read_saved(vault: Vault, path: str) -> tuple[bytes, FileStat] | None:
    """Read a file; one that an editor is just saving is waited for, unless the index has it as it is."""

    def is_known(path: str, stat: FileStat) -> bool:
        with vault.snapshot() as reader:
            row = reader.file(path)
        return row is not None and seen(row.stat) == seen(stat)

    return files.read_saved(vault.root, path, is_known)


def _evicted(vault: Vault, path: str) -> bool:
    """Say whether a file that is gone was taken off the disk by a cloud drive, and not deleted."""
    return files.stat(vault.root, path_rules.placeholder_for(path)) is not None


def _utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Changed:
    """Files that differ from what is known, gathered for one commit and one transaction."""

    def __init__(self, vault: Vault, writer: Writer) -> None:
        self.vault = vault
        self.writer = writer
        self.rows: dict[str, tuple[str, FileStat, Note | None]] = {}
        self.gone: list[str] = []
        self.edits: dict[str, Write] = {}

    def file(self, path: str) -> None:
        found = _read(self.vault, path)
        if found is None:
            return
        raw, stat = found
        blob = blob_id(raw)
        self.rows[path] = (blob, stat, note_of(path, raw))
        head = self.writer.head_entry(path)
        if (head is None or head[1] != blob) and self._ours(path, head, blob):
            self.edits[path] = Write(raw, seen=stat, seen_blob=blob)

    def deleted(self, path: str) -> None:
        if _evicted(self.vault, path):
            return
        self.gone.append(path)
        head = self.writer.head_entry(path)
        if head is not None and self._ours(path, head, None):
            self.edits[path] = Write(None)

    def _ours(self, path: str, head: tuple[int, str] | None, blob: str | None) -> bool:
        """Say whether a difference from HEAD is ours to commit: not when the person has staged the path."""
        staged = self.writer.staged_blob(path)
        return staged == (head[1] if head else None)

    def save(self, *, even_if_left: bool = False) -> None:
        """Commit what is to be committed, and index all of it."""
        commits = even_if_left or self.vault.options.hand_edits == "commit"
        edits = self.edits if commits else {}
        fresh = [p for p, w in edits.items() if w.content is not None and self.writer.head_entry(p) is None]
        ignored = self.vault.repository.ignored(fresh) if fresh else set()
        edits = {path: write for path, write in edits.items() if path not in ignored}
        old = {path: self._old(path) for path in edits}
        done = self._commit(edits, all_of_them=even_if_left)
        with self.vault.index.writing() as index:
            index.put_files((path, *row) for path, row in self.rows.items() if path not in ignored)
            for path in self.gone:
                index.remove(path)
            if done is not None and done.sha != done.parent:
                notes = {
                    path: (old[path], self.rows[path][2] if path in self.rows else None) for path in edits
                }
                person = self.vault.person.clean_name()
                row = CommitRow(
                    done.sha, done.parent, done.at, person, HAND_EDIT, "", hand_edit_subject(edits)
                )
                if not index.append_commit(row, _changes(notes)):
                    self.vault.history_behind()
                if index.head is not None:  # else the first index is still in the making
                    index.set_head(done.sha)
        self.rows, self.gone, self.edits = {}, [], {}
        self.vault.tell()

    def _commit(self, edits: dict[str, Write], *, all_of_them: bool) -> Committed | None:
        """Commit hand edits; a file that is saved again at this very moment is left for when it rests."""
        while edits:
            try:
                return self.vault.commit_bytes(self.writer, edits)
            except Stale:
                stats = {path: files.stat(self.vault.root, path) for path in edits}
                moving = [path for path, write in edits.items() if stats[path] != write.seen]
                if all_of_them or not moving:
                    raise
                for path in moving:
                    del edits[path]
                    self.rows.pop(path, None)
                self.gone = [path for path in self.gone if path not in moving]
                self.vault.owed.update(moving)
        return None

    def _old(self, path: str) -> Note | None:
        head = self.writer.head_entry(path)
        return note_of(path, self.vault.repository.blob(head[1])) if head else None


def save_hand_edits(vault: Vault, writer: Writer, edits: Mapping[str, Write]) -> None:
    """Commit what a person left on disk in files that a tool is about to write, and index it."""
    changed = _Changed(vault, writer)
    for path, write in edits.items():
        changed.edits[path] = write
        if write.content is None or write.seen is None:
            changed.gone.append(path)
        else:
            changed.rows[path] = (blob_id(write.content), write.seen, note_of(path, write.content))
    changed.save(even_if_left=True)


HAND_EDIT = "hand-edit"
"""The `Tool:` trailer of a commit that holds a person's own edits."""


def hand_edit_subject(paths: Iterable[str]) -> str:
    """Name what a person edited, for the subject of the commit."""
    names = sorted(paths)
    rest = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{HAND_EDIT}: {names[0].rpartition('/')[2]}{rest}"
