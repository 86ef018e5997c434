"""Read the past of a repository into the history tables, in batches that can be broken off at any time."""

import contextlib
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from vault_mcp.notes.note import Fact, facts, read_note
from vault_mcp.storage.index.descent import FileChange
from vault_mcp.storage.index.rows import CommitRow

if TYPE_CHECKING:
    from vault_mcp.storage.git.history import HistoryCommit
    from vault_mcp.storage.index.database import Index

BATCH = 200
"""Commits of one transaction."""

LONGEST_NOTE = 8 * 1024 * 1024
"""Bytes from which a Markdown file is not read as a note."""

_REMEMBERED = 4000

Read = Callable[[str], bytes]
Turn = Callable[[], contextlib.AbstractContextManager[object]]


def told(commits: Iterable["HistoryCommit"], read: Read) -> Iterator[tuple[CommitRow, list[FileChange]]]:
    """Give each commit with the facts that each of its files had before and after.

    Args:
        commits: Oldest first.
        read: Gives a blob's bytes.
    """
    known = _Facts(read)
    for commit in commits:
        changes = [
            FileChange(path, old, new, known.of(path, old), known.of(path, new))
            for path, old, new in commit.changes
        ]
        row = CommitRow(
            commit.sha, commit.parent, commit.at, commit.author, commit.tool, commit.session, commit.subject
        )
        yield row, changes


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
        read: Gives a blob's bytes.
        turn: Entered around each transaction, for the vault's lock.
        batch: Commits of one transaction.
    """
    rows = told(commits, read)
    done = 0
    while some := list(itertools.islice(rows, batch)):
        with turn(), index.writing() as writer:
            for row, changes in some:
                if not writer.append_files(row, changes):
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

    def of(self, path: str, blob: str | None) -> tuple[Fact, ...]:
        if blob is None or path[-3:].lower() != ".md":
            return ()
        known = self._known.get(blob)
        if known is None:
            known = self._known[blob] = self._facts(path, self._read(blob))
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return known

    def _facts(self, path: str, raw: bytes) -> tuple[Fact, ...]:
        if len(raw) > LONGEST_NOTE:
            return ()
        try:
            return facts(read_note(path, raw.decode()))
        except UnicodeDecodeError:
            return ()
