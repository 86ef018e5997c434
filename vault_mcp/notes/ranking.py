"""How well a passage answers a question.

The score of a passage p is a sum of shares between 0 and 1, each weighed by one round number of `Weights`:

    score(p) = 1.0 bm25(p) / max bm25                  its own words (Robertson and Zaragoza 2009)
             + 1.5 cover(p and two passages either side)   words said nearby in one conversation
             + 1.0 cover(all of its group)                 words of the whole session or note
             + 1.5 near(p)                                 meaning: cosine, least 0 and greatest 1 of all
             + 2.5 max near(group)                         meaning of the session's or note's best passage
             + 0.5 max near(one passage either side)
             + 0.5 (cover + near)(the passage before, if it asks)      an answer follows its question
             + 2.5 date(p)                                 written on or about the date that was asked for
             + 0.4 [who wrote it, or whom it is about, is named in the question]
             + 0.6 [a time is asked for, and it tells one]
             + 1.3 min(1, ln(1 + words) / ln 41)           a longer passage says more
             - 0.6 [p ends in a question]                  a question is seldom an answer

`cover(X)` is the rarity of the question's terms that occur anywhere in X over the rarity of all its terms:
``rarity(t) = ln(1 + (N - n + 0.5) / (n + 0.5))``, as in BM25. Terms unknown to the vault count as the rarest,
so that a question in another language is not answered by the one word both languages share. Scaling each
part by its own best, and adding, measured best by far (against reciprocal ranks among others).

The form was found, and the weights were fitted, by a listwise softmax over passages (Cao et al., "Learning to
rank", ICML 2007) on the development half of LoCoMo (turns and facts) and XQuAD, then rounded. Left out
conversations score as those fitted on: the numbers stand in docs and are measured by benchmarks/recall.py.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from vault_mcp.notes.question import Question, asks, tells_time


@dataclass(frozen=True, slots=True)
class Candidate:
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
        passages: How many passages its note has.
        superseded: It is told as no longer true, or put away.
    """

    id: int
    note: int
    group: Hashable
    words: Collection[str]
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
    nearby_words: float = 1.5
    group_words: float = 1.0
    meaning: float = 1.5
    group_meaning: float = 2.5
    nearby_meaning: float = 0.5
    reply: float = 0.5
    date: float = 2.5
    person: float = 0.4
    time_told: float = 0.6
    length: float = 1.3
    asking: float = -0.6
    many_passages: float = 0.0
    superseded: float = -1.0
    importance: float = 0.005


WEIGHTS = Weights()
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


def rank(
    question: Question,
    candidates: Sequence[Candidate],
    rarities: Mapping[str, float],
    *,
    least: float = 0.0,
    greatest: float = 1.0,
    weights: Weights = WEIGHTS,
) -> list[Ranked]:
    """Order the passages, best first; equals by importance, then the later one first.

    Args:
        question: What is asked.
        candidates: Passages found by words or by meaning, and those beside them.
        rarities: The rarity of each term of the question.
        least: The smallest cosine of any passage of the vault to the question.
        greatest: The greatest.
        weights: What each share counts.
    """
    scene = _Scene(question, candidates, rarities, least, greatest)
    ranked = [scene.ranked(at, weights) for at in range(len(candidates))]
    ranked.sort(key=lambda r: (r.score, r.candidate.created or date.min, r.candidate.id), reverse=True)
    return ranked


def best_of_notes(ranked: Iterable[Ranked]) -> list[Ranked]:
    """Keep the best passage of each note, in order."""
    best: dict[int, Ranked] = {}
    for one in ranked:
        best.setdefault(one.candidate.note, one)
    return list(best.values())


