"""Prose cut into passages of about 600 characters: what full-text search ranks and shows.

A note as a whole says little about where the words are, and a long one drowns them; a passage is found for
itself and counts for its note. Cuts fall at headings first, then between paragraphs; a paragraph that is too
long is cut behind a line, a sentence or a word.
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from vault_mcp.notes.sections import TITLES, Heading

LENGTH: Final = 600
"""Characters of a passage."""

LONGEST: Final = 750
"""Characters up to which a single paragraph is left whole."""

_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]*_]*\s|[。！？]")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a note's prose.

    Attributes:
        heading: The headings it stands under, outermost first, joined by " > "; empty above the first.
        text: Its Markdown; empty for a heading with nothing under it.
        line: The 0-based number of its first line in the file.
    """

    heading: str
    text: str
    line: int


def passage_key(text: str) -> bytes:
    """Return the key under which a passage's vectors are kept: equal texts share them."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def cut(
    lines: Sequence[str], first: int, headings: Sequence[Heading] = (), skipped: Collection[int] = ()
) -> list[Passage]:
    """Return the passages of a note from line `first` on, without the lines numbered in `skipped`."""
    top_end = headings[0].line if headings else len(lines)
    passages = _packed("", _paragraphs(lines, first, top_end, skipped))
    path: list[Heading] = []
    for index, heading in enumerate(headings):
        following = headings[index + 1] if index + 1 < len(headings) else None
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        titles = " > ".join(h.title for h in path if h.title)
        end = following.line if following else len(lines)
        found = _packed(titles, _paragraphs(lines, heading.line + 1, end, skipped))
        led_on = following is not None and following.level > heading.level
        if not found and not led_on and heading.title and heading.title.casefold() not in TITLES:
            found = [Passage(titles, "", heading.line)]
        passages += found
    return passages


def _paragraphs(
    lines: Sequence[str], start: int, end: int, skipped: Collection[int]
) -> Iterator[tuple[str, int]]:
    """The paragraphs of some lines, each with the number of its first; long ones in pieces."""
    paragraph: list[str] = []
    for number in range(start, end):
        words = "" if number in skipped else lines[number].rstrip()
        if words:
            paragraph.append(words)
        elif paragraph:
            yield from _pieces("\n".join(paragraph), number - len(paragraph))
            paragraph = []
    if paragraph:
        yield from _pieces("\n".join(paragraph), end - len(paragraph))


def _pieces(text: str, line: int) -> Iterator[tuple[str, int]]:
    start = 0
    while len(text) - start > LONGEST:
        end = _cut_point(text, start)
        yield text[start:end].strip(), line
        line += text.count("\n", start, end)
        start = end
    yield text[start:].strip(), line


def _cut_point(text: str, start: int) -> int:
    middle, end = start + LENGTH // 2, start + LENGTH
    newline = text.rfind("\n", middle, end)
    if newline >= 0:
        return newline + 1
    sentences = [match.end() for match in _SENTENCE_END.finditer(text, middle, end)]
    if sentences:
        return sentences[-1]
    space = text.rfind(" ", middle, end)
    return space + 1 if space >= 0 else end


def _packed(heading: str, paragraphs: Iterator[tuple[str, int]]) -> list[Passage]:
    """Neighbouring paragraphs together, as long as they fit."""
    passages: list[Passage] = []
    held, held_line = "", 0
    for text, line in paragraphs:
        if not held:
            held, held_line = text, line
        elif len(held) + len(text) < LENGTH:
            held = f"{held}\n\n{text}"
        else:
            passages.append(Passage(heading, held, held_line))
            held, held_line = text, line
    if held:
        passages.append(Passage(heading, held, held_line))
    return passages
