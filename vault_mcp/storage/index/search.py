"""Find notes by substrings: any term matches, in any order, and the notes that match best come first."""

import heapq
import itertools
import json
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from vault_mcp.storage.index.candidates import Candidates, Finder, Scope, Unit
from vault_mcp.storage.index.cursors import read_cursor, write_cursor
from vault_mcp.storage.index.graph import EVERYTHING, OBSERVATION_COLUMNS, Graph, observation_row
from vault_mcp.storage.index.lookup import KINDS, NOTE, note_row
from vault_mcp.storage.index.query import terms_of, without_edges
from vault_mcp.storage.index.ranking import Term, rarity
from vault_mcp.storage.index.rows import Filter, Findings, Found, Hit, NoteRow, ObservationRow, UnitKind
from vault_mcp.storage.index.schema import NAME, OBSERVATION, PASSAGE, SHIFT, SUPERSEDED, VALUE

ARCHIVED_SHARE = 0.3
"""What an archived note's score counts for: it comes after the others."""

TOGETHER = 0.3
"""Share of its best unit's score that a note gains: terms that stand together count more."""

_KINDS: dict[int, UnitKind] = {
    NAME: "name",
    OBSERVATION: "observation",
    SUPERSEDED: "observation",
    PASSAGE: "passage",
    VALUE: "value",
}


class _Ranked(NamedTuple):
    """A note with its score and those of its units, best first."""

    note: int
    score: float
    units: list[tuple[float, Unit]]


class Search(Graph):
    """Substring search over names, observations, prose and values."""

    def search(
        self,
        query: str,
        limit: int,
        cursor: str | None = None,
        *,
        kinds: Collection[str] = KINDS,
        where: Filter = EVERYTHING,
        superseded: bool = False,
        archived: bool = False,
        hits: int = 20,
    ) -> Findings:
        """Find the notes that hold any term of a query, best first; a blank query gives every note, by name.

        Args:
            query: Words and "quoted phrases"; no character has another meaning.
            limit: Notes of one page.
            cursor: From the page before.
            kinds: Which kinds of notes are looked at.
            where: Only facts added or edited within it, and notes whose own stamp is; prose has no stamp.
            superseded: Whether superseded observations are looked at too.
            archived: Whether archived notes are looked at too; they come later than others.
            hits: How many places of one note are told.

        Raises:
            BadArgument: the cursor is not one of a search.
        """
        skip = int(read_cursor(cursor, "search", int)[0]) if cursor else 0
        terms = terms_of(query)
        if not terms:
            return self._by_name(limit, skip, kinds, where, archived=archived)
        scope = Scope.of(kinds, where, superseded=superseded, archived=archived)
        totals = self._one("SELECT entities + observations + files FROM state")[0]
        finder = Finder(self._db, scope, totals)
        found = finder.find(terms)
        bare = tuple(
            term if count else without_edges(term) or term
            for term, count in zip(terms, found.holding, strict=True)
        )
        if bare != terms:
            terms = tuple(dict.fromkeys(bare))
            found = finder.find(terms)
        ranked = _ranked(terms, found, totals)
        total = len(ranked) if found.exact else max(len(ranked), finder.estimated(found.cut_off))
        following = write_cursor("search", skip + limit) if skip + limit < len(ranked) else None
        return Findings(
            self._told(ranked[skip : skip + limit], hits), total, found.exact, len(ranked), following
        )

    def _by_name(
        self, limit: int, skip: int, kinds: Collection[str], where: Filter, *, archived: bool
    ) -> Findings:
        """Give notes in the order of their names, those of all kinds merged."""
        condition, values = self._within(where) if where else ("1", [])
        shelves = [(kind, shelf) for kind in kinds for shelf in ((0, 1) if archived else (0,))]
        chosen = f"n.kind = ? AND n.archived = ? AND {condition}"
        orders = [
            self._db.execute(
                f"SELECT n.name_key, n.id FROM notes n WHERE {chosen} ORDER BY n.name_key, n.id LIMIT ?",
                (*shelf, *values, skip + limit),
            )
            for shelf in shelves
        ]
        numbers = [row[1] for row in itertools.islice(heapq.merge(*orders), skip, skip + limit)]
        total = sum(
            self._one(f"SELECT count(*) FROM notes n WHERE {chosen}", (*shelf, *values))[0]
            for shelf in shelves
        )
        notes = self._notes(numbers)
        found = tuple(Found(notes[number], 0.0, ()) for number in numbers)
        following = write_cursor("search", skip + limit) if skip + limit < total else None
        return Findings(found, total, True, total, following)

    # -- telling what was found

    def _told(self, ranked: Iterable[_Ranked], most: int) -> tuple[Found, ...]:
        chosen = list(ranked)
        notes = self._notes([one.note for one in chosen])
        places = sorted(
            ((-score, order, unit) for order, one in enumerate(chosen) for score, unit in one.units[:most]),
            key=lambda place: (place[0], place[1], place[2].id),
        )
        observations = self._observations([u.id for *_, u in places if u.role in (OBSERVATION, SUPERSEDED)])
        prose = self._prose([u.id for *_, u in places if u.role in (PASSAGE, VALUE)])
        hits: dict[int, list[Hit]] = {}
        for rank, (score, _, unit) in enumerate(places, start=1):
            hit = _hit(rank, -score, unit, notes[unit.id >> SHIFT], observations, prose)
            hits.setdefault(unit.id >> SHIFT, []).append(hit)
        return tuple(
            Found(notes[one.note], one.score, tuple(hits[one.note]), max(0, len(one.units) - most))
            for one in chosen
        )

    def _notes(self, numbers: list[int]) -> dict[int, NoteRow]:
        rows = self._rows(f"{NOTE} WHERE n.id IN (SELECT value FROM json_each(?))", (json.dumps(numbers),))
        return {row[0]: note_row(row) for row in rows}

    def _observations(self, numbers: list[int]) -> dict[int, ObservationRow]:
        rows = self._rows(
            f"SELECT {OBSERVATION_COLUMNS} FROM observations o"
            " WHERE o.id IN (SELECT value FROM json_each(?))",
            (json.dumps(numbers),),
        )
        return {row[0]: observation_row(row) for row in rows}

    def _prose(self, numbers: list[int]) -> dict[int, tuple[str, str]]:
        rows: list[Any] = self._rows(
            "SELECT id, heading, text FROM passages WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(numbers),),
        )
        return {number: (heading, text) for number, heading, text in rows}


