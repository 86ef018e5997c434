"""What a client sent, fitted to what a tool takes, or one sentence about what is wrong with it.

Clients differ in how they spell values: some send a list as JSON text, a number as text, or null for what
they leave out. What can only mean one thing is understood; the rest is refused in words that name the
argument, say what came and what is wanted. Text is never anything but text, however much it looks like JSON.
"""

import json
import math
import re
from collections.abc import Mapping

from vault_mcp.errors import BadArgument
from vault_mcp.tools.schema import (
    Anything,
    Array,
    Boolean,
    Integer,
    Number,
    Record,
    Schema,
    Table,
    Text,
    wanted,
)

WHOLE = re.compile(r"[+-]?[0-9]{1,30}\Z")
SHOWN = 60
"""How many characters of a wrong value an error shows."""


def fit(tool: str, inputs: Record, arguments: Mapping[str, object]) -> dict[str, object]:
    """Make of raw arguments what the tool's function takes.

    Args:
        tool: the tool's name, for the error.
        inputs: what the tool takes; defaults are filled in, optional values that did not come are left out.
        arguments: a JSON object as it came.

    Raises:
        BadArgument: an argument is unknown, missing, or not what is wanted.
    """
    if not inputs.fields:
        return {}
    unknown = [name for name in arguments if name not in inputs.fields]
    if unknown:
        names = " and ".join(f"`{_shorten(name)}`" for name in unknown[:3])
        verb = "is no argument" if len(unknown) == 1 else "are no arguments"
        raise BadArgument(f"{names} {verb} of {tool}. It takes {_listed(inputs)}.")
    return _fields(inputs, arguments, "")


def _listed(inputs: Record) -> str:
    return ", ".join(f"`{name}`" for name in inputs.fields)


def _fields(schema: Record, values: Mapping[str, object], prefix: str) -> dict[str, object]:
    fitted: dict[str, object] = {}
    missing: list[str] = []
    for name, field in schema.fields.items():
        value = values.get(name)
        if value is not None or (name in values and isinstance(field, Anything)):
            fitted[name] = _value(field, value, prefix + name)
        elif field.required:
            missing.append(f"`{prefix}{name}` ({wanted(field)})")
        elif field.default is not None:
            fitted[name] = list(field.default) if isinstance(field.default, tuple) else field.default
    if missing:
        raise BadArgument(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing.")
    return fitted


def _value(schema: Schema, value: object, where: str) -> object:
    match schema:
        case Text():
            return _text(schema, value, where)
        case Integer():
            return _integer(schema, value, where)
        case Number():
            return _number(schema, value, where)
        case Boolean():
            return _boolean(schema, value, where)
        case Array():
            return _array(schema, value, where)
        case Record():
            return _record(schema, value, where)
        case Table():
            table = _object(schema, value, where)
            return {str(key): _value(schema.values, item, f"{where}.{key}") for key, item in table.items()}
        case _:
            return value


def _text(schema: Text, value: object, where: str) -> str:
    if schema.numbers and isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or (schema.options and value not in schema.options):
        raise _wrong(schema, value, where)
    if len(value) < schema.min_length:
        least = (
            "must not be empty"
            if schema.min_length == 1
            else f"needs at least {schema.min_length} characters"
        )
        raise BadArgument(f"`{where}` {least}.")
    if schema.max_length is not None and len(value) > schema.max_length:
        raise BadArgument(
            f"`{where}` has {len(value):,} characters, more than the {schema.max_length:,} it may have."
        )
    return value


def _integer(schema: Integer, value: object, where: str) -> int:
    value = _whole(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(schema, value, where)
    _check_bounds(value, schema.minimum, schema.maximum, where)
    return value


def _whole(value: object) -> object:
    """Read a whole number that came as text or with an empty fraction."""
    match value:
        case str() if WHOLE.match(value.strip()):
            return int(value)
        case float() if value.is_integer():
            return int(value)
        case _:
            return value


def _number(schema: Number, value: object, where: str) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise _wrong(schema, value, where) from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(schema, value, where)
    if isinstance(value, float) and not math.isfinite(value):
        raise _wrong(schema, value, where)
    _check_bounds(value, schema.minimum, schema.maximum, where)
    return value


def _boolean(schema: Boolean, value: object, where: str) -> bool:
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise _wrong(schema, value, where)
    return value


def _array(schema: Array, value: object, where: str) -> list[object]:
    items = _list(schema, value, where)
    if len(items) < schema.min_items:
        raise BadArgument(f"`{where}` needs at least {_counted(schema.min_items)}.")
    if schema.max_items is not None and len(items) > schema.max_items:
        raise BadArgument(
            f"`{where}` has {len(items):,} items, more than the {schema.max_items:,} one call may have. "
            "Make several calls."
        )
    return [_value(schema.items, item, f"{where}[{place}]") for place, item in enumerate(items)]


def _record(schema: Record, value: object, where: str) -> dict[str, object]:
    values = _object(schema, value, where)
    unknown = [str(name) for name in values if name not in schema.fields]
    if unknown:
        raise BadArgument(f"`{where}` has no field `{_shorten(unknown[0])}`. It takes {_listed(schema)}.")
    return _fields(schema, values, where + ".")


def _list(schema: Schema, value: object, where: str) -> list[object]:
    value = _unwrapped(value)
    if not isinstance(value, list):
        raise _wrong(schema, value, where)
    return value


def _object(schema: Schema, value: object, where: str) -> dict[str, object]:
    value = _unwrapped(value)
    if not isinstance(value, dict):
        raise _wrong(schema, value, where)
    return value


def _unwrapped(value: object) -> object:
    """Read a list or an object that came as JSON text; any other text stays what it is."""
    if isinstance(value, str):
        try:
            parsed: object = json.loads(value)
        except (ValueError, RecursionError):
            return value
        if isinstance(parsed, list | dict):
            return parsed
    return value


def _check_bounds(value: float, minimum: float | None, maximum: float | None, where: str) -> None:
    if minimum is not None and maximum is not None and not minimum <= value <= maximum:
        raise BadArgument(f"`{where}` must be from {minimum} to {maximum}, not {_shown(value)}.")
    if minimum is not None and value < minimum:
        raise BadArgument(f"`{where}` must be at least {minimum}, not {_shown(value)}.")
    if maximum is not None and value > maximum:
        raise BadArgument(f"`{where}` must be at most {maximum}, not {_shown(value)}.")


def _wrong(schema: Schema, value: object, where: str) -> BadArgument:
    example = ""
    if isinstance(schema, Array) and isinstance(schema.items, Text) and isinstance(value, str):
        example = f", such as {_shown([value])}"
    return BadArgument(f"`{where}` must be {wanted(schema)}{example}, not {_kind(value)}{_shown(value)}.")


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "the text "
    if isinstance(value, list):
        return "the list "
    return "the object " if isinstance(value, dict) else ""


def _shown(value: object) -> str:
    try:
        return _shorten(json.dumps(value, ensure_ascii=False))
    except (ValueError, RecursionError):
        return "what came"


def _shorten(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _counted(items: int) -> str:
    return "one item" if items == 1 else f"{items:,} items"
