"""The YAML of a front matter, read event by event: each property's value and where it stands in the text.

Reading events instead of building nodes keeps everything in hand that a hostile or a broken note may try: an
alias that holds itself, aliases that multiply, nesting without end, keys that are no text. What comes out is
fit for strict JSON.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import yaml

from vault_mcp.notes.scalars import plain_value

try:
    from yaml import CBaseLoader as EventReader
except ImportError:  # PyYAML without libyaml: slower, the same events
    from yaml import BaseLoader as EventReader  # type: ignore[assignment]  # stands in for the class above

DEPTH: Final = 50
"""Nested deeper than this, a property is nobody's writing."""

EXPANSION: Final = 10_000
"""How many values all aliases together may stand for; a text counts one more for 64 characters."""

REMEMBERED: Final = 4_000
"""Characters up to which a text is read once only: one edit reads its note several times."""

_SURROGATE = re.compile("[\ud800-\udfff]")  # PyYAML without libyaml makes them of "\\ud800"
_TYPED = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")}


class UnreadableError(Exception):
    """The text is not the YAML of a front matter; the message goes into a note's list of problems."""


@dataclass(slots=True)
class Entry:
    """One property with offsets into the YAML text: of its key, its value, and the items of a list.

    `style` tells how the value is written: "" plain, a quote sign, ``|`` or ``>``, ``[`` or ``{`` in flow
    style, ``-`` a block list, ``:`` a block mapping, ``*`` an alias. `end` is where the last thing of the
    value ends, not counting comments; a block scalar ends behind its line break.
    """

    key: str
    key_start: int
    key_end: int
    value: object
    start: int
    end: int
    style: str
    items: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class Document:
    """All properties of a front matter; who reads them does not change them.

    `flow` marks one written in braces; `problem` is a duplicate key.
    """

    entries: list[Entry]
    problem: str | None
    flow: bool

    def properties(self) -> dict[str, object]:
        """Return the values by key; of a duplicate key, the last."""
        return {entry.key: entry.value for entry in self.entries}


def read_document(text: str) -> Document:
    """Return the properties in a YAML text, empty for blanks and comments.

    Raises:
        UnreadableError: it is no YAML, no mapping, or more than a front matter can hold.
    """
    return _remembered(text) if len(text) <= REMEMBERED else _read(text)


# One property or list item of the kind that nearly every note has: text that no reader of YAML takes for
# anything else. What is a sign in YAML begins no value, and no value holds ": " or " #".
_LETTERS = "A-Za-z0-9_\u00a1-\u1fff\u2c00-\ud7ff"
_WORDS = rf"[{_LETTERS}/(.](?:[{_LETTERS}!\"$-/;-@\[-`{{-~ ]|:(?![ \n])|(?<! )\#)*(?<! )"
_PLAIN = re.compile(
    r"(?:(?P<key>[A-Za-z_][\w-]{0,60}):"
    rf"(?: (?P<value>{_WORDS})| \[(?P<list>[^\W_][\w/-]*(?:, [^\W_][\w/-]*)*)\])?|  - (?P<item>{_WORDS}))\n",
    re.ASCII,
)


def plain_properties(text: str) -> dict[str, object] | None:
    """Return the properties in a YAML text that holds only plain ones; None where it has to be read as YAML.

    Gives what `read_document` gives, in a tenth of the time: most of what a first index has to read is such.
    """
    found: dict[str, object] = {}
    items: list[object] | None = None  # of the key above, which has no value of its own
    key, position = "", 0
    while line := _PLAIN.match(text, position):
        position = line.end()
        if (item := line["item"]) is not None:
            if items is None:
                return None
            items.append(plain_value(item))
            found[key] = items
            continue
        key, value, listed = line["key"], line["value"], line["list"]
        if key in found:
            return None
        items = None
        if value is not None:
            found[key] = plain_value(value)
        elif listed is not None:
            found[key] = [plain_value(one) for one in listed.split(", ")]
        else:
            found[key], items = None, []
    return found if position == len(text) else None


def _read(text: str) -> Document:
    try:
        return _Reader(text).document()
    except yaml.MarkedYAMLError as error:
        where = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        what = error.problem or error.context
        raise UnreadableError(f"front matter is not valid YAML: {what}{where}") from None
    except yaml.YAMLError:
        raise UnreadableError("front matter is not valid YAML: it holds a control character") from None
    except UnicodeError:
        raise UnreadableError("front matter is not valid Unicode") from None


