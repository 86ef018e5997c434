"""The passages that answer a question: found by words and by meaning, ranked with what stands beside them.

The best by words, the nearest by meaning and what stands beside either are ranked together; they are the
same whichever page is asked for. Behind them, for whoever pages on, come notes that hold some word of the
question, and last of all what is archived.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from functools import lru_cache
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
    from vault_mcp.storage.index import Reader, Standing, UnitRow
    from vault_mcp.storage.vectors import Nearness
    from vault_mcp.vault import Vault

DEEPEST = 500
"""Passages found by words that are kept for further pages; later ones hardly answer."""

SETTLE_MOST = 3_000
"""Units that a question brings into the word index itself before it is asked."""

ENCODED_MOST = 2_000
"""Characters of a question whose meaning is looked at."""

EXPANDED = 40
"""Passages found whose neighbours are looked at; all of them gain 0.3 points and cost twice the time."""

EVERYTHING = Scope()

Beside = Mapping[int, tuple[int | None, int | None]]
"""For a passage the one before and the one after it."""


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


def answers(
    vault: Vault, question: str, most: int, scope: Scope = EVERYTHING, reader: Reader | None = None
) -> Answers:
    """Give the best passages on a question, at most one of each note; filters apply before ranking.

    A question without a single word, such as one of punctuation only, finds nothing. `reader` is a snapshot
    of the past to ask instead of the present: by words alone, since vectors are those of now.
    """
    asked = read_question(question, datetime.now(UTC).date())
    if reader is not None:
        found, total = _Search(reader, asked, None, scope).best(most) if asked.terms else ([], 0)
        return Answers(found, total)
    waiting = vault.settle_words(SETTLE_MOST)
    if not asked.terms:
        return Answers(waiting=waiting)
    near = vault.meaning.nearness(question[:ENCODED_MOST])
    with vault.reading() as now:
        search = _Search(now, asked, near, scope)
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
        hits = {*by_words, *self._by_meaning(), *self._by_date(len(by_words))}
        pool, beside = self._with_neighbours(hits)
        first = self._reader.standings(pool)
        notes = set(map(note_of, first))
        tail = [number for number in self._by_words if note_of(number) not in notes]
        total = len(notes) + len(set(map(note_of, tail)))
        found = self._ranked(first, beside, most)
        archived = {number for number, one in first.items() if one.archived}
        live = [one for one in found if one.candidate.id not in archived]
        if len(live) < most and (tail or archived):
            rest = self._reader.standings(tail)
            archived |= {number for number, one in rest.items() if one.archived}
            behind = self._ranked(rest, {}, most)
            live += [one for one in behind if one.candidate.id not in archived]
            live += [one for one in (*found, *behind) if one.candidate.id in archived]
        return self._told(live[:most]), total

    def _told(self, ranked: Sequence[Ranked]) -> list[Answer]:
        units = {unit.id: unit for unit in self._reader.units([one.candidate.id for one in ranked])}
        told: list[Answer] = []
        least = math.inf  # the parts of the order were scored apart: no score is above the one before it
        for one in ranked:
            least = min(least, one.score)
            told.append(Answer(units[one.candidate.id], replace(one, score=least)))
        return told

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

    def _with_neighbours(self, hits: Set[int]) -> tuple[set[int], Beside]:
        """Give the passages found, those on either side of the best of them, and what stands beside each."""
        wanted, ring = set(hits), set(self._promising(hits))
        beside: dict[int, tuple[int | None, int | None]] = {}
        for _ in range(BESIDE):
            told = self._reader.beside(ring)
            beside |= told
            ring = {n for pair in told.values() for n in pair if n is not None} - beside.keys()
            if self._scope:
                ring = self._reader.units_among(ring, self._scope)
            wanted |= ring
        for number in ring - beside.keys():
            beside[number] = (None, None)
        for number, (before, after) in list(beside.items()):
            # The outermost know what stands beside them from there.
            if before in ring:
                beside[before] = (beside[before][0], number)
            if after in ring:
                beside[after] = (number, beside[after][1])
        return wanted, beside

    def _promising(self, hits: Set[int]) -> list[int]:
        """Give the passages that are best by themselves, of which the neighbours are looked at."""
        if len(hits) <= EXPANDED:
            return list(hits)
        best = max(self._by_words.values(), default=0.0) or 1.0
        near = self._near
        width = (near.greatest - near.least if near else 0.0) or 1.0

        def own(number: int) -> float:
            cosine = near.of(number) if near else None
            meaning = 0.0 if near is None or cosine is None else (cosine - near.least) / width
            return self._by_words.get(number, 0.0) / best + meaning

        return heapq.nlargest(EXPANDED, hits, key=own)

    def _ranked(self, units: Mapping[int, Standing], beside: Beside, most: int) -> list[Ranked]:
        """Rank units; at least `most` answers that are not archived, if there are so many."""
        sizes = self._reader.unit_counts(set(map(note_of, units)))
        near = self._near
        return rank(
            self._asked,
            [self._candidate(one, beside, sizes) for one in units.values()],
            self._rarities,
            limit=most + len({note_of(one.id) for one in units.values() if one.archived}),
            least=near.least if near else 0.0,
            greatest=near.greatest if near else 0.0,
        )

    def _candidate(self, one: Standing, beside: Beside, sizes: Mapping[int, int]) -> Candidate:
        note = note_of(one.id)
        before, after = beside.get(one.id, _ALONE)
        return Candidate(
            one.id,
            note,
            f"session {one.session}" if one.session else note,
            one.words,
            one.text,
            before,
            after,
            self._by_words.get(one.id, 0.0),
            self._near.of(one.id) if self._near else None,
            (one.person,) if one.person else (),
            _day(one.moment),
            one.importance or 5,
            sizes.get(note) or 1,
            one.superseded or one.archived,
        )


_ALONE = (None, None)
_BEGIN = date(1970, 1, 1).toordinal()
_END = date.max.toordinal()


@lru_cache(maxsize=4096)
def _day(moment: int | None) -> date | None:
    if moment is None:
        return None
    ordinal = _BEGIN + moment // 86_400
    return date.fromordinal(ordinal) if 1 <= ordinal <= _END else None


def newest_first(found: Iterable[Answer]) -> list[Answer]:
    """Order answers by when they were written; those of unknown time last."""
    return sorted(found, key=lambda one: (one.unit.moment is not None, one.unit.moment or 0), reverse=True)


def most_important_first(found: Iterable[Answer]) -> list[Answer]:
    """Order answers by their importance; those without one last."""
    return sorted(found, key=lambda one: one.unit.importance or 0, reverse=True)