def _ranked(terms: tuple[str, ...], found: Candidates, total: int) -> list[_Ranked]:
    """Score each note: its best hold on every term, and a share of the score of its best unit."""
    sought = [(Term(term), rarity(total, count)) for term, count in zip(terms, found.holding, strict=True)]
    best: dict[int, list[float]] = {}
    units: dict[int, list[tuple[float, Unit]]] = {}
    for number, unit in found.units.items():
        scores = [share * term.weight(unit.folded, unit.role) for term, share in sought]
        score = sum(scores)
        if score == 0:
            continue
        note = number >> SHIFT
        if note in best:
            best[note] = list(map(max, best[note], scores))
            units[note].append((score, unit))
        else:
            best[note] = scores
            units[note] = [(score, unit)]
    ranked = []
    for note, places in units.items():
        if len(places) > 1:
            places.sort(key=lambda place: (-place[0], place[1].id))
        score, first = places[0]
        score = sum(best[note]) + TOGETHER * score
        if first.archived:
            score *= ARCHIVED_SHARE
        ranked.append((-round(score, 6), first.name_key, note))
    ranked.sort()
    return [_Ranked(note, -score, units[note]) for score, _, note in ranked]


def _hit(
    rank: int,
    score: float,
    unit: Unit,
    note: NoteRow,
    observations: dict[int, ObservationRow],
    prose: dict[int, tuple[str, str]],
) -> Hit:
    kind = _KINDS[unit.role]
    score = round(score, 4)
    if kind == "observation":
        observation = observations[unit.id]
        return Hit(rank, score, kind, observation.text, observation)
    if kind == "name":
        return Hit(rank, score, kind, note.name)
    heading, text = prose[unit.id]
    return Hit(rank, score, kind, text, heading=heading)
