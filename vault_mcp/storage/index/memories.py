"""Memories in the index: by number, by session, and how many there are."""

from dataclasses import dataclass

from vault_mcp.storage.index.cursors import read_cursor, write_cursor
from vault_mcp.storage.index.lookup import NOTE, Snapshot, note_row
from vault_mcp.storage.index.rows import NoteRow, Page
from vault_mcp.storage.index.storable import storable

# Each session is found by a leap over the one before it in notes_by_session, so that not all memories are
# looked at, only some of each session.
_SESSIONS = """WITH RECURSIVE sessions (session) AS (
  SELECT min(session) FROM notes WHERE memory_id IS NOT NULL
  UNION ALL
  SELECT (SELECT min(n.session) FROM notes n WHERE n.session > s.session AND n.memory_id IS NOT NULL)
  FROM sessions s WHERE s.session IS NOT NULL
)"""
_NEWEST = (
    "SELECT n.memory_id FROM notes n WHERE n.session = sessions.session AND n.memory_id IS NOT NULL"
    " AND n.kind = 'memory' AND n.archived = 0 ORDER BY n.memory_id DESC LIMIT 1"
)


_LOOKED_AT = 8_000
"""Memories that are looked at for a page of sessions before all sessions are looked up instead."""

MOST_ID = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session: how many memories it has, and the newest of them."""

    session: str
    count: int
    newest: int
    path: str
    stored_at: str | None


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One memory's note with its number, importance (1 to 10) and session."""

    note: NoteRow
    id: int
    importance: int | None
    session: str


