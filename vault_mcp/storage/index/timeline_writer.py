"""Take commits into the timeline, one after the other: what each of them ended, and what it began.

The rows are those that the index makes of a note, dated by what Git told up to the commit.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from vault_mcp.notes.analyse import indexed
from vault_mcp.notes.links import stem_key
from vault_mcp.notes.note import Note, Observation, Relation
from vault_mcp.storage.index.arrange import arrange
from vault_mcp.storage.index.dates import Dates, dates_of, touched
from vault_mcp.storage.index.dating import Told
from vault_mcp.storage.index.grams import WRITTEN
from vault_mcp.storage.index.note_rows import (
    count_current,
    links_of,
    name_unit,
    note_row,
    observation_row,
    observation_unit,
    prose_of,
    relation_row,
    tags_of,
)
from vault_mcp.storage.index.schema import MOST_ROWS, NAME, OBSERVATION, SHIFT
from vault_mcp.storage.index.searchable import padded
from vault_mcp.storage.index.timeline_schema import FOREVER, LINES
from vault_mcp.storage.index.words import speaker_of, words_of

_CREATED, _ADDED = 5, 7
_COLUMNS = {
    "observations": "text, superseded, added_at, agent, edited_at, edited_by, from_git, added, edited,"
    " said_at, said_by, touched, more",
    "relations": "type, target, shown, stem_key, added_at, agent, edited_at, edited_by, from_git, added,"
    " edited, said_at, said_by, more",
    "passages": "heading, text",
}
_NOTE = (
    "kind, archived, name_key, name, type, created, agent, added, added_by, memory_id, importance, session,"
    " more"
)
_WRITTEN = WRITTEN.format(f"role = {NAME}")

Row = tuple[Any, ...]
_Unit = tuple[int, int, str, str | None]


@dataclass(frozen=True, slots=True)
class Version:
    """What a commit made of one note.

    Attributes:
        lineage: The note.
        path: Where it lies from now on; None where there is no file of it any more.
        blob: What it holds.
        size: The bytes of that.
        note: What they are as a note; None for a file that is none.
        told: What Git tells of its lines.
        made: Time and author of the commit that brought it first.
    """

    lineage: int
    path: str | None
    blob: str = ""
    size: int = 0
    note: Note | None = None
    told: Sequence[Told] = ()
    made: tuple[int, str] | None = None


class TimelineWriter:
    """The writing half of the timeline, within one transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._begun: list[int] = []
        self._read_end()

    def _read_end(self) -> None:
        self.seq: int
        self.sha: str
        self.seq, self.sha, *self._totals = self._db.execute(
            "SELECT seq, sha, entities, observations, relations, files, units, words FROM moments"
            " ORDER BY seq DESC LIMIT 1"
        ).fetchone()

    @property
    def mark(self) -> str:
        """Which history this is the timeline of."""
        found: str = self._db.execute("SELECT mark FROM timeline").fetchone()[0]
        return found

    def begin(self, mark: str) -> None:
        """Forget all, and be the timeline of another history."""
        for name in (*LINES, "notes", "files", "blobs"):
            self._db.execute(f"DELETE FROM past_{name}")
        self._db.execute("INSERT INTO grams (grams) VALUES ('delete-all')")
        self._db.execute("INSERT INTO unit_words (unit_words) VALUES ('rebuild')")
        self._db.execute("DELETE FROM moments WHERE seq > 0")
        self._db.execute("UPDATE timeline SET mark = ?", (mark,))
        self._read_end()

    def ends(self) -> Iterator[tuple[int, str]]:
        """Give number and hash of the commits taken in, the newest first."""
        yield from self._db.execute("SELECT seq, sha FROM moments ORDER BY seq DESC")

    def cut(self, seq: int) -> None:
        """Forget what came after a commit, since history goes on from there otherwise."""
        db = self._db
        db.execute(
            f"INSERT INTO grams (grams, rowid, folded) SELECT 'delete', id, {_WRITTEN} FROM past_units"
            " WHERE first_seq > ?",
            (seq,),
        )
        db.execute(
            "INSERT INTO unit_words (unit_words, rowid, words) SELECT 'delete', id, words FROM past_units"
            " WHERE first_seq > ? AND words IS NOT NULL",
            (seq,),
        )
        for name in (*LINES, "notes", "files"):
            db.execute(f"DELETE FROM past_{name} WHERE first_seq > ?", (seq,))
            db.execute(
                f"UPDATE past_{name} SET last_seq = {FOREVER} WHERE last_seq > ? AND last_seq < {FOREVER}",
                (seq,),
            )
        db.execute("DELETE FROM past_blobs WHERE seq > ?", (seq,))
        db.execute("DELETE FROM moments WHERE seq > ?", (seq,))
        self._read_end()

    def append(self, sha: str, versions: Iterable[Version]) -> None:
        """Take in the commit that follows the last one."""
        self.seq += 1
        self.sha = sha
        for version in versions:
            self._put(version)
        self._db.execute(
            "INSERT INTO moments VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (self.seq, sha, *self._totals)
        )

    def finish(self) -> None:
        """Make what was begun findable; called once, by `Timeline.writing`."""
        begun = [(number,) for number in sorted(self._begun)]
        self._db.executemany(
            f"INSERT INTO grams (rowid, folded) SELECT id, {_WRITTEN} FROM past_units WHERE id = ?", begun
        )
        self._db.executemany(
            "INSERT INTO unit_words (rowid, words) SELECT id, words FROM past_units"
            " WHERE id = ? AND words IS NOT NULL",
            begun,
        )

    # -- one note

    def _put(self, version: Version) -> None:
        db, lineage, seq = self._db, version.lineage, self.seq
        there = db.execute(
            f"SELECT number, path FROM past_files WHERE id = ? AND last_seq = {FOREVER}", (lineage,)
        ).fetchone()
        if there is not None and there[1] != version.path:
            db.execute("UPDATE past_files SET last_seq = ? WHERE number = ?", (seq, there[0]))
            self._totals[3] -= 1
        if version.path is not None:
            if there is None or there[1] != version.path:
                db.execute(
                    "INSERT INTO past_files (id, path, folder, stem_key, first_seq) VALUES (?, ?, ?, ?, ?)",
                    (lineage, version.path, version.path.rpartition("/")[0], stem_key(version.path), seq),
                )
                self._totals[3] += 1
            db.execute(
                "INSERT OR REPLACE INTO past_blobs VALUES (?, ?, ?, ?)",
                (lineage, seq, version.blob, version.size),
            )
        self._put_note(version, version.note if version.path is not None else None)

    def _put_note(self, version: Version, note: Note | None) -> None:
        db, lineage, seq = self._db, version.lineage, self.seq
        old = db.execute(
            f"SELECT number, {_NOTE} FROM past_notes WHERE id = ? AND last_seq = {FOREVER}", (lineage,)
        ).fetchone()
        if note is None and old is None:
            return
        row = None
        if note is not None:
            own = note_row(version.path or "", note)
            by = None
            if own[_CREATED] is None and version.made is not None:
                own, by = (*own[:_ADDED], version.made[0], *own[_ADDED + 1 :]), version.made[1]
            row = (*own[: _ADDED + 1], by, *own[_ADDED + 1 :])
        if old is not None and row != old[1:]:
            db.execute("UPDATE past_notes SET last_seq = ? WHERE number = ?", (seq, old[0]))
        if row is not None and (old is None or row != old[1:]):
            names = f"id, {_NOTE}, first_seq"
            db.execute(
                f"INSERT INTO past_notes ({names}) VALUES (?{', ?' * (len(row) + 1)})", (lineage, *row, seq)
            )
        title = _title(row) if row is not None else None
        before = self._put_lines(version, note, title, renamed=old is not None and title != _title(old[1:]))
        self._count(old[1:] if old else None, *before, -1)
        if note is not None:
            self._count(row, count_current(note.observations), len(note.relations), 1)

    def _count(self, row: Row | None, observations: int, relations: int, sign: int) -> None:
        """Add a note to, or take it from, what the graph holds in all."""
        if row is None or row[1]:
            return
        self._totals[2] += sign * relations
        if row[0] == "entity":
            self._totals[0] += sign
            self._totals[1] += sign * observations

    # -- its lines

    def _put_lines(
        self, version: Version, note: Note | None, title: tuple[str, str] | None, *, renamed: bool
    ) -> tuple[int, int]:
        """Give how many observations and relations counted before.

        Each unit holds the words of the note's title too, so all of them begin anew when that is another.
        """
        base = version.lineage << SHIFT
        told = _by_line(version.told)
        items = note.observations if note else ()
        observations = [_observation(item, told) for item in items]
        role, prose = prose_of(note) if note else (0, [])
        relations = [_relation(item, told) for item in note.relations] if note else []
        top = self._top("units", base)
        words = indexed(title[1]) if title is not None else ""
        units, gone, top = self._name(base, note, top, renamed=renamed)
        counted, ended, begun, top = self._replace("observations", base, observations, top, anew=renamed)
        gone += ended
        for index, number in begun:
            item = items[index]
            units.append((*observation_unit(number, item), words_of(OBSERVATION, item.text, words)))
        _, ended, begun, top = self._replace("passages", base, prose, top, anew=renamed)
        gone += ended
        for index, number in begun:
            text = prose[index][1]
            units.append((number, role, padded(text), words_of(role, text, words)))
        self._replace_units(gone, units)
        linked, *_ = self._replace("relations", base, relations, self._top("relations", base))
        self._replace_keys("links", "stem_key", base, links_of(note) if note else {})
        self._replace_keys("tags", "tag", base, tags_of(note) if note else {})
        return sum(not row[3] for row in counted), len(linked)

    def _replace_units(self, gone: Sequence[int], come: Sequence[_Unit]) -> None:
        if gone:
            self._end("units", gone)
            count, words = self._db.execute(
                "SELECT count(length), coalesce(sum(length), 0) FROM past_units"
                " WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(gone),),
            ).fetchone()
            self._totals[4] -= count
            self._totals[5] -= words
        lengths = [None if unit[3] is None else len(unit[3].split()) for unit in come]
        self._totals[4] += sum(length is not None for length in lengths)
        self._totals[5] += sum(length or 0 for length in lengths)
        self._db.executemany(
            "INSERT INTO past_units (id, role, folded, words, length, first_seq)"
            f" VALUES (?, ?, ?, ?, ?, {self.seq})",
            [(*unit, length) for unit, length in zip(come, lengths, strict=True)],
        )
        self._begun += [unit[0] for unit in come]

    def _name(
        self, base: int, note: Note | None, top: int, *, renamed: bool
    ) -> tuple[list[_Unit], list[int], int]:
        """Give the unit of a name that is new, the one that ended, and the highest number in use."""
        named = name_unit(note) if note else None
        old = self._db.execute(
            f"SELECT id, folded FROM past_units WHERE id BETWEEN ? AND ? AND last_seq = {FOREVER}"
            f" AND role = {NAME}",
            (base, base | MOST_ROWS),
        ).fetchone()
        if old is not None and old[1] == named and not renamed:
            return [], [], top
        gone = [old[0]] if old else []
        if note is None or named is None:
            return [], gone, top
        words = None if note.kind == "memory" else words_of(NAME, note.name, "")
        return [(top + 1, NAME, named, words)], gone, top + 1

    def _replace(
        self, table: str, base: int, wanted: Sequence[Row], top: int, *, anew: bool = False
    ) -> tuple[list[Row], list[int], list[tuple[int, int]], int]:
        """Bring a note's rows of one table in step.

        Returns:
            The rows that held before, the numbers of those that ended, (index, number) of those that began,
            and the highest number in use.
        """
        columns = _COLUMNS[table]
        old = self._db.execute(
            f"SELECT id, position, {columns} FROM past_{table} WHERE id BETWEEN ? AND ?"
            f" AND last_seq = {FOREVER} ORDER BY position",
            (base, base | MOST_ROWS),
        ).fetchall()
        there = [(row[0], row[1], row[2:]) for row in old]
        kept = arrange([] if anew else there, list(wanted))
        index_of = {number: index for index, number in kept.same} if kept.moved else {}
        fresh = [*kept.new, *((index_of[number], position) for position, number in kept.moved)]
        ended = [number for number, *_ in there] if anew else kept.gone + [one[1] for one in kept.moved]
        self._end(table, ended)
        begun = []
        rows = []
        for index, position in fresh:
            top += 1
            begun.append((index, top))
            rows.append((top, position, *wanted[index], self.seq))
        if rows:
            marks = ", ?" * (len(rows[0]) - 1)
            self._db.executemany(
                f"INSERT INTO past_{table} (id, position, {columns}, first_seq) VALUES (?{marks})", rows
            )
        return old, ended, begun, top

    def _replace_keys(self, table: str, column: str, base: int, wanted: dict[str, None]) -> None:
        old = dict(
            self._db.execute(
                f"SELECT {column}, id FROM past_{table} WHERE id BETWEEN ? AND ? AND last_seq = {FOREVER}",
                (base, base | MOST_ROWS),
            ).fetchall()
        )
        if old.keys() == wanted.keys():
            return
        self._end(table, [number for key, number in old.items() if key not in wanted])
        top = self._top(table, base)
        fresh = [key for key in wanted if key not in old]
        self._db.executemany(
            f"INSERT INTO past_{table} (id, {column}, first_seq) VALUES (?, ?, {self.seq})",
            [(top + place, key) for place, key in enumerate(fresh, 1)],
        )

    def _end(self, table: str, numbers: Iterable[int]) -> None:
        self._db.executemany(
            f"UPDATE past_{table} SET last_seq = {self.seq} WHERE id = ?", [(number,) for number in numbers]
        )

    def _top(self, table: str, base: int) -> int:
        found = self._db.execute(
            f"SELECT max(id) FROM past_{table} WHERE id BETWEEN ? AND ?", (base, base | MOST_ROWS)
        ).fetchone()[0]
        return base if found is None else int(found)


