"""Prose cut into passages of about 600 characters: what full-text search indexes and shows."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a note's prose.

    Attributes:
        heading: The headings it stands under, outermost first, joined by " > "; empty above the first.
        text: Its Markdown.
        line: The 0-based number of its first line in the file.
    """

    heading: str
    text: str
    line: int
