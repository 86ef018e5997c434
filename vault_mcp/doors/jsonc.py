"""JSON as people keep it in settings files, with comments and trailing commas: read, and edited in place.

Editors and agents read their settings so (the form is called JSONC or JWCC). Writing such a file anew from
what was read would lose its comments, so an edit changes the characters of one value and keeps every other.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

_BLANK = re.compile(r"(?:[ \t\r\n]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_REST_OF_LINE = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/))*[ \t]*(?=\r?\n)")
_STRING = re.compile(r'"(?:[^"\\\r\n]|\\.)*"')
_SCALAR = re.compile(r"-?[0-9][0-9.eE+-]*|true|false|null")
_INDENT = re.compile(r"^([ \t]+)[^ \t\r\n]", re.MULTILINE)
_DEPTH = 100


class NotJsonError(ValueError):
    """The text is no JSON, with or without comments; its words say where, counted in lines from 1."""


@dataclass(slots=True)
class _Node:
    """One value and where it stands, `text[start:end]`; `members` are those of an object."""

    start: int
    end: int
    value: object
    members: "list[_Member] | None" = None


@dataclass(slots=True)
class _Member:
    start: int
    key: str
    node: _Node


def read(text: str) -> object:
    """Give the value of a text; a blank one is an empty object. Of members named alike the last counts.

    Raises:
        NotJsonError: it is no JSON.
    """
    return _document(text).value


def put(text: str, path: Sequence[str], value: object) -> str:
    """Give the text with the value at `path`, a key for each object on the way, in place of what was there.

    Objects that are missing are made. What is new is laid out like its neighbours.

    Raises:
        NotJsonError: the text is no JSON, or a value on the way is no object.
    """
    if not text.strip("\ufeff \t\r\n"):
        text += "{}\n"
    layout = _Layout(text)
    parent = _document(text)
    for number, key in enumerate(path):
        member = _member(parent, key)
        if member is None:
            rest = value
            for missing in reversed(path[number + 1 :]):
                rest = {missing: rest}
            return layout.with_member(parent, key, rest)
        parent = member.node
    return text[: parent.start] + layout.rendered(value, layout.indent_at(parent.start)) + text[parent.end :]


def drop(text: str, path: Sequence[str]) -> str:
    """Give the text without the member at `path`; comments around it stay. Without one, the text as it is.

    Raises:
        NotJsonError: the text is no JSON, or a value on the way is no object.
    """
    while True:
        found = _document(text)
        for key in path[:-1]:
            member = _member(found, key)
            if member is None:
                return text
            found = member.node
        member = _member(found, path[-1])
        if member is None or found.members is None:
            return text
        text = _without(text, found.members, member)


# -- reading


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0
        self.depth = 0

    def blank(self) -> str:
        """Pass over white space and comments; give the character that comes then."""
        match = _BLANK.match(self.text, self.at)
        assert match
        self.at = match.end()
        return self.text[self.at : self.at + 1]

    def value(self) -> _Node:
        sign = self.blank()
        if sign == '"':
            start, text = self.at, self.string()
            return _Node(start, self.at, text)
        if sign not in ("{", "["):
            return self.scalar()
        self.depth += 1
        if self.depth > _DEPTH:
            raise self.error("is nested too deeply")
        node = self.object() if sign == "{" else self.array()
        self.depth -= 1
        return node

    def object(self) -> _Node:
        node = _Node(self.at, self.at, {}, [])
        values: dict[str, object] = {}
        self.at += 1
        while self.blank() != "}":
            start = self.at
            key = self.string()
            if self.blank() != ":":
                raise self.error("lacks a colon")
            self.at += 1
            found = self.value()
            values[key] = found.value
            assert node.members is not None
            node.members.append(_Member(start, key, found))
            self.comma("}")
        self.at += 1
        node.end, node.value = self.at, values
        return node

    def array(self) -> _Node:
        start, values = self.at, []
        self.at += 1
        while self.blank() != "]":
            values.append(self.value().value)
            self.comma("]")
        self.at += 1
        return _Node(start, self.at, values)

    def comma(self, end: str) -> None:
        sign = self.blank()
        if sign == ",":
            self.at += 1
        elif sign != end:
            raise self.error(f"lacks a comma or {end}")

    def string(self) -> str:
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise self.error("lacks a text in double quotes")
        try:
            text = json.loads(match[0], strict=False)
        except ValueError:
            raise self.error("has a text that cannot be read") from None
        self.at = match.end()
        assert isinstance(text, str)
        return text

    def scalar(self) -> _Node:
        match = _SCALAR.match(self.text, self.at)
        if match is None:
            raise self.error("lacks a value")
        try:
            value = json.loads(match[0])
        except ValueError:
            raise self.error("has a number that cannot be read") from None
        self.at = match.end()
        return _Node(match.start(), self.at, value)

    def error(self, what: str) -> NotJsonError:
        line = self.text.count("\n", 0, self.at) + 1
        return NotJsonError(f"line {line} {what}")


def _document(text: str) -> _Node:
    reader = _Reader(text)
    if not reader.blank():
        return _Node(reader.at, reader.at, {}, [])
    node = reader.value()
    if reader.blank():
        raise reader.error("goes on after the end")
    return node


def _member(node: _Node, key: str) -> _Member | None:
    if node.members is None:
        raise NotJsonError("a value that should be an object is none")
    return next((member for member in reversed(node.members) if member.key == key), None)


# -- writing


class _Layout:
    """How a text is laid out: what ends its lines and indents them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        found = _INDENT.search(text)
        self.unit = found[1] if found else "  "
        self.compact = "\n" not in text.strip() and len(text.strip("\ufeff \t\r\n")) > len("{}")

    def indent_at(self, position: int) -> str:
        """Give the white space that begins the line of a position."""
        start = self.text.rfind("\n", 0, position) + 1
        line = self.text[start:position].lstrip("\ufeff")
        return line[: len(line) - len(line.lstrip(" \t"))]

    def rendered(self, value: object, indent: str, *, inline: bool = False) -> str:
        """Write a value whose line is indented by `indent`; lists stay on one line, as people have them."""
        if isinstance(value, dict) and value and not (self.compact or inline):
            inner = indent + self.unit
            lines = [f"{inner}{_quoted(key)}: {self.rendered(item, inner)}" for key, item in value.items()]
            return f"{{{self.newline}{f',{self.newline}'.join(lines)}{self.newline}{indent}}}"
        return json.dumps(value, ensure_ascii=False)

    def with_member(self, parent: _Node, key: str, value: object) -> str:
        """Put a new member at the end of an object."""
        if parent.members is None:
            raise NotJsonError("a value that should be an object is none")
        return (
            self._into_empty(parent, key, value) if not parent.members else self._behind(parent, key, value)
        )

    def _into_empty(self, parent: _Node, key: str, value: object) -> str:
        text, inside = self.text, parent.start + 1
        between = text[inside : parent.end - 1]
        if self.compact:
            written = f"{_quoted(key)}: {self.rendered(value, '')}"
            return text[:inside] + between + written + text[parent.end - 1 :]
        indent = self.indent_at(parent.start)
        inner = indent + self.unit
        written = f"{inner}{_quoted(key)}: {self.rendered(value, inner)}{self.newline}{indent}"
        # Comments that stand alone in the braces stay where they are, in front of what is new.
        kept = between.rstrip(" \t\r\n")
        return f"{text[:inside]}{kept}{self.newline}{written}{text[parent.end - 1 :]}"

    def _behind(self, parent: _Node, key: str, value: object) -> str:
        text = self.text
        assert parent.members
        last = parent.members[-1]
        comma = _comma_after(text, last.node.end)
        own_line = "\n" in text[parent.start : last.start]
        head = text[: last.node.end] + ("" if comma is not None else ",")
        at = last.node.end if comma is None else comma + 1
        if not own_line:
            member = f" {_quoted(key)}: {self.rendered(value, '', inline=True)}"
            return head + text[last.node.end : at] + member + text[at:]
        rest = _REST_OF_LINE.match(text, at)
        at = rest.end() if rest else at
        indent = self.indent_at(last.start)
        member = f"{self.newline}{indent}{_quoted(key)}: {self.rendered(value, indent)}"
        tail = "," if comma is not None else ""
        if not rest:  # the closing brace stands on the same line
            tail += self.newline + self.indent_at(parent.start)
        return head + text[last.node.end : at] + member + tail + text[at:].lstrip(" \t" if not rest else "")


def _without(text: str, members: list[_Member], member: _Member) -> str:
    comma = _comma_after(text, member.node.end)
    start, end = member.start, member.node.end if comma is None else comma + 1
    cuts = [(start, end)]
    number = members.index(member)
    if comma is None and number:  # it was the last: the one before it must not end in a comma
        before = _comma_after(text, members[number - 1].node.end)
        assert before is not None
        if text[before + 1 : start].strip(" \t"):
            cuts.insert(0, (before, before + 1))
        else:
            cuts = [(before, end)]
    line = text.rfind("\n", 0, start) + 1
    rest = re.compile(r"[ \t]*\r?\n").match(text, end)
    if not text[line:start].strip(" \t") and rest and line:  # nothing else stands on its lines
        cuts[-1] = (line, rest.end())
    elif comma is not None and text[end : end + 1] == " ":
        cuts[-1] = (start, end + 1)
    for start, end in reversed(cuts):
        text = text[:start] + text[end:]
    return text


def _comma_after(text: str, position: int) -> int | None:
    match = _BLANK.match(text, position)
    assert match
    return match.end() if text[match.end() : match.end() + 1] == "," else None


def _quoted(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)
