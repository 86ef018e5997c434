"""The whole graph without its facts: what has to be known to draw it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.tools.graph.records import Json
from vault_mcp.tools.history.asof import reading_at
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.storage.index import Reader
    from vault_mcp.vault import Vault

NODES = 20_000
"""Notes that one drawing shows; those with the most links come first."""

LINK = "links to"
"""How a link in prose is called."""


def draw_graph(vault: Vault, caller: Caller, as_of: str = "", limit: int = NODES) -> Json:
    """Give every note as a node and every relation or link as an edge between two of them.

    Edges name their ends by place in the list of nodes: [from, to, relation]. Twin edges are given once.
    Links whose target is missing, or is not clear from its name, are left out.
    """
    with reading_at(vault, as_of) as reader:
        rows = reader.all_notes()
        edges = _edges(reader, {row.id for row in rows})
    links = dict.fromkeys((row.id for row in rows), 0)
    for start, end in edges:
        links[start] += 1
        links[end] += 1
    shown = rows
    if len(rows) > limit:
        shown = sorted(rows, key=lambda row: -links[row.id])[:limit]
    place = {row.id: number for number, row in enumerate(shown)}
    result: Json = {
        "nodes": [
            {
                "name": row.name,
                "type": row.type if row.kind == "entity" else row.kind,
                "kind": row.kind,
                "note": row.path,
                "links": links[row.id],
            }
            for row in shown
        ],
        "edges": [
            [place[start], place[end], kind]
            for (start, end), kind in edges.items()
            if start in place and end in place
        ],
    }
    if len(shown) < len(rows):
        result["left_out"] = f"{len(rows) - len(shown)} notes with fewer links are not drawn."
    return result


def _edges(reader: Reader, known: set[int]) -> dict[tuple[int, int], str]:
    edges: dict[tuple[int, int], str] = {}
    for row in reader.all_relations():
        if row.to_note is not None and row.from_note in known and row.to_note in known:
            ends = row.from_note, row.to_note
            edges[ends] = f"{edges[ends]}, {row.type}" if ends in edges else row.type
    for ends in reader.all_links():
        if ends not in edges and ends[0] in known and ends[1] in known:
            edges[ends] = LINK
    return edges
