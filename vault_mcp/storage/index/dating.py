"""Date the lines that have no stamp, or whose words changed after it, by what the history tables tell."""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from vault_mcp.notes.line import Stamp, clean_agent
from vault_mcp.storage.index.dates import Dates, dates_of, read_stamp, written
from vault_mcp.storage.index.rows import CommitRow
from vault_mcp.storage.index.schema import BY_TOOL, GIT_ADDED, GIT_EDITED, MOST_ROWS, SHIFT

BY_PERSON = ("", "hand-edit")
"""`Tool:` trailers of commits that hold a person's own words; none at all is a commit made outside."""


def stamped_by_person(stamp: Stamp, added: CommitRow | None) -> bool:
    """Say whether a fact with a stamp is a person's all the same, as one that a merge of entities stamped.

    It is where the commit that added it, by the fact's own story, is a person's own or the vault's first, and
    its author is whom the stamp names; who the person is now plays no part.

    Args:
        stamp: What the line says.
        added: The commit that added the fact; None where it is not known.
    """
    return (
        added is not None
        and added.tool in (*BY_PERSON, "init")
        and clean_agent(added.author) == clean_agent(stamp.agent)
    )


# What Git has to tell of a note's lines now: who brought an unstamped one, and the last edit by hand.
_LINES = """
SELECT f.kind, f.text, f.stamp, coalesce(x.at, a.at), coalesce(x.author, a.author), coalesce(x.tool, a.tool),
  coalesce(y.at, e.at), coalesce(y.author, e.author), coalesce(y.tool, e.tool)
FROM facts f JOIN commits a ON a.seq = f.added_seq LEFT JOIN commits e ON e.seq = f.edit_seq
  LEFT JOIN sides x ON x.seq = f.added_seq AND x.place = f.added_place
  LEFT JOIN sides y ON y.seq = f.edit_seq AND y.place = f.edit_place
WHERE f.lineage = :lineage AND f.first_seq <= :seq AND (f.last_seq IS NULL OR f.last_seq > :seq)
  AND (f.stamp IS NULL OR f.edit_seq IS NOT NULL)
  AND f.kind IN ('observation', 'superseded', 'relation')
"""
_MADE = """
SELECT coalesce(s.at, c.at), coalesce(s.author, c.author)
FROM (SELECT min(seq) AS seq FROM lineage_commits WHERE lineage = :lineage) l JOIN commits c ON c.seq = l.seq
  LEFT JOIN sides s ON s.seq = l.seq AND s.place = (
    SELECT min(place) FROM side_files WHERE seq = l.seq AND lineage = :lineage AND old_blob IS NULL)
"""
_OBSERVATION = "UPDATE observations SET {}, touched = {} WHERE id = :id AND "
_RELATION = "UPDATE relations SET {} WHERE id = :id AND "
# The lines of one note with their text as facts have it. Looked for once and not line by line: one note may
# have tens of thousands of them.
_ROWS = """
SELECT 0, text, id FROM observations WHERE id BETWEEN :first AND :last UNION ALL
SELECT 1, type || ' -> ' || CASE shown WHEN '' THEN target ELSE coalesce(shown, target) END, id
FROM relations WHERE id BETWEEN :first AND :last
"""
_ADDED = "added_at = :time, agent = :by, added = :at, from_git = :bits"
_EDITED = (
    f"said_at = iif(from_git & {GIT_EDITED}, said_at, edited_at),"
    f" said_by = iif(from_git & {GIT_EDITED}, said_by, edited_by),"
    " edited_at = :time, edited_by = :by, edited = :at, from_git = :bits"
)
# A file may be ahead of history: a line is dated only while it has the very stamp, or the lack of one, that
# the dated fact has.
_UNSTAMPED = f"from_git & {GIT_ADDED}"
_STAMPED = (
    f"NOT from_git & {GIT_ADDED} AND added_at = :added_at AND agent = :agent"
    f" AND coalesce(iif(from_git & {GIT_EDITED}, said_at, edited_at), '') = :edited_at"
    f" AND coalesce(iif(from_git & {GIT_EDITED}, said_by, edited_by), '') = :edited_by"
)
_UPDATES = {
    (GIT_ADDED, False): _OBSERVATION.format(_ADDED, ":at") + _UNSTAMPED,
    (GIT_EDITED, False): _OBSERVATION.format(_EDITED, "max(coalesce(added, 0), :at)") + _STAMPED,
    (GIT_ADDED, True): _RELATION.format(_ADDED) + _UNSTAMPED,
    (GIT_EDITED, True): _RELATION.format(_EDITED) + _STAMPED,
}


_NOW = 1 << 61
"""A commit number behind every other."""


class Told(NamedTuple):
    """What Git tells of one line: who brought it, where it has no stamp, or else who edited it after that."""

    is_relation: bool
    text: str
    stamp: str | None
    at: int
    author: str
    tool: str

    @property
    def bits(self) -> int:
        """What this makes of a line's `from_git`."""
        by = 0 if self.tool in BY_PERSON else BY_TOOL
        return by | (GIT_ADDED if self.stamp is None else GIT_EDITED)

    def date(self, dates: Dates) -> Dates:
        """Give a line's dates with what this tells; as they are where the line has another stamp."""
        when = written(self.at)
        stamp = read_stamp(self.stamp)
        if stamp is None:
            if not dates.from_git & GIT_ADDED:
                return dates
            return dates._replace(added_at=when, agent=self.author, added=self.at, from_git=self.bits)
        if dates.from_git & (GIT_ADDED | GIT_EDITED) or dates[:4] != dates_of(stamp)[:4]:
            return dates
        return dates._replace(
            said_at=dates.edited_at,
            said_by=dates.edited_by,
            edited_at=when,
            edited_by=self.author,
            edited=self.at,
            from_git=self.bits,
        )


