"""Follow what others do to the vault: hand edits, commits from outside, files changed while nothing ran.

The index holds the files as they are on disk, and the commit (`index.head`) up to which history was followed.
Everything here that writes holds the vault's lock; comparing files with the index does not.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from vault_mcp.errors import NoteUnreadable, StorageFailed, VaultBusy, VaultError
from vault_mcp.notes.note import Note, facts, read_note
from vault_mcp.storage import files
from vault_mcp.storage import paths as path_rules
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.git.writer import Committed, Write, Writer, blob_id
from vault_mcp.storage.index import CommitRow, IndexDamaged

if TYPE_CHECKING:
    from vault_mcp.vault import Vault

log = logging.getLogger(__name__)

OPENING_WAIT = 0.3
"""Seconds that a read waits for the opening comparison of a warm index; then it answers as it can."""

LONGEST_NOTE = 8 * 1024 * 1024
"""Bytes from which a Markdown file is kept and committed, but not read as a note."""

UPKEEP_EVERY = 500
"""Commits of ours from which Git is asked, in the background, whether it wants upkeep."""

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
        index.append_commit(row, _changes(notes))
        index.set_head(done.sha)


def _changes(
    notes: Mapping[str, tuple[Note | None, Note | None]],
) -> list[tuple[str, tuple[object, ...], tuple[object, ...]]]:
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
        follow_files(vault, writer, None)
        with vault.index.writing() as index:
            index.set_head(new)
        return
    commits = list(repository.history(old, new))
    touched = {path for commit in commits for path, _, _ in commit.changes}
    with vault.index.writing() as index:
        if index.history_head == old:
            index.replay(commits, repository.blob)
        index.set_head(new)
    follow_files(vault, writer, frozenset(touched))


# -- files


def follow_files(vault: Vault, writer: Writer, paths: frozenset[str] | None) -> None:
    """Index the files that differ from what is known, and commit those that differ from HEAD as hand edits.

    `paths` None compares every file. Held back from history: what the person has staged, what Git ignores,
    files too large, names that are not UTF-8, and a note that a cloud drive has evicted. With `hand_edits =
    leave` nothing is committed.
    """
    found, gone = _compare(vault, paths)
    if not found and not gone:
        return
    changed = _Changed(vault, writer)
    for path, stat in found.items():
        changed.file(path, stat)
        if len(changed.rows) >= BATCH:
            changed.save()
    for path in gone:
        changed.deleted(path)
    changed.save()


def _compare(vault: Vault, paths: frozenset[str] | None) -> tuple[dict[str, FileStat], list[str]]:
    """Give the files whose facts on disk are not the known ones, and the known files that are gone."""
    with vault.snapshot() as reader:
        if paths is None:
            known = {row[0]: row[2:] for row in reader.files()}
            on_disk = {path: stat for path, stat in files.walk(vault.root) if path.isascii() or _utf8(path)}
        else:
            visible = [path for path in paths if not path_rules.is_hidden(path)]
            rows = ((path, reader.file(path)) for path in visible)
            known = {path: _facts(row.stat) for path, row in rows if row is not None}
            stats = ((path, files.stat(vault.root, path)) for path in visible)
            on_disk = {path: stat for path, stat in stats if stat is not None}
    found = {path: stat for path, stat in on_disk.items() if known.get(path) != _facts(stat)}
    gone = [path for path in known if path not in on_disk]
    return found, gone


def _facts(stat: FileStat) -> tuple[int, int, int, int, int]:
    return (stat.size, stat.mtime_ns, stat.ctime_ns, stat.ino, stat.mode)


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

    def file(self, path: str, stat: FileStat) -> None:
        try:
            found = files.read(self.vault.root, path)
        except (NoteUnreadable, StorageFailed) as error:
            self.vault.trouble(str(error))
            return
        if found is None:
            return
        raw, stat = found
        blob = blob_id(raw)
        self.rows[path] = (blob, stat, note_of(path, raw))
        head = self.writer.head_entry(path)
        if (head is None or head[1] != blob) and self._ours(path, head, blob):
            self.edits[path] = Write(raw, seen=stat, seen_blob=blob)

    def deleted(self, path: str) -> None:
        placeholder = path_rules.placeholder_for(path)
        if placeholder and files.stat(self.vault.root, placeholder) is not None:
            return  # evicted by a cloud drive, not deleted
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
        done = self.vault.commit_bytes(self.writer, edits) if edits else None
        with self.vault.index.writing() as index:
            for path, (blob, stat, note) in self.rows.items():
                if path not in ignored:
                    index.put_file(path, blob, stat, note)
            for path in self.gone:
                index.remove(path)
            if done is not None and done.sha != done.parent:
                notes = {
                    path: (old[path], self.rows[path][2] if path in self.rows else None) for path in edits
                }
                person = self.vault.person.name
                row = CommitRow(
                    done.sha, done.parent, done.at, person, HAND_EDIT, "", hand_edit_subject(edits)
                )
                index.append_commit(row, _changes(notes))
                index.set_head(done.sha)
        self.rows, self.gone, self.edits = {}, [], {}

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


# -- in the background


class Follower:
    """Compares the files with the index at the start, takes in what the watcher tells, and keeps Git tidy."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._readable = threading.Event()
        self._compared = threading.Event()
        self._stopping = threading.Event()
        self._rebuilding = threading.Lock()
        self._commits = 0
        self._thread = threading.Thread(target=self._run, name="follower", daemon=True)

    def start(self) -> None:
        """Begin with the opening comparison; a warm index can be read meanwhile."""
        if not self._vault.index.empty:
            self._readable.set()
        self._thread.start()

    def stop(self) -> None:
        """Let the background work end."""
        self._stopping.set()
        self._thread.join(timeout=5)

    def wait_until_readable(self, longest: float) -> None:
        """Wait for the first index, and a moment for the opening comparison.

        Raises:
            VaultBusy: the first index takes longer.
        """
        if not self._readable.wait(longest):
            raise VaultBusy("The notes are being indexed for the first time. Call again in a few seconds.")
        self._compared.wait(OPENING_WAIT)

    def rebuild(self) -> None:
        """Make the index anew, here and now if nobody else is at it."""
        if self._rebuilding.acquire(blocking=False):
            try:
                self._readable.clear()
                self._vault.index.mend()
                threading.Thread(target=self._compare_all, name="rebuild", daemon=True).start()
            finally:
                self._rebuilding.release()

    def noticed(self, paths: frozenset[str] | None) -> None:
        """Take in files that may have changed; a busy vault is tried again."""
        vault = self._vault
        if paths is not None:
            found, gone = _compare(vault, paths)
            if not found and not gone:
                return
            paths = frozenset([*found, *gone])
        deadline = time.monotonic() + 60
        while not self._stopping.is_set():
            try:
                with vault.repository.writing(vault.options.lock_wait) as writer:
                    vault.catch_up(writer)
                    follow_files(vault, writer, paths)
                return
            except VaultBusy:
                if time.monotonic() > deadline:
                    raise
                self._stopping.wait(0.2)
            except VaultError as error:
                vault.trouble(str(error))
                return

    def count_commit(self) -> None:
        """Count a commit of ours; Git is asked for upkeep after some hundreds, in the background."""
        self._commits += 1
        if self._commits % UPKEEP_EVERY == 0:
            threading.Thread(target=self._vault.repository.upkeep, name="upkeep", daemon=True).start()

    def _run(self) -> None:
        self._compare_all()
        self._replay()

    def _compare_all(self) -> None:
        vault = self._vault
        try:
            with vault.repository.writing(60) as writer:
                vault.catch_up(writer)
                follow_files(vault, writer, None)
        except IndexDamaged:
            vault.index.mend(anew=True)
            self._compare_all()
            return
        except VaultError as error:
            vault.trouble(str(error))
        except Exception:
            log.exception("the opening comparison failed")
        finally:
            self._readable.set()
            self._compared.set()

    def _replay(self) -> None:
        """Read the history that the index does not know yet."""
