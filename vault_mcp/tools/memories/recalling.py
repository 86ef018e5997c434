"""Recall as a client sees it: results with why they were found, in bounded pages."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument
from vault_mcp.storage.index import Scope
from vault_mcp.tools.graph.records import Json, not_blank
from vault_mcp.tools.history.asof import reading_at
from vault_mcp.tools.memories import listing
from vault_mcp.tools.memories.answers import Answer, answers, most_important_first, newest_first
from vault_mcp.tools.memories.listing import text_of
from vault_mcp.tools.moments import moment
from vault_mcp.tools.told import one_line
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.storage.index import Reader, UnitRow
    from vault_mcp.vault import Vault

FAMILIES = {
    "all": (),
    "memories": ("memory",),
    "graph": ("entity",),
    "keys": ("key",),
    "files": ("note",),
}
"""Kinds of notes in each family."""

_FAMILY_OF = {"memory": "memories", "entity": "graph", "key": "keys", "note": "files"}

SORTED_MOST = 100
"""Answers among which the newest or most important are sought: further ones hardly answer."""

LAST_PAGE = 2_000
"""Where the last page begins at most; no more notes than that are ever found."""

BUDGET = 40_000
"""Characters of JSON that one page of results may take."""

BY_WORDS_ALONE = "This is what was remembered then, found by words alone."

OPENING = 8
"""Lines that a result shows of a note which was found by its name."""

OPENING_LINE = 300
"""Characters of each of them."""

TEXT_MOST = 4_000
"""Characters of a memory's text that a result shows; its note has the rest."""


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
    as_of: str = "",
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
    most = SORTED_MOST if sort != "relevance" else start + limit
    then = bool(as_of.strip())
    with reading_at(vault, as_of, words=True) if then else contextlib.nullcontext() as past:
        told = answers(vault, query, most, scope, past)
        found, total = list(told.found), told.total
        if sort != "relevance":
            found = newest_first(found) if sort == "recent" else most_important_first(found)
            total = len(found)
        results = _page(vault, found[start : start + limit], past)
    page: Json = {
        "query": query if len(query) <= 500 else query[:499] + "…",
        "session_id": session_id or "all",
        "memory_type": memory_type or "all",
        "total_found": total,
        "results": results,
    }
    following = start + len(results)
    if results and following < total:
        page["next_cursor"] = str(following)
        page["left_out"] = f"{total - following} more were found: call again with cursor set to next_cursor."
    notice = BY_WORDS_ALONE if then else _notice(vault, query, total, told.waiting)
    return page | {"notice": notice} if notice else page


def _start(cursor: str) -> int:
    if not cursor:
        return 0
    if not (cursor.isascii() and cursor.isdecimal()) or len(cursor) > 4 or int(cursor) > LAST_PAGE:
        raise BadArgument("The cursor is not one that memory_recall gave out. Leave it out to begin anew.")
    return int(cursor)


def _page(vault: Vault, found: list[Answer], past: Reader | None) -> list[Json]:
    results: list[Json] = []
    room = BUDGET
    for one in found:
        result = _result(vault, one, past)
        room -= len(json.dumps(result, ensure_ascii=False))
        if room < 0 and results:
            break
        results.append(result)
    return results


def _result(vault: Vault, one: Answer, past: Reader | None) -> Json:
    unit = one.unit
    score = round(one.ranked.score, 4)
    told: Json = {}
    if unit.family == "memory" and unit.memory_id is not None:
        told["id"] = unit.memory_id
    told |= {
        "note": unit.path,
        "name": unit.name,
        "family": _FAMILY_OF[unit.family],
        "text": unit.text,
        "score": score,
        "cognitive_score": score,
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
        return told | _of_memory(vault, unit, past)
    return told | {"text": _opening(vault, unit, past)} if unit.kind == "name" else told


def _opening(vault: Vault, unit: UnitRow, past: Reader | None) -> str:
    """Give what a note that was found by its name says first: a name alone would tell nothing."""
    with vault.snapshot() if past is None else contextlib.nullcontext(past) as reader:
        row = reader.note_at(unit.path)
        lines = reader.opening(row.id, OPENING) if row else []
    told = "; ".join(one_line(line, OPENING_LINE) for line in lines)
    return f"{unit.text}: {told}" if told else unit.text


def _of_memory(vault: Vault, unit: UnitRow, past: Reader | None) -> Json:
    """Tell what only memories have; their whole text where it is not too long, and else the passage."""
    with vault.snapshot() if past is None else contextlib.nullcontext(past) as reader:
        row = reader.note_at(unit.path)
        tags = list(reader.tags_of(row.id)) if row else []
        file = past.file(unit.path) if past is not None else None
    whole = text_of(vault.repository.blob(file.blob)) if file else listing.text_at(vault, unit.path)
    whole = whole or unit.text
    told: Json = {
        "text": whole if len(whole) <= TEXT_MOST else unit.text,
        "memory_type": unit.type,
        "importance": unit.importance,
        "session_id": unit.session,
        "tags": tags,
        "metadata": {"speaker": unit.speaker} if unit.speaker else {},
    }
    if unit.text != whole:
        told["passage"] = unit.text
    return told


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


def _why(one: Answer) -> str:
    """Say in words what spoke for a passage most."""
    shares = sorted(one.ranked.shares.items(), key=lambda row: -row[1])
    told = [_WORDS[name] for name, share in shares if share > 0.05 and name in _WORDS][:3]
    matched = f" (found: {', '.join(one.ranked.matched[:8])})" if one.ranked.matched else ""
    return (", ".join(told) or "the least distance") + matched


def _notice(vault: Vault, query: str, total: int, unworded: int) -> str:
    """Say what the results may lack, and that it mends itself."""
    if unworded:
        return f"{unworded} passages are still being read in and cannot be found yet. Ask again in a while."
    waiting = vault.meaning.waiting()
    if waiting:
        return (
            f"{waiting} passages have no vectors yet: they are found by their words alone. "
            "That mends itself in a while."
        )
    if not total and not any(map(str.isalnum, query)):
        return "The query holds no word to look for. Ask with words, in any language."
    return ""
