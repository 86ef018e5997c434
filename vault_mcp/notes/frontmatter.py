"""The properties at the head of a note: read as Obsidian reads them, changed without touching anything else.

python-frontmatter is the seam for reading, through a handler of its own (`ObsidianHandler`); its writer is
never used, because it sorts keys, drops comments and rewrites values. A change is made in the text of one
property and then read back: if any other value came out different, it is refused.

Front matter begins on the first line, behind a byte order mark at most. Two rules with prose between them are
not front matter: what stands between them has to be a mapping.
"""

import re
from dataclasses import dataclass

import frontmatter
from frontmatter.default_handlers import YAMLHandler

from vault_mcp.notes.frontmatter_yaml import UnreadableError, read_document


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The front matter of one text, or where the body starts when there is none.

    Attributes:
        start: Offset of the YAML text, behind the opening rule.
        end: Offset of the closing rule.
        body_start: Offset of what follows the closing rule's line; without a block, of the text behind a byte
            order mark.
        yaml: The raw YAML text, line ends as they are.
        present: Whether there is a block; one that cannot be read counts if it begins like a property.
        properties: The values, fit for JSON; empty when the block cannot be read.
        problem: What is wrong with it, in words such as "duplicate key tags", or None.
    """

    start: int
    end: int
    body_start: int
    yaml: str
    present: bool
    properties: dict[str, object]
    problem: str | None


def split(text: str) -> FrontMatter:
    """Return the front matter of a note's text; never raises.

    A block of broken YAML that begins like a property still ends at its closing rule, so that the body is the
    body. One that is not closed, and one that is no mapping, leave the whole text as the body.
    """
    found = _block(text)
    handler = ObsidianHandler()
    if found is not None:
        start, end, body_start = found
        properties, _ = frontmatter.parse(text[:body_start], handler=handler)
        if handler.is_block:
            return FrontMatter(start, end, body_start, text[start:end], True, properties, handler.problem)
    else:
        handler.problem = _problem_without_block(text)
    body = 1 if text.startswith("\ufeff") else 0
    return FrontMatter(body, body, body, "", False, {}, handler.problem)


def read(text: str) -> tuple[dict[str, object], str | None]:
    """Return the properties of a note's text, fit for JSON, and what is wrong with them (None: nothing)."""
    found = split(text)
    return found.properties, found.problem


# --- the block ----------------------------------------------------------------------------------------------

_OPENING = re.compile("\ufeff?---[ \t]*\r?\n")
_CLOSING = re.compile("---[ \t]*(?:\r?\n|\\Z)")
_PROPERTY = re.compile(
    r"(?:[ \t]*(?:#.*)?\r?\n)*"
    r"[ \t]*(?:[^\s#\-\[\]{}>|*&!%@`'\",:][^\n:]*|\"[^\"\n]*\"|'[^'\n]*'):(?:\s|\Z)"
)
_CONFLICT = re.compile(r"^(?:<{7}|>{7})(?: |\r?$)", re.MULTILINE)


def _block(text: str) -> tuple[int, int, int] | None:
    """Offsets of the YAML text, of the closing rule, and of what follows its line."""
    opening = _OPENING.match(text)
    position = opening.end() if opening else 0
    while opening and position >= 0:
        if closing := _CLOSING.match(text, position):
            return opening.end(), position, closing.end()
        position = text.find("\n---", position) + 1 or -1
    return None


def _problem_without_block(text: str) -> str | None:
    opening = _OPENING.match(text)
    if opening and _PROPERTY.match(text, opening.end()):
        return "front matter is not closed"
    return "conflict markers" if text.startswith(("<<<<<<< ", "\ufeff<<<<<<< ")) else None


class ObsidianHandler(YAMLHandler):
    """Reads a block for python-frontmatter the way Obsidian does: at the very start only, and by YAML 1.2.

    After `load`, `problem` says what was wrong, and `is_block` whether the text was front matter at all.
    """

    def __init__(self) -> None:
        super().__init__()
        self.problem: str | None = None
        self.is_block = False

    def detect(self, text: str) -> bool:
        """Tell whether the text opens with a closed block."""
        return _block(text) is not None

    def split(self, text: str) -> tuple[str, str]:
        """Return the YAML text and the body; without a block raise ValueError, as the library expects."""
        found = _block(text)
        if found is None:
            raise ValueError("no front matter")
        start, end, body_start = found
        return text[start:end], text[body_start:]

    def load(self, fm: str, **_options: object) -> dict[str, object]:
        """Return the properties in a YAML text; what is wrong is kept in `problem`, not raised."""
        self.is_block = True
        if _CONFLICT.search(fm):
            self.problem = "conflict markers"
            return {}
        try:
            document = read_document(fm)
        except UnreadableError as error:
            self.is_block = _PROPERTY.match(fm) is not None
            self.problem = str(error)
            return {}
        self.problem = document.problem
        return document.properties()
