"""Read a value by its key, list the keys, and search keys and values for a text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from vault_mcp.errors import NoteUnreadable
from vault_mcp.notes.note import read_note
from vault_mcp.storage import files
from vault_mcp.storage.index import Reader
from vault_mcp.storage.index.keys import COUNTED
from vault_mcp.tools.history.asof import reading_at
from vault_mcp.tools.keys import find
from vault_mcp.tools.keys.excerpt import excerpt
from vault_mcp.tools.told import one_line
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.vault import Vault

BUDGET = 40_000
"""Characters of JSON that one answer may take: about ten thousand tokens."""


def read_memory(vault: Vault, caller: Caller, key: str, as_of: str = "") -> str:
    """Give the value of a key exactly; a key that is not there is told, and is no error."""
    find.checked(key)
    with reading_at(vault, as_of) as reader:
        known = find.paths_of(reader, key)
        read = (reader.value(path) if as_of.strip() else _value(vault.root, path, key) for path in known)
        value = next((found for found in read if found is not None), None)
        near = find.alike(reader, key) if value is None else []
    if value is not None:
        return value
    hint = f" There is: {', '.join(f'“{one_line(name)}”' for name in near)}." if near else ""
    then = " at that moment" if as_of.strip() else ""
    return (
        f"There is no key “{one_line(key)}”{then}.{hint} "
        "list_memory_keys gives the keys, search_memory finds them by their words."
    )


def _value(root: str, path: str, key: str) -> str | None:
    """Read a value from the disk, which is ahead of the index while a person is editing."""
    found = files.read(root, path)
    if found is None:
        return None
    try:
        note = read_note(path, found[0].decode())
    except UnicodeDecodeError:
        raise NoteUnreadable(f"{path} is not UTF-8 text any more. Convert the file to UTF-8.") from None
    return note.value if find.is_of(note, key) else None


def list_memory_keys(vault: Vault, caller: Caller, limit: int = 1000, cursor: str = "") -> tuple[str, ...]:
    """Give the keys in their order as a JSON list; where it is cut, a second text says how to go on."""
    with vault.reading() as reader:
        page = reader.keys(limit, cursor or None)
        fitting = _fitting([len(json.dumps(name, ensure_ascii=False)) + 2 for name in page.rows])
        if fitting < len(page.rows):
            page = reader.keys(fitting, cursor or None)
        total = reader.count_keys() if page.cursor or cursor else 0
    listed = json.dumps(page.rows, ensure_ascii=False)
    return _with_rest(listed, page.cursor, f"{len(page.rows)} of {total} keys", "list_memory_keys")


def search_memory(
    vault: Vault, caller: Caller, query: str, limit: int = 50, cursor: str = ""
) -> tuple[str, ...]:
    """Give the entries whose key or value holds a text as a JSON list; a blank text is in every one."""
    with vault.reading() as reader:
        page, total = reader.search_keys(query, limit, cursor or None)
        entries = [_entry(row.key, row.value, query) for row in page.rows]
        fitting = _fitting([len(json.dumps(entry, ensure_ascii=False)) + 2 for entry in entries])
        following = page.cursor
        if fitting < len(entries):
            following = _search_cursor(reader, query, fitting, cursor)
    listed = json.dumps(entries[:fitting], ensure_ascii=False)
    found = f"{total} or more" if total >= COUNTED else str(total)
    return _with_rest(listed, following, f"{fitting} of {found} entries", "search_memory")


def _search_cursor(reader: Reader, query: str, limit: int, cursor: str) -> str | None:
    return reader.search_keys(query, limit, cursor or None)[0].cursor


def _entry(key: str, value: str, query: str) -> dict[str, str]:
    shown = excerpt(value, query)
    entry = {"key": key, "value": shown}
    if shown != value:
        entry["cut"] = f"This is a part of {len(value):,} characters; read_memory gives the whole value."
    return entry


def _fitting(costs: list[int]) -> int:
    """Count how many rows fit into one answer; the first always does."""
    room = BUDGET
    for number, cost in enumerate(costs):
        room -= cost
        if room < 0 and number:
            return number
    return len(costs)


def _with_rest(listed: str, cursor: str | None, shown: str, tool: str) -> tuple[str, ...]:
    if cursor is None:
        return (listed,)
    return (listed, f"These are {shown}. For the next ones call {tool} with cursor set to {cursor}")
