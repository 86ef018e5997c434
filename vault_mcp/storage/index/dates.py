"""Times of stamps as seconds, and the dates of a line as the columns that hold them."""

import json
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from vault_mcp.notes.line import Source, Stamp
from vault_mcp.storage.index.schema import GIT_ADDED

_ZERO = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=1024)
def epoch(written: str | None) -> int | None:
    """Read an ISO 8601 time as seconds since 1970, UTC where it has no offset; None for any other text."""
    if not written:
        return None
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int((moment - _ZERO).total_seconds())


def written(at: int | None) -> str | None:
    """Write seconds since 1970 as stamps do: `YYYY-MM-DDTHH:MM:SSZ`."""
    if at is None:
        return None
    try:
        return (_ZERO + timedelta(seconds=at)).strftime("%Y-%m-%dT%H:%M:%SZ")
    except OverflowError:  # a commit may claim any second, a calendar has years 1 to 9999
        return None


class Dates(NamedTuple):
    """The date columns of an observation or relation, in the order of the tables."""

    added_at: str | None
    agent: str | None
    edited_at: str | None
    edited_by: str | None
    from_git: int
    added: int | None
    edited: int | None
    said_at: str | None = None
    said_by: str | None = None


_UNDATED = Dates(None, None, None, None, GIT_ADDED, None, None)


@lru_cache(maxsize=4096)
def _stamped(added_at: str, agent: str, edited_at: str, edited_by: str) -> Dates:
    return Dates(added_at, agent, edited_at or None, edited_by or None, 0, epoch(added_at), epoch(edited_at))


def dates_of(stamp: Stamp | None) -> Dates:
    """Give the dates that a stamp tells; those of a line without one are for Git to tell."""
    if stamp is None:
        return _UNDATED
    return _stamped(stamp.added_at, stamp.agent, stamp.edited_at, stamp.edited_by)


def touched(dates: Dates) -> int | None:
    """Give the later of the times a line was added and edited."""
    if dates.edited is None:
        return dates.added
    return dates.edited if dates.added is None else max(dates.added, dates.edited)


def rest_of(stamp: Stamp | None) -> str | None:
    """Give what few stamps hold (superseding, sources) as JSON; None when there is nothing of it."""
    if stamp is None or not (
        stamp.superseded_at or stamp.superseded_by or stamp.replacement or stamp.sources
    ):
        return None
    return json.dumps(
        [
            stamp.superseded_at,
            stamp.superseded_by,
            stamp.replacement,
            [[source.entity, source.text] for source in stamp.sources],
        ]
    )


def read_rest(rest: str | None) -> tuple[str, str, str | None, tuple[Source, ...]]:
    """Read (superseded at, superseded by, replacement, sources) back from `rest_of`."""
    if rest is None:
        return "", "", None, ()
    at, by, replacement, sources = json.loads(rest)
    return at, by, replacement, tuple(Source(entity, text) for entity, text in sources)


def written_stamp(stamp: Stamp | None) -> str | None:
    """Give a whole stamp as JSON, for the history of facts; None for a line without one."""
    if stamp is None:
        return None
    own = [stamp.added_at, stamp.agent, stamp.edited_at, stamp.edited_by]
    rest = rest_of(stamp)
    return json.dumps([*own, *json.loads(rest)] if rest else own)


def read_stamp(stamp: str | None) -> Stamp | None:
    """Read a stamp back from `written_stamp`."""
    if stamp is None:
        return None
    added_at, agent, edited_at, edited_by, *rest = json.loads(stamp)
    return Stamp(added_at, agent, edited_at, edited_by, *read_rest(json.dumps(rest) if rest else None))
