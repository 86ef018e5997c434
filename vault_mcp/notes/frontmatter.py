"""The properties at the head of a note: read as Obsidian reads them, changed without touching anything else.

python-frontmatter is the seam for reading, through a handler of its own (`ObsidianHandler`); front matter of
plain lines alone is read before it comes to that. Its writer is never used, because it sorts keys, drops
comments and rewrites values. A change is made in the text of one property and then read back: if any other
value came out different, it is refused.

Front matter begins on the first line, behind a byte order mark at most. Two rules with prose between them are
not front matter: what stands between them has to be a mapping.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import frontmatter
from frontmatter.default_handlers import YAMLHandler

from vault_mcp.errors import NoteUnreadable
from vault_mcp.notes.frontmatter_yaml import Document, Entry, UnreadableError, plain_properties, read_document
from vault_mcp.notes.scalars import quoted, written_scalar, written_text


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
        plain = plain_properties(text[start:end])
        if plain is not None:
            return FrontMatter(start, end, body_start, text[start:end], True, plain, None)
        properties, _ = frontmatter.parse(text[:body_start], handler=handler)
        if handler.is_block:
            return FrontMatter(start, end, body_start, text[start:end], True, properties, handler.problem)
    else:
        handler.problem = _problem_without_block(text)
    body = 1 if text.startswith("\ufeff") else 0
    return FrontMatter(body, body, body, "", False, {}, handler.problem)


def outline(text: str) -> FrontMatter:
    """Return where the front matter of a note lies that is known to have one, without reading its values."""
    found = _block(text)
    if found is None:
        return split(text)
    start, end, body_start = found
    return FrontMatter(start, end, body_start, text[start:end], True, {}, None)


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


# --- new front matter ---------------------------------------------------------------------------------------


def block(properties: Mapping[str, object]) -> str:
    """Return new front matter with both its rules, in the style in which Obsidian writes it."""
    return "---\n" + "".join(_property(written_text(k), k, v, "\n") for k, v in properties.items()) + "---\n"


def _property(written_key: str, key: str, value: object, newline: str, indent: str = "") -> str:
    if isinstance(value, list | tuple) and value:
        return f"{indent}{written_key}:{newline}" + _items(value, newline, f"{indent}  - ")
    written = written_scalar(value, key=key)
    return f"{indent}{written_key}:{' ' if written else ''}{written}{newline}"


def _items(values: list[object] | tuple[object, ...], newline: str, dash: str) -> str:
    return "".join(f"{dash}{written_scalar(value)}".rstrip(" ") + newline for value in values)


# --- changes ------------------------------------------------------------------------------------------------


def set_property(text: str, key: str, value: object) -> str:
    """Return the text with one property set, in the lines of that property only.

    A property that says so already leaves the text as it is; a note without front matter gets one. A list
    keeps its style, its order and the items that stay; text in quotes stays in such quotes.

    Raises:
        NoteUnreadable: the front matter has a problem, or would not read back with all else as it was.
    """
    front = _editable(text)
    value = list(value) if isinstance(value, tuple) else value
    if key in front.properties and _same(front.properties[key], value):
        return text
    newline = "\r\n" if text[: text.find("\n") + 1].endswith("\r\n") else "\n"
    wanted = front.properties | {key: value}
    if not front.present:
        head = block({key: value}).replace("\n", newline)
        return _checked(text, front, wanted, key, [head])
    document = read_document(front.yaml)
    return _checked(text, front, wanted, key, _ways_to_set(front.yaml, document, key, value, newline))


def add_to_list(text: str, key: str, item: object) -> str:
    """Return the text with one more item in a list property; a single value becomes a list first.

    An item that is there already leaves the text as it is. Raises NoteUnreadable as `set_property` does, and
    when the property is no list and no single value.
    """
    present = _editable(text).properties.get(key)
    if isinstance(present, dict):
        raise NoteUnreadable(f"The property {key} is not a list. Make it one in the note, then try again.")
    items = present if isinstance(present, list) else [] if present is None else [present]
    if any(_same(item, other) for other in items):
        return text
    return set_property(text, key, [*items, item])


def remove_property(text: str, key: str) -> str:
    """Return the text without one property; raises NoteUnreadable as `set_property` does."""
    front = _editable(text)
    if key not in front.properties:
        return text
    wanted = {name: value for name, value in front.properties.items() if name != key}
    document = read_document(front.yaml)
    entry = next(entry for entry in document.entries if entry.key == key)
    start, end = _lines_of(front.yaml, entry)
    return _checked(text, front, wanted, key, [front.yaml[:start] + front.yaml[end:]])


def lines_of_property(text: str, key: str) -> tuple[int, int] | None:
    """Return where the lines of a property begin and end in a note's text; None where it has none."""
    front = split(text)
    if not front.present or front.problem or key not in front.properties:
        return None
    document = read_document(front.yaml)
    entry = next((entry for entry in document.entries if entry.key == key), None)
    if entry is None or document.flow:
        return None
    start, end = _lines_of(front.yaml, entry)
    return front.start + start, front.start + end


def _editable(text: str) -> FrontMatter:
    front = split(text)
    if front.problem:
        raise NoteUnreadable(
            f"The properties of this note cannot be changed: {front.problem}. Mend the top of the note first."
        )
    return front


