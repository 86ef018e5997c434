"""What recall asks of the index: units by words, what is told of each, what stands beside it, and vectors."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vault_mcp.storage.index.dates import written
from vault_mcp.storage.index.lookup import Snapshot
from vault_mcp.storage.index.rows import UnitKind
from vault_mcp.storage.index.schema import MOST_ROWS, NAME, OBSERVATION, PASSAGE, SHIFT, SUPERSEDED, VALUE
from vault_mcp.storage.index.storable import storable
from vault_mcp.storage.index.words import speaker_of

_KINDS: dict[int, UnitKind] = {
    NAME: "name",
    OBSERVATION: "observation",
    SUPERSEDED: "observation",
    PASSAGE: "passage",
    VALUE: "value",
}

_UNIT = f"""
SELECT w.id, u.role, w.words, f.path, n.kind, n.name, n.type, n.archived, n.importance, n.session,
  n.memory_id, n.created, coalesce(n.agent, n.added_by), n.added, n.more, o.text,
  coalesce(o.edited_at, o.added_at), coalesce(o.edited_by, o.agent), coalesce(o.edited, o.added),
  p.text, p.heading
FROM word_units w JOIN units u ON u.id = w.id
JOIN notes n ON n.id = w.id >> {SHIFT} JOIN files f ON f.id = n.id
LEFT JOIN observations o ON o.id = w.id AND u.role IN ({OBSERVATION}, {SUPERSEDED})
LEFT JOIN passages p ON p.id = w.id AND u.role IN ({PASSAGE}, {VALUE})
"""

_STANDING = f"""
SELECT w.id, u.role, w.words, n.kind, n.name, n.more, n.session, n.archived, n.importance,
  coalesce(o.text, p.text, n.name), iif(o.id IS NULL, n.added, coalesce(o.edited, o.added))
FROM word_units w JOIN units u ON u.id = w.id JOIN notes n ON n.id = w.id >> {SHIFT}
LEFT JOIN observations o ON o.id = w.id AND u.role IN ({OBSERVATION}, {SUPERSEDED})
LEFT JOIN passages p ON p.id = w.id AND u.role IN ({PASSAGE}, {VALUE})
"""

# Beside a passage stand those of its own note; at the edges of a memory, those of the memories before and
# after it in its session. Facts in a list stand each for itself.
_BESIDE = f"""
SELECT w.id,
  coalesce(
    (SELECT max(x.id) FROM word_units x WHERE x.id < w.id AND x.id > w.id & ~{MOST_ROWS}),
    (SELECT max(x.id) FROM word_units x
      WHERE x.id > b.id << {SHIFT} AND x.id <= (b.id << {SHIFT}) + {MOST_ROWS})
  ),
  coalesce(
    (SELECT min(x.id) FROM word_units x WHERE x.id > w.id AND x.id <= w.id | {MOST_ROWS}),
    (SELECT min(x.id) FROM word_units x
      WHERE x.id > a.id << {SHIFT} AND x.id <= (a.id << {SHIFT}) + {MOST_ROWS})
  )
FROM word_units w JOIN units u ON u.id = w.id JOIN notes n ON n.id = w.id >> {SHIFT}
LEFT JOIN notes b ON n.memory_id IS NOT NULL AND n.session <> '' AND b.id = (
  SELECT x.id FROM notes x
  WHERE x.session = n.session AND x.memory_id < n.memory_id AND x.memory_id IS NOT NULL
  ORDER BY x.memory_id DESC LIMIT 1)
LEFT JOIN notes a ON n.memory_id IS NOT NULL AND n.session <> '' AND a.id = (
  SELECT x.id FROM notes x
  WHERE x.session = n.session AND x.memory_id > n.memory_id AND x.memory_id IS NOT NULL
  ORDER BY x.memory_id LIMIT 1)
