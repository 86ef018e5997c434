"""Read the past of a repository into the history tables, in batches that can be broken off at any time."""

import contextlib
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from vault_mcp.notes.note import Fact, read_facts
from vault_mcp.storage.index.descent import FileChange, moved_files
from vault_mcp.storage.index.rows import CommitRow, SideChange

if TYPE_CHECKING:
    from vault_mcp.storage.git.history import HistoryCommit
    from vault_mcp.storage.index.database import Index

BATCH = 200
"""Commits of one transaction."""

LONGEST_NOTE = 8 * 1024 * 1024
"""Bytes from which a Markdown file is not read as a note."""

WINDOW = 500
"""Changes whose blobs are asked for in one go."""

_REMEMBERED = 4000

Change = tuple[str, str | None, str | None]
"""A path, its blob before and its blob after."""
Read = Callable[[Sequence[str]], Iterable[bytes]]
Turn = Callable[[], contextlib.AbstractContextManager[object]]


def told(
    commits: Iterable["HistoryCommit"], read: Read
) -> Iterator[tuple[CommitRow, list[FileChange], list[SideChange]]]:
    """Give each commit with the facts that its files had before and after, and the commits that it brought.

    Args:
        commits: Oldest first.
        read: Gives the bytes of blobs, in their order.
    """
    known = _Facts(read)
    for some in _windows(commits):
        if len(some) > 1:
            known.foresee(change for commit in some for change in commit.changes)
        for commit in some:
            yield _row(commit), known.changes(commit), [_side(side, known) for side in commit.sides]


def _windows(commits: Iterable["HistoryCommit"]) -> Iterator[list["HistoryCommit"]]:
    """Give commits in parts of no more than `WINDOW` changes, or one commit of more."""
    some: list[HistoryCommit] = []
    changes = 0
    for commit in commits:
        changes += len(commit.changes)
        if some and changes > WINDOW:
            yield some
            some, changes = [], len(commit.changes)
        some.append(commit)
        if len(some) == BATCH:
            yield some
            some, changes = [], 0
    if some:
        yield some


def _row(commit: "HistoryCommit") -> CommitRow:
    return CommitRow(
        commit.sha, commit.parent, commit.at, commit.author, commit.tool, commit.session, commit.subject
    )


def _side(commit: "HistoryCommit", known: "_Facts") -> SideChange:
    changes = known.changes(commit)
    moved = moved_files(changes)
    sources = {change.path: change.old_blob for change in changes if change.path in moved.values()}
    files: list[tuple[str | None, str | None, str | None, str | None]] = []
    words: set[str] = set()
    for change in changes:
        words |= {fact.text for fact in {*change.old} ^ {*change.new}}
        if change.path in sources:
            continue
        old_path = moved.get(change.path) or (change.path if change.old_blob else None)
        old_blob = sources[moved[change.path]] if change.path in moved else change.old_blob
        files.append((old_path, old_blob, change.path if change.new_blob else None, change.new_blob))
    return SideChange(_row(commit), tuple(files), "\n".join(sorted(words)), tuple(changes))


def replay(
    index: "Index",
    commits: Iterable["HistoryCommit"],
    read: Read,
    *,
    turn: Turn = contextlib.nullcontext,
    batch: int = BATCH,
) -> Iterator[int]:
    """Take commits into the history tables, a batch in each step of the iteration; give how many so far.

    After the last one the notes are dated that were indexed before their past was known.

    Ends early when the tables are no longer where the next commit begins, since another process was quicker.

    Args:
        index: Whose `history_head` is the parent of the first commit.
        commits: Oldest first.
        read: Gives the bytes of blobs, in their order.
        turn: Entered around each transaction, for the vault's lock.
        batch: Commits of one transaction.
    """
    rows = told(commits, read)
    done = 0
    while some := list(itertools.islice(rows, batch)):
        with turn(), index.writing() as writer:
            for row, changes, sides in some:
                if not writer.append_files(row, changes, sides):
                    return
        done += len(some)
        yield done
    dated = 1
    while dated:
        with turn(), index.writing() as writer:
            dated = writer.date()


class _Facts:
    """Facts of blobs, each read once while it is likely to be asked for again."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._known: OrderedDict[str, tuple[Fact, ...]] = OrderedDict()

    def foresee(self, changes: Iterable[Change]) -> None:
        """Read the blobs of some changes, at most `WINDOW`, that are not known yet: all in one go."""
        wanted = {
            blob: path
            for path, *blobs in changes
            for blob in blobs
            if blob is not None and is_note(path) and blob not in self._known
        }
        for (blob, path), raw in zip(wanted.items(), self._read(list(wanted)), strict=True):
            self._known[blob] = _facts(path, raw)

    def changes(self, commit: "HistoryCommit") -> list[FileChange]:
        found: list[FileChange] = []
        for start in range(0, len(commit.changes), WINDOW):
            some = commit.changes[start : start + WINDOW]
            self.foresee(some)
            found += [
                FileChange(path, old, new, self.of(path, old), self.of(path, new)) for path, old, new in some
            ]
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return found

    def of(self, path: str, blob: str | None) -> tuple[Fact, ...]:
        return self._known[blob] if blob is not None and is_note(path) else ()


def is_note(path: str) -> bool:
    """Say whether a file of the past is read as a note."""
    return path[-3:].lower() == ".md"


def _facts(path: str, raw: bytes) -> tuple[Fact, ...]:
    if len(raw) > LONGEST_NOTE:
        return ()
    try:
        return read_facts(path, raw.decode())
    except UnicodeDecodeError:
        return ()
