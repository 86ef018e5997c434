"""The timeline: what the index said at every commit, in one file, so that no moment has to be made first.

It is derived like the index, follows the history tables, and may lie behind them.
"""

import contextlib
from collections.abc import Iterator

from vault_mcp.storage.index.past_reader import PastReader
from vault_mcp.storage.index.reader import Reader
from vault_mcp.storage.index.schema import VERSION
from vault_mcp.storage.index.sqlite_file import SqliteFile
from vault_mcp.storage.index.timeline_schema import TIMELINE, views
from vault_mcp.storage.index.timeline_writer import TimelineWriter

FILE_NAME = f"timeline-{VERSION}.sqlite"


class Timeline(SqliteFile):
    """The timeline of one vault. Safe to use from several threads and processes."""

    script = TIMELINE
    version = VERSION
    probe = "SELECT mark FROM timeline"

    @contextlib.contextmanager
    def reading(self, mark: str, seq: int, sha: str) -> Iterator[Reader | None]:
        """Give a snapshot of what held at a commit; None where the timeline does not reach it.

        Args:
            mark: That of the history in which the commit has its number.
            seq: The commit's number; 0 is the vault before its first commit.
            sha: Its hash; "" for number 0.
        """
        with self._borrowed() as db:
            if not db.views:
                for statement in views():
                    db.execute(statement)
                db.views = True
            db.execute("UPDATE moment SET seq = ?", (seq,))
            db.execute("BEGIN")
            known = db.execute(
                "SELECT sha FROM moments JOIN timeline ON mark = ? WHERE seq = ?", (mark, seq)
            ).fetchone()
            yield PastReader(db) if known == (sha,) else None

    @contextlib.contextmanager
    def writing(self) -> Iterator[TimelineWriter]:
        """Give a writer whose work is seen at once when the block ends, or not at all when it fails."""
        with self._borrowed("BEGIN IMMEDIATE") as db:
            writer = TimelineWriter(db)
            yield writer
            writer.finish()
            db.execute("COMMIT")

    def end(self) -> tuple[str, int]:
        """Give the mark of the history that this is the timeline of, and the number of its last commit."""
        with self._borrowed() as db:
            row: tuple[str, int] = db.execute(
                "SELECT mark, (SELECT max(seq) FROM moments) FROM timeline"
            ).fetchone()
            return row
