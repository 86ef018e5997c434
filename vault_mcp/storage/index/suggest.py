"""Names that begin with, or hold, what somebody has typed so far: bounded looks, not searches."""

from vault_mcp.notes.fold import fold
from vault_mcp.storage.index.lookup import Snapshot
from vault_mcp.storage.index.storable import storable

LOOKED_AT = 20_000
"""Names of one kind that one look goes through, so that it is done before the next letter is typed."""


class Suggest(Snapshot):
    """What a person may mean who has typed only a part of it. Case and accents do not matter."""

    def names_like(self, kind: str, typed: str, most: int) -> list[str]:
        """Give names of notes of one kind, those that begin with a text before those that hold it."""
        return self._like(
            "SELECT DISTINCT name AS word FROM notes WHERE kind = :kind AND archived = 0", typed, most, kind
        )

    def paths_like(self, typed: str, most: int) -> list[str]:
        """Give paths of files in the same order."""
        return self._like("SELECT path AS word FROM files", typed, most)

    def tags_like(self, typed: str, most: int) -> list[str]:
        """Give tags in use in the same order."""
        return self._like("SELECT DISTINCT tag AS word FROM tags", typed, most)

    def sessions_like(self, typed: str, most: int) -> list[str]:
        """Give sessions that have memories in the same order."""
        return self._like(
            "SELECT DISTINCT session AS word FROM notes WHERE memory_id IS NOT NULL AND session <> ''",
            typed,
            most,
        )

    def memories_like(self, typed: str, most: int) -> list[str]:
        """Give numbers of memories that begin with these digits, the newest first."""
        rows = self._rows(
            "SELECT DISTINCT memory_id FROM notes WHERE memory_id IS NOT NULL"
            " AND substr(memory_id, 1, length(?)) = ? ORDER BY memory_id DESC LIMIT ?",
            (storable(typed), storable(typed), most),
        )
        return [str(row[0]) for row in rows]

    def _like(self, source: str, typed: str, most: int, kind: str = "") -> list[str]:
        self._db.create_function("fold", 1, fold, deterministic=True)
        # The name comes last, so that equal ranks stand in an order that does not change.
        found = self._db.execute(
            f"SELECT word, instr(fold(word), :typed) AS at FROM ({source} LIMIT {LOOKED_AT})"
            " WHERE at > 0 OR :typed = '' ORDER BY at > 1, word LIMIT :most",
            {"typed": fold(storable(typed)), "kind": kind, "most": most},
        )
        return [row[0] for row in found]