def told_of(db: sqlite3.Connection, lineage: int, seq: int = _NOW) -> list[Told]:
    """Give what Git tells of the lines that a note has at a commit."""
    lines = db.execute(_LINES, {"lineage": lineage, "seq": seq})
    return [
        Told(kind == "relation", text, stamp, *(told[3:] if stamp else told[:3]))
        for kind, text, stamp, *told in lines
    ]


def made_by(db: sqlite3.Connection, lineage: int) -> tuple[int, str] | None:
    """Give time and author of the commit that brought a note first."""
    row: tuple[int, str] | None = db.execute(_MADE, {"lineage": lineage}).fetchone()
    return row


def date_note(db: sqlite3.Connection, path: str, seq: int | None = None) -> None:
    """Fill in the dates of one note's lines, and of the note itself, as far as history knows them.

    With `seq` the note is as that commit has it.
    """
    seq = _NOW if seq is None else seq
    row = db.execute(
        "SELECT f.id, p.lineage FROM files f JOIN places p ON p.path = f.path"
        " AND p.first_seq <= :seq AND (p.last_seq IS NULL OR p.last_seq > :seq) WHERE f.path = :path",
        {"path": path, "seq": seq},
    ).fetchone()
    if row is None:
        return
    number, lineage = row
    lines = told_of(db, lineage, seq)
    rows = _rows_by_text(db, number) if lines else {}
    for told in lines:
        values = {"time": written(told.at), "by": told.author, "at": told.at, "bits": told.bits}
        own = read_stamp(told.stamp)
        if own is not None:
            values |= {
                "added_at": own.added_at,
                "agent": own.agent,
                "edited_at": own.edited_at,
                "edited_by": own.edited_by,
            }
        update = _UPDATES[GIT_ADDED if told.stamp is None else GIT_EDITED, told.is_relation]
        for one in rows.get((told.is_relation, told.text), ()):
            db.execute(update, values | {"id": one})
    made = made_by(db, lineage)
    if made is not None:
        db.execute(
            "UPDATE notes SET added = ?, added_by = ? WHERE id = ? AND created IS NULL",
            (*made, number),
        )


def _rows_by_text(db: sqlite3.Connection, number: int) -> dict[tuple[bool, str], list[int]]:
    """Give the rows of a note's lines by whether they are relations, and by their text."""
    found: dict[tuple[bool, str], list[int]] = {}
    bounds = {"first": number << SHIFT, "last": (number << SHIFT) | MOST_ROWS}
    for is_relation, text, one in db.execute(_ROWS, bounds):
        found.setdefault((bool(is_relation), text), []).append(one)
    return found


def put_off(db: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Take down notes that cannot be dated yet, since history is not in step with the files."""
    db.executemany("INSERT OR IGNORE INTO undated VALUES (?)", [(path,) for path in paths])


def date_some(db: sqlite3.Connection, most: int) -> int:
    """Date some of the notes that were put off; give how many."""
    paths = db.execute("SELECT path FROM undated LIMIT ?", (most,)).fetchall()
    for (path,) in paths:
        date_note(db, path)
    db.executemany("DELETE FROM undated WHERE path = ?", paths)
    return len(paths)


def forget_dates(db: sqlite3.Connection) -> None:
    """Take back all that history told, and put every note off: the past was rewritten."""
    _forget(db, 0, _NOW)
    db.execute("UPDATE notes SET added = NULL, added_by = NULL WHERE created IS NULL")
    db.execute("INSERT OR IGNORE INTO undated SELECT path FROM files JOIN notes USING (id)")


def forget_dates_of(db: sqlite3.Connection, number: int) -> None:
    """Take back all that history told of one note."""
    _forget(db, number << SHIFT, (number << SHIFT) | MOST_ROWS)
    db.execute("UPDATE notes SET added = NULL, added_by = NULL WHERE id = ? AND created IS NULL", (number,))


def _forget(db: sqlite3.Connection, first: int, last: int) -> None:
    said = "CAST(strftime('%s', said_at) AS INTEGER)"
    for table, touched in (
        ("observations", f", touched = max(coalesce(added, 0), coalesce({said}, 0))"),
        ("relations", ""),
    ):
        db.execute(
            f"UPDATE {table} SET edited_at = said_at, edited_by = said_by, edited = {said}, said_at = NULL,"
            f" said_by = NULL, from_git = 0{touched} WHERE id BETWEEN ? AND ? AND from_git & {GIT_EDITED}",
            (first, last),
        )
        db.execute(
            f"UPDATE {table} SET added_at = NULL, agent = NULL, added = NULL, from_git = {GIT_ADDED}"
            f"{', touched = NULL' if touched else ''} WHERE id BETWEEN ? AND ? AND from_git & {GIT_ADDED}",
            (first, last),
        )