"""


# CROSS JOIN keeps these orders. SQLite knows no way from a note to its units but by their range: joined as in
# the first, it would walk all units for each note.
_NOTES_OF_UNITS = f"SELECT w.id FROM word_units w CROSS JOIN notes n ON n.id = w.id >> {SHIFT}"
_UNITS_OF_NOTES = (
    "SELECT w.id FROM notes n CROSS JOIN word_units w"
    f" ON w.id BETWEEN n.id << {SHIFT} AND (n.id << {SHIFT}) + {MOST_ROWS}"
)

_COUNTS = f"""
SELECT j.value, (
  SELECT count(*) FROM word_units x
  WHERE x.id >= j.value << {SHIFT} AND x.id <= (j.value << {SHIFT}) + {MOST_ROWS})
FROM json_each(?) j
"""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which units may be found: by kind of note, session, type, importance, and when they were written.

    `since` is inclusive, `before` exclusive, in seconds since 1970.
    """

    kinds: tuple[str, ...] = ()
    session: str = ""
    type: str = ""
    importance: int | None = None
    since: int | None = None
    before: int | None = None

    def __bool__(self) -> bool:
        return self != Scope()

    def condition(self) -> tuple[str, list[object]]:
        """Give the SQL condition on a unit `w.id` of a note `n`, with its values."""
        terms: list[str] = []
        values: list[object] = []
        if self.kinds:
            terms.append(f"n.kind IN ({', '.join('?' * len(self.kinds))})")
            values += self.kinds
        for column, value in (("session", self.session), ("type", self.type)):
            if value:
                terms.append(f"n.kind = 'memory' AND n.{column} = ?")
                values.append(storable(value))
        if self.importance is not None:
            terms.append("n.kind = 'memory' AND n.importance >= ?")
            values.append(self.importance)
        last = "(SELECT max(coalesce(o.edited, o.added), o.added) FROM observations o WHERE o.id = w.id)"
        for sign, moment in ((">=", self.since), ("<", self.before)):
            if moment is not None:
                terms.append(f"coalesce({last}, n.added) {sign} ?")
                values.append(moment)
        return " AND ".join(f"({term})" for term in terms) or "1", values


@dataclass(frozen=True, slots=True)
class UnitRow:
    """One unit with all that is told of it.

    `at` and `by` say who wrote it last and when, from its stamp or else from Git, where that is known;
    `moment` is that time in seconds since 1970.
    """

    id: int
    kind: UnitKind
    superseded: bool
    words: frozenset[str]
    text: str
    heading: str
    path: str
    family: str
    name: str
    type: str
    archived: bool
    importance: int | None
    session: str
    memory_id: int | None
    speaker: str
    at: str | None
    by: str | None
    moment: int | None

    @property
    def note(self) -> int:
        """The number of its note in this snapshot."""
        return note_of(self.id)


class Standing(NamedTuple):
    """What the ranking of a unit goes by, and no more: some hundred are read for one question.

    `person` is the speaker of a memory or the name of an entity, "" for other notes; `moment` is when it was
    written, in seconds since 1970.
    """

    id: int
    words: frozenset[str]
    text: str
    person: str
    session: str
    archived: bool
    superseded: bool
    importance: int | None
    moment: int | None


@dataclass(frozen=True, slots=True)
class VectorNews:
    """What changed among the vectors after a number.

    Attributes:
        mark: Which index this is; another mark means that the index was made anew.
        model: Whose vectors are kept, "" before the first.
        newest: The number to ask from the next time.
        gone: Units that went.
        came: Units with their vectors as bytes, one after the other: a list of all would be as large as the
            vectors. Read within the snapshot.
    """

    mark: str
    model: str
    newest: int
    gone: list[int]
    came: Iterator[tuple[int, bytes]]


