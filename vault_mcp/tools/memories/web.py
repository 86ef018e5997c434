"""Links between memories, entities and notes: one web."""

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
    from vault_mcp.vault import Vault


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
            raise NotFound(find.nothing_called(", ".join(missing)))
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


def _rows(value: object) -> list[Json]:
    return value if isinstance(value, list) else []
