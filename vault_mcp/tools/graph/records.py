"""Entities, observations and relations as the JSON objects that graph tools return."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument
from vault_mcp.notes.note import Note, Observation
from vault_mcp.notes.warnings import look_over
from vault_mcp.receipt import as_record

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.vault import Vault

Json = dict[str, object]

LONGEST = 100_000
"""Characters of a fact or a memory that a tool takes."""

LONGEST_NAME = 1_000
"""Characters of a name or a type."""

KNOWN_MOST = 300
"""Observations of one entity that a new one is compared with for near duplicates."""


def observation_record(vault: Vault, path: str, observation: Observation) -> Json | str:
    """Give one observation as a record with its stamps, or as bare text where so set."""
    if vault.options.graph_observations == "strings":
        return observation.text
    stamp = observation.stamp
    if stamp is None:
        known = vault.provenance(path, [("observation", observation.text)])
        by, at, _ = known.get(("observation", observation.text), ("", "", False))
        return {"text": observation.text, "added_at": at or None, "agent": by or None}
    return stamped_record(observation, at=stamp.added_at, by=stamp.agent)


def stamped_record(observation: Observation, *, at: str | None, by: str | None) -> Json:
    """Give an observation's record from its stamp; `at` and `by` are when and by whom it was added."""
    record: Json = {"text": observation.text, "added_at": at, "agent": by}
    stamp = observation.stamp
    if stamp is None:
        return record
    if stamp.edited_at:
        record["edited_at"], record["edited_by"] = stamp.edited_at, stamp.edited_by
    if stamp.superseded_at:
        record["superseded_at"], record["superseded_by"] = stamp.superseded_at, stamp.superseded_by
        record["replaced_by"] = stamp.replacement
    if stamp.sources:
        record["sources"] = [{"entityName": s.entity, "text": s.text} for s in stamp.sources]
    return record


def entity_record(vault: Vault, note: Note, *, include_superseded: bool = False) -> Json:
    """Give an entity note as an EntityRecord."""
    shown = [o for o in note.observations if include_superseded or not o.superseded]
    return {
        "type": "entity",
        "name": note.name,
        "entityType": note.type,
        "added_at": note.created or None,
        "agent": note.agent or None,
        "observations": [observation_record(vault, note.path, o) for o in shown],
    }


def relation_record(source: str, target: str, kind: str, *, at: str | None, by: str | None) -> Json:
    """Give one relation as a RelationRecord."""
    return {
        "type": "relation",
        "from": source,
        "to": target,
        "relationType": kind,
        "added_at": at,
        "agent": by,
    }


def remarks(entity: str, texts: Iterable[str], known: Sequence[str] = ()) -> list[Json]:
    """Look over texts to be stored: near duplicates, instruction-like and secret-looking ones."""
    compared = known[-KNOWN_MOST:]
    return [
        {"kind": warning.kind, "entityName": entity, "text": warning.text[:200], "about": warning.about[:200]}
        for text in texts
        for warning in look_over(text, compared)
    ]


def not_blank(text: str, what: str, most: int = LONGEST) -> str:
    """Refuse a name, type or text that is blank, or longer than an answer could show.

    Raises:
        BadArgument: there is nothing but white space in it, or more than `most` characters.
    """
    if not text.strip():
        raise BadArgument(f"The {what} is blank. Give it some text.")
    if len(text) > most:
        raise BadArgument(
            f"The {what} has {len(text):,} characters, more than the {most:,} it may have. "
            "Keep long text in a file with memory_create, and the gist here."
        )
    return text


def title(names: Iterable[str], most: int = 3) -> str:
    """Name what a call was about, for the subject of its commit."""
    unique = list(dict.fromkeys(names))
    rest = f" and {len(unique) - most} more" if len(unique) > most else ""
    return ", ".join(unique[:most]) + rest


def with_receipt(change: Change, result: Json) -> Json:
    """Add the receipt of a finished change to a tool's result."""
    return {**result, "receipt": as_record(change.receipt)}
