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

from vault_mcp.notes.analyse import indexed
from vault_mcp.notes.passages import passage_key
from vault_mcp.storage.index.schema import MOST_ROWS, NAME, OBSERVATION, SEGMENTS, SHIFT, SUPERSEDED

ANALYSED = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
"""Splits the analyser's output at its spaces and nowhere else."""

WORDS = f"""
CREATE TABLE unworded (id INTEGER PRIMARY KEY);
CREATE TABLE word_units (
  id INTEGER PRIMARY KEY, words TEXT NOT NULL, key BLOB NOT NULL, rev INTEGER NOT NULL
);
CREATE INDEX word_units_by_rev ON word_units (rev);
CREATE TABLE word_gone (rev INTEGER PRIMARY KEY, id INTEGER NOT NULL);
CREATE TABLE word_state (
  id INTEGER PRIMARY KEY CHECK (id = 1), mark TEXT NOT NULL, rev INTEGER NOT NULL, model TEXT NOT NULL
);
INSERT INTO word_state VALUES (1, hex(randomblob(8)), 0, '');
CREATE VIRTUAL TABLE unit_words USING fts5 (
  words, content = 'word_units', content_rowid = 'id', tokenize = "{ANALYSED}"
);
INSERT INTO unit_words (unit_words, rank) VALUES ('automerge', {SEGMENTS});
CREATE VIRTUAL TABLE unit_terms USING fts5vocab (unit_words, row);
CREATE TABLE vectors (key BLOB PRIMARY KEY, row BLOB NOT NULL, rev INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX vectors_by_rev ON vectors (rev);
CREATE TABLE unvectored (id INTEGER PRIMARY KEY);
CREATE TRIGGER units_come AFTER INSERT ON units BEGIN
  INSERT OR IGNORE INTO unworded VALUES (new.id);
END;
CREATE TRIGGER units_go AFTER DELETE ON units BEGIN
  INSERT OR IGNORE INTO unworded VALUES (old.id);
END;
"""

BY_KEY = "CREATE INDEX IF NOT EXISTS word_units_by_key ON word_units (key)"
"""Made once the words of a new index are all there: kept up meanwhile, its keys, which come in no order, take
as long as all else."""

BATCH = 100
"""Units that are settled in one short transaction of the background work, while calls come."""

BULK = 1_000
"""Units of a transaction while nobody waits: half the processor time of as many in short ones."""

_SAME = "SELECT id FROM word_units WHERE key = ?"

# What waits up to a number: role and text as it stands in its note, and whose it is. A memory's name is its
# day and its first words, which its text says better.
_TEXTS = f"""
SELECT u.id, u.role, CASE u.role WHEN {NAME} THEN n.name WHEN {OBSERVATION} THEN o.text
  WHEN {SUPERSEDED} THEN o.text ELSE p.text END AS said, n.kind, n.name, n.more
FROM unworded w JOIN units u ON u.id = w.id JOIN notes n ON n.id = w.id >> {SHIFT}
LEFT JOIN observations o ON o.id = w.id LEFT JOIN passages p ON p.id = w.id
WHERE w.id <= ? AND said IS NOT NULL AND NOT (u.role = {NAME} AND n.kind = 'memory')
ORDER BY w.id
"""


