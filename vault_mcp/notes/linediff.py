"""Which lines of one text stand in another: the matching that Git's own diff makes.

The algorithm is that of Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), in the form with a
middle snake found from both ends. Where several shortest scripts are possible, the choice is the one of
xdiff, the library inside Git, so that a line is blamed on the commit that `git blame` names.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence

COSTLY = 600
"""Differences in one stretch of text from which only the lines that occur once are matched: that is cheap."""

_FAR = 1 << 60


def lines_of(text: str) -> list[str]:
    """Cut a text behind its line feeds, as Git does; nothing is lost."""
    lines = text.split("\n")
    ends = [f"{line}\n" for line in lines[:-1]]
    return [*ends, lines[-1]] if lines[-1] else ends


def matches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Give the lines that stay, in order, as pairs of numbers from 0: (line of `old`, line of `new`)."""
    start = 0
    most = min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    mine, theirs = range(start, len(old) - end), range(start, len(new) - end)
    known = {new[at] for at in theirs}
    left = [at for at in mine if old[at] in known]
    known = {old[at] for at in left}
    right = [at for at in theirs if new[at] in known]
    inner = _matched([old[at] for at in left], [new[at] for at in right])
    return [
        *((at, at) for at in range(start)),
        *((left[a], right[b]) for a, b in inner),
        *((len(old) - at, len(new) - at) for at in range(end, 0, -1)),
    ]


def hunks(
    old: Sequence[str], new: Sequence[str], pairs: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, int, int]]:
    """Give the stretches between matched lines: first and past-last line of `old` and of `new`."""
    a = b = 0
    for mine, theirs in [*pairs, (len(old), len(new))]:
        if mine > a or theirs > b:
            yield a, mine, b, theirs
        a, b = mine + 1, theirs + 1


def _matched(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Give the pairs of a shortest script, by taking stretches apart at their middle snakes."""
    gone, come = [False] * len(old), [False] * len(new)
    waiting = [(0, len(old), 0, len(new))]
    while waiting:
        first, last, begin, end = waiting.pop()
        while first < last and begin < end and old[first] == new[begin]:
            first, begin = first + 1, begin + 1
        while first < last and begin < end and old[last - 1] == new[end - 1]:
            last, end = last - 1, end - 1
        if first == last or begin == end:
            gone[first:last] = [True] * (last - first)
            come[begin:end] = [True] * (end - begin)
            continue
        split = _middle(old, new, first, last, begin, end)
        if split is None:
            kept = _once(old[first:last], new[begin:end])
            mine, theirs = {a for a, _ in kept}, {b for _, b in kept}
            gone[first:last] = [at not in mine for at in range(last - first)]
            come[begin:end] = [at not in theirs for at in range(end - begin)]
            continue
        a, b = split
        waiting += [(first, a, begin, b), (a, last, b, end)]
    stay = [at for at, is_gone in enumerate(gone) if not is_gone]
    return list(zip(stay, (at for at, is_new in enumerate(come) if not is_new), strict=True))


def _middle(
    old: list[str], new: list[str], first: int, last: int, begin: int, end: int
) -> tuple[int, int] | None:
    """Give a point that a shortest script goes through; None when the search becomes too costly."""
    low, high = first - end, last - begin
    here, there = first - begin, last - end
    odd = (here - there) & 1
    forward, backward = {here: first}, {there: last}
    fore_low = fore_high = here
    back_low = back_high = there
    for _ in range(COSTLY):
        fore_low, fore_high = _wider(forward, fore_low, fore_high, low, high, -1)
        for d in range(fore_high, fore_low - 1, -2):
            a = forward[d - 1] + 1 if forward[d - 1] >= forward[d + 1] else forward[d + 1]
            while a < last and a - d < end and old[a] == new[a - d]:
                a += 1
            forward[d] = a
            if odd and back_low <= d <= back_high and backward.get(d, _FAR) <= a:
                return a, a - d
        back_low, back_high = _wider(backward, back_low, back_high, low, high, _FAR)
        for d in range(back_high, back_low - 1, -2):
            a = backward[d - 1] if backward[d - 1] < backward[d + 1] else backward[d + 1] - 1
            while a > first and a - d > begin and old[a - 1] == new[a - d - 1]:
                a -= 1
            backward[d] = a
            if not odd and fore_low <= d <= fore_high and a <= forward.get(d, -1):
                return a, a - d
    return None


def _wider(
    reached: dict[int, int], least: int, most: int, low: int, high: int, nothing: int
) -> tuple[int, int]:
    """Take in one more diagonal on each side, or one less where the box ends."""
    if least > low:
        least -= 1
        reached[least - 1] = nothing
    else:
        least += 1
    if most < high:
        most += 1
        reached[most + 1] = nothing
    else:
        most -= 1
    return least, most


def _once(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Match the lines that occur once on each side, as many as keep their order (patience)."""
    places: dict[str, list[int]] = {}
    for number, line in enumerate(new):
        places.setdefault(line, []).append(number)
    counts: dict[str, int] = {}
    for line in old:
        counts[line] = counts.get(line, 0) + 1
    pairs = [
        (number, places[line][0])
        for number, line in enumerate(old)
        if counts[line] == 1 and len(places.get(line, ())) == 1
    ]
    tops: list[int] = []
    piles: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        pile = bisect.bisect_left(tops, place)
        before.append(piles[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [place]
        piles[pile : pile + 1] = [index]
    kept: list[tuple[int, int]] = []
    index = piles[-1] if piles else -1
    while index >= 0:
        kept.append(pairs[index])
        index = before[index]
    return kept[::-1]
