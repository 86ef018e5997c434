"""Find the units that may hold the terms of a query, and check that they do.

Terms of three characters or more are looked up in the trigram index, shorter ones in the range of trigrams
that begin with them. A term that very many units hold is not followed to its end: names that hold it come
first, then whole words, beginnings of words, and the rest, each up to a bound.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from vault_mcp.storage.index.filters import line_matches, note_matches
from vault_mcp.storage.index.grams import NAME_MARK
from vault_mcp.storage.index.lookup import KINDS
from vault_mcp.storage.index.query import gram_query, gram_range
from vault_mcp.storage.index.rows import Filter
from vault_mcp.storage.index.schema import MOST_ROWS, NAME, OBSERVATION, SHIFT, SUPERSEDED

COMMON = 2000
"""Units that hold a term up to which each of them is looked at."""

SHARE = 600
"""Units that are looked at for each way in which a commoner term can be held."""

COUNTED = 20_000
"""Units up to which a total is counted when not all are looked at."""

WHOLE_NOTES = 300
"""Notes with a rare term in which the common ones are looked for as well."""

_SAMPLE = 2000
_COLUMNS = "u.id, u.role, u.folded, n.name_key, n.archived"


class Unit(NamedTuple):
    """A unit that holds one of the terms, and the note it is of."""

    id: int
    role: int
    folded: str
    name_key: str
    archived: int


@dataclass(frozen=True, slots=True)
class Scope:
    """What may be found, as an SQL condition over units `u`, their notes `n` and observations `o`."""

    condition: str
    values: tuple[object, ...]
    joins: str

    @classmethod
    def of(
        cls, kinds: Collection[str], where: Filter, *, superseded: bool = False, archived: bool = False
    ) -> "Scope":
        """Allow notes of these kinds, and of their units those that pass the filter."""
        terms: list[str] = []
        values: list[object] = []
        joins = f"JOIN notes n ON n.id = u.id >> {SHIFT}"
        if not superseded:
            terms.append(f"u.role <> {SUPERSEDED}")
        if not archived:
            terms.append("n.archived = 0")
        if not set(KINDS) <= set(kinds):
            terms.append(f"n.kind IN ({', '.join('?' * len(kinds))})")
            values += sorted(kinds)
        if where:
            line, more = line_matches(where)
            own, still_more = note_matches(where)
            terms.append(f"(u.role IN ({OBSERVATION}, {SUPERSEDED}) AND {line} OR u.role = {NAME} AND {own})")
            values += [*more, *still_more]
            joins += " LEFT JOIN observations o ON o.id = u.id"
        return cls(" AND ".join(terms) or "1", tuple(values), joins)


@dataclass(slots=True)
class Candidates:
    """The units found, how many of all units hold each term, and for which terms not all were looked at."""

    units: dict[int, Unit] = field(default_factory=dict)
    holding: list[int] = field(default_factory=list)
    cut_off: list[str] = field(default_factory=list)

    @property
    def exact(self) -> bool:
        """Whether these are all the units that there are."""
        return not self.cut_off

    def add(self, rows: Iterable[tuple[int, int, str, str, int]]) -> int:
        """Take in rows of units; give how many there were."""
        count = 0
        for row in rows:
            self.units[row[0]] = Unit(*row)
            count += 1
        return count


class Finder:
    """Looks for the terms of one query within a scope."""

    def __init__(self, db: sqlite3.Connection, scope: Scope, total: int) -> None:
        self._db = db
        self._scope = scope
        self._total = total

    def find(self, terms: Sequence[str]) -> Candidates:
        """Give the units that hold any of the terms, or of too many the likeliest."""
        found = Candidates()
        common = [term for term in terms if self._is_common(term)]
        waiting = Candidates()
        waiting.add(self._waiting(terms))
        for term in terms:
            if term in common:
                found.holding.append(self._guessed(term))
            else:
                # The number of one that waits may still stand in the trigram index, for the unit before it.
                settled = [row for row in self._holding(_source(term), term) if row[0] not in waiting.units]
                found.add(settled)
                waits = sum(term in unit.folded for unit in waiting.units.values())
                found.holding.append(len(settled) + waits)
        rare_notes = list(dict.fromkeys(number >> SHIFT for number in found.units))
        found.units.update(waiting.units)
        if common:
            self._add_common(found, common)
        if found.cut_off and rare_notes:
            found.add(self._within(rare_notes[:WHOLE_NOTES], found.cut_off))
        return found

    def estimated(self, terms: Sequence[str]) -> int:
        """Count the notes that seem to hold any of the terms, up to a bound; the scope is not looked at."""
        sources: list[str] = []
        values: list[str] = []
        long = [gram_query(term) for term in terms if len(term) > 2]
        if long:
            sources.append("SELECT rowid AS id FROM grams WHERE grams MATCH ?")
            values.append(" OR ".join(f"({query})" for query in long))
        for term in terms:
            if len(term) <= 2:
                sources.append("SELECT doc AS id FROM gram_rows WHERE term >= ? AND term < ?")
                values += gram_range(term)
        each = [f"SELECT id FROM ({source} LIMIT {COUNTED})" for source in sources]
        sql = f"SELECT count(DISTINCT id >> {SHIFT}) FROM ({' UNION ALL '.join(each)})"
        count: int = self._db.execute(sql, values).fetchone()[0]
        return count

    def _is_common(self, term: str) -> bool:
        source, values = _source(term)
        sql = f"SELECT count(*) FROM ({source} LIMIT {COMMON + 1})"
        count: int = self._db.execute(sql, values).fetchone()[0]
        return count > COMMON

    def _guessed(self, term: str) -> int:
        """Guess from a sample how many units hold a common term."""
        share: float = self._db.execute(
            f"SELECT avg(instr(folded, ?) > 0) FROM (SELECT folded FROM units LIMIT {_SAMPLE})", (term,)
        ).fetchone()[0]
        return max(COMMON, int(share * self._total))

    def _holding(
        self, source: tuple[str, tuple[str, ...]], text: str, most: int = -1
    ) -> Iterator[tuple[int, int, str, str, int]]:
        sql = (
            f"SELECT {_COLUMNS} FROM ({source[0]}) c CROSS JOIN units u ON u.id = c.id {self._scope.joins}"
            f" WHERE instr(u.folded, ?) AND {self._scope.condition} LIMIT ?"
        )
        return self._db.execute(sql, (*source[1], text, *self._scope.values, most))

    def _waiting(self, terms: Sequence[str]) -> Iterator[tuple[int, int, str, str, int]]:
        """Look through the units that are not in the trigram index yet."""
        held = " OR ".join(["instr(u.folded, ?)"] * len(terms))
        sql = (
            f"SELECT {_COLUMNS} FROM unsettled c CROSS JOIN units u ON u.id = c.id {self._scope.joins}"
            f" WHERE ({held}) AND {self._scope.condition}"
        )
        return self._db.execute(sql, (*terms, *self._scope.values))

    def _add_common(self, found: Candidates, common: Sequence[str]) -> None:
        """Look for terms that many units hold: at some of the units, those first that hold them best."""
        share = max(SHARE // len(common), 100)
        for term in common:
            if found.add(self._holding(_source(term), term, share)) < share:
                continue  # within the scope these were all
            found.cut_off.append(term)
            for written, text in (
                (NAME_MARK + term, f" {term}"),
                (f" {term} ", f" {term} "),
                (f" {term}", f" {term}"),
            ):
                found.add(self._holding(_source(written), text, share))
        together = [gram_query(term) for term in found.cut_off if len(term) > 2]
        if len(together) > 1:
            source = "SELECT rowid AS id FROM grams WHERE grams MATCH ?"
            found.add(self._holding((source, (" AND ".join(together),)), "", SHARE))

    def _within(self, notes: Sequence[int], terms: Sequence[str]) -> Iterator[tuple[int, int, str, str, int]]:
        """Look for terms in all units of some notes."""
        held = " OR ".join(["instr(u.folded, ?)"] * len(terms))
        sql = (
            f"SELECT {_COLUMNS} FROM json_each(?) c CROSS JOIN units u"
            f" ON u.id BETWEEN c.value << {SHIFT} AND (c.value << {SHIFT}) + {MOST_ROWS}"
            f" {self._scope.joins} WHERE ({held}) AND {self._scope.condition} LIMIT {COMMON}"
        )
        return self._db.execute(sql, (json.dumps(notes), *terms, *self._scope.values))


def _source(text: str) -> tuple[str, tuple[str, ...]]:
    """Give the query for the ids of units that may hold a text, newest notes first, and its values."""
    if len(text) > 2:
        return "SELECT rowid AS id FROM grams WHERE grams MATCH ? ORDER BY rowid DESC", (gram_query(text),)
    return "SELECT DISTINCT doc AS id FROM gram_rows WHERE term >= ? AND term < ?", gram_range(text)
