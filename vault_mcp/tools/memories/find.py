"""Find memories by number, and other notes by whatever names them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument, NotFound
from vault_mcp.notes.note import Note
from vault_mcp.storage import paths

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.storage.index import MemoryRow, NoteRow, Reader

MOST_ID = 2**53 - 1


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
    """
    number = memory_id(value)
    found = reader.memory(number)
    if found is None:
        raise NotFound(f"Memory {number} not found. Look for its number with memory_recall.")
    return found


def memory_note(change: Change, value: int | str) -> Note:
    """Give the note of a memory as this change leaves it.

    Raises:
        NotFound: there is none, also not in files that were saved a moment ago.
    """
    number = memory_id(value)
    for attempt in range(2):
        with change.vault.snapshot() as reader:
            row = reader.memory(number)
        note = change.note(row.note.path) if row else None
        if note is not None and note.kind == "memory" and note.id == number:
            return note
        if attempt or not change.look_again():
            break
    raise NotFound(f"Memory {number} not found. Look for its number with memory_recall.")


def any_note(reader: Reader, name: int | str) -> NoteRow | None:
    """Give the note that a number of a memory, a name, or a path means."""
    text = str(name).strip()
    if re.fullmatch(r"[0-9]{16}", text):
        found = reader.memory(int(text))
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
