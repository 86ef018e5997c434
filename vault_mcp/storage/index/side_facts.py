"""Follow facts along the commits that came with a merge, so that each is known by the one that brought it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from vault_mcp.notes.note import Fact
from vault_mcp.storage.index.descent import (
    ChangeId,
    Come,
    Descent,
    FactName,
    FileChange,
    Gone,
    continue_facts,
    descent,
    difference,
    moved_files,
    name_of,
    same_edit,
)
from vault_mcp.storage.index.rows import SideChange


def renamed_by_merge(changes: Sequence[FileChange], sides: Sequence[SideChange]) -> dict[str, str]:
    """Give the files that commits behind a merge left and that it keeps under another name: theirs -> its."""
    theirs = {one.path: one for side in sides for one in side.changes}
    made = [one for one in changes if one.old_blob is None and one.path not in theirs]
    if not made:
        return {}
    kept = {one.path: one.new_blob for one in changes}
    left = [
        FileChange(path, one.new_blob, None, one.new)
        for path, one in theirs.items()
        if one.new_blob is not None and kept.get(path) != one.new_blob
    ]
    return {path: here for here, path in moved_files([*made, *left]).items()}


class Known(Protocol):
    """What is known of facts before the merge."""

    def known(self, lineage: int, fact: Fact) -> Gone | None:
        """Give a fact that a note has."""

    def as_it_was(self, come: Come) -> Descent | None:
        """Give what is known of the newest version of a fact that has gone."""

    def before(self, lineage: int, seq: int) -> ChangeId | None:
        """Give the last commit before the one of a number that changed a note."""

    def dated(self, fact: Gone) -> tuple[str, str]:
        """Give when a fact was added, and by whom."""


class Brought(NamedTuple):
    """A fact as the last of the commits left it: who added it, who edited it by hand.

    `place` is the one that brought the edit of which the stamp tells, or else the fact; 0: one before them.
    """

    fact: Fact
    added: ChangeId
    edited: ChangeId | None
    place: int


class SideFacts:
    """The facts that commits behind one merge brought.

    Lines of descent that ran side by side are taken in Git's topological order, so where two of them changed
    one fact, the later one counts.
    """

    def __init__(self, tables: Known, seq: int) -> None:
        self._tables = tables
        self._seq = seq
        self._now: dict[FactName, Brought] = {}
        self._was: dict[FactName, Brought] = {}
        self._touched: dict[int, int] = {}
        self._nameless: dict[str, int] = {}
        self._rows = 0

    def follow(
        self, sides: Sequence[SideChange], notes: Sequence[Mapping[str, int]]
    ) -> dict[FactName, Brought]:
        """Take the commits, the oldest first; give the facts that they brought and did not take away again.

        Args:
            sides: The commits.
            notes: For each its notes by path; files that came and went behind the merge are none.
        """
        for place, (side, lineages) in enumerate(zip(sides, notes, strict=True), 1):
            at = {one.path: lineages.get(one.path) or self._unnamed(one.path) for one in side.changes}
            gone, come = difference(side.changes, at, self._known)
            continued = continue_facts(gone, come, side.row.tool, self._tables.dated) if come else []
            places: dict[int, int] = {}
            for before in gone:
                name = name_of(before.lineage, before.fact)
                known = self._now.pop(name, None)
                places[before.row] = known.place if known else 0
                self._was[name] = known or Brought(before.fact, before.added, before.edited, 0)
            for one in continued:
                told = descent(one, side.row.tool, (self._seq, place), self._as_it_was, self._before)
                fact = one.come.fact
                stays = one.before is not None and same_edit(one.before.fact.stamp, fact.stamp)
                since = places.get(one.before.row, 0) if stays and one.before else place
                self._now[name_of(one.come.lineage, fact)] = Brought(fact, told[0], told[1], since)
            self._touched |= dict.fromkeys(at.values(), place)
        return self._now

    def _unnamed(self, path: str) -> int:
        return self._nameless.setdefault(path, -1 - len(self._nameless))

    def _known(self, lineage: int, fact: Fact) -> Gone | None:
        self._rows -= 1
        mine = self._now.get(name_of(lineage, fact))
        if mine is not None:
            return Gone(lineage, fact, self._rows, mine.added, mine.edited)
        before = self._tables.known(lineage, fact)
        if before is not None:
            return before
        lost = self._tables.as_it_was(Come(lineage, fact))  # our side has taken it away
        return Gone(lineage, fact, self._rows, lost[0], lost[1]) if lost else None

    def _as_it_was(self, come: Come) -> Descent | None:
        mine = self._was.get(name_of(come.lineage, come.fact))
        if mine is None:
            return self._tables.as_it_was(come)
        return mine.added, mine.edited if same_edit(mine.fact.stamp, come.fact.stamp) else None, None

    def _before(self, lineage: int, seq: int) -> ChangeId | None:
        place = self._touched.get(lineage)
        return (seq, place) if place else self._tables.before(lineage, seq)
