"""A snapshot of a moment in the timeline. It differs from one of the present in how words are weighed alone.

The full-text index holds every unit that ever was, so its own ranking would weigh a word by all of them. Here
it is weighed by those of the moment, with the formula by which SQLite ranks those of the present.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vault_mcp.storage.index.reader import Reader
from vault_mcp.storage.index.recall import Scope
from vault_mcp.storage.index.schema import SHIFT
from vault_mcp.storage.index.storable import storable

COUNTED = 20_000
"""Units that ever held a word up to which those of the moment are counted; of more, a share is taken."""

# BM25 as FTS5 has it (its documentation, "The bm25() function"): k1 = 1.2, b = 0.75.
_SATURATION, _LENGTH = 1.2, 0.75
_LEAST = 1e-6
"""What a word weighs at the least, as there: one that more than half of all units hold."""


class PastReader(Reader):
    """What `Timeline.reading` gives."""

    def unit_count(self) -> int:
        """Count the units that were in the word index."""
        return self._sizes()[0]

    def holding(self, term: str) -> int:
        """Count the units that held a word; of a very common one, guess."""
        ever = super().holding(term)
        if ever <= COUNTED:
            count: int = self._one(
                "SELECT count(*) FROM (SELECT DISTINCT doc FROM unit_instances WHERE term = ?) i"
                " CROSS JOIN word_units w ON w.id = i.doc",
                (storable(term),),
            )[0]
            return count
        units: int = self._one("SELECT count(*) FROM unit_words_docsize")[0]
        return min(ever, self.unit_count() * ever // units)

    def word_hits(self, terms: Sequence[str], most: int, scope: Scope) -> dict[int, float]:
        """Give the best units that held any of these words, with their BM25 (greater is better)."""
        if not terms:
            return {}
        count, words = self._sizes()
        condition, values = scope.condition()
        hits = "SELECT doc AS id, ? AS weight, count(*) AS n FROM unit_instances WHERE term = ? GROUP BY doc"
        within = f" CROSS JOIN notes n ON n.id = w.id >> {SHIFT}" if scope else ""
        share = f"h.n + {_SATURATION} * ({1 - _LENGTH} + {_LENGTH} * w.length / ?)"
        sql = (
            f"SELECT w.id, sum(h.weight * h.n * {_SATURATION + 1} / ({share})) AS score"
            f" FROM ({' UNION ALL '.join([hits] * len(terms))}) h"
            f" CROSS JOIN word_units w ON w.id = h.id{within}"
            f" WHERE {condition} GROUP BY w.id ORDER BY score DESC LIMIT ?"
        )
        weights = [self._weight(count, self.holding(term)) for term in terms]
        asked = [value for pair in zip(weights, map(storable, terms), strict=True) for value in pair]
        return dict(self._rows(sql, (words / (count or 1) or 1.0, *asked, *values, most)))

    def _weight(self, count: int, holding: int) -> float:
        return max(math.log((max(count, holding) - holding + 0.5) / (holding + 0.5)), _LEAST)

    def _sizes(self) -> tuple[int, int]:
        """Give how many units the word index had, and how many words."""
        row: tuple[int, int] = self._one(
            "SELECT units, words FROM moments WHERE seq = (SELECT seq FROM moment)"
        )
        return row
