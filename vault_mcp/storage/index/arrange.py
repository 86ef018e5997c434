"""Match the lines of a note with those the index has, and number their order."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

GAP = 1 << 12
"""Distance between the positions of neighbouring lines, so that a line finds room between two others."""

Key = TypeVar("Key")


class Kept(NamedTuple):
    """What becomes of the rows of an ordered list."""

    gone: list[int]
    """Ids of rows that are no longer wanted."""
    new: list[tuple[int, int]]
    """(index, position) of what was not there."""
    moved: list[tuple[int, int]]
    """(position, id) of rows that stand elsewhere now."""
    same: list[tuple[int, int]]
    """(index, id) of what was there already."""


def arrange(old: Sequence[tuple[int, int, Key]], wanted: Sequence[Key]) -> Kept:
    """Match lines that are there with those wanted, and give every new one a position.

    Args:
        old: (id, position, what tells it apart) of each line that is there, in order.
        wanted: What tells apart each line that shall be there, in order.
    """
    start = 0  # most often something was added at the end, and all before it stands as it did
    for row, key in zip(old, wanted, strict=False):
        if row[2] != key:
            break
        start += 1
    same = [(index, row[0]) for index, row in enumerate(old[:start])]
    waiting: dict[Key, list[tuple[int, int]]] = {}
    for number, position, key in reversed(old[start:]):
        waiting.setdefault(key, []).append((number, position))
    found = [(waiting[key].pop() if waiting.get(key) else None) for key in wanted[start:]]
    positions = _positions([hit[1] if hit else None for hit in found], old[start - 1][1] if start else -GAP)
    new: list[tuple[int, int]] = []
    moved: list[tuple[int, int]] = []
    for index, (hit, position) in enumerate(zip(found, positions, strict=True), start):
        if hit is None:
            new.append((index, position))
            continue
        same.append((index, hit[0]))
        if hit[1] != position:
            moved.append((position, hit[0]))
    return Kept([number for left in waiting.values() for number, _ in left], new, moved, same)


def _positions(known: list[int | None], floor: int) -> list[int]:
    """Give each line a position above the one before, `floor` at first; known ones stay if that can be."""
    upcoming = [position for position in reversed(known) if position is not None]
    result: list[int] = []
    last = floor
    for position in known:
        if position is not None:
            last = upcoming.pop()
        elif upcoming:
            last = (last + upcoming[-1]) // 2
        else:
            last += GAP
        result.append(last)
    if all(one < other for one, other in pairwise([floor, *result])):
        return result
    return [floor + GAP * (index + 1) for index in range(len(known))]
