"""Read the history tables: who wrote a fact, which commits there were, and when."""

from collections.abc import Iterable
from typing import Any

from vault_mcp.storage.index.cursors import read_cursor, write_cursor
from vault_mcp.storage.index.dates import read_stamp, written
from vault_mcp.storage.index.dating import BY_PERSON, stamped_by_person
from vault_mcp.storage.index.descent import group_of
from vault_mcp.storage.index.history import fact_key
from vault_mcp.storage.index.lookup import Snapshot
from vault_mcp.storage.index.rows import CommitRow, FactVersion, Page
from vault_mcp.storage.index.schema import MOST_ROWS, SHIFT
from vault_mcp.storage.index.storable import storable

_COMMIT = "SELECT seq, sha, at, author, tool, session, subject FROM commits c"

SIDE = (
    "SELECT c.seq, c.place, m.sha, c.sha, c.parent, c.at, c.author, c.tool, c.session, c.subject"
    " FROM sides c JOIN commits m ON m.seq = c.seq"
)
"""What `side_row` makes a commit of that came with a merge."""

FACT_COLUMNS = (
    "id, kind, text, stamp, first_seq, last_seq, added_seq, edit_seq, previous, first_place, added_place,"
    " edit_place"
)
"""What a `FactVersion` is made of, in its order."""

# The first-parent chain is numbered without gaps, and `latest` never falls, so the commit of a moment is
# found by halving: commit times themselves may go back after a pull.
_HALVING = """
WITH RECURSIVE span(low, high) AS (
  SELECT 0, coalesce(max(seq), 0) FROM commits
  UNION ALL
  SELECT iif(c.latest <= :at, c.seq, low), iif(c.latest <= :at, high, c.seq - 1)
  FROM span JOIN commits c ON c.seq = (low + high + 1) / 2 WHERE low < high
)
SELECT low FROM span WHERE low = high
"""

# A clock that was ahead makes `latest` jump too far: what the halving gives is then too early, never too
# late. From there on commits are passed over until one is later than the moment by a clock that can be right.
_FIRST_AFTER = "SELECT seq FROM commits WHERE seq > ? AND at > ? AND at <= ? ORDER BY seq LIMIT 1"

AHEAD = 60
"""Seconds by which the clock of another machine may be ahead of ours; beyond that it is wrong."""


