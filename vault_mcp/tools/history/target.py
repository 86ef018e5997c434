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
from vault_mcp.tools.memories.find import only

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
    text = said.strip()
    return paths.inside((text[len(MEMORIES) :] if is_in_memories(text) else text).lstrip("/"), existing=True)


def _looks_like_path(said: str) -> bool:
    return "/" in said or said.strip().lower().endswith(".md")


def _candidates(said: str) -> list[str]:
    """Give the paths that a caller's words may mean."""
    path = path_of(said)
    return [path, f"{path}.md", names.key_path(said.strip())]


def lineages_of(reader: Reader, said: str) -> list[int]:
    """Give the notes that a name or a path ever meant; several for a folder.

    Raises:
        NotFound: nothing was ever called so.
        PathRefused: a path that leads out of the vault.
    """
    named = _named(reader, said)
    if named is not None:
        return [named]
    if not _looks_like_path(said):
        called = reader.lineages_called(names.file_stem(said.strip()))
        if called:
            return [called[0][1]]
    for candidate in _candidates(said):
        found = reader.lineages_ever_at(candidate)
        if found:
            return found[:1]
    below = [lineage for _, lineage in reader.lineages_below(path_of(said))]
    if below:
        return list(dict.fromkeys(below))
    called = reader.lineages_called(names.file_stem(said.strip()))
    if called:
        return [called[0][1]]
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
    ways = [_called_then, _lying_then]
    for way in reversed(ways) if _looks_like_path(said) else ways:
        if other is not None and way is _lying_then:
            continue
        found = way(vault, reader, said, seq)
        if found is not None:
            return found
    if other is None:
        raise NotFound(_absent(reader, said))
    return other


def _called_then(vault: Vault, reader: Reader, said: str, seq: int) -> Then | None:
    """Give the note that bore a name at a commit."""
    for _, lineage in reader.lineages_called(names.file_stem(said.strip()), seq):
        found = _at(vault, reader, lineage, seq)
        if found is not None and _bears(found.note, said):
            return found
    return None


def _lying_then(vault: Vault, reader: Reader, said: str, seq: int) -> Then | None:
    """Give the file that lay at a path at a commit."""
    for candidate in _candidates(said):
        lineage = reader.lineage_at(candidate, seq)
        if lineage is not None:
            return _at(vault, reader, lineage, seq)
    return None


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
        memory = only(reader, int(text))
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
