"""One transaction that changes the index."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from vault_mcp.notes.note import Fact, Note
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.index import grams
from vault_mcp.storage.index.current import CurrentTables
from vault_mcp.storage.index.dating import date_note, date_some, forget_dates, forget_dates_of, put_off
from vault_mcp.storage.index.descent import FileChange
from vault_mcp.storage.index.history import HistoryTables
from vault_mcp.storage.index.reader import Reader
from vault_mcp.storage.index.replay import Read, told
from vault_mcp.storage.index.rows import CommitRow, SideChange
from vault_mcp.storage.index.state import State
from vault_mcp.storage.index.words import WordTables

if TYPE_CHECKING:
    from vault_mcp.storage.git.history import HistoryCommit

DATED = 1000
"""Notes that are dated in one turn."""


class IndexWriter(CurrentTables):
    """What `Index.writing` gives: the index as it will be when the block ends."""

    def __init__(self, db: sqlite3.Connection) -> None:
        super().__init__(db, State.read(db))
        self._history = HistoryTables(db)
        self._at: int | None = None

    @property
    def head(self) -> str | None:
        """The commit that the current tables are in step with."""
        return self._state.head

    def set_head(self, sha: str | None) -> None:
        """Say with which commit the current tables are in step; None: a build is not complete."""
        self._state.head = sha

    def as_of(self, sha: str, seq: int) -> None:
        """Have the current tables tell of a commit of the past: in an index of its own (see `bygone`)."""
        self._state.head = self._state.history_head = sha
        self._at = seq

    def put_bygone(self, path: str, blob: str, stat: FileStat, note: Note | None) -> None:
        """Do as `put_file`, and have the note dated by what history knew at the commit of `as_of` alone."""
        row = self._db.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        if row is not None:
            forget_dates_of(self._db, row[0])
        self.put_file(path, blob, stat, note)
        if note is not None:
            self._undated.add(path)

    @property
    def reader(self) -> Reader:
        """Read what this transaction has written so far."""
        return Reader(self._db)

    # -- history

    @property
    def history_head(self) -> str | None:
        """The commit up to which the history tables reach."""
        return self._state.history_head

    def append_commit(
        self, row: CommitRow, changes: Iterable[tuple[str, Sequence[Fact], Sequence[Fact]]]
    ) -> bool:
        """Take in a commit just made; False, and nothing is done, when history is behind its parent.

        Args:
            row: The commit.
            changes: Its files: path, facts before, facts after. They were given to `put_file` and `remove` in
                this block, which tells of their blobs.
        """
        return self.append_files(row, [self._file_change(*change) for change in changes])

    def append_files(
        self, row: CommitRow, changes: Sequence[FileChange], sides: Sequence[SideChange] = ()
    ) -> bool:
        """Do as `append_commit` with all that is known of each file, and with what came with a merge."""
        if row.parent != self._state.history_head:
            return False
        self._undated |= self._history.append(row, changes, sides)
        self._state.history_head = row.sha
        return True

    def replay(self, commits: Iterable["HistoryCommit"], read: Read) -> bool:
        """Take in the commits that follow `history_head`, oldest first; False when they do not follow it."""
        return all(self.append_files(*commit) for commit in told(commits, read))

    def reset_history(self) -> None:
        """Forget the past, which was rewritten; it has to be replayed from its first commit."""
        self._history.reset()
        forget_dates(self._db)
        self._state.history_head = None

    def rewind(self, sha: str) -> None:
        """Forget what came after a commit, since the branch goes on from there on another line."""
        for path in self._history.rewind(sha):
            row = self._db.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
            if row is not None:
                forget_dates_of(self._db, row[0])
                put_off(self._db, [path])
        self._state.history_head = sha

    def _file_change(self, path: str, old: Sequence[Fact], new: Sequence[Fact]) -> FileChange:
        if path in self._blobs:
            after = self._blobs[path]
        else:
            row = self._db.execute("SELECT blob FROM files WHERE path = ?", (path,)).fetchone()
            after = row[0] if row else None
        # What was there before is what the last commit had: the files may have been ahead of it.
        return FileChange(path, self._history.blob_of(path), after, tuple(old), tuple(new))

    @property
    def _in_step(self) -> bool:
        return self._state.head is not None and self._state.head == self._state.history_head

    @property
    def words(self) -> WordTables:
        """The word index and the vectors, as this transaction writes them."""
        return WordTables(self._db)

    # -- the end

    def date(self) -> int:
        """Date some notes that were indexed while history was behind; give how many: 0 when all are dated."""
        return date_some(self._db, DATED) if self._in_step else 0

    def put_off_dating(self) -> None:
        """Leave the dating of this block's notes to `date`: their lines are not in the index yet."""
        put_off(self._db, self._undated)
        self._undated.clear()

    def settle(self) -> None:
        """Move every waiting unit into the trigram index."""
        if self._state.unsettled:
            grams.settle(self._db)
            self._state.unsettled = 0

    def finish(self) -> None:
        """Write down what the block did; called once, by `Index.writing`."""
        if self._in_step:
            for path in self._undated:
                date_note(self._db, path, self._at)
        else:
            put_off(self._db, self._undated)
        if self._state.unsettled >= grams.SETTLE_AT:
            self.settle()
        self._state.write(self._db)
