"""Filters by time and agent as SQL conditions over the date columns."""

from vault_mcp.storage.index.rows import Filter


def stamp_matches(where: Filter, table: str, time: str, agent: str) -> tuple[str, list[object]]:
    """Give the condition that one stamp (its time and its agent) passes; what is unknown never does."""
    terms: list[str] = []
    values: list[object] = []
    for condition, value in (
        (f"{table}.{time} >= ?", where.since),
        (f"{table}.{time} < ?", where.before),
        (f"{table}.{agent} = ?", where.agent),
    ):
        if value is not None:
            terms.append(condition)
            values.append(value)
    return " AND ".join(terms) or "1", values


def line_matches(where: Filter, table: str) -> tuple[str, list[object]]:
    """Give the condition that a line passes when it was added, or edited, within the filter."""
    added, values = stamp_matches(where, table, "added", "agent")
    edited, more = stamp_matches(where, table, "edited", "edited_by")
    return f"(({added}) OR ({edited}))", values + more
