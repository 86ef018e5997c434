"""Changes and facts of the past as the JSON objects that history tools return."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from vault_mcp.receipt import Difference
from vault_mcp.storage import paths
from vault_mcp.tools.history.moments import written

if TYPE_CHECKING:
    from vault_mcp.notes.note import Fact
    from vault_mcp.storage.index import CommitRow, Reader

Json = dict[str, object]

BY_PERSON = ("", "hand-edit")
"""`Tool:` trailers of a person's own commits; none at all is one made with Git or another program."""

DIGITS = 12
"""Hex digits by which a change is named."""

PATHS = 10
"""Files of one change that are listed."""


def change_record(reader: Reader, row: CommitRow) -> Json:
    """Give one change: who, when, with what, and which files."""
    touched, count = reader.paths_touched(row, PATHS)
    record: Json = {
        "change": row.sha[:DIGITS],
        "at": written(row.at),
        "by": row.author,
        "tool": row.tool,
        "by_hand": row.tool in BY_PERSON,
        "subject": row.subject,
        "paths": [paths.shown(path) for path in touched],
    }
    if count > len(touched):
        record["more_paths"] = count - len(touched)
    if row.session:
        record["session"] = row.session
    if row.came_with:
        record["came_with"] = row.came_with[:DIGITS]
    return record


def short(row: CommitRow | None) -> str | None:
    """Give the digits that name a change."""
    return row.sha[:DIGITS] if row else None


def fact_records(note: str, told: Difference) -> tuple[list[Json], list[Json], list[Json]]:
    """Give what a note gained, what was edited in it, and what it lost."""
    return (
        [_fact(note, fact) for fact in told.added],
        [{"note": note, "kind": old.kind, "old": old.text, "new": new.text} for old, new in told.changed],
        [_fact(note, fact) for fact in told.removed],
    )


def _fact(note: str, fact: Fact) -> Json:
    return {"note": note, "kind": fact.kind, "text": fact.text}


def bounded(rows: Iterable[Json], most: int, result: Json, name: str) -> int:
    """Put at most so many rows into a result; give how many were left out."""
    kept = list(rows)
    result[name] = kept[:most]
    return max(0, len(kept) - most)
