"""The bodies of two versions of a note woven into one, line by line; facts as `merge_facts` says.

What is no fact (headings, prose, blank lines) is merged in the manner of diff3: a stretch that one side
changed is taken over, one that both changed in different ways is left to a person. (Khanna, Kunal, Pierce: "A
Formal Investigation of Diff3", 2007.) Lists without facts, such as the bullets of a plain note, are merged by
the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from vault_mcp.notes import frontmatter
from vault_mcp.notes.draft import Draft
from vault_mcp.notes.linediff import lines_of, matches
from vault_mcp.notes.merge_facts import Item, Piece, Plan, plan_facts
from vault_mcp.notes.merge_marks import CLOSE, MIDDLE, OPEN, marked
from vault_mcp.notes.note import Kind, lists_start
from vault_mcp.notes.sections import Section, read_lists

_BULLET = re.compile(r"[-*+][ \t]+\S")
_OF_FACTS = re.compile(r"##[ \t]+(?:observations|relations|superseded)[ \t#]*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Woven:
    """Two texts made one.

    Attributes:
        text: The merged text; our version stands where a person has to decide.
        marked: The same with Git's marks around what a person has to decide.
        pieces: What both sides changed.
        whole: Whether nothing of the note could be merged, so that `text` is ours.
    """

    text: str
    marked: str
    pieces: tuple[Piece, ...]
    whole: bool = False

    @property
    def open(self) -> tuple[Piece, ...]:
        """What a person has to decide."""
        return tuple(piece for piece in self.pieces if not piece.kept)


@dataclass(slots=True)
class _Version:
    """One version of the body: its lines without their ends, which are facts, and the rest in order."""

    lines: list[str]
    facts: list[Item]
    frame: list[int] = field(default_factory=list)

    def words(self, numbers: Sequence[int]) -> list[str]:
        return [self.lines[number] for number in numbers]


def merge_body(base: str, ours: str, theirs: str, kind: Kind, *, plain: bool = False) -> Woven:
    """Merge the bodies of two texts; the front matter of the result is that of `ours`.

    `plain` says that front matter and facts cannot be told from the rest: all of the text is lines then. The
    value of a key is one thing, so lines of two values are never mixed.
    """
    texts = (base, ours, theirs)
    if plain:
        old, mine, other = (_version(text, 0, "note") for text in texts)
        return _Weaving(old, mine, other, ours, 0).woven()
    starts = [frontmatter.split(text).body_start for text in texts]
    if kind == "key":
        return _value([text[at:] for text, at in zip(texts, starts, strict=True)], ours, starts[1])
    old, mine, other = (_version(text, at, kind) for text, at in zip(texts, starts, strict=True))
    weaving = _Weaving(old, mine, other, ours, starts[1])
    woven = weaving.woven()
    if not _holds(woven.text, kind, weaving.plan.expected):
        woven = weaving.with_facts_added_last(kind)
        if not _holds(woven.text, kind, weaving.plan.expected):
            return _left(ours, theirs[starts[2] :], starts[1])
    return woven


def _value(bodies: Sequence[str], ours: str, start: int) -> Woven:
    """Merge the value of a key: one side changed it, or a person decides."""
    base, mine, other = (body.strip() for body in bodies)
    if other in (base, mine):
        return Woven(ours, ours, ())
    if mine == base:
        text = ours[:start] + bodies[2]
        return Woven(text, text, ())
    return _left(ours, bodies[2], start)


def _left(ours: str, theirs: str, start: int) -> Woven:
    """Leave the whole body to a person."""
    both = ours[:start] + marked(ours[start:], theirs, _line_end(ours))
    return Woven(ours, both, (Piece("text", ours[start:], theirs),), whole=True)


def _version(text: str, start: int, kind: Kind) -> _Version:
    lines = [line.rstrip("\r\n") for line in lines_of(text[start:])]
    lists = lists_start(text, frontmatter.split(text), kind) if kind == "memory" else start
    _, found = read_lists(text, lists, entity=kind == "entity")
    first = text.count("\n", 0, start)
    facts = [Item(fact.line - first, lines[fact.line - first], fact) for fact in found]
    known = {item.line for item in facts}
    return _Version(lines, facts, [number for number in range(len(lines)) if number not in known])


def _holds(text: str, kind: Kind, expected: set[tuple[object, ...]]) -> bool:
    """Say whether the facts that stand in a text are those that should."""
    version = _version(text, frontmatter.split(text).body_start, kind)
    return {item.holds for item in version.facts} == expected


def _line_end(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


@dataclass(slots=True)
class _Stretch:
    """What both sides made of one stretch of the frame, as numbers of lines in each body."""

    base: list[int]
    ours: list[int]
    theirs: list[int]


class _Weaving:
    """Our body with their changes."""

    def __init__(self, base: _Version, ours: _Version, theirs: _Version, text: str, start: int) -> None:
        self.base, self.ours, self.theirs = base, ours, theirs
        self.text, self.start = text, start
        self.end = _line_end(text)
        self.plan: Plan = plan_facts(base.facts, ours.facts, theirs.facts)
        self.pieces = list(self.plan.pieces)
        self.open: list[tuple[int, int, list[str]]] = []
        """Stretches that a person has to decide: our first and past-last line, and their lines."""
        self.fresh_frame: set[int] = set()
        """Lines of our frame that we added."""
        self.close: set[int] = set()
        """Their lines that stand before what we added at the same place."""
        self.behind: dict[int, int] = {}
        """Their lines that stand behind one of ours, whatever is before them on their side."""
        self._reached = -1
        self._merge_frame()

    # -- the frame

    def _merge_frame(self) -> None:
        for stretch, stable in self._stretches():
            if stretch.ours or stretch.theirs or stretch.base:
                self._stretch(stretch)
            if stable is not None:
                self._reached = stable[0]
                self.plan.same[stable[1]] = stable[0]

    def _stretches(self) -> Iterator[tuple[_Stretch, tuple[int, int] | None]]:
        """Give the stretches between lines that all have, each with (ours, theirs) of the line behind."""
        base, ours, theirs = self.base.frame, self.ours.frame, self.theirs.frame
        old = self.base.words(base)
        mine = dict(matches(old, self.ours.words(ours)))
        other = dict(matches(old, self.theirs.words(theirs)))
        a = b = c = 0
        for at in sorted(mine.keys() & other.keys()):
            yield (
                _Stretch(base[a:at], ours[b : mine[at]], theirs[c : other[at]]),
                (ours[mine[at]], theirs[other[at]]),
            )
            a, b, c = at + 1, mine[at] + 1, other[at] + 1
        yield _Stretch(base[a:], ours[b:], theirs[c:]), None

    def _stretch(self, stretch: _Stretch) -> None:
        base, ours, theirs = (
            version.words(numbers)
            for version, numbers in (
                (self.base, stretch.base),
                (self.ours, stretch.ours),
                (self.theirs, stretch.theirs),
            )
        )
        if ours == theirs:
            self.plan.same.update(zip(stretch.theirs, stretch.ours, strict=True))
        elif theirs == base:
            self._ours_alone(stretch, ours, theirs)
        elif ours == base or _bare(ours) == _bare(base):
            self._theirs_alone(stretch, ours, theirs)
        elif _bare(theirs) in (_bare(base), _bare(ours)):
            self._ours_alone(stretch, ours, theirs)
        elif all(_BULLET.match(line) for line in _bare([*base, *ours, *theirs])):
            self._list(stretch)
        elif not _bare(base) and (_structural(ours) or _structural(theirs)):
            self._both(stretch, ours, theirs)
        else:
            self._undecided(stretch, ours, theirs)

    def _ours_alone(self, stretch: _Stretch, ours: list[str], theirs: list[str]) -> None:
        for a, b in matches(ours, theirs):
            self.plan.same[stretch.theirs[b]] = stretch.ours[a]
        kept = {a for a, _ in matches(ours, theirs)}
        self.fresh_frame.update(line for at, line in enumerate(stretch.ours) if at not in kept)

    def _theirs_alone(self, stretch: _Stretch, ours: list[str], theirs: list[str]) -> None:
        pairs = matches(ours, theirs)
        for a, b in pairs:
            self.plan.same[stretch.theirs[b]] = stretch.ours[a]
        stay, known = {a for a, _ in pairs}, {b for _, b in pairs}
        self.plan.drop.update(line for at, line in enumerate(stretch.ours) if at not in stay)
        self.plan.take.update(line for at, line in enumerate(stretch.theirs) if at not in known)

    def _list(self, stretch: _Stretch) -> None:
        """Merge the items of a list that are no facts: both sides' new ones, without what either deleted."""
        base = [self.base.lines[line] for line in stretch.base]
        ours = {self.ours.lines[line]: line for line in stretch.ours if self.ours.lines[line].strip()}
        theirs = {self.theirs.lines[line]: line for line in stretch.theirs if self.theirs.lines[line].strip()}
        for words, line in ours.items():
            if words in base and words not in theirs:
                self.plan.drop.add(line)
            elif words not in base:
                self.fresh_frame.add(line)
        for words, line in theirs.items():
            if words in ours:
                self.plan.same[line] = ours[words]
            elif words not in base:
                self.plan.take.add(line)
                if stretch.ours:
                    self.behind[line] = stretch.ours[-1]
        both_gone = [words for words in base if words.strip() and words not in ours and words not in theirs]
        mine = [words for words in ours if words not in base]
        other = [words for words in theirs if words not in base and words not in ours]
        if both_gone and mine and other:
            self.pieces.append(Piece("text", "\n".join(mine), "\n".join(other), "both"))

    def _both(self, stretch: _Stretch, ours: list[str], theirs: list[str]) -> None:
        """Keep what both sides added at one place, where one of it is but the heading of a list of facts."""
        there = {line.strip().casefold() for line in ours if _OF_FACTS.match(line)}
        known: dict[str, int] = {}
        for at, line in enumerate(ours):
            known.setdefault(line.strip().casefold(), stretch.ours[at])
        self.fresh_frame.update(stretch.ours)
        taken = []
        for at, line in enumerate(theirs):
            key = line.strip().casefold()
            if key in there:
                self.plan.same[stretch.theirs[at]] = known[key]
            else:
                taken.append(stretch.theirs[at])
        self.plan.take.update(taken)
        if not _structural(theirs):
            self.close.update(taken)

    def _undecided(self, stretch: _Stretch, ours: list[str], theirs: list[str]) -> None:
        self.pieces.append(Piece("text", _text(ours), _text(theirs)))
        self.fresh_frame.update(stretch.ours)
        for a, b in matches(ours, theirs):
            self.plan.same[stretch.theirs[b]] = stretch.ours[a]
        first = stretch.ours[0] if stretch.ours else self._reached + 1
        self.open.append((first, stretch.ours[-1] + 1 if stretch.ours else first, theirs))

    # -- the text

    def woven(self) -> Woven:
        """Give the body with what was taken, where it stood among what both have."""
        return self._woven(self._placed(self.plan.take))

    def with_facts_added_last(self, kind: Kind) -> Woven:
        """Give the same with their facts at the end of the lists they belong to."""
        facts = {item.line: item for item in self.theirs.facts if item.line in self.plan.take}
        woven = self._woven(self._placed(self.plan.take - facts.keys()))
        return Woven(
            _with_facts(woven.text, kind, list(facts.values())),
            _with_facts(woven.marked, kind, list(facts.values())),
            woven.pieces,
        )

    def _placed(self, take: set[int]) -> dict[int, list[int]]:
        """Give the lines of theirs that come behind each of ours (-1: before the first)."""
        placed: dict[int, list[int]] = {}
        anchor, shifted = -1, -1
        facts = {item.line for item in self.theirs.facts}
        begun = in_facts = False
        for line in range(len(self.theirs.lines)):
            if line in self.plan.same:
                anchor, begun = self.plan.same[line], False
            if line in take and line in self.behind:
                placed.setdefault(self.behind[line], []).append(line)
            elif line in take:
                fact = line in facts
                if not begun:
                    shifted = anchor if line in self.close else self._behind(anchor, fact=fact)
                elif in_facts and not fact and line not in self.close:
                    # A heading behind their facts: what we added to the list goes before it.
                    shifted = self._behind(shifted, fact=False)
                begun, in_facts = True, fact
                placed.setdefault(shifted, []).append(line)
        return placed

    def _behind(self, anchor: int, *, fact: bool) -> int:
        """Go past what we added at the same place, so that ours comes first."""
        fresh = self.plan.fresh if fact else self.plan.fresh | self.fresh_frame
        gone = self.plan.drop & {item.line for item in self.ours.facts}
        while anchor + 1 < len(self.ours.lines) and anchor + 1 in fresh | gone:
            anchor += 1
        return anchor

    def _woven(self, placed: dict[int, list[int]]) -> Woven:
        head = self.text[: self.start]
        plain = _Lines(head, self.end)
        both = _Lines(head, self.end)
        raw = lines_of(self.text[self.start :])
        begins: dict[int, list[tuple[int, int, list[str]]]] = {}
        for stretch in self.open:
            begins.setdefault(stretch[0], []).append(stretch)
        ends: dict[int, list[str]] = {}
        for number in range(-1, len(raw) + 1):
            if number in ends:
                both.add(MIDDLE, *ends[number], CLOSE)
            for _, last, theirs in begins.get(number, ()):
                both.add(OPEN)
                if last == number:
                    both.add(MIDDLE, *theirs, CLOSE)
                else:
                    ends[last] = theirs
            if 0 <= number < len(raw) and number not in self.plan.drop:
                words = self.plan.swap.get(number)
                for lines in (plain, both):
                    lines.keep(raw[number], words)
            more = [self.theirs.lines[line] for line in placed.get(number, ())]
            plain.add(*more)
            both.add(*more)
        return Woven(plain.text(), both.text(), tuple(self.pieces))


