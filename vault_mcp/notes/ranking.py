"""How well a passage answers a question.

The score of a passage p is a sum of shares between 0 and 1, each weighed by one round number of `Weights`:

    score(p) = 1.0 bm25(p) / max bm25                  its own words (Robertson and Zaragoza 2009)
             + 1.0 cover(p and two passages either side)   words said nearby in one conversation
             + 1.0 cover(all of its group)                 words of the whole session or note
             + 1.0 near(p)                                 meaning: cosine, least 0 and greatest 1 of all
             + 2.0 max near(group)                         meaning of the session's or note's best passage
             + 0.5 max near(one passage either side)
             + 0.5 (cover + near)(the passage before, if it asks)      an answer follows its question
             + 2.0 date(p)                                 written on or about the date that was asked for
             + 0.5 [who wrote it, or whom it is about, is named in the question]
             + 0.5 [a time is asked for, and it tells one]
             + 1.0 min(1, ln(1 + words) / ln 41)           a longer passage says more
             - 0.5 [p ends in a question]                  a question is seldom an answer
             - 0.3 ln(passages of its note)                a long note holds any word somewhere

`cover(X)` is the rarity of the question's terms that occur anywhere in X over the rarity of all its terms:
``rarity(t) = ln(1 + (N - n + 0.5) / (n + 0.5))``, as in BM25. Terms unknown to the vault count as the rarest,
so that a question in another language is not answered by the one word both languages share. Scaling each
part by its own best, and adding, measured best by far (against reciprocal ranks among others).

The weights are set by hand to halves, ones and twos: words (own, nearby, group) and meaning (own, group)
weigh about the same together, a date that was asked for decides, and the rest leans. benchmarks/recall.py
measures them, and any other with `--weight`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from vault_mcp.notes.question import Question, asks, tells_time


class Candidate(NamedTuple):
    """A passage that may answer, as the index knows it.

    Attributes:
        id: Its number in the index.
        note: The note it is a part of; a note ranks as its best passage does.
        group: What it was said in: the session of a memory, else its note.
        words: Its analysed words, the title and the name of who speaks among them.
        text: What it says.
        before, after: The passages beside it in the same session, None at its ends or outside of one.
        bm25: Greater is better; 0 when it holds no word of the question.
        cosine: Nearness of its vector to the question's; None without vectors.
        people: Who wrote it or whom it is about: the speaker of a memory, the entity of an observation.
        created: The day it was written.
        importance: 1 to 10, a memory's own; only ever parts what is equal otherwise.
        passages: How many passages its note has: a long note holds any word somewhere.
        superseded: It is told as no longer true, or put away.
    """

    id: int
    note: int
    group: Hashable
    words: frozenset[str]
    text: str
    before: int | None = None
    after: int | None = None
    bm25: float = 0.0
    cosine: float | None = None
    people: tuple[str, ...] = ()
    created: date | None = None
    importance: int = 5
    passages: int = 1
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class Weights:
    """What each share counts; see the module for its formula."""

    words: float = 1.0
    nearby_words: float = 1.0
    group_words: float = 1.0
    meaning: float = 1.0
    group_meaning: float = 2.0
    nearby_meaning: float = 0.5
    reply: float = 0.5
    date: float = 2.0
    person: float = 0.5
    time_told: float = 0.5
    length: float = 1.0
    asking: float = -0.5
    many_passages: float = -0.3
    superseded: float = -1.0
    importance: float = 0.005


WEIGHTS = Weights()
BY_WORDS, BY_MEANING = 100, 50
"""Passages to take as candidates, the best by BM25 and the nearest; more change nothing that was measured."""
BESIDE = 2
"""Passages either side of each candidate, in its session, that belong to the candidates too."""
SMALL_VAULT = 2000
"""Passages up to which every term of a question is looked up."""
FULL_LENGTH = 40
"""Words from which a passage is no longer short."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage and why it stands where it does.

    Attributes:
        candidate: The passage.
        score: The sum; comparable within one question only.
        shares: What each part added to it, by its name in `Weights`, zeros left out.
        matched: The terms of the question it holds itself.
    """

    candidate: Candidate
    score: float
    shares: Mapping[str, float] = field(default_factory=dict)
    matched: tuple[str, ...] = ()


def rarity(total: int, holding: int) -> float:
    """Return the inverse document frequency of a term that `holding` of `total` passages hold."""
    return math.log(1 + (max(total, holding) - holding + 0.5) / (holding + 0.5))


def worth_asking(holding: Mapping[str, int], total: int) -> list[str]:
    """Return the terms to find candidates by: in a large vault not those that over an eighth of it holds.

    Such a term, mostly a name that is everywhere, costs most to look up and hardly moves the order; it still
    counts in `rank`. When every term is that common, all are asked for.
    """
    telling = [term for term, count in holding.items() if 8 * count <= total]
    return list(holding) if total <= SMALL_VAULT or not telling else telling


def rank(
    question: Question,
    candidates: Sequence[Candidate],
    rarities: Mapping[str, float],
    *,
    least: float = 0.0,
    greatest: float = 1.0,
    limit: int = 10,
    weights: Weights = WEIGHTS,
) -> list[Ranked]:
    """Return the best passage of each note, best notes first; of equals the one written later.

    Args:
        question: What is asked.
        candidates: Passages found by words or by meaning, and those beside them.
        rarities: The rarity of each term of the question.
        least: The smallest cosine of any passage of the vault to the question.
        greatest: The greatest.
        limit: Notes returned at most.
        weights: What each share counts.
    """
    scene = _Scene(question, candidates, rarities, (least, greatest), weights)
    scores = [sum(scene.shares(at)) for at in range(len(candidates))]
    order = sorted(
        range(len(candidates)), key=lambda at: (-scores[at], _age(candidates[at]), -candidates[at].id)
    )
    best: dict[int, Ranked] = {}
    for at in order:
        if len(best) == limit:
            break
        if candidates[at].note not in best:
            best[candidates[at].note] = scene.explained(at, scores[at])
    return list(best.values())


def _age(candidate: Candidate) -> int:
    return -candidate.created.toordinal() if candidate.created else 0


class _Scene:
    """The candidates of one question, with what they share: neighbours, groups, the best of each kind.

    What is read for every candidate is laid out in lists once, since some hundred of them are ranked in each
    search while somebody waits.
    """

    def __init__(
        self,
        question: Question,
        candidates: Sequence[Candidate],
        rarities: Mapping[str, float],
        cosines: tuple[float, float],
        weights: Weights,
    ) -> None:
        self.question = question
        self.candidates = candidates
        self._weights = weights
        total = sum(rarities[term] for term in question.terms)
        self._parts = [rarities[term] / total if total else 0.0 for term in question.terms]
        self._covered: dict[int, float] = {}
        # Which terms a passage holds, as the bits of a number: a union is then one operation.
        self._held = [self._bits(candidate.words) for candidate in candidates]
        self._near = _spread([candidate.cosine for candidate in candidates], *cosines)
        self._asks = [asks(candidate.text) for candidate in candidates]
        place = {candidate.id: at for at, candidate in enumerate(candidates)}
        self._before = [None if c.before is None else place.get(c.before) for c in candidates]
        self._after = [None if c.after is None else place.get(c.after) for c in candidates]
        self._best_bm25 = max((candidate.bm25 for candidate in candidates), default=0.0) or 1.0
        self._group_held: dict[Hashable, int] = {}
        self._group_near: dict[Hashable, float] = {}
        for candidate, held, near in zip(candidates, self._held, self._near, strict=True):
            group = candidate.group
            self._group_held[group] = self._group_held.get(group, 0) | held
            self._group_near[group] = max(self._group_near.get(group, 0.0), near)
        self._named: dict[tuple[str, ...], bool] = {}

    def _bits(self, words: frozenset[str]) -> int:
        bits = 0
        for at, term in enumerate(self.question.terms):
            if term in words:
                bits |= 1 << at
        return bits

    def _cover(self, bits: int) -> float:
        known = self._covered.get(bits)
        if known is None:
            known = sum(part for at, part in enumerate(self._parts) if bits >> at & 1)
            self._covered[bits] = known
        return known

    def shares(self, at: int) -> tuple[float, ...]:
        """What each part adds to a candidate's score, in the order of `_NAMES`."""
        weights, candidate, group = self._weights, self.candidates[at], self.candidates[at].group
        nearby_words, nearby_meaning, reply = self._context(at)
        size = min(len(candidate.words), FULL_LENGTH)
        return (
            weights.words * candidate.bm25 / self._best_bm25,
            weights.nearby_words * nearby_words,
            weights.group_words * self._cover(self._group_held[group]),
            weights.meaning * self._near[at],
            weights.group_meaning * self._group_near[group],
            weights.nearby_meaning * nearby_meaning,
            weights.reply * reply,
            weights.date * self._closeness(candidate) if self.question.dates else 0.0,
            weights.person if candidate.people and self._is_named(candidate.people) else 0.0,
            weights.time_told if self.question.asks_when and tells_time(candidate.words) else 0.0,
            weights.length * _LENGTHS[size],
            weights.asking if self._asks[at] else 0.0,
            weights.many_passages * math.log(candidate.passages),
            weights.superseded if candidate.superseded else 0.0,
            weights.importance * (candidate.importance - 5),
        )

    def _context(self, at: int) -> tuple[float, float, float]:
        """What the passages beside it in the same session say: cover, nearness, and how they ask."""
        held, near, reply = self._held[at], 0.0, 0.0
        before, after = self._before[at], self._after[at]
        if before is not None:
            held |= self._held[before]
            near = self._near[before]
            if self._asks[before]:
                reply = self._cover(self._held[before]) + near
            second = self._before[before]
            if second is not None:
                held |= self._held[second]
        if after is not None:
            held |= self._held[after]
            near = max(near, self._near[after])
            second = self._after[after]
            if second is not None:
                held |= self._held[second]
        return self._cover(held), near, reply

    def _closeness(self, candidate: Candidate) -> float:
        if candidate.created is None:
            return 0.0
        return max(asked.closeness(candidate.created) for asked in self.question.dates)

    def _is_named(self, people: tuple[str, ...]) -> bool:
        known = self._named.get(people)
        if known is None:
            known = self._named[people] = any(self.question.names(person) for person in people)
        return known

    def explained(self, at: int, score: float) -> Ranked:
        """Return a candidate with the shares of its score and the terms it holds."""
        shares = dict(zip(_NAMES, self.shares(at), strict=True))
        told = {name: round(share, 4) for name, share in shares.items() if abs(share) > 1e-6}
        held = self._held[at]
        matched = tuple(term for place, term in enumerate(self.question.terms) if held >> place & 1)
        return Ranked(self.candidates[at], score, told, matched)


_NAMES = (
    "words", "nearby_words", "group_words", "meaning", "group_meaning", "nearby_meaning", "reply", "date",
    "person", "time_told", "length", "asking", "many_passages", "superseded", "importance",
)  # fmt: skip

_LENGTHS = [math.log1p(size) / math.log1p(FULL_LENGTH) for size in range(FULL_LENGTH + 1)]


def _spread(cosines: Sequence[float | None], least: float, greatest: float) -> list[float]:
    """Bring cosines to 0 for the least and 1 for the greatest; 0 where there is none."""
    width = greatest - least
    if width <= 0:
        return [0.0] * len(cosines)
    return [0.0 if c is None else min(1.0, max(0.0, (c - least) / width)) for c in cosines]
