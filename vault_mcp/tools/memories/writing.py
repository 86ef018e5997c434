"""Remember, update and forget: one memory is one note, one call is one commit."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument, NotFound
from vault_mcp.notes import memory as notes
from vault_mcp.notes import names, transcript
from vault_mcp.notes.note import Note
from vault_mcp.notes.warnings import look_over
from vault_mcp.storage.git.history import recent_subjects
from vault_mcp.tools import placing
from vault_mcp.tools.graph.records import Json, not_blank, with_receipt
from vault_mcp.tools.memories import find
from vault_mcp.tools.told import refuse_unstorable
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.vault import Vault

COLLECTION = "memories"
"""The folder of memories; the peers' results name a collection."""

TYPES = transcript.TYPES

_OF_MEMORY = re.compile(r"^memory_\w+: ")

RECENT = 500
"""Commits that are looked at for numbers of memories that were forgotten."""

FORGET = "memory_forget"


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
    session_id = session_id if session_id.strip() else ""
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
    created: str = "",
    speaker: str = "",
    relations: Sequence[tuple[str, str]] = (),
    numbers: Numbers | None = None,
) -> tuple[int, Note]:
    """Write a new memory's note; give its number and its note.

    Args:
        change: the change it is written in.
        text: what is remembered.
        session: the session it belongs to.
        tags: with or without #.
        kind: one of `TYPES`.
        importance: 1 to 10.
        created: when it was, as in stamps; else now.
        speaker: who said it, where that is known.
        relations: (type, wikilink) of each.
        numbers: gives the number, where several memories are made in one change.

    Raises:
        BadArgument: no note can hold the text, or what goes with it.
    """
    for name, value in (("text", text), ("session_id", session), ("speaker", speaker)):
        _refuse_halves(value, name)
    created = created or change.at
    number = (numbers or Numbers(change)).next(created)
    day = created[:10]
    folder = f"{COLLECTION}/{day[:4]}/{day[5:7]}"
    path, _ = placing.place(change, folder, names.memory_stem(text, day))
    note_text = notes.new_memory(
        text,
        type=kind,
        id=number,
        importance=importance,
        session=session,
        tags=clean_tags(tags),
        created=created,
        agent=change.by,
        speaker=speaker,
        relations=[(type_, link, None) for type_, link in relations],
    )
    change.write(path, note_text)
    note = change.note(path)
    if note is None or note.kind != "memory" or note.value != text or note.session != session:
        raise BadArgument("This text cannot be kept as a memory. Take out characters that are no text.")
    return number, note


class Numbers:
    """Gives numbers that no memory of a vault has had: UTC second and two digits, then the next free one.

    Sixteen digits stay below 2**53, so that every client's numbers hold them. A forgotten memory's number
    could come again only in or soon after its own second; the last commits say which were forgotten.
    """

    def __init__(self, change: Change, spent: Collection[int] | None = None) -> None:
        """Prepare for one change; `spent` are numbers not to be given, else those forgotten lately."""
        self._change = change
        self._spent = set(_forgotten_lately(change) if spent is None else spent)
        self._following: dict[int, int] = {}

    def next(self, created: str) -> int:
        """Give the number of a memory of that time, as in stamps."""
        first = int("".join(filter(str.isdigit, created[:19]))) * 100 + 1
        number = self._following.get(first, first)
        with self._change.vault.snapshot() as reader:
            while True:
                number = reader.free_memory_id(number)
                if number not in self._spent:
                    break
                number += 1
        self._spent.add(number)
        self._following[first] = number + 1
        return number


def _forgotten_lately(change: Change) -> set[int]:
    head = change.writer.head
    with change.vault.snapshot() as reader:
        in_step = reader.history_head == head
        subjects = reader.recent_subjects(FORGET, RECENT) if in_step else []
    if head is not None and not in_step:  # the past is still being read: Git itself knows
        subjects = recent_subjects(change.vault.repository.program, head, RECENT)
    return {number for subject in subjects for number in numbers_in(subject)}


def numbers_in(subject: str) -> set[int]:
    """Give the number that the subject of a memory's commit names: "memory_forget: 2026100509123301"."""
    word = _OF_MEMORY.sub("", subject).partition(" ")[0]
    return {int(word)} if word.isascii() and word.isdecimal() else set()


def _refuse_halves(text: str, name: str) -> None:
    # A note holds a NUL as its escape; half of a character it cannot hold.
    refuse_unstorable(text.replace("\0", ""), name)


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
    session_id = session_id if session_id.strip() else ""
    for name, value in (("new_text", new_text), ("session_id", session_id)):
        _refuse_halves(value, name)
    with vault.change("memory_update", by=caller.agent, session=session_id, if_version=if_version) as change:
        note = find.memory_note(change, memory_id)
        change.expect(note.path)
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


def memory_forget(vault: Vault, caller: Caller, memory_id: int | str, if_version: str = "") -> Json:
    """Remove a memory's note; history keeps it."""
    number = find.memory_id(memory_id)
    with vault.change(
        "memory_forget",
        by=caller.agent,
        session=caller.session,
        subject=str(number),
        if_version=if_version,
    ) as change:
        try:
            note = find.memory_note(change, number)
        except NotFound:
            note = None
        if note is not None:
            change.expect(note.path)
            change.delete(note.path)
    if note is None:
        message = (
            f"Memory {number} not found, so nothing was deleted. Look for its number with memory_recall."
        )
        return with_receipt(change, {"success": False, "memory_id": number, "message": message})
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