class _Lines:
    """Lines put together: one that something follows has an end."""

    def __init__(self, head: str, end: str) -> None:
        self._parts = [head] if head else []
        self._end = end

    def keep(self, line: str, words: str | None) -> None:
        """Put one of our lines, with other words where there are some."""
        self._finish()
        bare = line.rstrip("\r\n")
        self._parts.append(line if words is None else words + line[len(bare) :])

    def add(self, *lines: str) -> None:
        """Put lines that are not ours."""
        for line in lines:
            self._finish()
            self._parts.append(line + self._end)

    def _finish(self) -> None:
        if self._parts and not self._parts[-1].endswith("\n"):
            self._parts[-1] += self._end

    def text(self) -> str:
        return "".join(self._parts)


def _with_facts(text: str, kind: Kind, facts: Sequence[Item]) -> str:
    sections: dict[Section, list[str]] = {}
    for item in facts:
        section: Section = {"relation": "relations", "superseded": "superseded"}.get(  # type: ignore[assignment]
            item.place, "observations"
        )
        sections.setdefault(section, []).append(item.words)
    for section, lines in sections.items():
        start = lists_start(text, frontmatter.split(text), kind)
        layout, found = read_lists(text, start, entity=kind == "entity")
        draft = Draft(layout)
        draft.add_facts(section, lines, [fact for fact in found if fact.section == section])
        text = draft.text()
    return text


def _bare(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line.strip()]


def _structural(lines: Sequence[str]) -> bool:
    """Say whether lines are nothing but headings of lists of facts."""
    return all(_OF_FACTS.match(line) for line in _bare(lines))


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
