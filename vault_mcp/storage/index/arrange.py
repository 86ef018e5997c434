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
    """Match lines that are there with those wanted, in order, and give every new one a position.

    Args:
        old: (id, position, what tells it apart) of each line that is there.
        wanted: What tells apart each line that shall be there.
    """
    waiting: dict[Key, list[tuple[int, int]]] = {}
    for number, position, key in reversed(old):
        waiting.setdefault(key, []).append((number, position))
    found: list[tuple[int, int] | None] = [
        (waiting[key].pop() if waiting.get(key) else None) for key in wanted
    ]
    gone = [number for left in waiting.values() for number, _ in left]
    same = [(index, hit[0]) for index, hit in enumerate(found) if hit]
    positions = _positions([hit[1] if hit else None for hit in found])
    new = [(index, positions[index]) for index, hit in enumerate(found) if hit is None]
    moved = [
        (positions[index], hit[0]) for index, hit in enumerate(found) if hit and hit[1] != positions[index]
    ]
    return Kept(gone, new, moved, same)


def _positions(known: list[int | None]) -> list[int]:
    """Give each line a position that rises from line to line, leaving the known ones alone if that can be."""
    fixed = [position for position in known if position is not None]
    rising = all(one < other for one, other in pairwise(fixed))
    result: list[int] = []
    last = -GAP
    if rising:
        upcoming = [position for position in reversed(known) if position is not None]
        for position in known:
            if position is not None:
                last = upcoming.pop()
            elif upcoming:
                last = (last + upcoming[-1]) // 2 if upcoming[-1] - last > 1 else upcoming[-1]
            else:
                last += GAP
            result.append(last)
        rising = all(one < other for one, other in pairwise(result))
    return result if rising else [index * GAP for index in range(len(known))]
