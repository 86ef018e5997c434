"""What becomes of each fact of two versions of a note: which lines go, which are replaced, which are added.

A fact is known again by its words, else by its stamp (who added it and when), else, where it has none, by its
place between facts that are known and words in common.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from vault_mcp.notes.line import Stamp, older
from vault_mcp.notes.sections import FactLine

MOST = 50_000
"""Pairs of facts that are compared by their words; where there are more, they are taken in order."""

LIKE = 0.3
"""Share of words in common from which one line without a stamp may be another, edited."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that both sides changed: what each made of it, and what was done.

    `kept` says what stands in the merged text: both versions of a fact, the edited one of two of which the
    other was deleted; nothing ("") where our version stays and a person has to decide. `what` is the name of
    a property, or "text" or "fact"; `theirs` is exact.
    """

    what: str
    ours: str
    theirs: str
    kept: Literal["both", "edit", ""] = ""


@dataclass(slots=True)
class Item:
    """A fact of one version: its line's number in the body, its words without the line's end."""

    line: int
    words: str
    fact: FactLine

    @property
    def key(self) -> tuple[object, ...]:
        """What it says: a fact of the same key is the same fact."""
        pair = self.fact.pair
        return ("relation", pair.type, pair.target, pair.shown) if pair else ("fact", self.fact.bullet.text)

    @property
    def place(self) -> str:
        """The list it belongs to."""
        return "superseded" if self.fact.superseded else str(self.key[0])

    @property
    def stamp(self) -> Stamp | None:
        """Its stamp."""
        return self.fact.bullet.stamp

    @property
    def holds(self) -> tuple[object, ...]:
        """What is counted: the same fact in the same list."""
        return (self.place, *self.key)

    @property
    def text(self) -> str:
        """Its words as a report shows them."""
        return self.fact.bullet.text


@dataclass(slots=True)
class Plan:
    """What to do with lines of our body and of theirs."""

    drop: set[int] = field(default_factory=set)
    """Our lines that go."""
    swap: dict[int, str] = field(default_factory=dict)
    """Our lines that get other words."""
    take: set[int] = field(default_factory=set)
    """Their lines that come."""
    same: dict[int, int] = field(default_factory=dict)
    """Their line -> our line of the same fact."""
    fresh: set[int] = field(default_factory=set)
    """Our lines that we added."""
    expected: set[tuple[object, ...]] = field(default_factory=set)
    """What the merged note has to hold."""
    pieces: list[Piece] = field(default_factory=list)


def plan_facts(base: Sequence[Item], ours: Sequence[Item], theirs: Sequence[Item]) -> Plan:
    """Decide for every fact of three versions."""
    plan = Plan()
    mine, other = match(base, ours), match(base, theirs)
    for number, fact in enumerate(base):
        _decide(plan, fact, _at(ours, mine.get(number)), _at(theirs, other.get(number)))
    known = set(mine.values())
    plan.fresh = {item.line for number, item in enumerate(ours) if number not in known}
    _add(plan, ours, [item for number, item in enumerate(theirs) if number not in set(other.values())])
    _once(plan, ours, theirs)
    return plan


def _at(items: Sequence[Item], number: int | None) -> Item | None:
    return None if number is None else items[number]


def _decide(plan: Plan, base: Item, ours: Item | None, theirs: Item | None) -> None:
    """Say what becomes of a fact that was there before both sides."""
    if theirs is None:
        if ours is not None and _same(ours, base):
            plan.drop.add(ours.line)
        elif ours is not None:
            plan.pieces.append(Piece("fact", ours.text, "", "edit"))
        return
    if ours is None:
        if not _same(theirs, base):
            plan.take.add(theirs.line)
            plan.pieces.append(Piece("fact", "", theirs.text, "edit"))
        return
    plan.same[theirs.line] = ours.line
    if _same(theirs, base) or _same(ours, theirs):
        return
    if _same(ours, base):
        _follow(plan, ours, theirs)
    elif ours.key != theirs.key:
        plan.take.add(theirs.line)
        plan.pieces.append(Piece("fact", ours.text, theirs.text, "both"))
    elif ours.place != theirs.place:
        if theirs.place == "superseded":  # what no longer holds for one side holds no longer
            _follow(plan, ours, theirs)
    else:
        _of_two_stamps(plan, ours, theirs)


def _of_two_stamps(plan: Plan, ours: Item, theirs: Item) -> None:
    """Choose the stamp of a fact that both sides stamped anew: the earlier one."""
    mine, other = _replacement(ours), _replacement(theirs)
    if mine and other and mine != other:  # both new facts stand; somebody has to see which one holds
        plan.pieces.append(Piece("fact", mine, other, "both"))
    if _last(theirs.stamp) and (not _last(ours.stamp) or _last(theirs.stamp) < _last(ours.stamp)):
        plan.swap[ours.line] = theirs.words


def _replacement(item: Item) -> str:
    return (item.stamp.replacement or "") if item.stamp else ""


def _follow(plan: Plan, ours: Item, theirs: Item) -> None:
    """Do with our line what they did with it."""
    if ours.fact.section == theirs.fact.section:
        plan.swap[ours.line] = theirs.words
    else:
        plan.drop.add(ours.line)
        plan.take.add(theirs.line)
        del plan.same[theirs.line]  # it stands in another list now


def _last(stamp: Stamp | None) -> str:
    """Give the time of the last thing that a stamp tells."""
    return (stamp.superseded_at or stamp.edited_at or stamp.added_at) if stamp else ""


def _same(one: Item, other: Item) -> bool:
    return one.words == other.words and one.fact.section == other.fact.section


def _add(plan: Plan, ours: Sequence[Item], fresh: Iterable[Item]) -> None:
    """Take in what they added, unless it is there."""
    there = {item.holds: item for item in reversed(ours) if item.line not in plan.drop}
    for item in fresh:
        known = there.get(item.holds)
        if known is None:
            plan.take.add(item.line)
            continue
        plan.same[item.line] = known.line
        if known.line in plan.fresh and older(known.stamp, item.stamp) is item.stamp and item.stamp:
            plan.swap.setdefault(known.line, item.words)


def _once(plan: Plan, ours: Sequence[Item], theirs: Sequence[Item]) -> None:
    """Keep a fact once that became the same on two ways; what was twice on one side already stays so."""
    by_line = {item.line: item for item in theirs}
    words = {item.words: item for item in theirs}
    stands: dict[tuple[object, ...], int] = {}
    for item in ours:
        if item.line in plan.drop:
            continue
        now = words.get(plan.swap[item.line], item) if item.line in plan.swap else item
        first = stands.setdefault(now.holds, item.line)
        if first != item.line and (first in plan.swap) != (item.line in plan.swap):
            plan.drop.add(item.line)
    seen: dict[tuple[object, ...], int] = {}
    for line in sorted(plan.take):
        item = by_line[line]
        if item.holds in stands:
            plan.take.discard(line)
            plan.same.setdefault(line, stands[item.holds])
        elif item.holds in seen and not _twice(theirs, item):
            plan.take.discard(line)
        seen.setdefault(item.holds, line)
    plan.expected = set(stands) | set(seen)


def _twice(items: Sequence[Item], item: Item) -> bool:
    return sum(other.holds == item.holds for other in items) > 1


# -- the same fact in two versions


def match(old: Sequence[Item], new: Sequence[Item]) -> dict[int, int]:
    """Give which fact of one version is which of another, as numbers from 0."""
    found: dict[int, int] = {}
    for key in (_exactly, _by_words):
        _pair(found, old, new, key)
    _by_stamp(found, old, new)
    _by_place(found, old, new)
    return found


def _exactly(item: Item) -> object:
    return item.holds


def _by_words(item: Item) -> object:
    return item.key


def _pair(
    found: dict[int, int], old: Sequence[Item], new: Sequence[Item], key: Callable[[Item], object]
) -> None:
    taken = set(found.values())
    places: dict[object, list[int]] = {}
    for number, item in enumerate(new):
        if number not in taken:
            places.setdefault(key(item), []).append(number)
    for number, item in enumerate(old):
        if number not in found and (left := places.get(key(item))):
            found[number] = left.pop(0)


def _by_stamp(found: dict[int, int], old: Sequence[Item], new: Sequence[Item]) -> None:
    pairs = [
        (-_likeness(old[a].text, new[b].text), a, b)
        for a, b in _left(found, old, new)
        if (one := old[a].stamp) is not None
        and (other := new[b].stamp) is not None
        and (one.added_at, one.agent) == (other.added_at, other.agent)
    ]
    _take_best(found, pairs)


def _by_place(found: dict[int, int], old: Sequence[Item], new: Sequence[Item]) -> None:
    pairs = []
    for a, b in _left(found, old, new):
        one, other = old[a], new[b]
        edited = other.stamp is None or bool(other.stamp.edited_at or other.stamp.superseded_at)
        if one.stamp is None and edited and _between(found, a, b):
            likeness = _likeness(one.text, other.text)
            if likeness >= LIKE:
                pairs.append((-likeness, a, b))
    _take_best(found, pairs)


def _left(found: dict[int, int], old: Sequence[Item], new: Sequence[Item]) -> Iterator[tuple[int, int]]:
    taken = set(found.values())
    left = [number for number in range(len(old)) if number not in found]
    right = [number for number in range(len(new)) if number not in taken]
    if len(left) * len(right) > MOST:
        yield from zip(left, right, strict=False)
        return
    for a in left:
        for b in right:
            if old[a].key[0] == new[b].key[0]:
                yield a, b


def _between(found: dict[int, int], a: int, b: int) -> bool:
    """Say whether two facts stand between the same neighbours."""
    before = next((found[n] for n in range(a - 1, -1, -1) if n in found), -1)
    after = min((place for n, place in found.items() if n > a and place > before), default=b + 1)
    return before < b < after


def _take_best(found: dict[int, int], pairs: list[tuple[float, int, int]]) -> None:
    taken: set[int] = set()
    for _, a, b in sorted(pairs):
        if a not in found and b not in taken:
            found[a] = b
            taken.add(b)


def _likeness(one: str, other: str) -> float:
    """Give the share of words that two texts have in common."""
    mine, theirs = set(one.split()), set(other.split())
    return len(mine & theirs) / (len(mine | theirs) or 1)