def _title(row: Row) -> tuple[str, str]:
    """Give the kind of a note and what the words of each of its units begin with."""
    kind, name, more = row[0], row[3], row[-1]
    return kind, speaker_of(more) if kind == "memory" else name


def _by_line(told: Sequence[Told]) -> dict[tuple[bool, str], list[Told]]:
    found: dict[tuple[bool, str], list[Told]] = {}
    for one in told:
        found.setdefault((one.is_relation, one.text), []).append(one)
    return found


def _observation(item: Observation, told: dict[tuple[bool, str], list[Told]]) -> Row:
    """Give what a row of observations holds behind its number and position."""
    row = observation_row(0, 0, item)
    own = dates_of(item.stamp)
    dates = _dated(own, told.get((False, item.text), ()))
    when = touched(own) if dates is own else max(dates.added or 0, dates.edited or 0)
    return (*row[2:4], *dates, when, row[-1])


def _relation(item: Relation, told: dict[tuple[bool, str], list[Told]]) -> Row:
    row = relation_row(0, 0, item)
    text = f"{item.type} -> {item.shown or item.target}"
    return (*row[2:6], *_dated(dates_of(item.stamp), told.get((True, text), ())), row[-1])


def _dated(dates: Dates, told: Iterable[Told]) -> Dates:
    for one in told:
        dates = one.date(dates)
    return dates
