"""What one change did to a text, taken back from the text that it has become since: fact by fact.

A change led from one text (before) to another (after); now there is a third. A list line is one fact and is
taken back by itself; prose is taken back by the stretch. Where a later edit stands in the way, that piece is
left as it is and named.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from vault_mcp.notes import frontmatter
from vault_mcp.notes.line import Bullet, Stamp, parse_bullet
from vault_mcp.notes.linediff import hunks, lines_of, matches

_HEADING = re.compile(r"#{1,6}\s")
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A fact or a piece of prose that later edits changed: its words, and what happened to it."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The text without the change, as far as that goes; `empty` says that nothing of the file is left."""

    text: str
    obstacles: tuple[Obstacle, ...]
    empty: bool = False


def take_back(before: str, after: str, now: str) -> TakenBack:
    """Give the text as it is now without what led from `before` to `after`."""
    return _TakingBack(lines_of(before), lines_of(after), lines_of(now)).run()


def take_back_all(after: str, now: str) -> TakenBack:
    """Give what is left of a file that a change made: nothing, unless something was added to it since."""
    made = Counter(_words(line) for line in lines_of(after))
    later = [line for line in lines_of(now) if line.strip() and _taken(made, _words(line))]
    if not later:
        return TakenBack("", (), empty=True)
    facts = [line for line in lines_of(after) if _bullet(line)]
    rest = "".join(line for line in lines_of(now) if line not in facts)
    return TakenBack(rest, tuple(Obstacle(_shown(line), "was added later") for line in later))


def without_own(made: str, ours: str) -> str:
    """Give a file that one side made without what is that side's alone: its lines that ours has not.

    The front matter stays whole.
    """
    known = {_words(line) for line in lines_of(ours)}
    start = frontmatter.split(made).body_start
    return made[:start] + "".join(
        line for line in lines_of(made[start:]) if not line.strip() or _words(line) in known
    )


def _taken(counts: Counter[str], key: str) -> bool:
    """Take one of a key out of a count; True when there is none left."""
    counts[key] -= 1
    return counts[key] < 0


