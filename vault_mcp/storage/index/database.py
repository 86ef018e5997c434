"""The index of one vault: take a snapshot of it, write to it, copy it."""

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from typing import Self

from vault_mcp.storage.index.reader import Reader
from vault_mcp.storage.index.schema import CURRENT, HISTORY, HISTORY_TABLES, VERSION
from vault_mcp.storage.index.sqlite_file import ENDS, IndexDamaged, SqliteFile
from vault_mcp.storage.index.words import WORDS
from vault_mcp.storage.index.writer import IndexWriter

__all__ = ["ENDS", "FILE_NAME", "Index", "IndexDamaged"]

FILE_NAME = f"index-{VERSION}.sqlite"
"""What an index is called: servers of two versions that share a vault then do not fight over one file."""

FORGOTTEN = 14 * 24 * 3600
"""Seconds after which the index of another version is removed when nobody has written to it."""


class Index(SqliteFile):
    """The index: the current tables, the history tables, and the word index.

    An index that is missing or was made anew says so by `empty`.
    """

    script = CURRENT + HISTORY + WORDS
    version = VERSION
    probe = "SELECT head FROM state"

    @classmethod
    def open(cls, path: str) -> Self:
        """Do as `SqliteFile.open`, and remove indexes of other versions that nobody uses any more."""
        index = super().open(path)
        _forget_others(path)
        return index

    # -- what it is in step with

    @property
    def head(self) -> str | None:
        """The commit that the current tables are in step with; None until a first build is complete."""
        return self._state("head")

    @property
    def history_head(self) -> str | None:
        """The commit up to which the history tables reach."""
        return self._state("history_head")

    @property
    def empty(self) -> bool:
        """Whether the current tables have still to be built for the first time."""
        return self.head is None

    def _state(self, column: str) -> str | None:
        with self._borrowed() as db:
            row: tuple[str | None] = db.execute(f"SELECT {column} FROM state").fetchone()
            return row[0]

    @property
    def undated(self) -> bool:
        """Whether notes wait for what history tells of their lines."""
        with self._borrowed() as db:
            return db.execute("SELECT 1 FROM undated LIMIT 1").fetchone() is not None

    # -- blocks

    @contextlib.contextmanager
    def reading(self) -> Iterator[Reader]:
        """Give one snapshot: everything read in the block belongs to one moment.

        Raises:
            IndexDamaged: see `mend`.
        """
        with self._borrowed("BEGIN") as db:
            yield Reader(db)

    @contextlib.contextmanager
    def writing(self) -> Iterator[IndexWriter]:
        """Give a writer whose work is seen at once when the block ends, or not at all when it fails.

        Raises:
            IndexDamaged: see `mend`.
            VaultBusy, StorageFailed: as for `open`.
        """
        with self._borrowed("BEGIN IMMEDIATE") as db:
            writer = IndexWriter(db)
            yield writer
            writer.finish()
            db.execute("COMMIT")

    def upkeep(self) -> bool:
        """Do what writes put off: in the background, with the vault's lock; True if some may be left."""
        with self.writing() as writer:
            writer.settle()
            left = writer.date() > 0
        self.empty_log()
        return left

    def date(self) -> bool:
        """Date some of the notes that wait for it; False when there are none, or history is behind."""
        with self.writing() as writer:
            return writer.date() > 0

    def copy_to(self, path: str, *, history_alone: bool = False) -> "Index":
        """Make another index at `path` that says the same, or has the same history and no files."""
        other = Index(path)
        with self._borrowed() as db:
            if history_alone:
                other.mend()
                target = sqlite3.connect(path, isolation_level=None)
                target.execute("ATTACH ? AS source", (self.path,))
                target.execute("BEGIN")
                for table in HISTORY_TABLES:
                    target.execute(f"INSERT INTO {table} SELECT * FROM source.{table}")
                target.execute("COMMIT")
                target.close()
            else:
                target = sqlite3.connect(path, isolation_level=None)
                target.execute("PRAGMA synchronous = OFF")
                db.backup(target)
                target.close()
                other.mend()
        return other


def _forget_others(path: str) -> None:
    """Remove indexes of other versions that nobody seems to use any more."""
    folder, own = os.path.split(path)
    if own != FILE_NAME:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        known = ((entry, re.fullmatch(r"(?:index|timeline)-(\d+)\.sqlite", entry.name)) for entry in entries)
        others = [entry.path for entry, version in known if version and int(version[1]) != VERSION]
        for other in others:
            ends = [other + end for end in ENDS if os.path.exists(other + end)]
            if max(os.stat(end).st_mtime for end in ends) < time.time() - FORGOTTEN:
                for end in ends:
                    os.unlink(end)
