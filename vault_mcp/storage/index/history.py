"""Write the history tables: every commit, where each note lay, and when each fact came, changed and went.

A lineage is one note through all of its places: it goes on when the file is moved, or made again at the same
path. A row of `facts` is one version of a fact, from `first_seq` until before `last_seq`; `previous` is the
version it came from, `added_seq` the commit that first brought the fact, `edit_seq` the one in which its
words were changed without its stamp telling so.
"""

import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vault_mcp.notes.note import Fact
from vault_mcp.storage.index.dates import read_stamp, written, written_stamp
from vault_mcp.storage.index.descent import (
    ChangeId,
    Come,
    Continued,
    Descent,
    FactName,
    FileChange,
    Gone,
    continue_facts,
    descent,
    difference,
    group_of,
    moved_files,
    name_of,
    same_edit,
)
from vault_mcp.storage.index.rows import CommitRow, SideChange
from vault_mcp.storage.index.schema import HISTORY_TABLES
from vault_mcp.storage.index.side_facts import Brought, SideFacts, renamed_by_merge
from vault_mcp.storage.index.storable import bounded

_PLACE = "SELECT id, lineage FROM places WHERE path = ? AND last_seq IS NULL"


def fact_key(text: str) -> int:
    """Give the number under which a fact's versions are looked up in its note; another text may share it."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


PART = 1_000
"""Files of one commit whose facts are taken in together, where that makes no difference."""


class HistoryTables:
    """The writing half of the history tables, within one transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._last: tuple[int, int] | None = None

    def append(
        self, row: CommitRow, changes: Sequence[FileChange], sides: Sequence[SideChange] = ()
    ) -> set[str]:
        """Take in the commit that follows the last one; give the paths whose lines Git may have to date."""
        seq = self._add_commit(row)
        moved = moved_files(changes)
        lineages = {change.path: self._follow(change, moved, seq) for change in changes}
        brought = self._add_sides(sides, seq, renamed_by_merge(changes, sides)) if sides else {}
        undated = {lineages[path] for path in moved}
        # Where no fact can continue another, as in an import, a part at a time takes far less memory.
        size = len(changes) if any(change.old for change in changes) else PART
        for start in range(0, len(changes), size):
            gone, come = difference(changes[start : start + size], lineages, self.known)
            continued = continue_facts(gone, come, row.tool, self.dated) if come else []
            self._close([fact.row for fact in gone], seq)
            undated |= self._open(continued, row.tool, seq, brought)
        return {path for path, lineage in lineages.items() if lineage in undated}

    def reset(self) -> None:
        """Forget the whole past: it was rewritten."""
        for table in HISTORY_TABLES:
            self._db.execute(f"DELETE FROM {table}")
        # Lineages may be numbered otherwise the next time: a timeline of theirs is worth nothing then.
        self._db.execute("UPDATE history_mark SET mark = hex(randomblob(8))")
        self._last = None

    def rewind(self, sha: str) -> list[str]:
        """Forget what came after a commit, for a branch that goes on otherwise; give the paths concerned."""
        db = self._db
        (seq,) = db.execute("SELECT seq FROM commits WHERE sha = ?", (sha,)).fetchone()
        paths = [
            row[0]
            for row in db.execute(
                "SELECT DISTINCT path FROM places WHERE lineage IN"
                " (SELECT lineage FROM lineage_commits WHERE seq > ?)",
                (seq,),
            )
        ]
        for table in ("facts", "places"):
            db.execute(f"DELETE FROM {table} WHERE first_seq > ?", (seq,))
            db.execute(f"UPDATE {table} SET last_seq = NULL WHERE last_seq > ?", (seq,))
        for table in ("lineage_commits", "commits", "sides", "side_files"):
            db.execute(f"DELETE FROM {table} WHERE seq > ?", (seq,))
        self._last = None
        return paths

    def lineage_of(self, path: str) -> int | None:
        """Give the lineage of the file at a path."""
        row = self._db.execute(_PLACE, (path,)).fetchone()
        return row[1] if row else None

    def blob_of(self, path: str) -> str | None:
        """Give the blob of a file in the last commit that was taken in; None where it has no such file."""
        row = self._db.execute(
            "SELECT l.blob FROM places p JOIN lineage_commits l USING (lineage)"
            " WHERE p.path = ? AND p.last_seq IS NULL ORDER BY l.seq DESC LIMIT 1",
            (path,),
        ).fetchone()
        return row[0] if row else None

    # -- commits and places

    def _add_commit(self, row: CommitRow) -> int:
        if self._last is None:
            found = self._db.execute("SELECT seq, latest FROM commits ORDER BY seq DESC LIMIT 1").fetchone()
            self._last = found or (0, bounded(row.at))
        seq, at = self._last[0] + 1, bounded(row.at)
        latest = max(self._last[1], at)
        self._db.execute(
            "INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (seq, row.sha, at, latest, row.author, row.tool, row.session, row.subject),
        )
        self._last = (seq, latest)
        return seq

    def _add_sides(
        self, sides: Sequence[SideChange], seq: int, renamed: Mapping[str, str]
    ) -> dict[FactName, Brought]:
        """Take down the commits that a merge brought; their notes are those of the merge at these paths.

        Gives which of them brought each fact that was there after the last of them. `renamed` says under
        which other name the merge keeps a file of theirs.
        """
        db = self._db
        known: dict[str, int | None] = {path: self._ever_at(here) for path, here in renamed.items()}
        notes: list[dict[str, int]] = []
        for place, side in reversed(list(enumerate(sides, 1))):
            row = side.row
            values = (row.sha, row.parent, bounded(row.at), row.author, row.tool, row.session, row.subject)
            db.execute(f"INSERT INTO sides VALUES (?, ?{', ?' * 8})", (seq, place, *values, side.words))
            notes.append({})
            for old_path, old_blob, path, blob in side.files:
                name = path or old_path or ""
                lineage = known[name] if name in known else self._ever_at(name)
                if lineage is None and old_path is not None:
                    lineage = known.get(old_path) or self._ever_at(old_path)
                if old_path != name:  # before it was made or moved here, this name meant something else
                    known.pop(name, None)
                if old_path is not None:
                    known[old_path] = lineage
                db.execute(
                    "INSERT INTO side_files VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (seq, place, lineage, old_path, old_blob, path, blob),
                )
                if lineage is not None:
                    notes[-1] |= {one: lineage for one in (old_path, path) if one is not None}
        return SideFacts(self, seq).follow(sides, notes[::-1])

    def _ever_at(self, path: str) -> int | None:
        row = self._db.execute(
            "SELECT lineage FROM places WHERE path = ? ORDER BY last_seq IS NOT NULL, last_seq DESC LIMIT 1",
            (path,),
        ).fetchone()
        return row[0] if row else None

    def _follow(self, change: FileChange, moved: dict[str, str], seq: int) -> int:
        """Give a file's lineage, and take down where it lies from now on; 0 for one that was never known."""
        db = self._db
        place = db.execute(_PLACE, (change.path,)).fetchone()
        if change.new_blob is None:
            if place is None:
                return 0
            db.execute("UPDATE places SET last_seq = ? WHERE id = ?", (seq, place[0]))
        lineage: int = place[1] if place else self._begin(change.path, moved.get(change.path), seq)
        if change.path not in moved.values():
            values = (lineage, seq, change.new_blob)
            db.execute("INSERT OR REPLACE INTO lineage_commits VALUES (?, ?, ?)", values)
        return lineage

    def _begin(self, path: str, source: str | None, seq: int) -> int:
        """Let a file begin: as the one that was moved here, the one that lay here before, or a new one."""
        db = self._db
        before = db.execute(
            "SELECT lineage FROM places WHERE path = ? ORDER BY last_seq IS NOT NULL, last_seq DESC LIMIT 1",
            (source or path,),
        ).fetchone()
        if before is not None and source is None:
            elsewhere = "SELECT 1 FROM places WHERE lineage = ? AND last_seq IS NULL"
            before = None if db.execute(elsewhere, before).fetchone() else before
        if before is None:
            before = db.execute("SELECT 1 + coalesce(max(lineage), 0) FROM places").fetchone()
        db.execute("INSERT INTO places (lineage, path, first_seq) VALUES (?, ?, ?)", (before[0], path, seq))
        return int(before[0])

    # -- facts

    def known(self, lineage: int, fact: Fact) -> Gone | None:
        """Give a fact that a note has, as the tables know it."""
        row = self._db.execute(
            "SELECT id, added_seq, added_place, edit_seq, edit_place FROM facts"
            " WHERE lineage = ? AND key = ? AND last_seq IS NULL AND kind = ? AND text = ?",
            (lineage, fact_key(fact.text), fact.kind, fact.text),
        ).fetchone()
        if row is None:
            return None
        number, added_seq, added_place, edit_seq, edit_place = row
        edited = None if edit_seq is None else (edit_seq, edit_place)
        return Gone(lineage, fact, number, (added_seq, added_place), edited)

    def dated(self, fact: Gone) -> tuple[str, str]:
        """Give when a fact was added, as stamps have it, and by whom."""
        seq, place = fact.added
        table, values = ("sides", (seq, place)) if place else ("commits", (seq,))
        row = self._db.execute(
            f"SELECT at, author FROM {table} WHERE seq = ?{' AND place = ?' if place else ''}", values
        ).fetchone()
        return (written(row[0]) or "", row[1]) if row else ("", "")

    def _close(self, rows: Iterable[int], seq: int) -> None:
        self._db.executemany("UPDATE facts SET last_seq = ? WHERE id = ?", [(seq, row) for row in rows])

    def _open(
        self, continued: Iterable[Continued], tool: str, seq: int, brought: Mapping[FactName, Brought]
    ) -> set[int]:
        """Begin the versions that a commit brought; give the lineages of which Git has to date lines."""
        rows: list[tuple[Any, ...]] = []
        undated: set[int] = set()
        for one in continued:
            come, before, _ = one
            added, edit, previous = descent(one, tool, (seq, 0), self.as_it_was, self.before)
            side = brought.get(name_of(come.lineage, come.fact))
            place = 0
            if side is not None:
                if side.fact == come.fact or before is None or before.fact.text != come.fact.text:
                    added, edit = side.added, side.edited
                place = side.place if same_edit(side.fact.stamp, come.fact.stamp) else 0
            if come.fact.stamp is None or edit is not None:
                undated.add(come.lineage)
            rows.append(
                (
                    come.lineage,
                    come.fact.kind,
                    fact_key(come.fact.text),
                    come.fact.text,
                    written_stamp(come.fact.stamp),
                    seq,
                    added[0],
                    edit and edit[0],
                    previous,
                    place,
                    added[1],
                    edit[1] if edit else 0,
                )
            )
        self._db.executemany(
            "INSERT INTO facts (lineage, kind, key, text, stamp, first_seq, added_seq, edit_seq, previous,"
            " first_place, added_place, edit_place) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        return undated

    def before(self, lineage: int, seq: int) -> ChangeId | None:
        """Give the last commit before this one that changed a note, if it brought or kept the note."""
        row = self._db.execute(
            "SELECT max(seq) FROM lineage_commits WHERE lineage = ? AND seq < ? AND blob IS NOT NULL",
            (lineage, seq),
        ).fetchone()
        return (row[0], 0) if row and row[0] else None

    def as_it_was(self, come: Come) -> Descent | None:
        """Give (added, edited, row) of the newest version that has gone of a fact which is put back."""
        rows = self._db.execute(
            "SELECT added_seq, added_place, edit_seq, edit_place, id, kind, stamp FROM facts"
            " WHERE lineage = ? AND key = ? AND text = ? AND last_seq IS NOT NULL"
            " ORDER BY last_seq DESC, id DESC",
            (come.lineage, fact_key(come.fact.text), come.fact.text),
        )
        for added, added_place, edit, edit_place, row, kind, stamp in rows:
            if group_of(kind) == group_of(come.fact.kind):
                same = edit is not None and same_edit(read_stamp(stamp), come.fact.stamp)
                return (added, added_place), (edit, edit_place) if same else None, row
        return None