class Past(Snapshot):
    """What was there before, as far as the history tables reach."""

    @property
    def history_head(self) -> str | None:
        """The commit up to which these answers reach."""
        sha: str | None = self._one("SELECT history_head FROM state")[0]
        return sha

    def provenance(
        self, path: str, facts: Iterable[tuple[str, str]]
    ) -> dict[tuple[str, str], tuple[str, str, bool]]:
        """Say who wrote the words that facts of a note have now, when, and whether by hand.

        Args:
            path: Where the note lies.
            facts: Kind and text of each, as `notes.note.facts` gives them.

        Returns:
            (kind, text) -> (who, time as in stamps, whether a person's hand); what is not known is left out.
        """
        row = self._one("SELECT lineage FROM places WHERE path = ? AND last_seq IS NULL", (storable(path),))
        told: dict[tuple[str, str], tuple[str, str, bool]] = {}
        for kind, text in facts:
            found = (self._from_history(row[0], kind, text) if row else None) or self._from_stamp(path, text)
            if found is not None:
                told[kind, text] = found
        return told

    def _from_history(self, lineage: int, kind: str, text: str) -> tuple[str, str, bool] | None:
        rows = self._rows(
            "SELECT kind, stamp, added_seq, added_place, edit_seq, edit_place FROM facts"
            " WHERE lineage = ? AND key = ? AND text = ? AND last_seq IS NULL",
            (lineage, fact_key(text), storable(text)),
        )
        for known, stamp, added_seq, added_place, edit_seq, edit_place in rows:
            if group_of(known) == group_of(kind):
                written_by = read_stamp(stamp)
                if written_by is not None and edit_seq is None:
                    if written_by.edited_at:
                        return written_by.edited_by, written_by.edited_at, False
                    added = self.change_at(added_seq, added_place)
                    return written_by.agent, written_by.added_at, stamped_by_person(written_by, added)
                change = (edit_seq, edit_place) if edit_seq else (added_seq, added_place)
                row = self.change_at(*change)
                if row is not None:
                    return row.author, written(row.at) or "", row.tool in BY_PERSON
        return None

    def _from_stamp(self, path: str, text: str) -> tuple[str, str, bool] | None:
        row = self._one(
            "SELECT coalesce(o.edited_by, o.agent), coalesce(o.edited_at, o.added_at) FROM files f"
            f" JOIN observations o ON o.id BETWEEN f.id << {SHIFT} AND (f.id << {SHIFT}) + {MOST_ROWS}"
            " WHERE f.path = ? AND o.text = ?",
            (storable(path), storable(text)),
        )
        return (row[0], row[1], False) if row and row[0] and row[1] else None

    def fact_versions(self, path: str) -> list[FactVersion]:
        """Give every version that each fact of a note ever had, the oldest first."""
        rows = self._rows(
            f"SELECT {FACT_COLUMNS} FROM facts"
            " WHERE lineage = (SELECT lineage FROM places WHERE path = ?"
            " ORDER BY last_seq IS NOT NULL, last_seq DESC LIMIT 1) ORDER BY first_seq, id",
            (storable(path),),
        )
        return [
            FactVersion(number, kind, text, read_stamp(stamp), *rest)
            for number, kind, text, stamp, *rest in rows
        ]

    # -- commits

    def commit(self, sha: str) -> CommitRow | None:
        """Give a commit of the first-parent chain by its full hash."""
        row = self._one(f"{_COMMIT} WHERE sha = ?", (storable(sha),))
        return self._commit(row) if row else None

    def change_at(self, seq: int, place: int = 0) -> CommitRow | None:
        """Give a commit by its number, or one of those that came with it by its place among them."""
        if place:
            row = self._one(f"{SIDE} WHERE c.seq = ? AND c.place = ?", (seq, place))
            return side_row(row) if row else None
        row = self._one(f"{_COMMIT} WHERE seq = ?", (seq,))
        return self._commit(row) if row else None

    def commit_at(self, at: int, now: int) -> CommitRow | None:
        """Give the last commit that was there at a moment; None before the first.

        The order of the branch counts where clocks disagree. A commit that says it was made more than `AHEAD`
        seconds after now tells nothing of when it was made, and counts as made with the one before it.

        Args:
            at: The moment, in seconds since 1970. From now on it means the newest commit.
            now: The present, likewise.
        """
        seq = self._db.execute(_HALVING, {"at": at}).fetchone()[0]
        after = self._one(_FIRST_AFTER, (seq, at, now + AHEAD)) if at < now else None
        if after is not None:
            row = self._one(f"{_COMMIT} WHERE seq = ?", (after[0] - 1,))
        else:
            row = self._one(f"{_COMMIT} WHERE seq = (SELECT max(seq) FROM commits)")
        return self._commit(row) if row else None

    def commits_ahead(self, now: int, limit: int) -> list[CommitRow]:
        """Give the commits that say they were made more than `AHEAD` seconds after now, the newest first."""
        rows = self._rows(f"{_COMMIT} WHERE at > ? ORDER BY seq DESC LIMIT ?", (now + AHEAD, limit))
        return [self._commit(row) for row in rows]

    def log(self, limit: int, cursor: str | None = None, *, path: str = "") -> Page[CommitRow]:
        """Give commits, the newest first: all, or those of one note through all the places it lay.

        Raises:
            BadArgument: the cursor is not one of a log.
        """
        below = int(read_cursor(cursor, "log", int)[0]) if cursor else 1 << 62
        if path:
            source = (
                f"{_COMMIT} JOIN lineage_commits l USING (seq) WHERE seq < ? AND l.lineage ="
                " (SELECT lineage FROM places WHERE path = ?"
                " ORDER BY last_seq IS NOT NULL, last_seq DESC LIMIT 1)"
            )
        else:
            source = f"{_COMMIT} WHERE seq < ?"
        values = (below, storable(path)) if path else (below,)
        rows = self._rows(f"{source} ORDER BY seq DESC LIMIT ?", (*values, limit + 1))
        following = write_cursor("log", rows[limit - 1][0]) if len(rows) > limit > 0 else None
        return Page(tuple(self._commit(row) for row in rows[:limit]), following)

    def _commit(self, row: tuple[int, str, int, str, str, str, str]) -> CommitRow:
        seq, sha, at, author, tool, session, subject = row
        parent = self._one("SELECT sha FROM commits WHERE seq = ?", (seq - 1,))
        return CommitRow(sha, parent[0] if parent else None, at, author, tool, session, subject, seq)


def side_row(row: tuple[Any, ...]) -> CommitRow:
    """Make a commit that came with a merge of a row of `SIDE`."""
    seq, place, merge, sha, parent, at, author, tool, session, subject = row
    return CommitRow(sha, parent, at, author, tool, session, subject, seq, merge, place)
