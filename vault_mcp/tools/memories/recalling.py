"""Recall: passages found by words and by meaning, weighed together, and given with why they were found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument
from vault_mcp.notes.question import Question, read_question
from vault_mcp.notes.ranking import BY_MEANING, BY_WORDS, Candidate, Ranked, rank, rarity, worth_asking
from vault_mcp.storage.index import Scope
from vault_mcp.tools.graph.records import Json, not_blank
from vault_mcp.tools.memories import listing
from vault_mcp.tools.moments import moment
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.storage.index import Reader, UnitRow
    from vault_mcp.storage.vectors import Nearness
    from vault_mcp.vault import Vault

FAMILIES = {
    "all": (),
    "memories": ("memory",),
    "graph": ("entity",),
    "keys": ("key",),
    "files": ("note",),
}

DEEPEST = 500
"""Results up to which pages go: further ones hold next to nothing of the question."""

BUDGET = 40_000
"""Characters of JSON that one page of results may take."""

TEXT_MOST = 4_000
"""Characters of a memory's text that a result shows; its note has the rest."""

SETTLE_MOST = 3_000
"""Units that a recall brings into the word index itself before it asks."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """One passage and why it was found."""

    unit: UnitRow
    ranked: Ranked
    cosine: float | None


def recall(vault: Vault, question: str, scope: Scope, most: int) -> tuple[list[Recalled], int]:
    """Give the best passage of each of the best notes, and how many notes were found in all."""
    asked = read_question(question, datetime.now(UTC).date())
    vault.settle_words(SETTLE_MOST)
    near = vault.meaning.nearness(question[:2000])
    with vault.reading() as reader:
        return _recall(reader, asked, near, scope, most)


def _recall(
    reader: Reader, asked: Question, near: Nearness | None, scope: Scope, most: int
) -> tuple[list[Recalled], int]:
    total = max(1, reader.unit_count())
    holding = {term: reader.holding(term) for term in asked.terms}
    found = reader.word_hits(worth_asking(holding, total), max(BY_WORDS, most), scope)
    by_meaning: list[int] = []
    if near is not None:
        by_meaning = near.top(max(BY_MEANING, most), reader.units_in(scope) if scope else None)
    allowed = set(found) | set(by_meaning)
    wanted, beside = _with_neighbours(reader, allowed)
    units = {unit.id: unit for unit in reader.units(wanted)}
    rarities = {term: rarity(total, count) for term, count in holding.items()}
    candidates = [_candidate(units[n], beside, found, near) for n in sorted(wanted) if n in units]
    ranked = rank(
        asked,
        candidates,
        rarities,
        limit=most if not scope else len(candidates) or 1,
        least=near.least if near else 0.0,
        greatest=near.greatest if near else 0.0,
    )
    notes = {units[number].note for number in allowed if number in units}
    kept = [one for one in ranked if one.candidate.note in notes]
    recalled = [Recalled(units[r.candidate.id], r, r.candidate.cosine) for r in kept[:most]]
    return recalled, len(notes)


def _with_neighbours(
    reader: Reader, found: set[int]
) -> tuple[set[int], dict[int, tuple[int | None, int | None]]]:
    """Give the passages found and the two on either side of each, and what stands beside each."""
    wanted = set(found)
    beside: dict[int, tuple[int | None, int | None]] = {}
    ring = set(found)
    for _ in range(2):
        told = reader.beside(ring)
        beside |= told
        ring = {n for pair in told.values() for n in pair if n is not None} - wanted
        wanted |= ring
    beside |= reader.beside(ring)
    return wanted, beside


def _candidate(
    unit: UnitRow,
    beside: dict[int, tuple[int | None, int | None]],
    found: dict[int, float],
    near: Nearness | None,
) -> Candidate:
    before, after = beside.get(unit.id, (None, None))
    people = unit.speaker if unit.family == "memory" else unit.name if unit.family == "entity" else ""
    return Candidate(
        id=unit.id,
        note=unit.note,
        group=f"session {unit.session}" if unit.session else unit.note,
        words=unit.words,
        text=unit.text,
        before=before,
        after=after,
        bm25=found.get(unit.id, 0.0),
        cosine=near.of(unit.id) if near else None,
        people=(people,) if people else (),
        created=_day(unit.at),
        importance=unit.importance or 5,
        superseded=unit.superseded or unit.archived,
    )


def _day(at: str | None) -> date | None:
    try:
        return date.fromisoformat((at or "")[:10])
    except ValueError:
        return None


def memory_recall(
    vault: Vault,
    caller: Caller,
    query: str,
    session_id: str = "",
    memory_type: str = "",
    min_importance: int | None = None,
    limit: int = 5,
    family: str = "all",
    since: str = "",
    before: str = "",
    sort: str = "relevance",
    cursor: str = "",
) -> Json:
    """Give what the memory holds on a question, best first."""
    not_blank(query, "query")
    start = _start(cursor)
    scope = Scope(
        FAMILIES[family],
        session_id,
        memory_type,
        min_importance,
        moment(since, "since"),
        moment(before, "before"),
    )
    found, total = recall(vault, query, scope, min(DEEPEST, _wanted(start, limit, sort)))
    ordered = _sorted(found, sort)
    results: list[Json] = []
    room = BUDGET
    for one in ordered[start : start + limit]:
        result = _result(vault, one)
        room -= len(json.dumps(result, ensure_ascii=False))
        if room < 0 and results:
            break
        results.append(result)
    told: Json = {
        "query": query if len(query) <= 500 else query[:499] + "…",
        "session_id": session_id or "all",
        "memory_type": memory_type or "all",
        "total_found": total,
        "results": results,
    }
    following = start + len(results)
    if (results and following < len(ordered)) or (following < min(total, DEEPEST) and len(results) == limit):
        told["next_cursor"] = str(following)
        told["left_out"] = "There may be more: call again with cursor set to next_cursor."
    notice = _notice(vault)
    if notice:
        told["notice"] = notice
    return told


def _wanted(start: int, limit: int, sort: str) -> int:
    # Newest or most important of what is relevant: sorted among the best hundred, page by page.
    return start + limit + 1 if sort == "relevance" else max(100, start + limit + 1)


def _sorted(found: Sequence[Recalled], sort: str) -> list[Recalled]:
    if sort == "recent":
        return sorted(found, key=lambda one: one.unit.at or "", reverse=True)
    if sort == "importance":
        return sorted(found, key=lambda one: one.unit.importance or 0, reverse=True)
    return list(found)


def _start(cursor: str) -> int:
    if not cursor:
        return 0
    if not cursor.isdecimal() or int(cursor) > DEEPEST:
        raise BadArgument("The cursor is not one that memory_recall gave out. Leave it out to begin anew.")
    return int(cursor)


def _result(vault: Vault, one: Recalled) -> Json:
    unit = one.unit
    told: Json = {}
    if unit.family == "memory" and unit.memory_id is not None:
        told["id"] = unit.memory_id
    told |= {
        "note": unit.path,
        "name": unit.name,
        "family": {"memory": "memories", "entity": "graph", "key": "keys"}.get(unit.family, "files"),
        "text": unit.text,
        "score": round(one.ranked.score, 4),
        "cognitive_score": round(one.ranked.score, 4),
        "distance": None if one.cosine is None else round(1 - one.cosine, 4),
        "why": _why(one),
        "by": unit.by,
        "stored_at": unit.at,
    }
    if unit.heading:
        told["heading"] = unit.heading
    if unit.superseded:
        told["superseded"] = True
    if unit.archived:
        told["archived"] = True
    if unit.family == "memory":
        whole = listing.text_at(vault, unit.path)
        told |= {
            "text": whole if len(whole) <= TEXT_MOST else unit.text,
            "passage": unit.text if unit.text != whole else None,
            "memory_type": unit.type,
            "importance": unit.importance,
            "session_id": unit.session,
            "tags": _tags(vault, unit.path),
            "metadata": {"speaker": unit.speaker} if unit.speaker else {},
        }
        if told["passage"] is None:
            del told["passage"]
    return told


def _tags(vault: Vault, path: str) -> list[str]:
    with vault.snapshot() as reader:
        row = reader.note_at(path)
        return list(reader.tags_of(row.id)) if row else []


_WORDS = {
    "words": "its words",
    "nearby_words": "words said nearby",
    "group_words": "words of its session or note",
    "meaning": "its meaning",
    "group_meaning": "the meaning of its session or note",
    "nearby_meaning": "what is said beside it",
    "reply": "it follows a question like this",
    "date": "its date",
    "person": "who it is about or who said it",
    "time_told": "it tells a time",
}


def _why(one: Recalled) -> str:
    """Say in words what spoke for a passage most."""
    shares = sorted(one.ranked.shares.items(), key=lambda row: -row[1])
    told = [_WORDS[name] for name, share in shares if share > 0.05 and name in _WORDS][:3]
    matched = f" (found: {', '.join(one.ranked.matched[:8])})" if one.ranked.matched else ""
    return (", ".join(told) or "the least distance") + matched


def _notice(vault: Vault) -> str:
    state = vault.meaning.state()
    if state["state"] == "in preparation":
        return (
            f"{state['waiting']} passages have no vectors yet: they are found by their words alone. "
            "That mends itself in a while."
        )
    return ""
