"""Write the history tables: every commit, where each note lay, and when each fact came, changed and went.

A lineage is one note through all of its places: it goes on when the file is moved, or made again at the same
path. A row of `facts` is one version of a fact, from `first_seq` until before `last_seq`; `previous` is the
version it came from, `added_seq` the commit that first brought the fact, `edit_seq` the one in which its
words were changed without its stamp telling so.
"""

import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from vault_mcp.notes.note import Fact
from vault_mcp.storage.index.dates import read_stamp, written, written_stamp
from vault_mcp.storage.index.descent import (
    KEEPS_WORDS,
    Come,
    Continued,
    FileChange,
    Gone,
    continue_facts,
    group_of,
    moved_files,
    same_edit,
)
from vault_mcp.storage.index.rows import CommitRow, SideChange
from vault_mcp.storage.index.schema import HISTORY_TABLES
from vault_mcp.storage.index.storable import bounded

_PLACE = "SELECT id, lineage FROM places WHERE path = ? AND last_seq IS NULL"


def fact_key(text: str) -> int:
    """Give the number under which a fact's versions are looked up in its note; another text may share it."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


ADOPTS = "create_entities"
"""The tool that can make a person's plain note an entity, so that lines which were prose count as facts."""


def is_older(fact: Fact) -> bool:
    """Say whether a line of a note that became an entity was there before: the tool stamps all but tasks."""
    return fact.kind == "observation" and fact.stamp is None and not fact.text.startswith("[")


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
        gone, come = self._difference(changes, lineages)
        continued = continue_facts(gone, come, row.tool, self._dated) if come else []
        self._close([fact.row for fact in gone], seq)
        undated = self._open(continued, row.tool, seq)
        undated.update(lineages[path] for path in moved)
        if sides:
            self._add_sides(sides, seq)
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

    def _add_sides(self, sides: Sequence[SideChange], seq: int) -> None:
        """Take down the commits that a merge brought; their notes are those of the merge at these paths."""
        db = self._db
        known: dict[str, int | None] = {}
        for place, side in reversed(list(enumerate(sides, 1))):
            row = side.row
            values = (row.sha, row.parent, bounded(row.at), row.author, row.tool, row.session, row.subject)
            db.execute(f"INSERT INTO sides VALUES (?, ?{', ?' * 8})", (seq, place, *values, side.words))
            for old_path, old_blob, path, blob in side.files:
                name = path or old_path or ""
                if name not in known:
                    known[name] = self._ever_at(name)
                lineage = known[name]
                if old_path is not None and old_path != name and self._ever_at(old_path) is None:
                    known[old_path] = lineage  # it was made and moved behind the merge
                elif lineage is None and old_path is not None:
                    lineage = self._ever_at(old_path)
                db.execute(
                    "INSERT INTO side_files VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (seq, place, lineage, old_path, old_blob, path, blob),
                )

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

    def _difference(
        self, changes: Sequence[FileChange], lineages: dict[str, int]
    ) -> tuple[list[Gone], list[Come]]:
        before: dict[tuple[int, str, str], Fact] = {}
        after: dict[tuple[int, str, str], Fact] = {}
        for change in changes:
            lineage = lineages[change.path]
            before.update(((lineage, fact.kind, fact.text), fact) for fact in change.old)
            after.update(((lineage, fact.kind, fact.text), fact) for fact in change.new)
        come = [Come(key[0], fact) for key, fact in after.items() if key not in before or before[key] != fact]
        gone = [
            known
            for key, fact in before.items()
            if (key not in after or after[key] != fact) and (known := self._known(key[0], fact)) is not None
        ]
        return gone, come

    def _known(self, lineage: int, fact: Fact) -> Gone | None:
        row = self._db.execute(
            "SELECT id, added_seq, edit_seq FROM facts"
            " WHERE lineage = ? AND key = ? AND last_seq IS NULL AND kind = ? AND text = ?",
            (lineage, fact_key(fact.text), fact.kind, fact.text),
        ).fetchone()
        return Gone(lineage, fact, *row) if row else None

    def _dated(self, fact: Gone) -> tuple[str, str]:
        row = self._db.execute("SELECT at, author FROM commits WHERE seq = ?", (fact.added_seq,)).fetchone()
        return (written(row[0]) or "", row[1]) if row else ("", "")

    def _close(self, rows: Iterable[int], seq: int) -> None:
        self._db.executemany("UPDATE facts SET last_seq = ? WHERE id = ?", [(seq, row) for row in rows])

    def _open(self, continued: Iterable[Continued], tool: str, seq: int) -> set[int]:
        """Begin the versions that a commit brought; give the lineages of which Git has to date lines."""
        rows: list[tuple[Any, ...]] = []
        undated: set[int] = set()
        for come, before, edited in continued:
            added, edit, previous = seq, None, None
            if before is not None:
                added, previous = before.added_seq, before.row
                edit = before.edit_seq if same_edit(before.fact.stamp, come.fact.stamp) else None
            if edited:
                edit = seq
            if tool in KEEPS_WORDS and (before is None or before.fact.text != come.fact.text):
                added, edit, previous = self._as_it_was(come) or (added, edit, previous)
            elif before is None and tool == ADOPTS and is_older(come.fact):
                added = self._before(come.lineage, seq) or added
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
                    added,
                    edit,
                    previous,
                )
            )
        self._db.executemany(
            "INSERT INTO facts (lineage, kind, key, text, stamp, first_seq, added_seq, edit_seq, previous)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        return undated

    def _before(self, lineage: int, seq: int) -> int | None:
        """Give the last commit before this one that changed a note, if it brought or kept the note."""
        row = self._db.execute(
            "SELECT max(seq) FROM lineage_commits WHERE lineage = ? AND seq < ? AND blob IS NOT NULL",
            (lineage, seq),
        ).fetchone()
        return row[0] if row else None

    def _as_it_was(self, come: Come) -> tuple[int, int | None, int] | None:
        """Give (added, edit, row) of the newest version that has gone of a fact which is put back."""
        rows = self._db.execute(
            "SELECT added_seq, edit_seq, id, kind, stamp FROM facts"
            " WHERE lineage = ? AND key = ? AND text = ? AND last_seq IS NOT NULL"
            " ORDER BY last_seq DESC, id DESC",
            (come.lineage, fact_key(come.fact.text), come.fact.text),
        )
        for added, edit, row, kind, stamp in rows:
            if group_of(kind) == group_of(come.fact.kind):
                return added, edit if same_edit(read_stamp(stamp), come.fact.stamp) else None, row
        return None