class Recall(Snapshot):
    """Units for recall."""

    def unworded(self) -> int:
        """Count the units whose words are not in the index yet."""
        count: int = self._one("SELECT count(*) FROM unworded")[0]
        return count

    def unit_count(self) -> int:
        """Count the units in the word index."""
        count: int = self._one("SELECT count(*) FROM word_units")[0]
        return count

    def word_hits(self, terms: Sequence[str], most: int, scope: Scope) -> dict[int, float]:
        """Give the best units that hold any of these words, with their BM25 (greater is better)."""
        if not terms:
            return {}
        asked = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
        if not scope:
            sql = "SELECT rowid, -rank FROM unit_words WHERE unit_words MATCH ? ORDER BY rank LIMIT ?"
            return dict(self._rows(sql, (asked, most)))
        condition, values = scope.condition()
        sql = (
            "SELECT w.id, -unit_words.rank FROM unit_words JOIN word_units w ON w.id = unit_words.rowid"
            f" JOIN notes n ON n.id = w.id >> {SHIFT} WHERE unit_words MATCH ? AND {condition}"
            " ORDER BY unit_words.rank LIMIT ?"
        )
        return dict(self._rows(sql, (asked, *values, most)))

    def holding(self, term: str) -> int:
        """Count the units that hold a word."""
        row = self._one("SELECT doc FROM unit_terms WHERE term = ?", (storable(term),))
        return row[0] if row else 0

    def units_in(self, scope: Scope) -> list[int]:
        """Give the units within a scope."""
        condition, values = scope.condition()
        return [row[0] for row in self._rows(f"{_UNITS_OF_NOTES} WHERE {condition}", values)]

    def units_among(self, units: Collection[int], scope: Scope) -> set[int]:
        """Give those of some units that are within a scope."""
        condition, values = scope.condition()
        found: set[int] = set()
        for part in _parts(units):
            marks = ", ".join("?" * len(part))
            sql = f"{_NOTES_OF_UNITS} WHERE w.id IN ({marks}) AND {condition}"
            found.update(row[0] for row in self._rows(sql, (*part, *values)))
        return found

    def units_written(self, first: int, last: int, most: int, scope: Scope) -> list[int]:
        """Give units of notes whose own stamp lies between two moments, both inclusive, the newest first."""
        condition, values = scope.condition()
        sql = f"{_UNITS_OF_NOTES} WHERE n.added BETWEEN ? AND ? AND {condition} ORDER BY n.added DESC LIMIT ?"
        return [row[0] for row in self._rows(sql, (first, last, *values, most))]

    def unit_counts(self, notes: Collection[int]) -> dict[int, int]:
        """Give for each of some notes how many units it has."""
        return dict(self._rows(_COUNTS, (json.dumps(list(notes)),)))

    def beside(self, units: Collection[int]) -> dict[int, tuple[int | None, int | None]]:
        """Give for each passage the one before and the one after it, in its note or its session."""
        found: dict[int, tuple[int | None, int | None]] = {}
        for part in _parts(units):
            marks = ", ".join("?" * len(part))
            sql = f"{_BESIDE} WHERE w.id IN ({marks}) AND (n.session <> '' OR u.role IN ({PASSAGE}, {VALUE}))"
            for number, before, after in self._rows(sql, part):
                found[number] = (before, after)
        return found

    def standings(self, numbers: Collection[int]) -> dict[int, Standing]:
        """Give what the ranking of these units goes by, in the order of their numbers."""
        found: dict[int, Standing] = {}
        for part in _parts(numbers):
            marks = ", ".join("?" * len(part))
            rows = self._rows(f"{_STANDING} WHERE w.id IN ({marks}) ORDER BY w.id", part)
            for number, role, words, kind, name, more, session, archived, importance, text, moment in rows:
                person = speaker_of(more) if kind == "memory" else name if kind == "entity" else ""
                found[number] = Standing(
                    number, frozenset(words.split(" ")), text, person, session, bool(archived),
                    role == SUPERSEDED, importance, moment,
                )  # fmt: skip
        return found

    def units(self, numbers: Collection[int]) -> list[UnitRow]:
        """Give all that is told of these units."""
        found: list[UnitRow] = []
        for part in _parts(numbers):
            marks = ", ".join("?" * len(part))
            found += [_unit(row) for row in self._rows(f"{_UNIT} WHERE w.id IN ({marks})", part)]
        return found

    def opening(self, note: int, most: int) -> list[str]:
        """Give the first facts of a note that hold, at most so many; without any, its first passages."""
        within = (note << SHIFT, (note << SHIFT) + MOST_ROWS, most)
        part = "id BETWEEN ? AND ? {} ORDER BY position LIMIT ?"
        facts = self._rows(f"SELECT text FROM observations WHERE {part.format('AND NOT superseded')}", within)
        found = facts or self._rows(f"SELECT text FROM passages WHERE {part.format('')}", within)
        return [row[0] for row in found]

    # -- vectors

    @property
    def vector_model(self) -> str:
        """Whose vectors are kept, "" before the first."""
        model: str = self._one("SELECT model FROM word_state")[0]
        return model

    def vectors_since(self, mark: str, rev: int) -> VectorNews:
        """Give what changed after a number; all there is when the index is not the one of that mark."""
        own, newest, model = self._one("SELECT mark, rev, model FROM word_state")
        if own != mark:
            rev = 0
        elif newest == rev:
            return VectorNews(own, model, newest, [], iter(()))
        if rev == 0:
            # CROSS JOIN keeps the order of the keys, by which both lie on disk.
            all_of_them = "SELECT w.id, v.row FROM vectors v CROSS JOIN word_units w ON w.key = v.key"
            return VectorNews(own, model, newest, [], self._db.execute(all_of_them))
        gone = [row[0] for row in self._rows("SELECT id FROM word_gone WHERE rev > ?", (rev,))]
        came = self._db.execute(
            "SELECT w.id, v.row FROM word_units w JOIN vectors v ON v.key = w.key WHERE w.rev > ?1"
            # CROSS JOIN keeps this order: the few vectors that are new first.
            " UNION ALL SELECT w.id, v.row FROM vectors v CROSS JOIN word_units w ON w.key = v.key"
            " WHERE v.rev > ?1 AND w.rev <= ?1",
            (rev,),
        )
        return VectorNews(own, model, newest, gone, came)

    def unvectored(self, most: int) -> list[tuple[int, bytes, str | None]]:
        """Give units that wait for their vectors, with key and text; None for a text that is gone."""
        rows = self._rows("SELECT id, key FROM unvectored JOIN word_units USING (id) LIMIT ?", (most,))
        texts = {unit.id: unit.text for unit in self.units([row[0] for row in rows])}
        return [(number, key, texts.get(number)) for number, key in rows]

    def count_unvectored(self) -> int:
        """Count the units that wait for their vectors."""
        count: int = self._one("SELECT count(*) FROM unvectored")[0]
        return count

    def count_vectors(self) -> int:
        """Count the texts that have vectors."""
        count: int = self._one("SELECT count(*) FROM vectors")[0]
        return count


