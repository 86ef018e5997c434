"""Read the commits that came with merges: beside the first-parent chain, each in the place of its merge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from vault_mcp.notes.fold import fold
from vault_mcp.storage.index.cursors import read_cursor, write_cursor
from vault_mcp.storage.index.lineages import ANY, NOW, Lineages
from vault_mcp.storage.index.past import SIDE, side_row
from vault_mcp.storage.index.rows import CommitRow, Page, Place, Step, Wanted
from vault_mcp.storage.index.schema import MOST_ROWS, SHIFT
from vault_mcp.storage.index.storable import storable


class Sides(Lineages):
    """What merges brought. In a log it follows its merge, the newest first, before what the merge follows."""

    def find_changes(self, limit: int, cursor: str | None = None, where: Wanted = ANY) -> Page[CommitRow]:
        """Do as `find_commits`, the commits that came with merges among them.

        Raises:
            BadArgument: the cursor is not one of a log.
        """
        below = int(read_cursor(cursor, "log", int)[0]) if cursor else NOW << SHIFT
        seq, place = divmod(below, 1 << SHIFT)
        own = self.find_commits(limit + 1, write_cursor("log", min(seq, NOW)), where).rows
        terms, values = self._terms(replace(where, text=""))
        if where.text:
            terms += " AND (instr(fold(c.subject), ?) OR instr(fold(c.words), ?))"
            values += [fold(storable(where.text))] * 2
            self._db.create_function("fold", 1, fold, deterministic=True)
        if where.lineages is not None:
            numbers = ",".join(str(int(number)) for number in where.lineages)
            terms += (
                " AND EXISTS (SELECT 1 FROM side_files f WHERE f.seq = c.seq AND f.place = c.place"
                f" AND f.lineage IN ({numbers}))"
            )
        found = self._rows(
            f"{SIDE} WHERE (c.seq, c.place) < (?, ?) AND {terms} ORDER BY c.seq DESC, c.place DESC LIMIT ?",
            (min(seq, NOW), place, *values, limit + 1),
        )
        rows = sorted((*own, *map(side_row, found)), key=_position, reverse=True)
        following = write_cursor("log", _position(rows[limit - 1])) if len(rows) > limit > 0 else None
        return Page(tuple(rows[:limit]), following)

    def brought_by(self, merges: Sequence[int], most: int) -> list[CommitRow]:
        """Give what came with the commits of these numbers, the newest first, at most so many."""
        numbers = ",".join(str(int(number)) for number in merges)
        rows = self._rows(
            f"{SIDE} WHERE c.seq IN ({numbers}) ORDER BY c.seq DESC, c.place DESC LIMIT ?", (most,)
        )
        return [side_row(row) for row in rows]

    def sides_beginning(self, prefix: str, most: int = 3) -> list[CommitRow]:
        """Give the commits that came with a merge and whose hash begins so, at most so many."""
        rows = self._rows(
            f"{SIDE} WHERE c.sha >= ? AND c.sha < ? ORDER BY c.sha LIMIT ?", (prefix, f"{prefix}g", most)
        )
        return [side_row(row) for row in rows]

    def with_sides(self, numbers: Iterable[int]) -> list[int]:
        """Give which of these commits are merges that brought others."""
        said = ",".join(str(int(number)) for number in numbers)
        rows = self._rows(f"SELECT DISTINCT seq FROM sides WHERE seq IN ({said}) ORDER BY seq")
        return [row[0] for row in rows]

    def side_versions(self, merge: int, lineage: int) -> list[tuple[int, str | None, str | None]]:
        """Give (place, blob before, blob after) of the commits behind a merge that changed a note.

        The newest comes first.
        """
        return self._rows(
            "SELECT place, old_blob, blob FROM side_files WHERE seq = ? AND lineage = ?"
            " AND blob IS NOT NULL AND blob IS NOT old_blob ORDER BY place DESC",
            (merge, lineage),
        )

    def steps_of(self, row: CommitRow, most: int = -1) -> list[Step]:
        """Give what a commit did to each of its files, by path, also of one that came with a merge."""
        if not row.came_with:
            return self.steps(row.seq, most)
        rows = self._rows(
            "SELECT coalesce(lineage, 0), old_path, old_blob, path, blob FROM side_files"
            " WHERE seq = ? AND place = ? ORDER BY coalesce(path, old_path) LIMIT ?",
            (row.seq, row.place, most),
        )
        return [Step(one[0], Place(one[1], one[2]), Place(one[3], one[4])) for one in rows]

    def paths_touched(self, row: CommitRow, most: int) -> tuple[list[str], int]:
        """Do as `paths_of`, also for a commit that came with a merge."""
        if not row.came_with:
            return self.paths_of(row.seq, most)
        steps = self.steps_of(row)
        return [step.after.path or step.before.path or "" for step in steps[:most]], len(steps)


def _position(row: CommitRow) -> int:
    return row.seq << SHIFT | (row.place or MOST_ROWS)
