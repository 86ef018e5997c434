"""Filters by time and agent as SQL conditions over the date columns."""

from vault_mcp.storage.index.rows import Filter
from vault_mcp.storage.index.storable import storable


def line_matches(where: Filter) -> tuple[str, list[object]]:
    """Give the condition that an observation `o` passes when it was added, or edited, within the filter."""
    added, values = _stamp_matches(where, "o.added", "o.agent")
    edited, more = _stamp_matches(where, "o.edited", "o.edited_by")
    return f"(({added}) OR ({edited}))", values + more


def note_matches(where: Filter) -> tuple[str, list[object]]:
    """Give the condition that a note `n` passes when it was itself made within the filter."""
    return _stamp_matches(where, "n.added", "coalesce(n.agent, n.added_by)")


def _stamp_matches(where: Filter, time: str, agent: str) -> tuple[str, list[object]]:
    """Give the condition that one stamp passes; a time or an agent that is not known never does."""
    terms: list[str] = []
    values: list[object] = []
    for condition, value in (
        (f"{time} >= ?", where.since),
        (f"{time} < ?", where.before),
        (f"{agent} = ?", where.agent),
    ):
        if value is not None:
            terms.append(condition)
            values.append(storable(value) if isinstance(value, str) else value)
    return " AND ".join(terms) or "1", values
