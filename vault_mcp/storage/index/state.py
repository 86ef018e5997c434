"""The one row that says what the tables are in step with, and how much they hold."""

import sqlite3
from dataclasses import dataclass


@dataclass(slots=True)
class State:
    """The row of `state`, read when a transaction begins and written once when it ends."""

    head: str | None
    history_head: str | None
    entities: int
    observations: int
    relations: int
    files: int
    unsettled: int

    @classmethod
    def read(cls, db: sqlite3.Connection) -> "State":
        """Read the row as the transaction sees it."""
        row = db.execute(
            "SELECT head, history_head, entities, observations, relations, files, unsettled FROM state"
        ).fetchone()
        return cls(*row)

    def write(self, db: sqlite3.Connection) -> None:
        """Write the row back."""
        db.execute(
            "UPDATE state SET head = ?, history_head = ?, entities = ?, observations = ?, relations = ?,"
            " files = ?, unsettled = ?",
            (
                self.head,
                self.history_head,
                self.entities,
                self.observations,
                self.relations,
                self.files,
                self.unsettled,
            ),
        )
