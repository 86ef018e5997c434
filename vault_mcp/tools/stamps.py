"""Where the stamps in notes and what Git tells do not agree, and why: for `doctor`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_mcp.storage.index.descent import KEEPS_WORDS, same_edit
from vault_mcp.tools.history.moments import written
from vault_mcp.tools.told import one_line

if TYPE_CHECKING:
    from vault_mcp.storage.index import CommitRow, FactVersion, Reader
    from vault_mcp.storage.index.descent import ChangeId

DIGITS = 12


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A line whose stamp tells something else than Git: where it is, and a sentence that says both."""

    path: str
    text: str


def disagreements(reader: Reader, merged: Callable[[str], bool]) -> Iterator[Disagreement]:
    """Compare each stamp with the commits that brought the fact and its last edit.

    Tools that carry over what others wrote (import, rename, merge, restore, undo) keep stamps as they were,
    so what came with them is taken as it is. So is what a merge itself made; `merged` says which commits are
    one.
    """
    commits: dict[ChangeId, CommitRow | None] = {}

    def commit(seq: int, place: int) -> CommitRow | None:
        if (seq, place) not in commits:
            commits[seq, place] = reader.change_at(seq, place)
        return commits[seq, place]

    for path, version in reader.stamped_facts():
        stamp = version.stamp
        if stamp is None:
            continue
        wrong = _wrong("added", stamp.agent, stamp.added_at, commit(version.added, version.added_place))
        if not wrong and stamp.edited_at and version.edited is None:
            wrong = _wrong("edited", stamp.edited_by, stamp.edited_at, commit(*_edit_of(reader, version)))
        brought = commit(version.added, version.added_place)
        if wrong and not (brought and merged(brought.sha)):
            yield Disagreement(path, f"“{one_line(version.text)}” {wrong}.")


def _wrong(what: str, by: str, at: str, commit: CommitRow | None) -> str:
    if commit is None or commit.tool in KEEPS_WORDS or (by, at) == (commit.author, written(commit.at)):
        return ""
    return (
        f"says that {by} {what} it at {at}, but in Git it is {commit.author}'s, of {written(commit.at)}, "
        f"in change {commit.sha[:DIGITS]} ({commit.tool or 'made with another program'})"
    )


def _edit_of(reader: Reader, version: FactVersion) -> ChangeId:
    """Give the commit that brought the last edit of which a stamp tells."""
    seen = {version.id}
    while version.previous is not None and version.previous not in seen:
        older = reader.fact(version.previous)
        if older is None or not same_edit(older.stamp, version.stamp):
            break
        seen.add(older.id)
        version = older
    return version.first, version.first_place