class WordTables:
    """The writing half of the word index and of the vectors, within one transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def settle_words(self, most: int = BATCH) -> int:
        """Bring up to `most` waiting units in step; gives how many there were."""
        db = self._db
        # The title stands before each unit of a note: where it changed, the others are analysed again.
        names = [(base, base | MOST_ROWS) for (base,) in self._waiting(most) if base & MOST_ROWS == 0]
        db.executemany(
            "INSERT OR IGNORE INTO unworded SELECT id FROM word_units WHERE id > ? AND id <= ?", names
        )
        waiting = self._waiting(most)
        if not waiting:
            db.execute(BY_KEY)
            return 0
        last = waiting[-1]
        rev = self._drop(last, self._rev())
        rev = self._put(db.execute(_TEXTS, last).fetchall(), rev)
        db.execute("DELETE FROM unworded WHERE id <= ?", last)
        db.execute("UPDATE word_state SET rev = ?", (rev,))
        return len(waiting)

    def _waiting(self, most: int) -> list[tuple[int]]:
        return self._db.execute("SELECT id FROM unworded ORDER BY id LIMIT ?", (most,)).fetchall()

    def _rev(self) -> int:
        row: tuple[int] = self._db.execute("SELECT rev FROM word_state").fetchone()
        return row[0]

    def _drop(self, last: tuple[int], rev: int) -> int:
        """Forget the words of what waits up to a number; give the newest `rev`."""
        db = self._db
        old = db.execute(
            "SELECT id, words FROM word_units WHERE id IN (SELECT id FROM unworded WHERE id <= ?)", last
        ).fetchall()
        db.executemany("INSERT INTO unit_words (unit_words, rowid, words) VALUES ('delete', ?, ?)", old)
        for table in ("word_units", "unvectored"):
            db.executemany(f"DELETE FROM {table} WHERE id = ?", [row[:1] for row in old])
        db.executemany(
            "INSERT INTO word_gone VALUES (?, ?)", [(rev + n, row[0]) for n, row in enumerate(old, 1)]
        )
        return rev + len(old)

    def _put(self, found: Iterable[tuple[int, int, str, str, str, str | None]], rev: int) -> int:
        """Write the words of units; give the newest `rev`."""
        units: list[tuple[int, str, bytes, int]] = []
        note, title = -1, ""
        for number, role, text, kind, name, more in found:
            if number >> SHIFT != note:
                note, title = number >> SHIFT, indexed(speaker_of(more) if kind == "memory" else name)
            rev += 1
            units.append((number, words_of(role, text, title), passage_key(text), rev))
        db = self._db
        db.executemany("INSERT INTO word_units VALUES (?, ?, ?, ?)", units)
        db.executemany("INSERT INTO unit_words (rowid, words) VALUES (?, ?)", [unit[:2] for unit in units])
        db.executemany(
            "INSERT OR IGNORE INTO unvectored"
            " SELECT ? WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE key = ?)",
            [(unit[0], unit[2]) for unit in units],
        )
        return rev

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
        self._db.execute("INSERT OR IGNORE INTO unvectored SELECT id FROM word_units")

    def store_vectors(self, model: str, rows: Iterable[tuple[bytes, bytes]]) -> bool:
        """Keep vectors by their keys; False, and nothing is kept, when they are not of the model in use."""
        (known,) = self._db.execute("SELECT model FROM word_state").fetchone()
        if known != model:
            return False
        self._db.execute(BY_KEY)
        rev = self._rev()
        for key, row in rows:
            rev += 1
            self._db.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", (key, row, rev))
            self._db.execute(f"DELETE FROM unvectored WHERE id IN ({_SAME})", (key,))
        self._db.execute("UPDATE word_state SET rev = ?", (rev,))
        return True

    def drop_vectors(self, units: Sequence[int]) -> None:
        """Throw away the vectors of these units and have them made again."""
        for number in units:
            row = self._db.execute("SELECT key FROM word_units WHERE id = ?", (number,)).fetchone()
            if row:
                self._db.execute("DELETE FROM vectors WHERE key = ?", row)
                self._db.execute(f"INSERT OR IGNORE INTO unvectored {_SAME}", row)

    def drop_unvectored(self, units: Sequence[int]) -> None:
        """Take units off the list whose text is not there any more."""
        self._db.executemany("DELETE FROM unvectored WHERE id = ?", [(unit,) for unit in units])


def words_of(role: int, text: str, title: str) -> str:
    """Give the words of a unit as they are indexed: those of its note's title (analysed) come first."""
    words = indexed(text)
    return f"{title} {words}" if title and words and role != NAME else words or title


def speaker_of(more: str | None) -> str:
    """Give who speaks in a memory, from what its row keeps beside its columns."""
    if not more:
        return ""
    found = json.loads(more)
    return str(found[2]) if len(found) > 2 else ""
