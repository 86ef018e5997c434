"""The word index over every unit, and the keys under which vectors of units are kept.

Analysing a text takes longer than all else that a small change costs. So triggers only note which units
came or went, in `unworded`, and `settle_words` does the work in the background, or just before a question is
asked. A unit's words begin with those of its title: the name of its entity, or who speaks in its memory.

Every settled row bears a number that grows (`rev`), and so does every vector and every row that went: a
process that holds vectors in memory asks for what is newer than what it has. `mark` tells it whether the
index is still the one it asked before.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence

from vault_mcp.notes.analyse import words
from vault_mcp.notes.passages import passage_key
from vault_mcp.storage.index.schema import MOST_ROWS, NAME, OBSERVATION, SHIFT, SUPERSEDED

ANALYSED = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
"""Splits the analyser's output at its spaces and nowhere else."""

WORDS = f"""
CREATE TABLE unworded (id INTEGER PRIMARY KEY);
CREATE TABLE word_units (
  id INTEGER PRIMARY KEY, words TEXT NOT NULL, key BLOB NOT NULL, rev INTEGER NOT NULL
);
CREATE INDEX word_units_by_key ON word_units (key);
CREATE INDEX word_units_by_rev ON word_units (rev);
CREATE TABLE word_gone (rev INTEGER PRIMARY KEY, id INTEGER NOT NULL);
CREATE TABLE word_state (
  id INTEGER PRIMARY KEY CHECK (id = 1), mark TEXT NOT NULL, rev INTEGER NOT NULL, model TEXT NOT NULL
);
INSERT INTO word_state VALUES (1, hex(randomblob(8)), 0, '');
CREATE VIRTUAL TABLE unit_words USING fts5 (
  words, content = 'word_units', content_rowid = 'id', tokenize = "{ANALYSED}"
);
CREATE VIRTUAL TABLE unit_terms USING fts5vocab (unit_words, row);
CREATE TABLE vectors (key BLOB PRIMARY KEY, row BLOB NOT NULL, rev INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX vectors_by_rev ON vectors (rev);
CREATE TABLE unvectored (key BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TRIGGER units_come AFTER INSERT ON units BEGIN
  INSERT OR IGNORE INTO unworded VALUES (new.id);
END;
CREATE TRIGGER units_go AFTER DELETE ON units BEGIN
  INSERT OR IGNORE INTO unworded VALUES (old.id);
END;
"""

BATCH = 100
"""Units that are settled in one short transaction of the background work."""


