"""Find the notes that a graph tool names, and places for new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from vault_mcp.errors import NoteUnreadable, NotFound
from vault_mcp.notes import names
from vault_mcp.notes.note import Note

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.storage.index import NoteRow, Reader


def entity(change: Change, name: str) -> Note:
    """Give the note of an entity as this change leaves it.

    Raises:
        NotFound: there is no such entity, also not in files that were saved a moment ago.
        NoteUnreadable: the note of that name does not say what it is, since its properties are broken.
    """
    found = entity_or_none(change, name)
    if found is None:
        if (note := broken(change, name)) is not None:
            raise NoteUnreadable(
                f"{note.path} cannot be read as an entity: {note.problems[0]}. Repair it first."
            )
        if node(change, name) is not None:
            raise NotFound(
                f"Entity with name {name} not found: the note of that name is no entity. "
                "create_entities with this name makes it one and keeps its text."
            )
        raise NotFound(
            f"Entity with name {name} not found. "
            "Look for the exact name with search_nodes, or make it with create_entities."
        )
    return found


def entity_or_none(change: Change, name: str) -> Note | None:
    """Give the note of an entity, or None; a miss is looked for once more on the disk."""
    found = _entity(change, name)
    if found is None and change.look_again():
        found = _entity(change, name)
    return found


def _entity(change: Change, name: str) -> Note | None:
    key = names.name_key(name)
    path = change.made.get(("entity", key))
    if path is None:
        with change.vault.snapshot() as reader:
            row = reader.entity(name)
        path = row.path if row else None
    if path is None:
        return None
    note = change.note(path)
    if note is None or note.kind != "entity" or names.name_key(note.name) != key:
        return None
    return note


def broken(change: Change, name: str) -> Note | None:
    """Give the note of exactly this name whose properties cannot be read, so that it may be an entity."""
    with change.vault.snapshot() as reader:
        row = reader.note_named(name)
    if row is None or row.kind != "note" or not row.problems:
        return None
    note = change.note(row.path)
    return note if note is not None and note.kind == "note" and note.problems else None


def edit(change: Change, path: str, how: Callable[[str], str]) -> None:
    """Have a note's text be what `how` makes of it.

    Raises:
        NoteUnreadable: it cannot be edited safely; the note is named.
    """
    text = change.read(path) or ""
    try:
        edited = how(text)
    except NoteUnreadable as error:
        raise NoteUnreadable(f"{path}: {error}") from None
    change.write(path, edited)


def node(change: Change, name: str) -> Note | None:
    """Give the note that a relation may point to: an entity, or else any note of that name."""
    found = entity_or_none(change, name)
    if found is None:
        with change.vault.snapshot() as reader:
            row = reader.note_named(name)
        found = change.note(row.path) if row else None
    return found


def unique(values: Iterable[str]) -> list[str]:
    """Give each text once, in the order they came."""
    return list(dict.fromkeys(values))


def all_entities(reader: Reader, page: int = 1000) -> Iterator[NoteRow]:
    """Give every entity in the order of their names, a page at a time."""
    cursor: str | None = None
    while True:
        found = reader.entities(page, cursor)
        yield from found.rows
        cursor = found.cursor
        if cursor is None:
            return
