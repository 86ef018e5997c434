"""Which note a caller means, now or then: by name, by the number of a memory, by key, or by path."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_mcp.errors import NotFound
from vault_mcp.follow import note_of
from vault_mcp.notes import names
from vault_mcp.notes.note import Note
from vault_mcp.storage import paths
from vault_mcp.storage.index.lineages import NOW
from vault_mcp.tools.files.places import MEMORIES, is_in_memories

if TYPE_CHECKING:
    from vault_mcp.storage.index import Reader
    from vault_mcp.vault import Vault

_ID = re.compile(r"[0-9]{16}")


@dataclass(frozen=True, slots=True)
class Then:
    """A file as it was at one commit."""

    lineage: int
    path: str
    blob: str
    raw: bytes
    note: Note | None


def path_of(said: str) -> str:
    """Give a caller's path as one inside the vault; "" is the root.

    Raises:
        PathRefused: it leads out of the vault, or to what no tool may touch.
    """
    return paths.inside(said[len(MEMORIES) :] if is_in_memories(said) else said, existing=True)


def lineages_of(reader: Reader, said: str) -> list[int]:
    """Give the notes that a name or a path ever meant; several for a folder.

    Raises:
        NotFound: nothing was ever called so.
        PathRefused: a path that leads out of the vault.
    """
    named = _named(reader, said)
    if named is not None:
        return [named]
    called = [lineage for _, lineage in reader.lineages_called(names.file_stem(said.strip()))]
    if called and "/" not in said:
        return called[:1]
    path = path_of(said.strip().lstrip("/") if not is_in_memories(said) else said.strip())
    for candidate in (path, f"{path}.md", names.key_path(said.strip())):
        found = reader.lineages_ever_at(candidate)
        if found:
            return found[:1]
    below = [lineage for _, lineage in reader.lineages_below(path)]
    if below:
        return list(dict.fromkeys(below))
    if called:
        return called[:1]
    raise NotFound(
        f"Nothing called {_shown(said)} is in the vault or in its history. "
        "Look for the name with search_nodes, or for a change with history_log."
    )


def then(vault: Vault, reader: Reader, said: str, seq: int) -> Then:
    """Give the note or file that a name, number, key or path means at a commit.

    What was called so then comes before what is called so now and had another name then.

    Raises:
        NotFound: it was not there at that commit.
        PathRefused: a path that leads out of the vault.
    """
    now = _named(reader, said)
    other = _at(vault, reader, now, seq) if now is not None else None
    if other is not None and _bears(other.note, said):
        return other
    wanted = said.strip()
    for _, lineage in reader.lineages_called(names.file_stem(wanted), seq):
        found = _at(vault, reader, lineage, seq)
        if found is not None and _bears(found.note, said):
            return found
    if other is not None:
        return other
    path = path_of(wanted if is_in_memories(wanted) else wanted.lstrip("/"))
    for candidate in (path, f"{path}.md", names.key_path(wanted)):
        lineage_there = reader.lineage_at(candidate, seq)
        if lineage_there is not None:
            found = _at(vault, reader, lineage_there, seq)
            if found is not None:
                return found
    raise NotFound(_absent(reader, said))


def _absent(reader: Reader, said: str) -> str:
    known = lineages_of(reader, said)
    versions = reader.versions(known[0])
    first = reader.commit_number(versions[0][0]) if versions else None
    since = f" Its first change is {first.sha[:12]}." if first else ""
    return f"{_shown(said)} was not there at that moment.{since} See history_log for its changes."


def _named(reader: Reader, said: str) -> int | None:
    text = said.strip()
    row = None
    if _ID.fullmatch(text):
        memory = reader.memory(int(text))
        row = memory.note if memory else None
    row = row or reader.note_named(said)
    return reader.lineage_at(row.path) if row else None


def _at(vault: Vault, reader: Reader, lineage: int, seq: int) -> Then | None:
    place = reader.place(lineage, seq)
    if place.path is None or place.blob is None:
        return None
    raw = vault.repository.blob(place.blob)
    return Then(lineage, place.path, place.blob, raw, note_of(place.path, raw))


def _bears(note: Note | None, said: str) -> bool:
    if note is None:
        return False
    if note.kind == "memory" and str(note.id) == said.strip():
        return True
    return names.name_key(note.name) == names.name_key(said)


def _shown(said: str) -> str:
    text = " ".join(said.split())
    return repr(text if len(text) <= 80 else text[:79] + "…")


__all__ = ["NOW", "Then", "lineages_of", "path_of", "then"]