class WordTables:
    """The writing half of the word index and of the vectors, within one transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def settle_words(self, most: int = BATCH) -> int:
        """Bring up to `most` waiting units in step; gives how many there were."""
        db = self._db
        waiting = [row[0] for row in db.execute("SELECT id FROM unworded LIMIT ?", (most,))]
        if not waiting:
            return 0
        rev = self._rev()
        for number in waiting:
            rev += 1
            self._drop(number, rev)
        titles: dict[int, list[str]] = {}
        for number in waiting:
            if number & MOST_ROWS == 0:
                self._title_changed(number)
            found = self._text(number)
            if found is not None:
                rev += 1
                self._put(number, *found, titles, rev)
        db.execute("UPDATE word_state SET rev = ?", (rev,))
        db.executemany("DELETE FROM unworded WHERE id = ?", [(number,) for number in waiting])
        return len(waiting)

    def _rev(self) -> int:
        row: tuple[int] = self._db.execute("SELECT rev FROM word_state").fetchone()
        return row[0]

    def _drop(self, number: int, rev: int) -> None:
        old = self._db.execute("SELECT words FROM word_units WHERE id = ?", (number,)).fetchone()
        if old is None:
            return
        self._db.execute(
            "INSERT INTO unit_words (unit_words, rowid, words) VALUES ('delete', ?, ?)", (number, old[0])
        )
        self._db.execute("DELETE FROM word_units WHERE id = ?", (number,))
        self._db.execute("INSERT INTO word_gone VALUES (?, ?)", (rev, number))

    def _title_changed(self, base: int) -> None:
        """Have the other units of a note analysed again: its title stands before each of them."""
        self._db.execute(
            "INSERT OR IGNORE INTO unworded SELECT id FROM word_units WHERE id > ? AND id <= ?",
            (base, base | MOST_ROWS),
        )

    def _text(self, number: int) -> tuple[int, str] | None:
        """Give role and text of a unit as it stands in its note."""
        unit = self._db.execute("SELECT role FROM units WHERE id = ?", (number,)).fetchone()
        if unit is None:
            return None
        role: int = unit[0]
        if role == NAME:
            # A memory's name is its day and its first words, which its text says better.
            row = self._db.execute(
                "SELECT name FROM notes WHERE id = ? AND kind <> 'memory'", (number >> SHIFT,)
            ).fetchone()
        else:
            table = "observations" if role in (OBSERVATION, SUPERSEDED) else "passages"
            row = self._db.execute(f"SELECT text FROM {table} WHERE id = ?", (number,)).fetchone()
        return (role, row[0]) if row else None

    def _put(self, number: int, role: int, text: str, titles: dict[int, list[str]], rev: int) -> None:
        note = number >> SHIFT
        if note not in titles:
            titles[note] = self._title(note)
        title = [] if role == NAME else titles[note]
        analysed = " ".join([*title, *words(text)])
        key = passage_key(text)
        self._db.execute("INSERT INTO word_units VALUES (?, ?, ?, ?)", (number, analysed, key, rev))
        self._db.execute("INSERT INTO unit_words (rowid, words) VALUES (?, ?)", (number, analysed))
        self._db.execute(
            "INSERT OR IGNORE INTO unvectored SELECT ?"
            " WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE key = ?)",
            (key, key),
        )

    def _title(self, note: int) -> list[str]:
        row = self._db.execute("SELECT kind, name, more FROM notes WHERE id = ?", (note,)).fetchone()
        if row is None:
            return []
        kind, name, more = row
        return words(speaker_of(more) if kind == "memory" else name)

    # -- vectors

    def set_model(self, model: str) -> bool:
        """Say whose vectors are kept; another model's are thrown away. True when it was another one."""
        (known,) = self._db.execute("SELECT model FROM word_state").fetchone()
        if known == model:
            return False
        self._db.execute("UPDATE word_state SET model = ?", (model,))
        self.forget_vectors()
        return True

    def forget_vectors(self) -> None:
        """Throw all vectors away and have them made again."""
        self._db.execute("DELETE FROM vectors")
        self._db.execute("INSERT OR IGNORE INTO unvectored SELECT DISTINCT key FROM word_units")

    def store_vectors(self, model: str, rows: Iterable[tuple[bytes, bytes]]) -> bool:
        """Keep vectors by their keys; False, and nothing is kept, when they are not of the model in use."""
        (known,) = self._db.execute("SELECT model FROM word_state").fetchone()
        if known != model:
            return False
        rev = self._rev()
        for key, row in rows:
            rev += 1
            self._db.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", (key, row, rev))
            self._db.execute("DELETE FROM unvectored WHERE key = ?", (key,))
        self._db.execute("UPDATE word_state SET rev = ?", (rev,))
        return True

    def drop_vectors(self, units: Sequence[int]) -> None:
        """Throw away the vectors of these units and have them made again."""
        for number in units:
            row = self._db.execute("SELECT key FROM word_units WHERE id = ?", (number,)).fetchone()
            if row:
                self._db.execute("DELETE FROM vectors WHERE key = ?", row)
                self._db.execute("INSERT OR IGNORE INTO unvectored VALUES (?)", row)

    def drop_unvectored(self, keys: Sequence[bytes]) -> None:
        """Take texts off the list that are in no unit any more."""
        self._db.executemany("DELETE FROM unvectored WHERE key = ?", [(key,) for key in keys])


def speaker_of(more: str | None) -> str:
    """Give who speaks in a memory, from what its row keeps beside its columns."""
    if not more:
        return ""
    found = json.loads(more)
    return str(found[2]) if len(found) > 2 else ""
