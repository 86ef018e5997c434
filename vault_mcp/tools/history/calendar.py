"""On which days a vault changed, and who changed it: what a person chooses a moment by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.tools.history.records import Json
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.vault import Vault

PEOPLE = 200
"""Authors that are named."""


def history_calendar(vault: Vault, caller: Caller) -> Json:
    """Give the days that had changes, of the calendar of this machine, and the authors with their counts."""
    with vault.remembering() as reader:
        days = reader.changes_by_day()
        authors = reader.changes_by_author()
        totals = reader.totals()
    return {
        "days": [{"day": day, "changes": count} for day, count in days],
        "authors": [{"by": by, "changes": count} for by, count in authors[:PEOPLE]],
        "changes": sum(count for _, count in days),
        "total": {
            "entities": totals.entities,
            "observations": totals.observations,
            "relations": totals.relations,
            "files": totals.files,
        },
    }