def note_of(unit: int) -> int:
    """Give the number of the note that a unit is a part of, in the same snapshot."""
    return unit >> SHIFT


def _parts(numbers: Iterable[int], size: int = 500) -> Iterator[list[int]]:
    ordered = sorted(set(numbers))
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


def _unit(row: Sequence[object]) -> UnitRow:
    (number, role, words, path, kind, name, type_, archived, importance, session, memory_id) = row[:11]
    (created, agent, added, more, fact, fact_at, fact_by, fact_moment, prose, heading) = row[11:]
    assert isinstance(number, int)
    assert isinstance(role, int)
    text = name if role == NAME else fact if fact is not None else prose
    is_fact = role in (OBSERVATION, SUPERSEDED)
    moment = fact_moment if is_fact else added
    if not isinstance(moment, int):
        moment = None
    return UnitRow(
        id=number,
        kind=_KINDS[role],
        superseded=role == SUPERSEDED,
        words=frozenset(str(words).split(" ")),
        text=str(text or ""),
        heading=str(heading or ""),
        path=str(path),
        family=str(kind),
        name=str(name),
        type=str(type_),
        archived=bool(archived),
        importance=importance if isinstance(importance, int) else None,
        session=str(session),
        memory_id=memory_id if isinstance(memory_id, int) else None,
        speaker=speaker_of(more if isinstance(more, str) else None),
        at=_text_or_none(fact_at if is_fact else created) or written(moment),
        by=_text_or_none(fact_by if is_fact else agent),
        moment=moment,
    )


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None
