"""Key notes: listed by key, and found by a substring of a key or value, page by page in the order of keys.

A substring that few units hold is looked up in the trigram index. One that many hold is looked for note by
note in the order of keys, until the page is full: then it is found at once. Archived notes are no keys.
"""

import itertools
import json

from vault_mcp.storage.index.cursors import read_cursor, write_cursor
from vault_mcp.storage.index.lookup import Snapshot
from vault_mcp.storage.index.query import gram_query, gram_range
from vault_mcp.storage.index.rows import KeyRow, Page
from vault_mcp.storage.index.schema import MOST_ROWS, NAME, SHIFT, VALUE
from vault_mcp.storage.index.searchable import searchable

FEW = 2_000
"""Units up to which the trigram index is followed to its end."""

COUNTED = 2_000
"""Keys up to which a search counts how many there are."""

_PLACE = "(n.name_key, n.name, n.id)"
_KEY = "n.kind = 'key' AND n.archived = 0"
# The unit of a name has the key in its first line; aliases and tags below it are neither key nor value.
_HELD = (
    f"(u.role = {NAME} AND instr(substr(u.folded, 1, instr(u.folded, char(10))), :text)"
    f" OR u.role = {VALUE} AND instr(u.folded, :text))"
)
_VALUE = (
    f"(SELECT p.text FROM passages p WHERE p.id BETWEEN n.id << {SHIFT} AND (n.id << {SHIFT}) + {MOST_ROWS})"
)


class Keys(Snapshot):
    """Keys and their values."""

    def keys(self, limit: int, cursor: str | None = None) -> Page[str]:
        """Give keys in their order, each once.

        Raises:
            BadArgument: the cursor is not one of this list.
        """
        after = read_cursor(cursor, "keys", str, str) if cursor else ("", "")
        # Two notes of one key are rare, so they are passed over here: DISTINCT would have all keys sorted.
        found = self._db.execute(
            f"SELECT n.name_key, n.name FROM notes n WHERE {_KEY} AND n.name_key >= ?"
            " AND (n.name_key, n.name) > (?, ?) ORDER BY n.name_key, n.name",
            (after[0], *after),
        )
        rows = list(itertools.islice((key for key, _ in itertools.groupby(found)), limit + 1))
        following = write_cursor("keys", *rows[limit - 1]) if len(rows) > limit else None
        return Page(tuple(name for _, name in rows[:limit]), following)

    def count_keys(self) -> int:
        """Count the keys; two notes of one key count once."""
        count: int = self._one(f"SELECT count(DISTINCT n.name) FROM notes n WHERE {_KEY}")[0]
        return count

    def search_keys(self, query: str, limit: int, cursor: str | None = None) -> tuple[Page[KeyRow], int]:
        """Give the key notes of which the key or the value holds a text, and how many there are.

        Case, accents and runs of white space do not matter; a blank text is in every one. The count goes up
        to `COUNTED`, which then means that or more.

        Raises:
            BadArgument: the cursor is not one of this list.
        """
        after = read_cursor(cursor, "search_keys", str, str, int) if cursor else ("", "", 0)
        text = searchable(query)
        few = self._holding_few(text) if text else None
        values: dict[str, object] = {
            "text": text,
            **dict(zip(("name_key", "name", "id"), after, strict=True)),
        }
        if few is None:
            source = f"notes n WHERE {_KEY} {_in_units(text)}"
            counting = f"SELECT count(*) FROM (SELECT 1 FROM {source} LIMIT {COUNTED})"
            total = self._db.execute(counting, values).fetchone()[0]
        else:
            source = "json_each(:few) c CROSS JOIN notes n ON n.id = c.value WHERE 1"
            values["few"] = json.dumps(few)
            total = len(few)
        rows = self._db.execute(
            f"SELECT n.name_key, n.name, n.id, {_VALUE} FROM {source}"
            f" AND {_PLACE} > (:name_key, :name, :id) ORDER BY n.name_key, n.name, n.id LIMIT :most",
            {**values, "most": limit + 1},
        ).fetchall()
        following = write_cursor("search_keys", *rows[limit - 1][:3]) if len(rows) > limit else None
        return Page(tuple(KeyRow(row[1], row[3] or "") for row in rows[:limit]), following), total

    def _holding_few(self, text: str) -> list[int] | None:
        """Give the key notes that hold a text, if the index tells few enough units to look at; else None."""
        if len(text) > 2:
            source, values = (
                "SELECT rowid AS id FROM grams WHERE grams MATCH :gram",
                {"gram": gram_query(text)},
            )
        else:
            source = "SELECT DISTINCT doc AS id FROM gram_rows WHERE term >= :first AND term < :last"
            values = dict(zip(("first", "last"), gram_range(text), strict=True))
        numbers = [row[0] for row in self._db.execute(f"SELECT id FROM ({source} LIMIT {FEW + 1})", values)]
        if len(numbers) > FEW:
            return None
        waiting = self._rows("SELECT id FROM unsettled")
        return self._keys_of([*numbers, *(row[0] for row in waiting)], text)

    def _keys_of(self, units: list[int], text: str) -> list[int]:
        sql = (
            "SELECT DISTINCT n.id FROM json_each(:units) c CROSS JOIN units u ON u.id = c.value"
            f" JOIN notes n ON n.id = u.id >> {SHIFT} WHERE {_KEY} AND {_HELD}"
        )
        return [row[0] for row in self._db.execute(sql, {"units": json.dumps(units), "text": text})]


def _in_units(text: str) -> str:
    if not text:
        return ""
    return (
        f"AND EXISTS (SELECT 1 FROM units u WHERE u.id BETWEEN n.id << {SHIFT}"
        f" AND (n.id << {SHIFT}) + {MOST_ROWS} AND {_HELD})"
    )