_remembered = lru_cache(maxsize=256)(_read)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.next: Callable[[], Any] = EventReader(text).get_event
        self.anchors: dict[str, tuple[object, int]] = {}
        self.unfinished: set[str] = set()
        self.weight = 0
        self.expanded = 0
        self.end = 0  # of the last thing read
        self.problem: str | None = None

    def document(self) -> Document:
        self.next()  # the start of the stream
        if isinstance(self.next(), yaml.StreamEndEvent):
            return Document([], None, flow=False)
        start = self.next()
        if not isinstance(start, yaml.MappingStartEvent):
            raise UnreadableError("front matter is not a mapping")
        entries = list(self.entries())
        self.next()  # the end of the document
        if not isinstance(self.next(), yaml.StreamEndEvent):
            raise UnreadableError("front matter is more than one YAML document")
        return Document(entries, self.problem, flow=bool(start.flow_style))

    def entries(self) -> Iterator[Entry]:
        seen: set[str] = set()
        while not isinstance(event := self.next(), yaml.MappingEndEvent):
            key_start = event.start_mark.index
            key = self.key(event, seen, 1)
            key_end = self.end
            event = self.next()
            start, items = event.start_mark.index, list[tuple[int, int]]()
            value = self.value(event, 1, items)
            yield Entry(key, key_start, key_end, value, start, self.end, _style(event), items)

    def key(self, event: Any, seen: set[str], depth: int) -> str:
        """A key as it is written, whatever type YAML gives it."""
        start = event.start_mark.index
        value = self.value(event, depth)
        if isinstance(event, yaml.ScalarEvent):
            key = str(event.value)
        else:
            key = value if isinstance(value, str) else self.text[start : self.end]
        if key in seen and self.problem is None:
            self.problem = f"duplicate key {key}"
        seen.add(key)
        return key

    def value(self, event: Any, depth: int, items: list[tuple[int, int]] | None = None) -> object:
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event)
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        return self.collection(event, depth, items)

    def scalar(self, event: Any) -> object:
        self.end = event.end_mark.index
        weight = 1 + len(event.value) // 64
        self.weight += weight
        typed = event.implicit[0] or (event.tag in _TYPED and not event.style)
        value: object = plain_value(event.value) if typed else event.value
        if not event.value.isascii() and _SURROGATE.search(event.value):
            raise UnreadableError("front matter is not valid Unicode")
        if event.anchor:
            self.anchors[event.anchor] = value, weight
        return value

    def alias(self, event: Any) -> object:
        self.end = event.end_mark.index
        if event.anchor in self.unfinished:
            raise UnreadableError(f"front matter holds the alias {event.anchor} inside itself")
        if event.anchor not in self.anchors:
            raise UnreadableError(f"front matter has no anchor for the alias {event.anchor}")
        value, weight = self.anchors[event.anchor]
        self.weight += weight
        self.expanded += weight
        if self.expanded > EXPANSION:
            raise UnreadableError("front matter stands for too much through its aliases")
        return value

    def collection(self, event: Any, depth: int, items: list[tuple[int, int]] | None) -> object:
        if depth > DEPTH:
            raise UnreadableError("front matter is nested too deep")
        self.end = event.end_mark.index
        self.weight += 1
        before, anchor = self.weight, event.anchor
        if anchor:
            self.unfinished.add(anchor)
        is_list = isinstance(event, yaml.SequenceStartEvent)
        value: object = self.sequence(depth, items) if is_list else self.mapping(depth)
        if anchor:
            self.unfinished.discard(anchor)
            self.anchors[anchor] = value, self.weight - before + 1
        return value

    def sequence(self, depth: int, items: list[tuple[int, int]] | None) -> list[object]:
        values = []
        while not isinstance(event := self.next(), yaml.SequenceEndEvent):
            start = event.start_mark.index
            values.append(self.value(event, depth + 1))
            if items is not None:
                items.append((start, self.end))
        self.close(event)
        return values

    def mapping(self, depth: int) -> dict[str, object]:
        values: dict[str, object] = {}
        seen: set[str] = set()
        while not isinstance(event := self.next(), yaml.MappingEndEvent):
            key = self.key(event, seen, depth + 1)
            values[key] = self.value(self.next(), depth + 1)
        self.close(event)
        return values

    def close(self, event: Any) -> None:
        """A bracket ends a flow collection; the end of a block is reported only behind what follows it."""
        if event.start_mark.index < event.end_mark.index:
            self.end = event.end_mark.index


def _style(event: Any) -> str:
    if isinstance(event, yaml.ScalarEvent):
        return event.style or ""
    if isinstance(event, yaml.AliasEvent):
        return "*"
    if isinstance(event, yaml.SequenceStartEvent):
        return "[" if event.flow_style else "-"
    return "{" if isinstance(event, yaml.MappingStartEvent) and event.flow_style else ":"