class _Scene:
    """The candidates of one question, with what they share: neighbours, groups, the best of each kind."""

    def __init__(
        self,
        question: Question,
        candidates: Sequence[Candidate],
        rarities: Mapping[str, float],
        least: float,
        greatest: float,
    ) -> None:
        self.question = question
        self.candidates = candidates
        self._place = {candidate.id: at for at, candidate in enumerate(candidates)}
        total = sum(rarities[term] for term in question.terms)
        self._shares = [rarities[term] / total if total else 0.0 for term in question.terms]
        self._covered: dict[int, float] = {0: 0.0}
        # Which terms a passage holds, as the bits of a number: a union is then one operation.
        self._held = [self._bits(candidate.words) for candidate in candidates]
        self._best_bm25 = max((candidate.bm25 for candidate in candidates), default=0.0) or 1.0
        width = greatest - least
        self._near = [
            0.0 if c.cosine is None or width <= 0 else min(1.0, max(0.0, (c.cosine - least) / width))
            for c in candidates
        ]
        self._group_held: dict[Hashable, int] = {}
        self._group_near: dict[Hashable, float] = {}
        for at, candidate in enumerate(candidates):
            group = candidate.group
            self._group_held[group] = self._group_held.get(group, 0) | self._held[at]
            self._group_near[group] = max(self._group_near.get(group, 0.0), self._near[at])
        self._named: dict[tuple[str, ...], bool] = {}

    def _bits(self, words: Collection[str]) -> int:
        bits = 0
        for at, term in enumerate(self.question.terms):
            if term in words:
                bits |= 1 << at
        return bits

    def _cover(self, bits: int) -> float:
        known = self._covered.get(bits)
        if known is None:
            known = sum(share for at, share in enumerate(self._shares) if bits >> at & 1)
            self._covered[bits] = known
        return known

    def _beside(self, at: int, side: str) -> int | None:
        beside = getattr(self.candidates[at], side)
        return None if beside is None else self._place.get(beside)

    def ranked(self, at: int, weights: Weights) -> Ranked:
        candidate = self.candidates[at]
        shares = {
            "words": weights.words * candidate.bm25 / self._best_bm25,
            "group_words": weights.group_words * self._cover(self._group_held[candidate.group]),
            "meaning": weights.meaning * self._near[at],
            "group_meaning": weights.group_meaning * self._group_near[candidate.group],
            **self._context(at, weights),
            **self._traits(candidate, weights),
        }
        held = self._held[at]
        matched = tuple(term for place, term in enumerate(self.question.terms) if held >> place & 1)
        told = {name: share for name, share in shares.items() if share}
        return Ranked(candidate, sum(told.values()), told, matched)

    def _context(self, at: int, weights: Weights) -> dict[str, float]:
        """What the passages beside it in the same session add."""
        held, near, reply = self._held[at], 0.0, 0.0
        for side in ("before", "after"):
            first = self._beside(at, side)
            if first is None:
                continue
            held |= self._held[first]
            near = max(near, self._near[first])
            if side == "before" and asks(self.candidates[first].text):
                reply = self._cover(self._held[first]) + self._near[first]
            second = self._beside(first, side)
            if second is not None:
                held |= self._held[second]
        return {
            "nearby_words": weights.nearby_words * self._cover(held),
            "nearby_meaning": weights.nearby_meaning * near,
            "reply": weights.reply * reply,
        }

    def _traits(self, candidate: Candidate, weights: Weights) -> dict[str, float]:
        """What the passage is, whatever its words."""
        question = self.question
        length = min(1.0, math.log1p(len(candidate.words)) / math.log1p(FULL_LENGTH))
        closest = 0.0
        if candidate.created and question.dates:
            closest = max(asked.closeness(candidate.created) for asked in question.dates)
        return {
            "length": weights.length * length,
            "asking": weights.asking * asks(candidate.text),
            "date": weights.date * closest,
            "person": weights.person * self._is_named(candidate.people),
            "time_told": weights.time_told * (question.asks_when and tells_time(candidate.text)),
            "many_passages": weights.many_passages * math.log(max(1, candidate.passages)),
            "superseded": weights.superseded * candidate.superseded,
            "importance": weights.importance * (candidate.importance - 5),
        }

    def _is_named(self, people: tuple[str, ...]) -> bool:
        known = self._named.get(people)
        if known is None:
            known = self._named[people] = any(self.question.names(person) for person in people)
        return known
