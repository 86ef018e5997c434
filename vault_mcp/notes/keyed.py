r"""A key note: one value under one key, exact for any text and pleasant to edit by hand.

    ---
    key: user/theme
    ---

    dark

The value is the body. One that Markdown or Obsidian would take for more than words stands in a code fence:
white space at its edges, a start like JSON, front matter or a fence, or a ``[[`` that would become a link in
the graph. A body that is one code fence means what is inside; any other body means itself, trimmed. What
neither can hold is escaped as `verbatim` says.
"""

import json
import re

from vault_mcp.notes import verbatim
from vault_mcp.notes.frontmatter import FrontMatter, block, split

_OPENING = re.compile(r"(`{3,}(?=[^`\n]*\n)|~{3,})[^\n]*\n")
_NEEDS_FENCE = re.compile(r"[{\[\"`~]|---")
_BACKTICKS = re.compile(r"`{3,}")


def new_keyed(key: str, value: str) -> str:
    """Return a new note for a key, from which `read_value` gives the value back exactly."""
    body = _body(value)
    return block({"key": key}) + (f"\n{body}\n" if body else "")


def read_value(note_text: str, front: FrontMatter | None = None) -> str:
    """Return the value of a key note. `front`: its front matter if known already."""
    body = verbatim.trimmed(note_text[(front or split(note_text)).body_start :])
    return verbatim.decode(_unfenced(body))


def replace_value(note_text: str, value: str) -> str:
    """Return the note with another value; its front matter, a person's additions included, stays as it is."""
    front = split(note_text)
    if read_value(note_text, front) == value:
        return note_text
    newline = verbatim.newline_of(note_text)
    old = note_text[front.body_start :]
    words = old.lstrip(verbatim.EDGES)
    before = old[: len(old) - len(words)] if words else newline
    body = _body(value).replace("\n", newline)
    return note_text[: front.body_start] + (before + body + newline if body else "")


def _body(value: str) -> str:
    at_edges = value.strip(verbatim.EDGES) != value
    if not (at_edges or "[[" in value or _NEEDS_FENCE.match(value)):
        return verbatim.encode(value)
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(value)), default=0))
    return f"{fence}{'json' if _is_json(value) else ''}\n{verbatim.encode(value, edges=False)}\n{fence}"


def _unfenced(body: str) -> str:
    """What is inside, if a body is one code fence from its first line to its last; else the body."""
    opening = _OPENING.match(body)
    if opening is None:
        return body
    fence = opening[1]
    closing = re.compile(rf"^ {{0,3}}{fence}{fence[0]}*[ \t]*$", re.MULTILINE).search(body, opening.end())
    if closing is None or closing.end() != len(body):
        return body
    return body[opening.end() : max(opening.end(), closing.start() - 1)]


def _is_json(value: str) -> bool:
    if value.lstrip()[:1] not in {"{", "[", '"'}:
        return False
    try:
        json.loads(value)
    except (ValueError, RecursionError):  # nested without end, it is no more pleasant as JSON
        return False
    return True
