"""Many memories on one topic made into a summary that links to each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vault_mcp import progress
from vault_mcp.notes.note import Note
from vault_mcp.receipt import as_record
from vault_mcp.storage.index import Scope
from vault_mcp.tools import wikilinks
from vault_mcp.tools.graph.records import Json, not_blank
from vault_mcp.tools.memories import listing
from vault_mcp.tools.memories.answers import Answer, answers
from vault_mcp.tools.memories.writing import remarks, remember
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
    found = answers(vault, topic_query, limit * 2, Scope(("memory",))).found
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
        "consolidated_dimension": 0,
        "frechet_mean_preview": [],
    }
    if not sources:
        return {**told, "message": "No memory is on this topic. Try other words with memory_recall."}
    summary = summary_text if summary_text.strip() else _listed(vault, topic_query, sources)
    mean = vault.meaning.mean([one.unit.text for one in sources])
    told |= {
        "status": "shown",
        "summary": summary,
        "consolidated_dimension": vault.meaning.dimensions,
        "frechet_mean_preview": mean,
    }
    if not persist:
        return told
    with vault.change("memory_consolidate", by=caller.agent, session=SESSION) as change:
        number = _write(change, summary, sources, archive=archive_sources)
        change.subject = f"{number} {topic_query}"
    remarked = remarks(summary_text)
    return told | {
        "status": "consolidated",
        "consolidated_id": number,
        "persisted": True,
        "archived_sources": archive_sources,
        **({"warnings": remarked} if remarked else {}),
        "receipt": as_record(change.receipt),
    }


def _write(change: Change, summary: str, sources: Sequence[Answer], *, archive: bool) -> int:
    notes = [note for one in sources if (note := _still_there(change, one)) is not None]
    if archive:
        notes = _archived(change, notes)
    number, _ = remember(
        change,
        summary,
        SESSION,
        tags=("summary",),
        kind="semantic",
        importance=IMPORTANCE,
        relations=[("summarises", wikilinks.link_to(change, note)) for note in notes],
    )
    return number


def _still_there(change: Change, one: Answer) -> Note | None:
    note = change.note(one.unit.path)
    return note if note is not None and note.id == one.unit.memory_id else None


def _archived(change: Change, notes: Sequence[Note]) -> list[Note]:
    """Move notes into the archive; links that name their folders follow."""
    moved: dict[str, Note] = {}
    for number, note in enumerate(notes):
        progress.tell(number, len(notes), "memories archived")
        path = _free(change, f"{ARCHIVE}/{note.path}")
        change.move(note.path, path)
        moved[note.path] = change.note(path) or note
    wikilinks.point_to(change, moved, {path: note.name for path, note in moved.items()})
    return [change.note(note.path) or note for note in moved.values()]


def _free(change: Change, path: str) -> str:
    number, free = 2, path
    while change.exists(free):
        free = f"{path[:-3]} ({number}).md"
        number += 1
    return free


def _listed(vault: Vault, topic: str, sources: Sequence[Answer]) -> str:
    """Give a summary in the sources' own words: the first sentence of each."""
    lines = [f"- {listing.sample(vault, one.unit.path, 200)}" for one in sources]
    return "\n".join([f"What is remembered on {' '.join(topic.split())}:", "", *lines])
