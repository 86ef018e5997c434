"""Moments that a caller gives as text."""

from datetime import datetime

from vault_mcp.errors import BadArgument


def moment(text: str, name: str) -> int | None:
    """Read an ISO 8601 date or time as seconds since 1970; blank is None; without an offset it is local time.

    Raises:
        BadArgument: it is no date.
    """
    if not text.strip():
        return None
    try:
        return int(datetime.fromisoformat(text.strip()).astimezone().timestamp())
    except (ValueError, OverflowError, OSError):
        raise BadArgument(
            f"{name} {text!r} is not a date. Give ISO 8601, as in 2026-10-05 or 2026-10-05T09:12:33Z."
        ) from None
