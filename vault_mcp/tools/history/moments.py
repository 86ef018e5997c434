"""What a caller means by a moment: a time, so long ago, or the first digits of a change's hash."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from vault_mcp.errors import BadArgument, NotFound
from vault_mcp.storage.index import CommitRow, Reader

SHORTEST = 7
"""Hex digits that name a change at the least."""

_HEX = re.compile(r"[0-9a-fA-F]{7,64}")
_AGO = re.compile(r"(\d{1,6}|an?|one) (second|minute|hour|day|week|month|year)s? ago", re.IGNORECASE)
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_DAYS = {"month": 30, "year": 365}
_WANTED = (
    'Give a time such as 2026-10-05T09:12:33Z, so long ago as in "2 weeks ago", '
    f"or {SHORTEST} or more hex digits of a change."
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of the vault: the number of the last commit then (0 before the first), and that commit."""

    seq: int
    commit: CommitRow | None
    at: int


def moment_of(reader: Reader, text: str, name: str) -> Moment:
    """Give the moment that a caller means.

    Raises:
        BadArgument: it is neither a time nor the digits of a change.
        NotFound: no change begins with these digits.
    """
    said = text.strip()
    if _HEX.fullmatch(said):
        commit = _beginning(reader, said.lower())
        if commit is not None:
            return Moment(commit.seq, commit, commit.at)
    at = seconds(said)
    if at is None and _HEX.fullmatch(said):
        for side in reader.sides_beginning(said.lower(), 1):
            raise BadArgument(
                f"Change {side.sha[:12]} came with the merge {side.came_with[:12]}; by itself it was never "
                "how this vault was. Name the merge instead."
            )
        raise NotFound(f"There is no change {said} in this vault's history. Look for it with history_log.")
    if at is None:
        raise BadArgument(f"{name} {_quoted(text)} is no moment. {_WANTED}")
    found = reader.commit_at(at, int(time.time()))
    return Moment(found.seq if found else 0, found, at)


def change_of(reader: Reader, text: str, name: str = "change") -> CommitRow:
    """Give the change that hex digits name.

    Raises:
        BadArgument: these are no hex digits, too few, or more than one change begins with them.
        NotFound: no change begins with them.
    """
    said = text.strip()
    if not _HEX.fullmatch(said):
        raise BadArgument(
            f"{name} {_quoted(text)} is no change. Give {SHORTEST} or more hex digits of its hash, "
            "as history_log shows them."
        )
    found = _beginning(reader, said.lower(), sides=True)
    if found is None:
        raise NotFound(f"There is no change {said} in this vault's history. Look for it with history_log.")
    return found


def time_of(text: str, name: str) -> int | None:
    """Read a time or so long ago as seconds since 1970; None for a blank one.

    Raises:
        BadArgument: it is neither.
    """
    if not text.strip():
        return None
    at = seconds(text.strip())
    if at is None:
        raise BadArgument(
            f'{name} {_quoted(text)} is no time. Give one such as 2026-10-05T09:12:33Z, or "2 weeks ago".'
        )
    return at


def seconds(said: str) -> int | None:
    """Read ISO 8601 (local time without an offset), "2 weeks ago", "yesterday", "today" or "now"."""
    lower = " ".join(said.lower().split())
    if lower in ("now", "yesterday", "today"):
        midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        days = {"yesterday": 1, "today": 0}
        return int(time.time()) if lower == "now" else int((midnight - timedelta(days[lower])).timestamp())
    ago = _AGO.fullmatch(lower)
    if ago:
        count = int(ago[1]) if ago[1].isdecimal() else 1
        unit = ago[2].lower()
        return int(time.time()) - count * _SECONDS.get(unit, _DAYS.get(unit, 0) * 86_400)
    try:
        return int(datetime.fromisoformat(said).astimezone().timestamp())
    except (ValueError, OverflowError, OSError):
        return None


def written(at: int) -> str:
    """Write seconds since 1970 as stamps do."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return ""


def _beginning(reader: Reader, prefix: str, *, sides: bool = False) -> CommitRow | None:
    found = reader.commits_beginning(prefix)
    if sides:
        found += reader.sides_beginning(prefix)
    if len(found) > 1:
        raise BadArgument(f"Several changes begin with {prefix}. Give more digits.")
    return found[0] if found else None


def _quoted(text: str) -> str:
    shown = " ".join(text.split())
    return repr(shown if len(shown) <= 60 else shown[:59] + "…")
