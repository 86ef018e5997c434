"""The passages that answer a question: found by words and by meaning, ranked with what stands beside them.

The best by words, the nearest by meaning and what stands beside either are ranked together; they are the
same whichever page is asked for. Behind them, for whoever pages on, come notes that hold some word of the
question, and last of all what is archived.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING

from vault_mcp.notes.question import Question, read_question
from vault_mcp.notes.ranking import (
    BESIDE,
    BY_MEANING,
    BY_WORDS,
    Candidate,
    Ranked,
    rank,
    rarity,
    worth_asking,
)
from vault_mcp.storage.index import Scope, note_of

if TYPE_CHECKING:
    from vault_mcp.storage.index import Reader, UnitRow
    from vault_mcp.storage.vectors import Nearness
    from vault_mcp.vault import Vault

DEEPEST = 500
"""Passages found by words that are kept for further pages; later ones hardly answer."""

SETTLE_MOST = 3_000
"""Units that a question brings into the word index itself before it is asked."""

ENCODED_MOST = 2_000
"""Characters of a question whose meaning is looked at."""

EVERYTHING = Scope()


@dataclass(frozen=True, slots=True)
class Answer:
    """One passage and why it was found."""

    unit: UnitRow
    ranked: Ranked

    @property
    def cosine(self) -> float | None:
        """How near its meaning is to the question's, from -1 to 1; None without vectors."""
        return self.ranked.candidate.cosine


@dataclass(frozen=True, slots=True)
class Answers:
    """The best passage of each of the best notes.

    Attributes:
        found: Best first.
        total: How many notes were found in all.
        waiting: Passages that are not in the word index yet.
    """

    found: Sequence[Answer] = ()
    total: int = 0
    waiting: int = 0


def answers(vault: Vault, question: str, most: int, scope: Scope = EVERYTHING) -> Answers:
    """Give the best passages on a question, at most one of each note; filters apply before ranking.

    A question without a single word, such as one of punctuation only, finds nothing.
    """
    asked = read_question(question, datetime.now(UTC).date())
    waiting = vault.settle_words(SETTLE_MOST)
    if not asked.terms:
        return Answers(waiting=waiting)
    near = vault.meaning.nearness(question[:ENCODED_MOST])
    with vault.reading() as reader:
        search = _Search(reader, asked, near, scope)
        found, total = search.best(most)
    return Answers(found, total, waiting)


class _Search:
    """One question put to one snapshot of the index."""

    def __init__(self, reader: Reader, asked: Question, near: Nearness | None, scope: Scope) -> None:
        self._reader = reader
        self._asked = asked
        self._near = near
        self._scope = scope
        total = max(1, reader.unit_count())
        holding = {term: reader.holding(term) for term in asked.terms}
        self._rarities = {term: rarity(total, count) for term, count in holding.items()}
        self._by_words = reader.word_hits(worth_asking(holding, total), DEEPEST, scope)

    def best(self, most: int) -> tuple[list[Answer], int]:
        """Give the first `most` answers, and how many there are."""
        by_words = list(self._by_words)[:BY_WORDS]
        pool, beside = self._with_neighbours({*by_words, *self._by_meaning(), *self._by_date(len(by_words))})
        first = self._units(pool)
        notes = {unit.note for unit in first.values()}
        tail = [number for number in self._by_words if note_of(number) not in notes]
        total = len(notes) + len({note_of(number) for number in tail})
        found = self._ranked(first, beside, most)
        live = [answer for answer in found if not answer.unit.archived]
        if len(live) < most:
            behind = self._ranked(self._units(tail), {}, most)
            live += [answer for answer in behind if not answer.unit.archived]
            live += [answer for answer in (*found, *behind) if answer.unit.archived]
        return _descending(live[:most]), total

    def _by_meaning(self) -> list[int]:
        if self._near is None:
            return []
        return self._near.top(BY_MEANING, self._reader.units_in(self._scope) if self._scope else None)

    def _by_date(self, found: int) -> list[int]:
        """Give what was written on the asked dates, where words have not found enough."""
        dated: list[int] = []
        for span in filter(None, (asked.span() for asked in self._asked.dates)):
            first, last = (int(datetime.combine(day, time(), UTC).timestamp()) for day in span)
            room = BY_WORDS - found - len(dated)
            if room > 0:
                dated += self._reader.units_written(first, last + 86_399, room, self._scope)
        return dated

    def _with_neighbours(self, found: set[int]) -> tuple[set[int], dict[int, tuple[int | None, int | None]]]:
        """Give the passages found and those on either side of each, and what stands beside each."""
        wanted, ring = set(found), set(found)
        beside: dict[int, tuple[int | None, int | None]] = {}
        for _ in range(BESIDE):
            told = self._reader.beside(ring)
            beside |= told
            ring = {n for pair in told.values() for n in pair if n is not None} - wanted
            if self._scope:
                ring = self._reader.units_among(ring, self._scope)
            wanted |= ring
        return wanted, beside | self._reader.beside(ring)

    def _units(self, numbers: Collection[int]) -> dict[int, UnitRow]:
        return {unit.id: unit for unit in self._reader.units(numbers)}

    def _ranked(
        self, units: Mapping[int, UnitRow], beside: Mapping[int, tuple[int | None, int | None]], most: int
    ) -> list[Answer]:
        """Rank units; at least `most` answers that are not archived, if there are so many."""
        sizes = self._reader.unit_counts({unit.note for unit in units.values()})
        near = self._near
        ranked = rank(
            self._asked,
            [self._candidate(units[number], beside, sizes) for number in sorted(units)],
            self._rarities,
            limit=most + len({unit.note for unit in units.values() if unit.archived}),
            least=near.least if near else 0.0,
            greatest=near.greatest if near else 0.0,
        )
        return [Answer(units[one.candidate.id], one) for one in ranked]

    def _candidate(
        self,
        unit: UnitRow,
        beside: Mapping[int, tuple[int | None, int | None]],
        sizes: Mapping[int, int],
    ) -> Candidate:
        before, after = beside.get(unit.id, (None, None))
        people = unit.speaker if unit.family == "memory" else unit.name if unit.family == "entity" else ""
        return Candidate(
            id=unit.id,
            note=unit.note,
            group=f"session {unit.session}" if unit.session else unit.note,
            words=unit.words,
            text=unit.text,
            before=before,
            after=after,
            bm25=self._by_words.get(unit.id, 0.0),
            cosine=self._near.of(unit.id) if self._near else None,
            people=(people,) if people else (),
            created=_day(unit.at),
            importance=unit.importance or 5,
            passages=max(1, sizes.get(unit.note, 1)),
            superseded=unit.superseded or unit.archived,
        )


def _descending(found: Sequence[Answer]) -> list[Answer]:
    """Let no score be above that of what stands before it: the parts of the order were scored apart."""
    told: list[Answer] = []
    least = math.inf
    for answer in found:
        least = min(least, answer.ranked.score)
        told.append(Answer(answer.unit, replace(answer.ranked, score=least)))
    return told


def _day(at: str | None) -> date | None:
    try:
        return date.fromisoformat((at or "")[:10])
    except ValueError:
        return None


def newest_first(found: Iterable[Answer]) -> list[Answer]:
    """Order answers by when they were written; those of unknown time last."""
    return sorted(found, key=lambda one: (one.unit.moment is not None, one.unit.moment or 0), reverse=True)


def most_important_first(found: Iterable[Answer]) -> list[Answer]:
    """Order answers by their importance; those without one last."""
    return sorted(found, key=lambda one: one.unit.importance or 0, reverse=True)
