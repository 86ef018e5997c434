"""Cursors: where the next page begins, as a short text that means something only here."""

import base64
import binascii
import json

from vault_mcp.errors import BadArgument


def write_cursor(kind: str, *values: str | int) -> str:
    """Give a cursor of a kind of list. It holds no secret, only a place."""
    return base64.urlsafe_b64encode(json.dumps([kind, *values]).encode()).decode().rstrip("=")


def read_cursor(cursor: str, kind: str, *types: type) -> tuple[str | int, ...]:
    """Read a cursor that `write_cursor` gave for this kind of list.

    Raises:
        BadArgument: it is no such cursor.
    """
    try:
        padding = "=" * (-len(cursor) % 4)
        found = json.loads(base64.b64decode(cursor + padding, altchars=b"-_", validate=True))
        json.dumps(found, ensure_ascii=False).encode()  # a lone surrogate could not be asked for
    except (binascii.Error, ValueError, RecursionError):
        found = None
    if (
        not isinstance(found, list)
        or len(found) != len(types) + 1
        or found[0] != kind
        or any(type(value) is not wanted for value, wanted in zip(found[1:], types, strict=True))
        or any(type(value) is int and abs(value) >= 1 << 62 for value in found)
    ):
        raise BadArgument(
            "The cursor is not one that this list gave out. Leave it out to begin at the first page."
        )
    return tuple(found[1:])