@dataclass(slots=True)
class _TakingBack:
    before: list[str]
    after: list[str]
    now: list[str]
    kept: dict[int, int] = field(default_factory=dict)
    """Line of `after` -> the same line of `now`."""
    replaced: set[int] = field(default_factory=set)
    """Lines of `after` in whose place other lines stand now."""
    doomed: set[int] = field(default_factory=set)
    swapped: dict[int, str] = field(default_factory=dict)
    put: dict[int, list[str]] = field(default_factory=dict)
    headings: set[int] = field(default_factory=set)
    obstacles: list[Obstacle] = field(default_factory=list)

    def run(self) -> TakenBack:
        pairs = matches(self.after, self.now)
        self.kept = dict(pairs)
        self._moved(pairs)
        self.replaced = {
            line for a, b, c, d in hunks(self.after, self.now, pairs) if d > c for line in range(a, b)
        }
        for hunk in hunks(self.after, self.before, matches(self.after, self.before)):
            self._hunk(*hunk)
        return TakenBack("".join(self._result()), tuple(self.obstacles))

    def _moved(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Know a list line again that stands somewhere else now."""
        taken = {b for _, b in pairs}
        places: dict[str, list[int]] = {}
        for at, line in enumerate(self.now):
            if at not in taken and _bullet(line):
                places.setdefault(_words(line), []).append(at)
        for at, line in enumerate(self.after):
            if at not in self.kept and (found := places.get(_words(line))):
                self.kept[at] = found.pop(0)

    # -- one stretch of the change

    def _hunk(self, first: int, last: int, begin: int, end: int) -> None:
        gone, come = list(range(first, last)), list(range(begin, end))
        texts = [*(self.after[at] for at in gone), *(self.before[at] for at in come)]
        prose = [t for t in texts if t.strip() and not _bullet(t) and not _HEADING.match(t)]
        if prose:
            self._stretch(first, last, begin, end)
            return
        edits = dict(self._edits(gone, come))
        for at in gone:
            if at in edits:
                self._edit(at, self.before[edits[at]])
            else:
                self._remove(at)
        partners = set(edits.values())
        anchor = self._anchor(first)
        fresh: dict[int, list[str]] = {}
        for line in (self.before[at] for at in come if at not in partners):
            if _HEADING.match(line) and line in self.now:
                anchor = self.now.index(line) + 1
            elif not self._there(line):
                fresh.setdefault(anchor, []).append(line)
        for at, lines in fresh.items():
            if any(line.strip() for line in lines):
                self.put.setdefault(at, []).extend(lines)

    def _edits(self, gone: Sequence[int], come: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Match each fact that the change brought with the one it came from, by stamp, else by place."""
        left = [at for at in come if _bullet(self.before[at])]
        facts = [at for at in gone if _bullet(self.after[at])]
        for at in facts:
            mine = _identity(self.after[at])
            partner = next((b for b in left if mine is not None and _identity(self.before[b]) == mine), None)
            if partner is not None:
                left.remove(partner)
                yield at, partner
        bare = [at for at in facts if _identity(self.after[at]) is None]
        loose = [b for b in left if _identity(self.before[b]) is None]
        if len(bare) == len(loose):
            yield from zip(bare, loose, strict=True)

    def _edit(self, at: int, old: str) -> None:
        if at in self.kept:
            self.swapped[self.kept[at]] = _ended(old, self.now[self.kept[at]])
        elif not self._there(old):
            self._stands_in_the_way(at)

    def _remove(self, at: int) -> None:
        line = self.after[at]
        if at in self.kept:
            if _HEADING.match(line):
                self.headings.add(self.kept[at])
            self.doomed.add(self.kept[at])
        elif _bullet(line) and (self._successor(at) is not None or self._bare_and_replaced(at)):
            self._stands_in_the_way(at)

    def _bare_and_replaced(self, at: int) -> bool:
        return _identity(self.after[at]) is None and at in self.replaced

    def _stretch(self, first: int, last: int, begin: int, end: int) -> None:
        """Take back a stretch of prose, which has to be as the change left it."""
        places = [self.kept.get(at) for at in range(first, last)]
        whole = all(place is not None for place in places) and all(
            a is not None and b == a + 1 for a, b in itertools.pairwise(places)
        )
        if not whole:
            if "".join(self.before[begin:end]) not in "".join(self.now) or begin == end:
                shown = [self.after[at] for at in range(first, last) if self.after[at].strip()]
                self.obstacles.append(Obstacle(_shown(shown[0] if shown else ""), "was edited later"))
            return
        self.doomed.update(place for place in places if place is not None)
        at = places[0] if places and places[0] is not None else self._anchor(first)
        self.put.setdefault(at, []).extend(self.before[begin:end])

    def _anchor(self, first: int) -> int:
        """Give the line of `now` before which to put what stood at a line of `after`."""
        for at in range(first - 1, -1, -1):
            if at in self.kept:
                return self.kept[at] + 1
        following = (self.kept[at] for at in range(first, len(self.after)) if at in self.kept)
        return next(following, len(self.now))

    # -- what stands there now

    def _there(self, line: str) -> bool:
        return bool(_bullet(line)) and any(
            _text(line) == _text(other) for other in self.now if _bullet(other)
        )

    def _successor(self, at: int) -> str | None:
        """Give the line that a fact has become: another one with the same first stamp."""
        mine = _identity(self.after[at])
        known = {self.now[place] for place in self.kept.values()}
        others = (line for line in self.now if line not in known and _bullet(line))
        return next((line for line in others if mine is not None and _identity(line) == mine), None)

    def _stands_in_the_way(self, at: int) -> None:
        successor = self._successor(at)
        replaced = successor is not None or at in self.replaced
        words = _shown(successor if successor is not None else self.after[at])
        self.obstacles.append(Obstacle(words, "was edited later" if replaced else "was deleted later"))

    # -- the text

    def _result(self) -> list[str]:
        lines: list[str] = []
        blank: set[int] = set()
        heads: list[int] = []
        for at in range(len(self.now) + 1):
            if at in self.put and lines and not lines[-1].endswith("\n"):
                lines[-1] += "\n"
            lines += [_ended(line, "\n") if at < len(self.now) else line for line in self.put.get(at, ())]
            if at == len(self.now):
                break
            if at in self.headings:
                heads.append(len(lines))
            elif at in self.doomed and self._beside_heading(at):
                blank.add(len(lines))
            elif at in self.doomed:
                continue
            lines.append(self.swapped.get(at, self.now[at]))
        for place in reversed(heads):
            self._drop_empty(lines, place, blank)
        return lines

    def _beside_heading(self, at: int) -> bool:
        """Say whether a blank line that is to go stands between a heading that may stay and its text."""
        return not self.now[at].strip() and bool({at - 1, at + 1} & self.headings)

    def _drop_empty(self, lines: list[str], heading: int, blank: set[int]) -> None:
        """Take a heading out, with the blank lines the change put around it, if nothing stands below it."""
        if any(line.strip() for line in _section(lines, heading)):
            return
        for place in (heading + 1, heading, heading - 1):
            if place == heading or place in blank:
                del lines[place]


def _section(lines: Sequence[str], heading: int) -> list[str]:
    """Give the lines below a heading, up to the next one."""
    found = []
    for line in lines[heading + 1 :]:
        if _HEADING.match(line):
            break
        found.append(line)
    return found


def _bullet(line: str) -> Bullet | None:
    return parse_bullet(line[2:].rstrip("\r\n")) if line.startswith("- ") else None


def _identity(line: str) -> tuple[str, str] | None:
    bullet = _bullet(line)
    stamp: Stamp | None = bullet.stamp if bullet else None
    return (stamp.added_at, stamp.agent) if stamp else None


def _text(line: str) -> str:
    bullet = _bullet(line)
    return bullet.text if bullet else line


def _words(line: str) -> str:
    return line.rstrip("\r\n")


def _shown(line: str) -> str:
    text = " ".join(_text(line).split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _ended(line: str, like: str) -> str:
    """Give a line the end that another has."""
    bare = line.rstrip("\r\n")
    return bare + like[len(like.rstrip("\r\n")) :]
