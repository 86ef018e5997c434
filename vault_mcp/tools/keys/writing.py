"""Write and delete values under keys: one note and one commit each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument
from vault_mcp.follow import LONGEST_NOTE
from vault_mcp.notes import keyed
from vault_mcp.receipt import Receipt
from vault_mcp.tools.keys import find
from vault_mcp.tools.told import committed, one_line, refuse_unstorable, remarked, replaced_words
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.vault import Vault


def write_memory(vault: Vault, caller: Caller, key: str, value: str, if_version: str = "") -> str:
    """Keep a value under a key; what was there is replaced, and told."""
    find.checked(key)
    refuse_unstorable(value.replace("\0", ""), "value")  # the format of a value has a way to write NUL
    with vault.change(
        "write_memory",
        by=caller.agent,
        session=caller.session,
        subject=one_line(key),
        if_version=if_version,
    ) as change:
        path, old = put(change, key, value)
    shown = one_line(key)
    if change.receipt.commit is None:
        return f"“{shown}” holds exactly this value already, in {path}. {committed(change.receipt)}"
    if old is None:
        return f"Saved “{shown}” in {path}. Commit {change.receipt.commit[:12]}.{remarked(value)}"
    return (
        f"Saved “{shown}” in {path}. Commit {change.receipt.commit[:12]}.\n"
        f"It replaced {_replaced(change.receipt, old)}.{remarked(value)}"
    )


def put(change: Change, key: str, value: str) -> tuple[str, str | None]:
    """Have a key hold a value when the change is committed; give (path of its note, the value before).

    Raises:
        BadArgument: a note cannot hold this key or value.
    """
    note = find.note_of(change, key)
    if note is None:
        path, text = find.place(change, key), keyed.new_keyed(key, value)
    else:
        path, text = note.path, keyed.replace_value(change.read(note.path) or "", value)
    if len(text.encode()) > LONGEST_NOTE:
        raise BadArgument(
            f"The value is too long for one note, which holds {LONGEST_NOTE // 2**20} MB. "
            "Split it into parts."
        )
    change.write(path, text)
    written = change.note(path)
    if not find.is_of(written, key) or written is None or written.value != value:
        raise BadArgument(f"The key {key!r} with this value cannot be kept as a note. Choose another key.")
    return path, note.value if note else None


def delete_memory(vault: Vault, caller: Caller, key: str, if_version: str = "") -> str:
    """Delete a key with its note; a key that is not there is told, and is no error."""
    find.checked(key)
    shown = one_line(key)
    with vault.change(
        "delete_memory", by=caller.agent, session=caller.session, subject=shown, if_version=if_version
    ) as change:
        deleted: list[str] = []
        while (note := find.note_of(change, key)) is not None:  # a copy of a note bears the same key
            change.delete(note.path)
            deleted.append(note.path)
    if not deleted:
        return f"There is no key “{shown}”, so nothing was deleted. list_memory_keys gives the keys."
    return (
        f"Deleted “{shown}” ({', '.join(deleted)}). History keeps the value: history_restore brings it "
        f"back; only a person's vault-mcp erase removes it for good. {committed(change.receipt)}"
    )


def _replaced(receipt: Receipt, old: str) -> str:
    known = next((words for words in receipt.replaced if words.text == old), None)
    return replaced_words(known) if known else f"“{one_line(old)}”"
