"""Find memories by number, and other notes by whatever names them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument, NotFound
from vault_mcp.notes.note import Note
from vault_mcp.storage import paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_mcp.change import Change
    from vault_mcp.storage.index import MemoryRow, NoteRow, Reader

MOST_ID = 2**53 - 1

MOST_NAMED = 5
"""Notes of one number that an error names."""


def memory_id(value: int | str) -> int:
    """Read a memory's number, which clients send as a number or as text.

    Raises:
        BadArgument: it is neither.
    """
    text = str(value).strip()
    if not re.fullmatch(r"[0-9]{1,16}", text) or int(text) > MOST_ID:
        raise BadArgument(
            f"memory_id {value!r} is not the number of a memory. "
            "Take it from memory_remember or memory_recall."
        )
    return int(text)


def memory(reader: Reader, value: int | str) -> MemoryRow:
    """Give the memory with this number.

    Raises:
        NotFound: there is none.
        BadArgument: two notes have it.
    """
    number = memory_id(value)
    found = only(reader, number)
    if found is None:
        raise NotFound(f"Memory {number} not found. Look for its number with memory_recall.")
    return found


def only(reader: Reader, number: int) -> MemoryRow | None:
    """Give the memory with this number, None if there is none.

    Raises:
        BadArgument: two notes have it, as after a merge or a copy by hand; none is taken by guess.
    """
    _refuse_twins(number, reader.memory_paths(number))
    return reader.memory(number)


def _refuse_twins(number: int, found: Sequence[str]) -> None:
    if len(found) > 1:
        raise BadArgument(
            f"{len(found)} notes have the number {number}: {' and '.join(found[:MOST_NAMED])}. "
            "Give all but one another `id`, then repeat the call."
        )


def memory_note(change: Change, value: int | str) -> Note:
    """Give the note of a memory as this change leaves it.

    Raises:
        NotFound: there is none, also not in files that were saved a moment ago.
        BadArgument: two notes have it.
    """
    number = memory_id(value)
    for attempt in range(2):
        with change.vault.snapshot() as reader:
            known = reader.memory_paths(number)
        notes = [note for path in known if (note := change.note(path)) is not None]
        found = [note for note in notes if note.kind == "memory" and note.id == number]
        _refuse_twins(number, [note.path for note in found])
        if found:
            return found[0]
        if attempt or not change.look_again():
            break
    raise NotFound(f"Memory {number} not found. Look for its number with memory_recall.")


def any_note(reader: Reader, name: int | str) -> NoteRow | None:
    """Give the note that a number of a memory, a name, or a path means."""
    text = str(name).strip()
    if re.fullmatch(r"[0-9]{16}", text):
        found = only(reader, int(text))
        if found is not None:
            return found.note
    named = reader.note_named(text)
    if named is not None:
        return named
    if "/" in text or text.lower().endswith(".md"):
        path = paths.inside(text)
        return reader.note_at(path) or reader.note_at(f"{path}.md")
    return None


def nothing_called(name: int | str) -> str:
    """Say that a number, name or path means nothing here."""
    return (
        f"There is no memory, entity or note {name}. "
        "Give a memory's number, an entity's exact name or a note's path."
    )
