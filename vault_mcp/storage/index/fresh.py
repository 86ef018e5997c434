"""Notes that are new to the index: their rows gathered table by table, then written in one go for each table.

A first index writes nothing else, and a statement for each table and note would cost as much as the rows.
"""

import sqlite3
from collections.abc import Iterable
from typing import Any

from vault_mcp.notes.note import Note
from vault_mcp.storage.index.arrange import GAP
from vault_mcp.storage.index.note_rows import (
    links_of,
    name_unit,
    observation_row,
    observation_unit,
    prose_of,
    relation_row,
    tags_of,
)
from vault_mcp.storage.index.schema import NAME, SHIFT
from vault_mcp.storage.index.searchable import padded

COLUMNS = {
    "notes": 14, "observations": 15, "passages": 4, "relations": 16, "links": 2, "tags": 2, "units": 3
}  # fmt: skip
"""The tables that hold a note, and how many columns each has."""

_ADDED_BY = 8  # who added a note without the property `created` is for Git to tell


class FreshNotes:
    """Rows that wait to be written."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[Any, ...]]] = {table: [] for table in COLUMNS}

    @property
    def units(self) -> list[tuple[Any, ...]]:
        """The units of search among them."""
        return self._rows["units"]

    def add(self, number: int, row: tuple[Any, ...], note: Note) -> None:
        """Take in a note under its file's number; `row` is what `note_row` gives of it."""
        rows = self._rows
        rows["notes"].append((number, *row[:_ADDED_BY], None, *row[_ADDED_BY:]))
        base = following = number << SHIFT
        units = rows["units"]
        units.append((base, NAME, name_unit(note)))
        for position, item in enumerate(note.observations):
            following += 1
            rows["observations"].append(observation_row(following, position * GAP, item))
            units.append(observation_unit(following, item))
        role, pieces = prose_of(note)
        for position, (heading, text) in enumerate(pieces):
            following += 1
            rows["passages"].append((following, position * GAP, heading, text))
            units.append((following, role, padded(text)))
        for position, relation in enumerate(note.relations):
            rows["relations"].append(relation_row(base + position + 1, position * GAP, relation))
        self._number("links", base, links_of(note))
        self._number("tags", base, tags_of(note))

    def _number(self, table: str, base: int, keys: Iterable[str]) -> None:
        self._rows[table] += [(number, key) for number, key in enumerate(keys, base + 1)]

    def write(self, db: sqlite3.Connection) -> None:
        """Write all that waits."""
        for table, rows in self._rows.items():
            if rows:
                add_rows(db, table, rows)


def add_rows(db: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Write rows of a table."""
    marks = ", ".join("?" * COLUMNS[table])
    db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
