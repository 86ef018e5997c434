"""Entities that are close to what a search found, by the relations between them.

Personalised PageRank (Page, Brin, Motwani, Winograd 1999; Haveliwala 2002) over the relations around the
hits, taken as undirected: restart 0.5, 30 rounds, the restart shared by the hits in proportion to their
scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_mcp.storage.index import Found, NoteRow, Reader

RESTART = 0.5
ROUNDS = 30

NEIGHBOURS = 2_000
"""Relations that are looked at on each of the two steps out from the hits."""


def related(reader: Reader, found: Sequence[Found], most: int) -> list[NoteRow]:
    """Give up to `most` entities that no word found, nearest first."""
    start = {one.note.id: max(one.score, 1e-9) for one in found}
    if not start:
        return []
    edges = _around(reader, start)
    ranks = _page_rank(edges, start)
    order = sorted((note for note in ranks if note not in start), key=lambda note: (-ranks[note], note))
    rows = (reader.note_by_id(note) for note in order[: most * 2])
    return [row for row in rows if row is not None and row.kind == "entity" and not row.archived][:most]


def _around(reader: Reader, start: dict[int, float]) -> dict[int, set[int]]:
    edges: dict[int, set[int]] = {}
    ring = list(start)
    for _ in range(2):
        following: list[int] = []
        for row in reader.relations_touching(ring, NEIGHBOURS):
            if row.to_note is None or row.to_note == row.from_note:
                continue
            for one, other in ((row.from_note, row.to_note), (row.to_note, row.from_note)):
                if one not in edges and one not in start:
                    following.append(one)
                edges.setdefault(one, set()).add(other)
        ring = following
    return edges


def _page_rank(edges: dict[int, set[int]], start: dict[int, float]) -> dict[int, float]:
    total = sum(start.values())
    restart = {note: weight / total for note, weight in start.items()}
    ranks = dict(restart)
    for _ in range(ROUNDS):
        following = {note: RESTART * weight for note, weight in restart.items()}
        for note, rank in ranks.items():
            neighbours = edges.get(note, set())
            for other in neighbours:
                following[other] = following.get(other, 0.0) + (1 - RESTART) * rank / len(neighbours)
        ranks = following
    return ranks
