"""A small language for what goes into a tool and what comes out.

Each builder makes one frozen description of a value; `json_schema` writes it as JSON Schema 2020-12, kept to
the words every client understands: no `$ref`, no `anyOf`, no titles. The doors fit arguments to the same
descriptions, so that what is promised and what is accepted cannot drift apart.

A value is required unless it has a `default` (filled in when the caller leaves it out) or is `optional` (left
out of the call as well). `nullable` is for results alone: a field that is always there and may be null.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

type_names = {
    "Text": "text",
    "Integer": "a whole number",
    "Number": "a number",
    "Boolean": "true or false",
    "Record": "an object",
    "Table": "an object",
    "Anything": "any value",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """What is common to every value: what it means, and whether it may be missing or null."""

    description: str = ""
    default: object = None
    optional: bool = False
    nullable: bool = False

    @property
    def required(self) -> bool:
        """True when a caller must give the value."""
        return self.default is None and not self.optional


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Schema):
    """Text, kept exactly as it came; `options` makes it one of a few words, `numbers` takes numbers too."""

    options: tuple[str, ...] = ()
    numbers: bool = False
    min_length: int = 0
    max_length: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer(Schema):
    """A whole number within bounds, both included."""

    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Schema):
    """A finite number within bounds, both included."""

    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Boolean(Schema):
    """True or false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Array(Schema):
    """A list whose items are all of one shape."""

    items: Schema
    min_items: int = 0
    max_items: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(Schema):
    """An object with named fields, in the order they are shown."""

    fields: Mapping[str, Schema] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Schema):
    """An object whose keys are free and whose values are all of one shape."""

    values: Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Anything(Schema):
    """Any JSON value at all."""


def text(
    description: str = "",
    *,
    default: str | None = None,
    optional: bool = False,
    nullable: bool = False,
    min_length: int = 0,
    max_length: int | None = None,
) -> Text:
    """Text of `min_length` to `max_length` characters. Text that may be left out has the default ""."""
    return Text(
        description=description,
        default=default,
        optional=optional,
        nullable=nullable,
        min_length=min_length,
        max_length=max_length,
    )


def identifier(description: str = "") -> Text:
    """A name, a path, or a number: clients send numbers that name something as numbers or as text."""
    return Text(description=description, numbers=True, min_length=1)


def choice(
    description: str,
    options: Sequence[str],
    *,
    default: str | None = None,
    optional: bool = False,
) -> Text:
    """One word out of `options`."""
    return Text(description=description, options=tuple(options), default=default, optional=optional)


def integer(
    description: str = "",
    *,
    default: int | None = None,
    optional: bool = False,
    nullable: bool = False,
    minimum: int | None = None,
    maximum: int | None = None,
) -> Integer:
    """A whole number from `minimum` to `maximum`."""
    return Integer(
        description=description,
        default=default,
        optional=optional,
        nullable=nullable,
        minimum=minimum,
        maximum=maximum,
    )


def number(
    description: str = "",
    *,
    default: float | None = None,
    optional: bool = False,
    nullable: bool = False,
    minimum: float | None = None,
    maximum: float | None = None,
) -> Number:
    """A finite number from `minimum` to `maximum`."""
    return Number(
        description=description,
        default=default,
        optional=optional,
        nullable=nullable,
        minimum=minimum,
        maximum=maximum,
    )


def boolean(
    description: str = "",
    *,
    default: bool | None = None,
    optional: bool = False,
    nullable: bool = False,
) -> Boolean:
    """True or false."""
    return Boolean(description=description, default=default, optional=optional, nullable=nullable)


def array(
    description: str,
    items: Schema,
    *,
    default: Sequence[object] | None = None,
    optional: bool = False,
    min_items: int = 0,
    max_items: int | None = None,
) -> Array:
    """A list of `items`."""
    return Array(
        description=description,
        items=items,
        default=None if default is None else tuple(default),
        optional=optional,
        min_items=min_items,
        max_items=max_items,
    )


def record(
    fields: Mapping[str, Schema],
    description: str = "",
    *,
    optional: bool = False,
    nullable: bool = False,
) -> Record:
    """An object with these fields."""
    return Record(description=description, fields=dict(fields), optional=optional, nullable=nullable)


def table(values: Schema, description: str = "", *, optional: bool = False) -> Table:
    """An object whose keys are free, as a count for each word."""
    return Table(description=description, values=values, optional=optional)


def anything(description: str = "", *, optional: bool = False) -> Anything:
    """Any JSON value, null included."""
    return Anything(description=description, optional=optional)


NOTHING = record({})
"""The inputs of a tool that takes no arguments."""


def wanted(schema: Schema) -> str:
    """Say in words what a value must be, as in "text", "a list of text", "one of: fresh, adopt"."""
    if isinstance(schema, Text) and schema.options:
        return "one of: " + ", ".join(schema.options)
    if isinstance(schema, Array):
        plural = {"a whole number": "whole numbers", "a number": "numbers", "an object": "objects"}
        of = wanted(schema.items)
        return "a list of " + plural.get(of, of)
    return type_names[type(schema).__name__]


def json_schema(schema: Schema, *, closed: bool) -> dict[str, object]:
    """Write a description as JSON Schema.

    Args:
        schema: what to describe.
        closed: say which fields are required and refuse those that are not named, as inputs do. Results stay
            open, so that a field added later is no breach; which of theirs are always there is kept by tests.
    """
    body = _shape(schema, closed)
    if schema.nullable and "type" in body:
        body["type"] = [body["type"], "null"]
    if schema.description:
        body["description"] = schema.description
    # An empty default says no more than "may be left out", which `required` says already.
    if schema.default not in (None, "", ()):
        body["default"] = list(schema.default) if isinstance(schema.default, tuple) else schema.default
    return body


def _shape(schema: Schema, closed: bool) -> dict[str, object]:
    match schema:
        case Text():
            enum: dict[str, object] = {"enum": list(schema.options)} if schema.options else {}
            shortest = schema.min_length or None
            return {"type": "string", **enum, **_bounds(minLength=shortest, maxLength=schema.max_length)}
        case Integer():
            return {"type": "integer", **_bounds(minimum=schema.minimum, maximum=schema.maximum)}
        case Number():
            return {"type": "number", **_bounds(minimum=schema.minimum, maximum=schema.maximum)}
        case Boolean():
            return {"type": "boolean"}
        case Array():
            bounds = _bounds(minItems=schema.min_items or None, maxItems=schema.max_items)
            items = json_schema(schema.items, closed=closed)
            # A result's items that are told in words need no schema; some clients want one for arguments.
            told = not closed and items in ({}, {"type": "object"})
            return {"type": "array", **({} if told else {"items": items}), **bounds}
        case Record():
            return _object(schema, closed)
        case Table():
            return {"type": "object", "additionalProperties": json_schema(schema.values, closed=closed)}
        case _:
            return {}


def _object(schema: Record, closed: bool) -> dict[str, object]:
    shape: dict[str, object] = {"type": "object"}
    if not schema.fields and not closed:
        return shape  # what is in it is told in words
    shape["properties"] = {name: json_schema(value, closed=closed) for name, value in schema.fields.items()}
    required = [name for name, value in schema.fields.items() if value.required]
    if required and closed:
        shape["required"] = required
    # An object without fields stays open: some clients send a made-up argument to a tool that takes none.
    if closed and schema.fields:
        shape["additionalProperties"] = False
    return shape


def _bounds(**limits: float | None) -> dict[str, object]:
    return {word: limit for word, limit in limits.items() if limit is not None}
