"""One transaction that changes the index."""

import sqlite3

from vault_mcp.storage.index import grams
from vault_mcp.storage.index.current import CurrentTables
from vault_mcp.storage.index.reader import Reader
from vault_mcp.storage.index.state import State


class IndexWriter(CurrentTables):
    """What `Index.writing` gives: the index as it will be when the block ends."""

    def __init__(self, db: sqlite3.Connection) -> None:
        super().__init__(db, State.read(db))

    @property
    def head(self) -> str | None:
        """The commit that the current tables are in step with."""
        return self._state.head

    @property
    def history_head(self) -> str | None:
        """The commit up to which the history tables reach."""
        return self._state.history_head

    def set_head(self, sha: str | None) -> None:
        """Say with which commit the current tables are in step; None: a build is not complete."""
        self._state.head = sha

    @property
    def reader(self) -> Reader:
        """Read what this transaction has written so far."""
        return Reader(self._db)

    def settle(self) -> None:
        """Move every waiting unit into the trigram index."""
        if self._state.unsettled:
            grams.settle(self._db)
            self._state.unsettled = 0

    def finish(self) -> None:
        """Write down what the block did; called once, by `Index.writing`."""
        if self._state.unsettled >= grams.SETTLE_AT:
            self.settle()
        self._state.write(self._db)
