"""Walks along relations and links: up to what points somewhere, down to what something points to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from vault_mcp.errors import NotFound
from vault_mcp.notes import links
from vault_mcp.notes.note import read_note
from vault_mcp.storage import files
from vault_mcp.tools.graph.records import Json
from vault_mcp.tools.memories import find
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.storage.index import NoteRow, Reader
    from vault_mcp.vault import Vault

DEPTH = 3
"""Steps that a walk down goes from where it starts."""

LINKS = "links to"
"""What a link in prose is told as."""


def memory_explore_hierarchy(
    vault: Vault, caller: Caller, concept_id: int | str, direction: str, limit: int = 32
) -> Json:
    """Walk relations and links: `up` to what points here, step by step, or `down`, as a tree."""
    with vault.reading() as reader:
        start = find.any_note(reader, concept_id)
        if start is None:
            raise NotFound(find.nothing_called(concept_id))
        walk = _Walk(vault, reader, limit)
        if direction == "up":
            result: Json = {"concept": walk.node(start), "direction": "up", "parents": walk.parents(start)}
        else:
            result = {"concept": walk.tree(start), "direction": "down"}
    result["count"] = walk.seen_count
    if walk.left_out:
        result["left_out"] = f"{walk.left_out} more were left out: raise limit, or start further on."
    return result


class _Walk:
    """A walk that meets each note once, so that circles end, and at most `limit` of them.

    Breadth before depth: a note stands where the shortest way leads to it.
    """

    def __init__(self, vault: Vault, reader: Reader, limit: int) -> None:
        self._vault = vault
        self._reader = reader
        self._limit = limit
        self._seen: set[int] = set()
        self._left: set[int] = set()

    @property
    def seen_count(self) -> int:
        """How many notes were met besides the start."""
        return max(0, len(self._seen) - 1)

    @property
    def left_out(self) -> int:
        """How many notes were one step too many."""
        return len(self._left - self._seen)

    def node(self, note: NoteRow) -> Json:
        """Tell of one note."""
        self._seen.add(note.id)
        told: Json = {"name": note.name, "kind": note.kind, "note": note.path}
        if note.kind == "memory":
            found = self._reader.memory_of(note)
            if found is not None:
                told["id"] = found.id
        return told

    def parents(self, start: NoteRow) -> list[Json]:
        """Give what points to the start, what points to that, and so on, nearest first."""
        shown: list[Json] = []
        ring = [start]
        distance = 1
        while ring:
            following: list[NoteRow] = []
            for one in ring:
                for kind, number in self._pointing_to(one):
                    note = self._fresh(number)
                    if note is not None:
                        shown.append({**self.node(note), "relation": kind, "distance": distance})
                        following.append(note)
            ring, distance = following, distance + 1
        return shown

    def tree(self, start: NoteRow) -> Json:
        """Give the start with what it points to, as a tree of `DEPTH` steps."""
        children: list[Json] = []
        root = {**self.node(start), "children": children}
        ring = [(start, children)]
        for _ in range(DEPTH):
            following: list[tuple[NoteRow, list[Json]]] = []
            for one, under in ring:
                for kind, number in self._pointed_to(one):
                    note = self._fresh(number)
                    if note is not None:
                        own: list[Json] = []
                        under.append({**self.node(note), "relation": kind, "children": own})
                        following.append((note, own))
            ring = following
        return root

    def _fresh(self, number: int) -> NoteRow | None:
        if number in self._seen:
            return None
        if self.seen_count >= self._limit:
            self._left.add(number)
            return None
        return self._reader.note_by_id(number)

    def _pointed_to(self, note: NoteRow) -> Iterator[tuple[str, int]]:
        for row in self._reader.relations_from([note.id]):
            if row.to_note is not None:
                yield row.type, row.to_note
        for path in self._links_of(note.path):
            found = self._reader.note_at(path)
            if found is not None:
                yield LINKS, found.id

    def _pointing_to(self, note: NoteRow) -> Iterator[tuple[str, int]]:
        for row in self._reader.relations_to([note.id]):
            yield row.type, row.from_note
        key = links.stem_key(note.path)
        alone = len(self._reader.paths_with_stem(key)) == 1
        for path in self._reader.linking_to_stem(key):
            if alone or note.path in self._links_of(path):
                found = self._reader.note_at(path)
                if found is not None:
                    yield LINKS, found.id

    def _links_of(self, path: str) -> list[str]:
        """Give the files that the links of a note mean, in its own order."""
        found = files.read(self._vault.root, path)
        note = read_note(path, found[0].decode("utf-8", "replace")) if found else None
        meant = []
        for link in note.links if note else ():
            candidates = self._reader.paths_with_stem(links.stem_key(link.target))
            target = links.resolve(link.target, path, candidates)
            if target is not None:
                meant.append(target)
        return meant
