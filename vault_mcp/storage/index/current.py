"""Write the current tables: what each file holds now.

A file's rows are compared with what is there and only the difference is written, so that one new line in a
note of a thousand costs one line's work. Lines are told apart by their text, not by where they stand.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from vault_mcp.notes.links import stem_key
from vault_mcp.notes.note import Note
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.index.arrange import Kept, arrange
from vault_mcp.storage.index.fresh import FreshNotes, add_rows
from vault_mcp.storage.index.note_rows import (
    count_current,
    differs,
    links_of,
    name_unit,
    note_row,
    observation_row,
    observation_unit,
    prose_of,
    relation_row,
    tags_of,
)
from vault_mcp.storage.index.schema import GIT_EDITED, MOST_ROWS, NAME, OBSERVATION, SHIFT, SUPERSEDED
from vault_mcp.storage.index.searchable import padded
from vault_mcp.storage.index.state import State
from vault_mcp.storage.index.storable import seen

_NOTE_COLUMNS = (
    "kind, archived, name_key, name, type, created, agent, added, memory_id, importance, session, more"
)
_CREATED, _ADDED = 5, 7
# A line's stamp as it stands in the file, whatever Git told of it since.
_STAMP = (
    f"added_at, agent, iif(from_git & {GIT_EDITED}, said_at, edited_at),"
    f" iif(from_git & {GIT_EDITED}, said_by, edited_by), from_git, more"
)
_LINES = ("observations", "relations", "links", "tags", "passages")


class CurrentTables:
    """The writing half of the current tables, within one transaction."""

    def __init__(self, db: sqlite3.Connection, state: State) -> None:
        self._db = db
        self._state = state
        self._blobs: dict[str, str | None] = {}
        """What became of each file in this transaction: its blob, None for one that went."""
        self._undated: set[str] = set()
        """Notes with lines that Git may have to date."""

    # -- files

    def put_file(self, path: str, blob: str, stat: FileStat, note: Note | None) -> None:
        """Make the index say what a file holds now: its blob, what the disk tells of it, and the note it is.

        Args:
            path: Where it lies in the vault.
            blob: Its Git blob, in hex.
            stat: As it was when these bytes were read.
            note: What `read_note` gave; None for a file that is no note.
        """
        self.put_files([(path, blob, stat, note)])

    def put_files(self, files: Iterable[tuple[str, str, FileStat, Note | None]]) -> None:
        """Do as `put_file` with many files, each path once."""
        fresh = FreshNotes()
        for path, blob, stat, note in files:
            self._put(path, (blob, *seen(stat)), note, fresh)
            self._blobs[path] = blob
        self._write(fresh)

    def _put(self, path: str, told: tuple[object, ...], note: Note | None, fresh: FreshNotes) -> None:
        row = self._db.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        if row is None:
            number = self._insert_file(path, told)
            if note is not None:
                self._insert_note(number, path, note, fresh)
            return
        number = row[0]
        self._db.execute(
            "UPDATE files SET blob = ?, size = ?, mtime_ns = ?, ctime_ns = ?, ino = ?, mode = ? WHERE id = ?",
            (*told, number),
        )
        old = self._db.execute(f"SELECT {_NOTE_COLUMNS} FROM notes WHERE id = ?", (number,)).fetchone()
        if note is None:
            if old is not None:
                self._clear(number, old)
        elif old is None:
            self._insert_note(number, path, note, fresh)
        else:
            self._update_note(number, path, old, note)

    def put_stat(self, path: str, stat: FileStat) -> None:
        """Take down what the disk tells of a file whose bytes are known to be the same."""
        self._db.execute(
            "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, ino = ?, mode = ? WHERE path = ?",
            (*seen(stat), path),
        )

    def remove(self, path: str) -> None:
        """Forget a file that is gone; one the index does not know is no error."""
        row = self._db.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        self._blobs[path] = None
        if row is None:
            return
        number = row[0]
        old = self._db.execute(f"SELECT {_NOTE_COLUMNS} FROM notes WHERE id = ?", (number,)).fetchone()
        if old is not None:
            self._clear(number, old)
        self._db.execute("DELETE FROM files WHERE id = ?", (number,))
        self._state.files -= 1

    def _insert_file(self, path: str, told: tuple[object, ...]) -> int:
        cursor = self._db.execute(
            "INSERT INTO files (path, folder, stem_key, blob, size, mtime_ns, ctime_ns, ino, mode)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (path, path.rpartition("/")[0], stem_key(path), *told),
        )
        self._state.files += 1
        return cursor.lastrowid or 0

    # -- a note that is new to the index

    def _insert_note(self, number: int, path: str, note: Note, fresh: FreshNotes) -> None:
        row = note_row(path, note)
        self._undated.add(path)
        fresh.add(number, row, note)
        self._count(row, len(note.relations), count_current(note.observations), 1)

    def _write(self, fresh: FreshNotes) -> None:
        """Write notes that are new, and have their units enter the trigram index."""
        fresh.write(self._db)
        self._put_off([unit[0] for unit in fresh.units])

    # -- a note that the index knows

    def _update_note(self, number: int, path: str, old: tuple[Any, ...], note: Note) -> None:
        row = note_row(path, note)
        base, end = _range(number)
        if row[_CREATED] is None:
            if old[_CREATED] is None:  # what Git told of it holds
                row = (*row[:_ADDED], old[_ADDED], *row[_ADDED + 1 :])
            if row[_ADDED] is None:
                self._undated.add(path)
        if row != old:
            names = _NOTE_COLUMNS.replace(",", " = ?,") + " = ?"
            self._db.execute(f"UPDATE notes SET {names} WHERE id = ?", (*row, number))
        top: int = self._db.execute(
            "SELECT max(id) FROM units WHERE id BETWEEN ? AND ?", (base, end)
        ).fetchone()[0]
        if top - base + len(note.observations) + len(note.passages) + 1 > MOST_ROWS:
            self._clear(number, old)
            fresh = FreshNotes()
            self._insert_note(number, path, note, fresh)
            self._write(fresh)
            return
        named = name_unit(note)
        before = self._db.execute("SELECT folded FROM units WHERE id = ?", (base,)).fetchone()
        if before[0] != named:
            self._drop_units([base])
            self._add_units([(base, NAME, named)])
        top, observations = self._update_observations(base, end, top, note)
        self._update_passages(base, end, top, note)
        relations = self._update_relations(base, end, note)
        self._update_keys("links", "stem_key", base, end, links_of(note))
        self._update_keys("tags", "tag", base, end, tags_of(note))
        self._count(old, relations, observations, -1)
        self._count(row, len(note.relations), count_current(note.observations), 1)

    def _update_observations(self, base: int, end: int, top: int, note: Note) -> tuple[int, int]:
        """Give (the highest number in use, how many observations counted before)."""
        db, items = self._db, note.observations
        old = db.execute(
            f"SELECT id, position, text, superseded, {_STAMP} FROM observations WHERE id BETWEEN ? AND ?"
            " ORDER BY position",
            (base, end),
        ).fetchall()
        kept = arrange([row[:3] for row in old], [item.text for item in items])
        self._drop_lines("observations", kept, units=True)
        known = {row[0]: row for row in old}
        other = [(index, number) for index, number in kept.same if differs(known[number], 3, items[index])]
        changed = [(*observation_row(number, 0, items[index])[3:], number) for index, number in other]
        if changed:
            db.executemany(
                "UPDATE observations SET superseded = ?, added_at = ?, agent = ?, edited_at = ?,"
                " edited_by = ?, from_git = ?, added = ?, edited = ?, said_at = ?, said_by = ?, touched = ?,"
                " more = ? WHERE id = ?",
                changed,
            )
            db.executemany(
                "UPDATE units SET role = ? WHERE id = ?",
                [(SUPERSEDED if row[0] else OBSERVATION, row[-1]) for row in changed],
            )
        rows, units = [], []
        for index, position in kept.new:
            top += 1
            rows.append(observation_row(top, position, items[index]))
            units.append(observation_unit(top, items[index]))
        self._add("observations", rows)
        self._add_units(units)
        if any(items[index].stamp is None for index, _ in (*kept.new, *other)) or any(
            known[number][8] for _, number in other
        ):
            self._undated.add(note.path)
        return top, sum(not row[3] for row in old)

    def _update_passages(self, base: int, end: int, top: int, note: Note) -> None:
        role, pieces = prose_of(note)
        old = self._db.execute(
            "SELECT id, position, heading, text FROM passages WHERE id BETWEEN ? AND ? ORDER BY position",
            (base, end),
        ).fetchall()
        if not old and not pieces:
            return
        kept = arrange([(row[0], row[1], (row[2], row[3])) for row in old], pieces)
        self._drop_lines("passages", kept, units=True)
        rows, units = [], []
        for index, position in kept.new:
            top += 1
            rows.append((top, position, *pieces[index]))
            units.append((top, role, padded(pieces[index][1])))
        if rows:
            self._add("passages", rows)
            self._add_units(units)

    def _update_relations(self, base: int, end: int, note: Note) -> int:
        """Give how many relations were there before."""
        db, items = self._db, note.relations
        old = db.execute(
            f"SELECT id, position, type, target, shown, {_STAMP} FROM relations"
            " WHERE id BETWEEN ? AND ? ORDER BY position",
            (base, end),
        ).fetchall()
        if not old and not items:
            return 0
        kept = arrange(
            [(row[0], row[1], row[2:5]) for row in old],
            [(item.type, item.target, item.shown) for item in items],
        )
        self._drop_lines("relations", kept, units=False)
        known = {row[0]: row for row in old}
        other = [(index, number) for index, number in kept.same if differs(known[number], 4, items[index])]
        changed = [(*relation_row(number, 0, items[index])[6:], number) for index, number in other]
        if changed:
            db.executemany(
                "UPDATE relations SET added_at = ?, agent = ?, edited_at = ?, edited_by = ?, from_git = ?,"
                " added = ?, edited = ?, said_at = ?, said_by = ?, more = ? WHERE id = ?",
                changed,
            )
        if any(items[index].stamp is None for index, _ in (*kept.new, *other)) or any(
            known[number][9] for _, number in other
        ):
            self._undated.add(note.path)
        if kept.new:
            top = _top(base, [row[0] for row in old])
            self._add(
                "relations",
                [
                    relation_row(top + n, position, items[index])
                    for n, (index, position) in enumerate(kept.new, start=1)
                ],
            )
        return len(old)

    def _update_keys(self, table: str, column: str, base: int, end: int, wanted: dict[str, None]) -> None:
        old = dict(
            self._db.execute(
                f"SELECT {column}, id FROM {table} WHERE id BETWEEN ? AND ?", (base, end)
            ).fetchall()
        )
        if old.keys() == wanted.keys():
            return
        gone = [(number,) for key, number in old.items() if key not in wanted]
        if gone:
            self._db.executemany(f"DELETE FROM {table} WHERE id = ?", gone)
        self._add_keys(table, _top(base, old.values()), [key for key in wanted if key not in old])

    def _drop_lines(self, table: str, kept: Kept, *, units: bool) -> None:
        if kept.gone:
            self._db.executemany(f"DELETE FROM {table} WHERE id = ?", [(number,) for number in kept.gone])
            if units:
                self._drop_units(kept.gone)
        if kept.moved:
            self._db.executemany(f"UPDATE {table} SET position = ? WHERE id = ?", kept.moved)

    # -- rows

    def _add(self, table: str, rows: Sequence[tuple[object, ...]]) -> None:
        if rows:
            add_rows(self._db, table, rows)

    def _add_keys(self, table: str, top: int, keys: Iterable[str]) -> None:
        self._add(table, [(top + n, key) for n, key in enumerate(keys, start=1)])

    def _add_units(self, units: list[tuple[int, int, str]]) -> None:
        if units:
            add_rows(self._db, "units", units)
            self._put_off([unit[0] for unit in units])

    def _put_off(self, units: list[int]) -> None:
        """Have units wait to enter the trigram index."""
        self._db.executemany("INSERT INTO unsettled VALUES (?)", [(unit,) for unit in units])
        self._state.unsettled += len(units)

    def _drop_units(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            settled = self._db.execute("DELETE FROM unsettled WHERE id = ?", (number,)).rowcount == 0
            if settled:
                self._db.execute(
                    "INSERT INTO settled_dead SELECT id, folded FROM units WHERE id = ?", (number,)
                )
            self._db.execute("DELETE FROM units WHERE id = ?", (number,))
            self._state.unsettled += 1 if settled else -1

    def _clear(self, number: int, old: tuple[Any, ...]) -> None:
        """Take all rows of a note away, its file's own row excepted."""
        base, end = _range(number)
        db = self._db
        observations = db.execute(
            "SELECT count(*) FROM observations WHERE id BETWEEN ? AND ? AND NOT superseded", (base, end)
        ).fetchone()[0]
        relations = db.execute(
            "SELECT count(*) FROM relations WHERE id BETWEEN ? AND ?", (base, end)
        ).fetchone()[0]
        self._count(old, relations, observations, -1)
        self._drop_units(
            [
                row[0]
                for row in db.execute("SELECT id FROM units WHERE id BETWEEN ? AND ?", (base, end)).fetchall()
            ]
        )
        for table in _LINES:
            db.execute(f"DELETE FROM {table} WHERE id BETWEEN ? AND ?", (base, end))
        db.execute("DELETE FROM notes WHERE id = ?", (number,))

    def _count(self, row: tuple[Any, ...], relations: int, observations: int, sign: int) -> None:
        """Add a note to, or take it from, what the graph holds in all."""
        kind, archived = row[0], row[1]
        if archived:
            return
        self._state.relations += sign * relations
        if kind == "entity":
            self._state.entities += sign
            self._state.observations += sign * observations


def _range(number: int) -> tuple[int, int]:
    base = number << SHIFT
    return base, base | MOST_ROWS


def _top(base: int, numbers: Iterable[int]) -> int:
    return max(numbers, default=base)
