"""What the tables keep of a note: each function gives one row or one set of rows."""

import json
from collections.abc import Iterable
from typing import Any

from vault_mcp.notes.links import stem_key
from vault_mcp.notes.names import name_key
from vault_mcp.notes.note import Note, Observation, Relation
from vault_mcp.storage.index.dates import dates_of, epoch, rest_of, touched
from vault_mcp.storage.index.schema import ARCHIVE, GIT_ADDED, OBSERVATION, PASSAGE, SUPERSEDED, VALUE
from vault_mcp.storage.index.searchable import padded, searchable


def note_row(path: str, note: Note) -> tuple[Any, ...]:
    """Give a note's row of `notes`, without its number."""
    more = None
    speaker = note.properties.get("speaker") if note.kind == "memory" else None
    if note.aliases or note.problems or speaker:
        more = json.dumps([note.aliases, note.problems, *([str(speaker)] if speaker else [])])
    return (
        note.kind,
        int(path.startswith(ARCHIVE)),
        name_key(note.name),
        note.name,
        note.type,
        note.created or None,
        note.agent or None,
        epoch(note.created),
        _number(note.id),
        _number(note.importance),
        note.session,
        more,
    )


def observation_row(number: int, position: int, item: Observation) -> tuple[object, ...]:
    """Give an observation's row of `observations`."""
    dates = dates_of(item.stamp)
    return (
        number,
        position,
        item.text,
        int(item.superseded),
        *dates,
        touched(dates),
        rest_of(item.stamp),
    )


def relation_row(number: int, position: int, item: Relation) -> tuple[object, ...]:
    """Give a relation's row of `relations`."""
    return (
        number,
        position,
        item.type,
        item.target,
        item.shown,
        stem_key(item.target),
        *dates_of(item.stamp),
        rest_of(item.stamp),
    )


def differs(known: tuple[Any, ...], at: int, item: Observation | Relation) -> bool:
    """Say whether a line of the same words is superseded, or stamped, otherwise than before.

    Dates that Git told are none of the stamp's, so they are no difference.

    Args:
        known: The row that is there: from `at` on whether it is superseded (only then looked at for an
            observation), added at, agent, edited at, edited by, from_git, more.
        at: Where that begins.
        item: The line as it is now.
    """
    superseded, added_at, agent, edited_at, edited_by, from_git, rest = known[at:]
    stamp = item.stamp
    if isinstance(item, Observation) and bool(superseded) != item.superseded:
        return True
    if stamp is None or from_git & GIT_ADDED:
        return not (stamp is None and from_git & GIT_ADDED)
    if added_at != stamp.added_at or agent != stamp.agent or rest != rest_of(stamp):
        return True
    return (edited_at or "", edited_by or "") != (stamp.edited_at, stamp.edited_by)


def name_unit(note: Note) -> str:
    """Give the unit by which a note is found: its name, a line below its type, then aliases and tags."""
    parts = [note.type] if note.kind == "entity" else []
    parts += [*note.aliases, *tags_of(note)]
    return f" {searchable(note.name)} \n" + "".join(f" {searchable(part)} " for part in parts)


def prose_of(note: Note) -> tuple[int, list[tuple[str, str]]]:
    """Give a note's prose as (role, [(heading, text)]); the value of a key is one piece, exact."""
    if note.kind == "key":
        return VALUE, [("", note.value or "")]
    return PASSAGE, list(dict.fromkeys((passage.heading, passage.text) for passage in note.passages))


def links_of(note: Note) -> dict[str, None]:
    """Give the stem keys of all that a note links to, each once."""
    keys = [stem_key(link.target) for link in note.links] + [stem_key(item.target) for item in note.relations]
    return dict.fromkeys(keys)


def tags_of(note: Note) -> dict[str, None]:
    """Give a note's tags, each once."""
    return dict.fromkeys((*note.tags, *note.inline_tags))


def count_current(items: Iterable[Observation]) -> int:
    """Count the observations that are not superseded."""
    return sum(not item.superseded for item in items)


def observation_unit(number: int, item: Observation) -> tuple[int, int, str]:
    """Give the unit by which an observation is found."""
    return number, SUPERSEDED if item.superseded else OBSERVATION, padded(item.text)


def _number(value: int | None) -> int | None:
    """Give a number of a property, None for one that no tool could have written."""
    return None if value is None or abs(value) >= 1 << 63 else value
