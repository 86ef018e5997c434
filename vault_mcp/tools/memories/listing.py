"""Sessions and counts, exact and from the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.notes.frontmatter import outline
from vault_mcp.notes.memory import memory_text
from vault_mcp.storage import files
from vault_mcp.tools.graph.records import Json
from vault_mcp.tools.memories.writing import COLLECTION
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.vault import Vault

SAMPLE = 80
"""Characters of a session's newest memory that are shown."""


def memory_list_sessions(vault: Vault, caller: Caller, limit: int = 100, cursor: str = "") -> Json:
    """Give the sessions, the one with the newest memory first, each counted in full."""
    with vault.reading() as reader:
        page = reader.sessions(limit, cursor or None)
        count = reader.count_sessions()
        sessions = [
            {
                "session_id": row.session,
                "observed_count": row.count,
                "sample": sample(vault, row.path),
                "last_stored": row.stored_at,
            }
            for row in page.rows
        ]
    result: Json = {"collection": COLLECTION, "session_count": count, "sessions": sessions}
    if page.cursor:
        result["next_cursor"] = page.cursor
        result["left_out"] = "There are more sessions: call again with cursor set to next_cursor."
    return result


def memory_stats(vault: Vault, caller: Caller) -> Json:
    """Say how much the memory holds, and how far its index and its vectors are."""
    with vault.reading() as reader:
        used, archived = reader.count_memories()
        totals = reader.totals()
        sessions = reader.count_sessions()
    vectors = vault.meaning.state()
    return {
        "collection": COLLECTION,
        "host": "local",
        "status": "ready",
        "memories": used,
        "archived": archived,
        "sessions": sessions,
        "entities": totals.entities,
        "files": totals.files,
        "approx_vector_count": vectors["stored"],
        "vectors": vectors,
        "schema": {
            "text": "text",
            "memory_type": "semantic, episodic or procedural",
            "importance": "1 to 10",
            "session_id": "text",
            "tags": "list of text",
        },
    }


def text_at(vault: Vault, path: str) -> str:
    """Give the exact text of the memory at a path, "" when its file is gone or cannot be read."""
    found = files.read(vault.root, path)
    if found is None:
        return ""
    return text_of(found[0])


def text_of(raw: bytes) -> str:
    """Give the exact text of a memory out of its file's bytes."""
    text = raw.decode("utf-8", "replace")
    return memory_text(text, outline(text))


def sample(vault: Vault, path: str, most: int = SAMPLE) -> str:
    """Give the beginning of a memory on one line."""
    words = " ".join(text_at(vault, path)[: most * 4].split())
    return words if len(words) <= most else words[: most - 1] + "…"
