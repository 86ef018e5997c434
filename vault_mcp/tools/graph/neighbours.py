"""What one note links to, and what links to it, by relation or in prose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.follow import note_of
from vault_mcp.notes import links
from vault_mcp.storage import files
from vault_mcp.tools.graph.records import Json

if TYPE_CHECKING:
    from vault_mcp.storage.index import NoteRow, Reader
    from vault_mcp.vault import Vault

MOST = 500
"""Links of each direction that are shown."""

LINK = "links to"
"""How a link in prose is called."""


def neighbours(vault: Vault, reader: Reader, note: NoteRow, *, then: bool) -> Json:
    """Give the links and backlinks of a note in a snapshot; `then` says that it is one of the past.

    A link in prose beside a relation to the same note is not repeated. `missing` holds the links whose note
    is not there.
    """
    ways = _Ways(vault, reader, then)
    out: dict[str, Json] = {}
    missing: list[Json] = []
    for row in reader.relations_from([note.id], MOST):
        if row.to_path is None:
            missing.append({"name": row.to_name, "relation": row.type})
        else:
            out.setdefault(row.to_path, _end(row.to_name, row.to_path, row.to_kind or "file", row.type))
    lost = {str(one["name"]) for one in missing}
    for target, path in ways.meant(note.path):
        if path is None:
            if target not in lost:
                lost.add(target)
                missing.append({"name": target, "relation": LINK})
        elif path not in out and path != note.path:
            out[path] = ways.end(path, LINK)
    back: dict[str, Json] = {}
    for row in reader.relations_to([note.id], MOST):
        back.setdefault(row.from_path, _end(row.from_name, row.from_path, row.from_kind, row.type))
    for path in ways.pointing_to(note.path):
        if path not in back and path != note.path:
            back[path] = ways.end(path, LINK)
    told: Json = {"links": list(out.values())[:MOST], "backlinks": list(back.values())[:MOST]}
    if missing:
        told["missing"] = missing[:MOST]
    return told


def _end(name: str, path: str, kind: str, relation: str) -> Json:
    return {"name": name, "note": path, "kind": kind, "relation": relation}


class _Ways:
    """Links in prose, which the index knows by the names of their ends alone: the text says the rest."""

    def __init__(self, vault: Vault, reader: Reader, then: bool) -> None:
        self._vault = vault
        self._reader = reader
        self._then = then

    def end(self, path: str, relation: str) -> Json:
        row = self._reader.note_at(path)
        name = row.name if row else path.rpartition("/")[2]
        return _end(name, path, row.kind if row else "file", relation)

    def meant(self, path: str) -> list[tuple[str, str | None]]:
        """Give (words of the link, the file it means or None) of each link of a note."""
        note = note_of(path, self._raw(path))
        found: dict[str, str | None] = {}
        for link in note.links if note else ():
            if not link.target:
                continue  # to a heading of its own
            candidates = self._reader.paths_with_stem(links.stem_key(link.target))
            found.setdefault(link.target, links.resolve(link.target, path, candidates))
        return list(found.items())

    def pointing_to(self, path: str) -> list[str]:
        """Give the notes that link to a file."""
        key = links.stem_key(path)
        found = self._reader.linking_to_stem(key)[: MOST + 1]
        if len(self._reader.paths_with_stem(key)) == 1:
            return found
        return [one for one in found if path in (meant for _, meant in self.meant(one))]

    def _raw(self, path: str) -> bytes | None:
        if not self._then:
            found = files.read(self._vault.root, path)
            return found[0] if found else None
        row = self._reader.file(path)
        return self._vault.repository.blob(row.blob) if row else None
