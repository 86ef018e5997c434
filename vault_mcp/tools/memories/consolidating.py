"""Many memories on one topic made into a summary that links to each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.receipt import as_record
from vault_mcp.storage.index import Scope
from vault_mcp.tools import wikilinks
from vault_mcp.tools.graph.records import Json, not_blank
from vault_mcp.tools.memories import listing
from vault_mcp.tools.memories.recalling import Recalled, recall
from vault_mcp.tools.memories.writing import remember
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.vault import Vault

SESSION = "consolidated_global"
"""Session of summaries, and their importance and type: those of the peer."""
IMPORTANCE = 8
ARCHIVE = "archive"


def memory_consolidate(
    vault: Vault,
    caller: Caller,
    topic_query: str,
    limit: int = 10,
    summary_text: str = "",
    persist: bool = True,
    archive_sources: bool = False,
) -> Json:
    """Write one summary memory of what is remembered on a topic; its sources stay, or are archived."""
    not_blank(topic_query, "topic")
    found, _ = recall(vault, topic_query, Scope(("memory",)), limit * 2)
    sources = [one for one in found if one.unit.memory_id is not None and not one.unit.archived][:limit]
    told: Json = {
        "status": "nothing_found",
        "topic": topic_query,
        "consolidated_id": None,
        "summary": "",
        "source_count": len(sources),
        "source_ids": [one.unit.memory_id for one in sources],
        "persisted": False,
        "archived_sources": False,
    }
    if not sources:
        return {**told, "message": "No memory is on this topic. Try other words with memory_recall."}
    summary = summary_text if summary_text.strip() else _listed(vault, topic_query, sources)
    told |= {"status": "shown", "summary": summary}
    if not persist:
        return told
    with vault.change("memory_consolidate", by=caller.agent, session=SESSION) as change:
        number = _write(change, summary, sources, archive=archive_sources)
        change.subject = f"{number} {topic_query}"
    return told | {
        "status": "consolidated",
        "consolidated_id": number,
        "persisted": True,
        "archived_sources": archive_sources,
        "receipt": as_record(change.receipt),
    }


def _write(change: Change, summary: str, sources: list[Recalled], *, archive: bool) -> int:
    present = [one for one in sources if change.exists(one.unit.path)]
    relations = []
    moved = {}
    for one in present:
        note = change.note(one.unit.path)
        if note is not None:
            relations.append(("summarises", wikilinks.link_to(change, note)))
            moved[one.unit.path] = note
    number, _ = remember(
        change,
        summary,
        SESSION,
        tags=("summary",),
        kind="semantic",
        importance=IMPORTANCE,
        relations=relations,
    )
    if archive:
        for path in moved:
            # The file name stays, so links by name still mean it.
            change.move(path, _free(change, f"{ARCHIVE}/{path}"))
    return number


def _free(change: Change, path: str) -> str:
    number, free = 2, path
    while change.exists(free):
        free = f"{path[:-3]} ({number}).md"
        number += 1
    return free


def _listed(vault: Vault, topic: str, sources: list[Recalled]) -> str:
    """Give a summary in the sources' own words: the first sentence of each."""
    lines = [f"- {listing.sample(vault, one.unit.path, 200)}" for one in sources]
    return "\n".join([f"What is remembered on {' '.join(topic.split())}:", "", *lines])
