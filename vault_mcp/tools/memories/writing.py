"""Remember, update and forget: one memory is one note, one call is one commit."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument, NotFound
from vault_mcp.notes import memory as notes
from vault_mcp.notes import names
from vault_mcp.notes.note import Note
from vault_mcp.notes.warnings import look_over
from vault_mcp.tools import placing
from vault_mcp.tools.graph.records import Json, not_blank, with_receipt
from vault_mcp.tools.memories import find
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.vault import Vault

COLLECTION = "memories"
"""The folder of memories; the peers' results name a collection."""

TYPES = ("semantic", "episodic", "procedural")


def memory_remember(
    vault: Vault,
    caller: Caller,
    text: str,
    session_id: str,
    tags: Sequence[str] = (),
    memory_type: str = "episodic",
    importance: int = 5,
) -> Json:
    """Keep a text as a new memory."""
    not_blank(text, "text")
    with vault.change("memory_remember", by=caller.agent, session=session_id) as change:
        number, note = remember(change, text, session_id, tags=tags, kind=memory_type, importance=importance)
        change.subject = f"{number} {note.name[11:] or note.name}"
    return with_receipt(
        change,
        {
            "status": "remembered",
            "memory_id": number,
            "collection": COLLECTION,
            "memory_type": memory_type,
            "importance": importance,
            "session_id": session_id,
            "note": note.path,
            "message": f"Memory {number} stored in {note.path}.",
            "warnings": remarks(text),
        },
    )


def remember(
    change: Change,
    text: str,
    session: str,
    *,
    tags: Sequence[str],
    kind: str,
    importance: int,
    relations: Sequence[tuple[str, str]] = (),
) -> tuple[int, Note]:
    """Write a new memory's note; `relations` are (type, wikilink). Gives its number and its note."""
    from_links = [(type_, link, None) for type_, link in relations]
    number = next_id(change)
    day = change.at[:10]
    folder = f"{COLLECTION}/{day[:4]}/{day[5:7]}"
    path, _ = placing.place(change, folder, names.memory_stem(text, day))
    change.write(
        path,
        notes.new_memory(
            text,
            type=kind,
            id=number,
            importance=importance,
            session=session,
            tags=clean_tags(tags),
            created=change.at,
            agent=change.by,
            relations=from_links,
        ),
    )
    note = change.note(path)
    if note is None or note.kind != "memory" or note.value != text:
        raise BadArgument("This text cannot be kept as a memory. Take out characters that are no text.")
    change.made["memory", str(number)] = path
    return number, note


def next_id(change: Change) -> int:
    """Give a number that no memory of this vault has had: UTC second and two digits, then the next free one.

    Sixteen digits stay below 2**53, so that every client's numbers hold them. A forgotten memory's number
    could only come again within its own second; the commits of that second say which were given.
    """
    first = int(time.strftime("%Y%m%d%H%M%S", time.gmtime(change.epoch))) * 100 + 1
    with change.vault.snapshot() as reader:
        given = [reader.newest_memory()]
        page = reader.log(200)
    for row in page.rows:
        if row.at < change.epoch:
            break
        word = row.subject.partition(": ")[2].partition(" ")[0]
        if row.tool.startswith("memory_") and word.isdecimal():
            given.append(int(word))
    given += [int(number) for kind, number in change.made if kind == "memory"]
    return max(first, *(number + 1 for number in given if number >= first - 1), first)


def memory_update(
    vault: Vault,
    caller: Caller,
    memory_id: int | str,
    new_text: str,
    session_id: str,
    tags: Sequence[str] | None = None,
    memory_type: str = "",
    importance: int | None = None,
    if_version: str = "",
) -> Json:
    """Replace a memory's text in place; what is not given stays, and its number and links with it."""
    not_blank(new_text, "new text")
    with vault.change("memory_update", by=caller.agent, session=session_id) as change:
        note = find.memory_note(change, memory_id)
        change.expect(note.path, if_version)
        change.subject = f"{note.id} {note.name[11:] or note.name}"
        text = notes.replace_text(change.read(note.path) or "", new_text)
        text = notes.set_fields(
            text,
            importance=importance,
            tags=None if tags is None else clean_tags(tags),
            type=memory_type or None,
            session=session_id if session_id != note.session else None,
        )
        change.write(note.path, text)
        after = change.note(note.path) or note
    changed = [
        word
        for word, one, other in (
            ("text", note.value, after.value),
            ("tags", note.tags, after.tags),
            ("memory_type", note.type, after.type),
            ("importance", note.importance, after.importance),
            ("session_id", note.session, after.session),
        )
        if one != other
    ]
    moved = (
        f" It moved from session {note.session!r} to {after.session!r}." if "session_id" in changed else ""
    )
    return with_receipt(
        change,
        {
            "status": "updated" if changed else "unchanged",
            "old_memory_id": note.id,
            "new_memory_id": note.id,
            "memory_type": after.type,
            "importance": after.importance,
            "session_id": after.session,
            "changed": changed,
            "note": note.path,
            "message": f"Memory {note.id} keeps its number, links and history.{moved}",
            "warnings": remarks(new_text),
        },
    )


def memory_forget(vault: Vault, caller: Caller, memory_id: int | str) -> Json:
    """Remove a memory's note; history keeps it."""
    number = find.memory_id(memory_id)
    with vault.change(
        "memory_forget", by=caller.agent, session=caller.session, subject=str(number)
    ) as change:
        try:
            note = find.memory_note(change, number)
        except NotFound:
            note = None
        if note is not None:
            change.delete(note.path)
    if note is None:
        return with_receipt(
            change, {"success": False, "memory_id": number, "message": f"Memory {number} not found."}
        )
    return with_receipt(
        change,
        {
            "success": True,
            "memory_id": number,
            "message": (
                f"Memory {number} deleted. Git history keeps it: take commit {change.receipt.commit} back "
                "to bring it back."
            ),
        },
    )


def clean_tags(tags: Sequence[str]) -> list[str]:
    """Give tags without # and blanks, each once."""
    return list(dict.fromkeys(tag.strip().lstrip("#").strip() for tag in tags if tag.strip(" #")))


def remarks(text: str) -> list[Json]:
    """Say what a text that is to be stored looks like, secrets and instructions above all."""
    return [{"kind": w.kind, "about": w.about} for w in look_over(text)]
