"""Links between memories, entities and notes: one web, walked up and down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from vault_mcp.errors import NotFound
from vault_mcp.notes import entity as lines
from vault_mcp.notes.line import Stamp
from vault_mcp.notes.note import Note
from vault_mcp.tools import wikilinks
from vault_mcp.tools.graph import relations
from vault_mcp.tools.graph.records import Json, not_blank, title, with_receipt
from vault_mcp.tools.memories import find
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.storage.index import NoteRow, Reader, RelationRow
    from vault_mcp.vault import Vault

DEPTH = 3
"""Steps that a walk down goes from where it starts."""


def memory_link(
    vault: Vault,
    caller: Caller,
    source_id: str,
    target_id: str,
    relation: str = "OWNS",
    weight: float = 1.0,
) -> Json:
    """Link two notes by one relation line."""
    edge = {"source_id": source_id, "target_id": target_id, "relation": relation, "weight": weight}
    result = _link(vault, caller, "memory_link", [edge], atomic=True)
    (row,) = _rows(result["edges"])
    return {**row, "receipt": result["receipt"]}


def memory_link_batch(
    vault: Vault, caller: Caller, edges: Sequence[Mapping[str, object]], atomic: bool = True
) -> Json:
    """Link many notes in one commit; without `atomic`, edges with a missing end are passed over."""
    return _link(vault, caller, "memory_link_batch", edges, atomic=atomic)


def _link(
    vault: Vault, caller: Caller, tool: str, edges: Sequence[Mapping[str, object]], *, atomic: bool
) -> Json:
    subject = title(f"{e['source_id']} -> {e['target_id']}" for e in edges)
    with vault.change(tool, by=caller.agent, session=caller.session, subject=subject) as change:
        told = [_edge(change, edge, atomic=atomic) for edge in edges]
    made = [row for row in told if row["status"] == "linked"]
    return with_receipt(
        change,
        {
            "status": "linked" if made else "unchanged",
            "linked": len(made),
            "edges": told,
            "skipped": [row for row in told if row["status"] == "skipped"],
        },
    )


def _edge(change: Change, edge: Mapping[str, object], *, atomic: bool) -> Json:
    source, target = str(edge["source_id"]), str(edge["target_id"])
    kind = typed(not_blank(str(edge.get("relation") or "OWNS"), "relation"), _weight(edge.get("weight")))
    told: Json = {"source_id": edge["source_id"], "target_id": edge["target_id"], "relation": kind}
    start, end = _note(change, source), _note(change, target)
    missing = [name for name, note in ((source, start), (target, end)) if note is None]
    if start is None or end is None:
        if atomic:
            raise NotFound(
                f"There is no memory, entity or note {', '.join(missing)}. "
                "Give a memory's number, an entity's exact name or a note's path."
            )
        return {**told, "status": "skipped", "missing": missing}
    known = any(
        r.type == kind and relations.target_path(change, start, r) == end.path for r in start.relations
    )
    if not known:
        row = (kind, wikilinks.link_to(change, end), Stamp(change.at, change.by))
        change.write(start.path, lines.add_relations(change.read(start.path) or "", [row]))
    return {**told, "status": "present" if known else "linked", "from": start.path, "to": end.path}


def _note(change: Change, name: str) -> Note | None:
    for attempt in range(2):
        with change.vault.snapshot() as reader:
            row = find.any_note(reader, name)
        note = change.note(row.path) if row else None
        if note is not None or attempt or not change.look_again():
            return note
    return None


def typed(kind: str, weight: float) -> str:
    """Give the words of a relation line: a weight other than 1 stands behind its type, as in `OWNS (0.4)`."""
    return kind if weight == 1.0 else f"{kind} ({weight:g})"


def _weight(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 1.0


def memory_explore_hierarchy(
    vault: Vault, caller: Caller, concept_id: int | str, direction: str, limit: int = 32
) -> Json:
    """Walk relations: `up` to what points here, step by step, or `down` to what this points to, as a tree."""
    with vault.reading() as reader:
        start = find.any_note(reader, concept_id)
        if start is None:
            raise NotFound(
                f"There is no memory, entity or note {concept_id}. "
                "Give a memory's number, an entity's exact name or a note's path."
            )
        walk = _Walk(reader, limit)
        root = walk.node(start)
        if direction == "up":
            shown: list[Json] = walk.parents(start)
            result: Json = {"concept": root, "direction": "up", "parents": shown}
        else:
            result = {"concept": {**root, "children": walk.children(start, DEPTH)}, "direction": "down"}
    result["count"] = walk.seen_count
    if walk.left_out:
        result["left_out"] = f"{walk.left_out} more were left out: raise limit, or start further on."
    return result


class _Walk:
    """A walk that meets each note once, so that circles end, and at most `limit` of them."""

    def __init__(self, reader: Reader, limit: int) -> None:
        self._reader = reader
        self._limit = limit
        self._seen: set[int] = set()
        self.left_out = 0

    @property
    def seen_count(self) -> int:
        """How many notes were met besides the start."""
        return max(0, len(self._seen) - 1)

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
        ring = [start.id]
        distance = 1
        while ring:
            following: list[int] = []
            for row in self._reader.relations_to(ring):
                note = self._fresh(row.from_note)
                if note is not None:
                    shown.append({**self.node(note), "relation": row.type, "distance": distance})
                    following.append(note.id)
            ring, distance = following, distance + 1
        return shown

    def children(self, note: NoteRow, depth: int) -> list[Json]:
        """Give what a note points to, as a tree."""
        rows = self._reader.relations_from([note.id])
        # Breadth before depth: a note stands where the shortest way leads to it.
        met: list[tuple[RelationRow, NoteRow]] = []
        for row in rows:
            child = self._fresh(row.to_note) if row.to_note is not None else None
            if child is not None:
                self._seen.add(child.id)
                met.append((row, child))
        shown = []
        for row, child in met:
            told: Json = {**self.node(child), "relation": row.type}
            told["children"] = self.children(child, depth - 1) if depth > 1 else []
            shown.append(told)
        return shown

    def _fresh(self, number: int) -> NoteRow | None:
        if number in self._seen:
            return None
        if self.seen_count >= self._limit:
            self.left_out += 1
            return None
        return self._reader.note_by_id(number)


def _rows(value: object) -> list[Json]:
    return value if isinstance(value, list) else []