def _checked(text: str, front: FrontMatter, wanted: dict[str, object], key: str, ways: Iterable[str]) -> str:
    """The first way to write the YAML text that reads back as wanted, in its place in the text."""
    before, after = text[: front.start], text[front.end :]
    for way in ways:
        changed = before + way + after
        found = split(changed)
        same_body = changed[found.body_start :] == text[front.body_start :]
        if found.problem is None and same_body and _same(found.properties, wanted):
            return changed
    raise NoteUnreadable(
        f"The property {key} cannot be changed without touching others. Change it by hand in the note."
    )


def _same(one: object, other: object) -> bool:
    """Equal in type and order too: 1, 1.0, True and "1" are four things."""
    return json.dumps(one) == json.dumps(other)


def _ways_to_set(yaml: str, document: Document, key: str, value: object, newline: str) -> Iterator[str]:
    """New YAML texts with the property set, the gentlest first."""
    entry = next((entry for entry in document.entries if entry.key == key), None)
    if entry is None:
        yield _appended(yaml, document, key, value, newline)
        return
    if isinstance(value, list) and value and not document.flow:
        if entry.style == "[" and entry.items:
            yield _flow_list(yaml, entry, value)
        elif entry.style == "-":
            yield _block_list(yaml, entry, value, newline)
        elif entry.style not in ("|", ">", ":"):
            yield _list_for_scalar(yaml, entry, value, newline)
    elif entry.style not in ("|", ">", "-", ":"):
        yield _scalar(yaml, entry, value, flow=document.flow)
    if not document.flow:
        start, end = _lines_of(yaml, entry)
        written_key = yaml[entry.key_start : entry.key_end]
        rewritten = _property(written_key, key, value, newline, _indent(yaml, entry.key_start))
        yield yaml[:start] + rewritten + yaml[end:]


def _appended(yaml: str, document: Document, key: str, value: object, newline: str) -> str:
    if document.flow:
        inside, _, rest = yaml.rpartition("}")
        comma = ", " if document.entries else ""
        return f"{inside}{comma}{quoted(key)}: {written_scalar(value, flow=True)}}}{rest}"
    indent = _indent(yaml, document.entries[0].key_start) if document.entries else ""
    return yaml + _property(written_text(key), key, value, newline, indent)


def _scalar(yaml: str, entry: Entry, value: object, *, flow: bool) -> str:
    """A value on one line in the place of another; what follows it on its line stays."""
    if isinstance(value, str) and entry.style in ("'", '"'):
        written = quoted(value, entry.style)
    else:
        written = written_scalar(value, flow=flow, key=entry.key)
    before = (
        yaml[: entry.start].rstrip(" ") if not written or entry.start == entry.end else yaml[: entry.start]
    )
    space = " " if written and before.endswith(":") else ""
    return f"{before}{space}{written}{yaml[entry.end :]}"


def _list_for_scalar(yaml: str, entry: Entry, values: list[object], newline: str) -> str:
    """A block list in the place of a value on the property's own line, whose comment stays there."""
    end = _line_after(yaml, entry.end)
    line = yaml[: entry.start].rstrip(" ") + yaml[entry.end : end]
    return line + _items(values, newline, f"{_indent(yaml, entry.key_start)}  - ") + yaml[end:]


def _kept(entry: Entry, values: list[object]) -> tuple[list[int], list[object]]:
    """Which items of a list stay as they are written, and what comes after them."""
    present = entry.value if isinstance(entry.value, list) else []
    kept: list[int] = []
    for index, item in enumerate(present):
        if len(kept) < len(values) and _same(item, values[len(kept)]):
            kept.append(index)
    return kept, values[len(kept) :]


def _flow_list(yaml: str, entry: Entry, values: list[object]) -> str:
    kept, more = _kept(entry, values)
    parts: list[str] = []
    for index in kept:
        start, end = entry.items[index]
        separator = yaml[entry.items[index - 1][1] : start] if parts else ""
        parts.append(separator + yaml[start:end])
    for value in more:
        parts.append((", " if parts else "") + written_scalar(value, flow=True))
    return yaml[: entry.items[0][0]] + "".join(parts) + yaml[entry.items[-1][1] :]


def _block_list(yaml: str, entry: Entry, values: list[object], newline: str) -> str:
    kept, more = _kept(entry, values)
    parts, position = [], 0
    for index, (start, end) in enumerate(entry.items):
        if index not in kept:
            parts.append(yaml[position : _line_start(yaml, start)])
            position = _line_after(yaml, end)
    last = _line_after(yaml, entry.items[-1][1])
    dash = _indent(yaml, entry.items[-1][0]) + "- "
    return "".join(parts) + yaml[position:last] + _items(more, newline, dash) + yaml[last:]


def _lines_of(yaml: str, entry: Entry) -> tuple[int, int]:
    """From the start of a property's first line to the end of its last that is not blank."""
    start, end = _line_start(yaml, entry.key_start), _line_after(yaml, entry.end)
    while entry.style in ("|", ">") and not yaml[_line_start(yaml, end - 1) : end].strip():
        end = _line_start(yaml, end - 1)
    return start, end


def _line_start(yaml: str, position: int) -> int:
    return yaml.rfind("\n", 0, position) + 1


def _line_after(yaml: str, position: int) -> int:
    if position and yaml[position - 1] == "\n":  # a block scalar ends behind its line
        return position
    return yaml.find("\n", position) + 1 or len(yaml)


def _indent(yaml: str, position: int) -> str:
    start = _line_start(yaml, position)
    return yaml[start : start + len(yaml[start:]) - len(yaml[start:].lstrip(" "))]
