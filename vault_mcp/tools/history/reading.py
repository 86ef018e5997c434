"""A note, an entity, a memory or a key as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.errors import NoteUnreadable
from vault_mcp.tools.graph.records import stamped_record
from vault_mcp.tools.history.moments import moment_of, written
from vault_mcp.tools.history.records import Json, change_record, short
from vault_mcp.tools.history.target import Then, then
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.storage.index import Reader
    from vault_mcp.vault import Vault

SHOWN = 40_000
"""Characters of a text that are shown."""

FACTS = 500
"""Facts that are shown one by one; all are in the text."""


def history_read(vault: Vault, caller: Caller, note: str, at: str, offset: int = 0) -> Json:
    """Give a note as it was at a moment: what it said, and its text."""
    with vault.remembering() as reader:
        moment = moment_of(reader, at, "at")
        found = then(vault, reader, note, moment.seq)
        result: Json = {
            "note": found.path,
            "at": written(moment.at),
            "change": short(moment.commit),
            "version": found.blob[:12],
            **_last_change(reader, found, moment.seq),
        }
        observations = _observations(reader, found, moment.seq)
    if found.note is not None:
        result |= {"name": found.note.name, "kind": found.note.kind}
        if found.note.kind == "entity":
            result["entityType"] = found.note.type
            result["observations"] = observations
        elif found.note.value is not None:
            result["value"] = found.note.value[:SHOWN]
    text = _text(found)
    result["text"] = text[offset : offset + SHOWN]
    if len(text) > offset + SHOWN:
        result["left_out"] = (
            f"{len(text) - offset - SHOWN} more characters: call again with offset {offset + SHOWN}."
        )
    return result


def _observations(reader: Reader, found: Then, seq: int) -> list[Json]:
    """Give the facts of an entity; of one without a stamp Git tells who added it."""
    if found.note is None or found.note.kind != "entity":
        return []
    facts = reader.facts_at(found.lineage, seq)
    known = {(fact.kind, fact.text): (fact.added, fact.added_place) for fact in facts}
    records = []
    for fact in found.note.observations:
        if fact.superseded:
            continue
        commit = None if fact.stamp else reader.change_at(*known.get(("observation", fact.text), (0, 0)))
        at = fact.stamp.added_at if fact.stamp else written(commit.at) if commit else None
        by = fact.stamp.agent if fact.stamp else commit.author if commit else None
        records.append(stamped_record(fact, at=at, by=by))
    return records[:FACTS]


def _text(found: Then) -> str:
    if b"\0" not in found.raw:
        try:
            return found.raw.decode()
        except UnicodeDecodeError:
            pass
    raise NoteUnreadable(
        f"{found.path} is a binary file or not in UTF-8, so it can be restored, but not shown. "
        "Bring it back with history_restore."
    )


def _last_change(reader: Reader, found: Then, seq: int) -> Json:
    """Tell the change that made the note what it was then."""
    made = [number for number, _ in reader.versions(found.lineage) if number <= seq]
    row = reader.commit_number(made[-1]) if made else None
    return {"last_change": change_record(reader, row)} if row else {}
