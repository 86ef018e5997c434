r"""Where the lists of a note start and end: the one reading of a note's lines that readers and editors share.

The section rule, in full. Headings are ATX (``## Words``), as Obsidian writes them. A section runs to the
next heading of its level or above, so that facts may be grouped under ``###``.

    above the first heading     every top-level bullet is an observation
    ## Observations             the same
    ## Superseded               the same, superseded
    ## Relations                a bullet "type [[note]]" is a relation, any other an observation (a merge that
                                keeps both sides can leave one there)
    any other heading           nothing is a fact

A top-level bullet is a line that starts with ``-``, ``*`` or ``+`` and a space or tab. So a line that a
person appends at the end of a file falls into whatever section the file ends with. Nothing is read from
fenced code, nested lists, callouts, numbered lists and comments over several lines; a fence that stands
inside a bullet belongs to that bullet, so that the observation "```" opens nothing. Marker lines of a merge
conflict are no lines at all: what both sides hold between them is read.

A line whose stamp says "superseded" is superseded wherever it stands: showing a fact that no longer holds is
worse than hiding one that somebody dragged back without its tail.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from vault_mcp.notes.line import Bullet, Pair, parse_bullet, parse_relation

Section = Literal["top", "observations", "relations", "superseded", "other"]

TITLES: Final[dict[str, Section]] = {
    "observations": "observations",
    "relations": "relations",
    "superseded": "superseded",
}
"""Titles of the sections that hold facts, in lower case."""

REMEMBERED: Final = 100_000
"""Characters up to which what was read of a note is remembered."""

_OPENING = re.compile(
    r"(?P<rule>([-*_])(?:[ \t]*\2){2,}[ \t]*\r?\Z)"
    r"|(?P<bullet>[-*+][ \t])"
    r"|(?P<number>[0-9]{1,9}[.)][ \t])"
    r"|(?P<conflict><{7}[ \t]|>{7}[ \t]|\|{7}[ \t]|={7}\r?\Z)"
    r"|[ ]{0,3}(?:(?P<heading>\#{1,6})(?:[ \t]|\r?\Z)|(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})|(?P<comment>%%|<!--))"
)
_OPENS = frozenset("-*_+0123456789<>|= #`~%")
"""What the lines that `_OPENING` matches begin with."""
_MAY_BE_RULE = frozenset(("", "-", " ", "\t", "\r"))
_CLOSING_SIGNS = re.compile(r"(?:^|[ \t]+)#+\Z")


@dataclass(slots=True)
class Heading:
    """One heading; `line` is its 0-based number in the file."""

    line: int
    level: int
    title: str
    section: Section


@dataclass(slots=True)
class Layout:
    """What each line of a note is.

    Attributes:
        lines: The text cut at its newlines, without its byte order mark; a CRLF line keeps its CR.
        bom: The byte order mark, or nothing.
        first: Number of the first line after the front matter.
        headings: The headings in order.
        bullets: Number and section of each top-level bullet.
        fences: Code fences: number of the opening line, and of the line behind the closing one.
        conflicts: Numbers of the marker lines of merge conflicts.
        open_fence: Number of the line whose code fence is never closed, or None.
    """

    lines: list[str]
    bom: str
    first: int
    headings: list[Heading] = field(default_factory=list)
    bullets: list[tuple[int, Section]] = field(default_factory=list)
    fences: list[tuple[int, int]] = field(default_factory=list)
    conflicts: list[int] = field(default_factory=list)
    open_fence: int | None = None

    def heading(self, section: Section) -> Heading | None:
        """Return the first heading of the second level that opens a section, or None."""
        return next((h for h in self.headings if h.section == section and h.level == 2), None)


@dataclass(slots=True)
class FactLine:
    """A line that holds a fact: a relation where `pair` is there, else an observation."""

    line: int
    section: Section
    bullet: Bullet
    pair: Pair | None
    superseded: bool


def scan(text: str, body_start: int = 0) -> Layout:
    """Return the layout of a note whose front matter ends at the offset `body_start`."""
    lines = text.split("\n")
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    first = text.count("\n", 0, body_start)
    if body_start > len(bom) and text[body_start - 1] != "\n":  # the file ends with its front matter
        first += 1
    lines[0] = lines[0].removeprefix(bom)
    layout = Layout(lines, bom, first)
    _read_lines(layout)
    return layout


def _read_lines(layout: Layout) -> None:
    lines = layout.lines
    section: Section = "top"
    in_item = False  # a list item is open: what is indented belongs to it
    unclosed: set[str] = set()
    number = layout.first - 1
    while (number := number + 1) < len(lines):
        line = lines[number]
        if line[:1] in _OPENS:
            if line[:2] == "- " and line[2:3] not in _MAY_BE_RULE:  # most lines that matter are such
                layout.bullets.append((number, section))
                in_item = True
                continue
            match = _OPENING.match(line)
        else:
            match = None
        kind = match.lastgroup if match else ""
        if match is None:
            in_item = in_item and line[:1] in {"", " ", "\t", "\r"}
        elif kind == "bullet":
            layout.bullets.append((number, section))
            in_item = True
        elif kind == "number":
            in_item = True
        elif kind == "conflict":
            layout.conflicts.append(number)
        elif not (in_item and line.startswith("  ")):
            in_item = False
            if kind == "heading":
                section = _add_heading(layout, number, match, section)
            elif kind == "fence":
                number = _fence_end(layout, number, match["fence"])
            elif kind == "comment":
                number = _comment_end(lines, number, match["comment"], unclosed)
    if len({lines[number][0] for number in layout.conflicts} & {"<", ">"}) < 2:
        layout.conflicts.clear()  # a row of equal signs under a title, a quotation


def _add_heading(layout: Layout, number: int, match: re.Match[str], section: Section) -> Section:
    level = len(match["heading"])
    title = _CLOSING_SIGNS.sub("", match.string[match.end("heading") :].strip()).strip()
    if level <= 2:
        section = TITLES.get(title.casefold(), "other") if level == 2 else "other"
    elif section == "top":
        section = "other"
    layout.headings.append(Heading(number, level, title, section))
    return section


def _fence_end(layout: Layout, opening: int, fence: str) -> int:
    """The line that closes a code fence; where none does, all that follows is code."""
    for number in range(opening + 1, len(layout.lines)):
        line = layout.lines[number].strip()
        if line.startswith(fence) and not line.strip(fence[0]):
            layout.fences.append((opening, number + 1))
            return number
    layout.fences.append((opening, len(layout.lines)))
    layout.open_fence = opening
    return len(layout.lines)


def _comment_end(lines: list[str], opening: int, sign: str, unclosed: set[str]) -> int:
    """The last line of a comment; where nothing closes it, it is no comment, nor is any later one."""
    closing = "%%" if sign == "%%" else "-->"
    if sign in unclosed or closing in lines[opening].lstrip()[len(sign) :]:
        return opening
    for number in range(opening + 1, len(lines)):
        if closing in lines[number] and f"{sign}+" not in lines[number]:  # a line's stamp closes nothing
            return number
    unclosed.add(sign)
    return opening


def fact_lines(layout: Layout, *, entity: bool) -> list[FactLine]:
    """Return the lines of a note that hold facts; a note that is no entity has relations only."""
    found = []
    for number, section in layout.bullets:
        if section == "other" or not (entity or section == "relations"):
            continue
        bullet = parse_bullet(layout.lines[number][2:])
        pair = parse_relation(bullet) if section == "relations" else None
        if pair is None and not (entity and (bullet.raw or bullet.stamp)):
            continue
        superseded = section == "superseded" or (
            bullet.stamp is not None and bool(bullet.stamp.superseded_at)
        )
        found.append(FactLine(number, section, bullet, pair, superseded and pair is None))
    return found


def read_lists(text: str, body_start: int, *, entity: bool) -> tuple[Layout, tuple[FactLine, ...]]:
    """Return the layout of a note and the lines that hold facts; neither is to be changed.

    One edit reads its note before and after, and so do those who look at what it did: what was read a moment
    ago is remembered.
    """
    return (_remembered if len(text) <= REMEMBERED else _lists)(text, body_start, entity)


def _lists(text: str, body_start: int, entity: bool) -> tuple[Layout, tuple[FactLine, ...]]:
    layout = scan(text, body_start)
    return layout, tuple(fact_lines(layout, entity=entity))


_remembered = lru_cache(maxsize=32)(_lists)


def item_end(layout: Layout, line: int) -> int:
    """Return the last line of the list item that starts at `line`: what hangs under it is indented."""
    end = line
    for number in range(line + 1, len(layout.lines)):
        words = layout.lines[number]
        if words.startswith(("  ", "\t")):
            if words.strip():
                end = number
        elif words.strip() and (number > end + 1 or _OPENING.match(words)):
            break
        elif words.strip():  # the paragraph goes on, unindented
            end = number
    return end


def section_end(layout: Layout, heading: Heading) -> int:
    """Return the number of the line behind a section's last."""
    later = (h.line for h in layout.headings if h.line > heading.line and h.level <= heading.level)
    return next(later, len(layout.lines))


def last_words(layout: Layout, start: int, end: int) -> int:
    """Return the last line in `[start, end)` that is not blank, `start - 1` where all are."""
    return next((n for n in range(end - 1, start - 1, -1) if layout.lines[n].strip()), start - 1)
