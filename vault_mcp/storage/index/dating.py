"""Date the lines that have no stamp, or whose words changed after it, by what the history tables tell."""

import sqlite3
from typing import NamedTuple

from vault_mcp.storage.index.dates import written
from vault_mcp.storage.index.schema import BY_TOOL, GIT_ADDED, GIT_EDITED, MOST_ROWS, SHIFT

BY_PERSON = ("", "hand-edit")
"""`Tool:` trailers of commits that hold a person's own words; none at all is a commit made outside."""

# What Git has to tell of a note's lines now: who brought an unstamped one, and the last edit by hand.
_LINES = """
SELECT f.kind, f.text, f.stamp IS NULL, a.at, a.author, a.tool, e.at, e.author, e.tool
FROM facts f JOIN commits a ON a.seq = f.added_seq LEFT JOIN commits e ON e.seq = f.edit_seq
WHERE f.lineage = ? AND f.last_seq IS NULL AND (f.stamp IS NULL OR f.edit_seq IS NOT NULL)
  AND f.kind IN ('observation', 'superseded', 'relation')
"""
_OBSERVATION = "UPDATE observations SET {}, touched = {} WHERE id BETWEEN :first AND :last AND text = :text"
_RELATION = (
    "UPDATE relations SET {} WHERE id BETWEEN :first AND :last"
    " AND type || ' -> ' || CASE shown WHEN '' THEN target ELSE coalesce(shown, target) END = :text"
)
_ADDED = "added_at = :time, agent = :by, added = :at, from_git = :bits"
_EDITED = "edited_at = :time, edited_by = :by, edited = :at, from_git = :bits"
_UPDATES = {
    (GIT_ADDED, False): _OBSERVATION.format(_ADDED, ":at"),
    (GIT_EDITED, False): _OBSERVATION.format(_EDITED, "max(coalesce(added, 0), :at)"),
    (GIT_ADDED, True): _RELATION.format(_ADDED),
    (GIT_EDITED, True): _RELATION.format(_EDITED),
}


class _Commit(NamedTuple):
    at: int
    author: str
    tool: str

    @property
    def bit(self) -> int:
        return 0 if self.tool in BY_PERSON else BY_TOOL


def date_note(db: sqlite3.Connection, path: str) -> None:
    """Fill in the dates of one note's lines, and of the note itself, as far as history knows them."""
    row = db.execute(
        "SELECT f.id, p.lineage FROM files f JOIN places p ON p.path = f.path AND p.last_seq IS NULL"
        " WHERE f.path = ?",
        (path,),
    ).fetchone()
    if row is None:
        return
    number, lineage = row
    for kind, text, unstamped, *told in db.execute(_LINES, (lineage,)).fetchall():
        bit, commit = (GIT_ADDED, _Commit(*told[:3])) if unstamped else (GIT_EDITED, _Commit(*told[3:]))
        values = {
            "time": written(commit.at),
            "by": commit.author,
            "at": commit.at,
            "bits": bit | commit.bit,
            "first": number << SHIFT,
            "last": (number << SHIFT) | MOST_ROWS,
            "text": text,
        }
        db.execute(_UPDATES[bit, kind == "relation"], values)
    made = db.execute(
        "SELECT c.at, c.author FROM lineage_commits l JOIN commits c ON c.seq = l.seq WHERE l.lineage = ?"
        " ORDER BY l.seq LIMIT 1",
        (lineage,),
    ).fetchone()
    if made is not None:
        db.execute(
            "UPDATE notes SET added = ?, added_by = ? WHERE id = ? AND created IS NULL",
            (*made, number),
        )


def date_all(db: sqlite3.Connection) -> None:
    """Fill in the dates of all notes."""
    for (path,) in db.execute("SELECT path FROM files JOIN notes USING (id)").fetchall():
        date_note(db, path)