class Memories(Snapshot):
    """What the memory tools ask of the index. Archived memories have numbers too."""

    def memory(self, number: int) -> MemoryRow | None:
        """Give the memory with this number; of several (a person's copies) the first that is not archived."""
        rows = self._rows(
            f"{NOTE} WHERE n.memory_id = ? AND n.kind = 'memory' ORDER BY n.archived, length(f.path), f.path",
            (number,),
        )
        return self.memory_of(note_row(rows[0])) if rows else None

    def memory_paths(self, number: int) -> list[str]:
        """Give where the memories with this number lie: several where a person made copies."""
        rows = self._rows(
            "SELECT f.path FROM notes n JOIN files f ON f.id = n.id"
            " WHERE n.memory_id = ? AND n.kind = 'memory' ORDER BY f.path",
            (number,),
        )
        return [row[0] for row in rows]

    def memory_of(self, note: NoteRow) -> MemoryRow | None:
        """Give what a memory's note says of itself; None for one that bears no number."""
        row = self._one("SELECT memory_id, importance, session FROM notes WHERE id = ?", (note.id,))
        return MemoryRow(note, row[0], row[1], row[2]) if row and row[0] is not None else None

    def memory_twins(self, most: int = 100) -> list[tuple[int, list[str]]]:
        """Give the numbers that several memories bear, each with their paths, for `doctor`."""
        numbers = self._rows(
            "SELECT memory_id FROM notes WHERE memory_id IS NOT NULL GROUP BY memory_id HAVING count(*) > 1"
            " ORDER BY memory_id LIMIT ?",
            (most,),
        )
        twins = []
        for (number,) in numbers:
            rows = self._rows(
                "SELECT f.path FROM notes n JOIN files f ON f.id = n.id"
                " WHERE n.memory_id = ? ORDER BY f.path",
                (number,),
            )
            twins.append((number, [row[0] for row in rows]))
        return twins

    def free_memory_id(self, first: int) -> int:
        """Give the lowest number from `first` on that no memory bears."""
        if self._one("SELECT 1 FROM notes WHERE memory_id = ?", (first,)) is None:
            return first
        row = self._one(
            "SELECT n.memory_id + 1 FROM notes n WHERE n.memory_id >= ?"
            " AND NOT EXISTS (SELECT 1 FROM notes x WHERE x.memory_id = n.memory_id + 1)"
            " ORDER BY n.memory_id LIMIT 1",
            (first,),
        )
        number: int = row[0]
        return number

    def count_memories(self) -> tuple[int, int]:
        """Count the memories in use and the archived ones."""
        rows = dict(
            self._rows("SELECT archived, count(*) FROM notes WHERE kind = 'memory' GROUP BY archived")
        )
        return rows.get(0, 0), rows.get(1, 0)

    def session_paths(self, session: str) -> list[str]:
        """Give where the memories of a session lie, archived ones too."""
        rows = self._rows(
            "SELECT f.path FROM notes n JOIN files f ON f.id = n.id"
            " WHERE n.kind = 'memory' AND n.session = ?",
            (storable(session),),
        )
        return [row[0] for row in rows]

    def recent_subjects(self, tool: str, most: int) -> list[str]:
        """Give the subjects of those among the last commits that a tool made; `most` of all are looked at."""
        rows = self._rows(
            "SELECT subject FROM commits WHERE seq > (SELECT max(seq) FROM commits) - ? AND tool = ?",
            (most, tool),
        )
        return [row[0] for row in rows]

    def subjects(self, tool: str) -> list[str]:
        """Give the subjects of all commits that a tool made."""
        return [row[0] for row in self._rows("SELECT subject FROM commits WHERE tool = ?", (tool,))]

    def sessions(self, limit: int, cursor: str | None = None) -> Page[SessionRow]:
        """Give the sessions, the one with the newest memory first.

        Raises:
            BadArgument: the cursor is not one of these.
        """
        before = read_cursor(cursor, "sessions", int, str) if cursor else None
        rows = self._newest_sessions(limit + 1, before)
        if rows is None:
            after = "AND (newest, session) < (?, ?)" if before else ""
            rows = self._rows(
                f"{_SESSIONS} SELECT session, newest FROM"
                f" (SELECT session, ({_NEWEST}) AS newest FROM sessions WHERE session IS NOT NULL)"
                f" WHERE newest IS NOT NULL {after} ORDER BY newest DESC, session DESC LIMIT ?",
                (*(before or ()), limit + 1),
            )
        shown = tuple(self._session(*row) for row in rows[:limit])
        following = (
            write_cursor("sessions", shown[-1].newest, shown[-1].session) if len(rows) > limit else None
        )
        return Page(shown, following)

    def _newest_sessions(
        self, limit: int, before: tuple[int | str, ...] | None
    ) -> list[tuple[str, int]] | None:
        """Look from the newest memory back until enough sessions are met; None when that takes too long."""
        found: dict[str, int] = {}
        met: set[str] = set()
        rows = self._db.execute(
            "SELECT n.session, n.memory_id FROM notes n INDEXED BY notes_by_memory WHERE n.memory_id <= ?"
            " AND n.kind = 'memory' AND n.archived = 0 ORDER BY n.memory_id DESC LIMIT ?",
            (before[0] if before else MOST_ID, _LOOKED_AT + 1),
        )
        for count, (session, number) in enumerate(rows):
            # Two sessions may have memories of one number: then a page must not end between them.
            if len(found) >= limit and number < min(found.values()):
                break
            if count == _LOOKED_AT:
                return None
            if session not in met:
                met.add(session)
                newest = self._one(f"SELECT ({_NEWEST}) FROM (SELECT ? AS session) sessions", (session,))[0]
                if before is None or (newest, session) < before:
                    found[session] = newest
        ordered = sorted(found.items(), key=lambda one: (one[1], one[0]), reverse=True)
        return ordered[:limit]

    def _session(self, session: str, newest: int) -> SessionRow:
        row = self._one(
            "SELECT (SELECT count(*) FROM notes WHERE session = ?1 AND memory_id IS NOT NULL"
            " AND kind = 'memory' AND archived = 0), f.path, n.created"
            " FROM notes n JOIN files f ON f.id = n.id"
            " WHERE n.session = ?1 AND n.memory_id = ?2 AND n.kind = 'memory' AND n.archived = 0 LIMIT 1",
            (session, newest),
        )
        return SessionRow(session, row[0], newest, row[1], row[2])

    def count_sessions(self) -> int:
        """Count the sessions that memories with a number name."""
        if self._one("SELECT 1 FROM notes WHERE kind = 'memory' AND archived = 1 LIMIT 1") is None:
            # The index alone tells, without a look at each memory: only memories have a number.
            return int(self._one("SELECT count(DISTINCT session) FROM notes WHERE memory_id IS NOT NULL")[0])
        count: int = self._one(
            f"{_SESSIONS} SELECT count(*) FROM sessions WHERE session IS NOT NULL AND ({_NEWEST}) IS NOT NULL"
        )[0]
        return count
