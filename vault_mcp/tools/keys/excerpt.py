"""A long value cut down to the part where a search hit it."""

from vault_mcp.notes.fold import fold

WHOLE = 1_000
"""Characters up to which a value is shown whole."""

PART = 600
"""Characters of a longer one that are shown."""

_BEFORE = 100
"""Characters shown before the stretch in which the hit begins."""


def excerpt(value: str, query: str) -> str:
    """Give a value, or of a long one the part around the first place that a query is found in.

    The place is looked for in overlapping stretches: what is folded has other offsets than the text.
    """
    if len(value) <= WHOLE:
        return value
    start = max(0, _found(value, query) - _BEFORE)
    end = min(len(value), start + PART)
    return f"{'…' if start else ''}{value[start:end]}{'…' if end < len(value) else ''}"


def _found(value: str, query: str) -> int:
    wanted = " ".join(fold(query).split())
    if not wanted:
        return 0
    step = PART - 2 * _BEFORE
    for start in range(0, len(value), step):
        # A match may be longer in the text than folded, by white space and accents.
        stretch = value[start : start + step + 4 * len(query)]
        if wanted in " ".join(fold(stretch).split()):
            return start
    return 0
