"""Keep the timeline in step with the history tables: behind the calls, and a short way in front of one.

Nobody who never asks about the past has a timeline. The first question makes one; where that takes long it is
answered otherwise (see `bygones`), and the background work builds the timeline for the next.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from vault_mcp.errors import VaultBusy
from vault_mcp.follow import note_of
from vault_mcp.storage import paths
from vault_mcp.storage.index import IndexDamaged, Reader
from vault_mcp.storage.index.timeline import FILE_NAME, Timeline
from vault_mcp.storage.index.timeline_writer import TimelineWriter, Version

if TYPE_CHECKING:
    from vault_mcp.vault import Vault

NEAR = 200
"""Changes of notes that are taken in before a question about them is answered."""

TURN = 500
"""Changes of notes that are taken in by one transaction of the background work."""

AT_ONCE = 200
"""Notes that are asked of Git at once."""

REGULAR, KIND = 0o100000, 0o170000

_Change = tuple[int, str, int, str, str]


class Timekeeping:
    """The timeline of a vault, and what keeps it in step. Safe to use from several threads."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._path = os.path.join(os.path.dirname(vault.index.path), FILE_NAME)
        self._timeline: Timeline | None = None
        self._opening = threading.Lock()

    @property
    def wanted(self) -> bool:
        """Whether somebody has asked about the past of this vault."""
        return os.path.exists(self._path)

    @contextlib.contextmanager
    def reading(self, sha: str | None, seq: int) -> Iterator[Reader | None]:
        """Give a snapshot of the vault as a commit has it; None where the timeline is not that far.

        `sha` None and `seq` 0 are the vault before its first commit.
        """
        with contextlib.ExitStack() as stack:
            reader = None
            try:
                reader = stack.enter_context(self._reaching(sha or "", seq))
            except VaultBusy:
                pass  # somebody else is at it: there is another way to answer
            except IndexDamaged:
                self._opened().mend()
            yield reader

    @contextlib.contextmanager
    def _reaching(self, sha: str, seq: int) -> Iterator[Reader | None]:
        timeline = self._opened()
        with self._vault.snapshot() as present:
            mark, last = present.history_mark, present.last_seq
            if not self._reaches(timeline, mark, seq) and self._is_near(timeline, present, seq):
                self._take_in(timeline, present, NEAR)
        if not self._reaches(timeline, mark, last):
            self._vault.history_behind()
        with timeline.reading(mark, seq, sha) as reader:
            yield reader

    def _reaches(self, timeline: Timeline, mark: str, seq: int) -> bool:
        known, end = timeline.end()
        return known == mark and end >= seq

    def _is_near(self, timeline: Timeline, present: Reader, seq: int) -> bool:
        known, end = timeline.end()
        start = end if known == present.history_mark else 0
        return len(present.changes_between(start, seq, NEAR + 1)) <= NEAR

    def catch_up(self) -> bool:
        """Take in some of what history knows; say whether there is more that nobody else is taking in."""
        if not self.wanted:
            return False
        timeline = self._opened()
        try:
            with self._vault.snapshot() as present:
                if self._reaches(timeline, present.history_mark, present.last_seq):
                    return False
                more = self._take_in(timeline, present, TURN)
            if not more:
                timeline.empty_log()
            return more
        except VaultBusy:
            return False
        except IndexDamaged:
            timeline.mend()
            return True

    @property
    def in_step(self) -> bool:
        """Whether the timeline is as far as history."""
        with self._vault.snapshot() as present:
            return self._reaches(self._opened(), present.history_mark, present.last_seq)

    def check(self) -> list[str]:
        """Read the whole timeline and say what is wrong with it, for `doctor`; nothing without one."""
        try:
            return self._opened().check() if self.wanted else []
        except IndexDamaged as error:
            return [str(error)]

    def forget(self) -> None:
        """Begin the timeline anew."""
        self._opened().mend(anew=True)
        self._vault.history_behind()

    def close(self) -> None:
        """Let go of the file."""
        with self._opening:
            if self._timeline is not None:
                self._timeline.close()
            self._timeline = None

    def _opened(self) -> Timeline:
        with self._opening:
            if self._timeline is None:
                self._timeline = Timeline.open(self._path)
            elif not self.wanted:
                self._timeline.mend()
            return self._timeline

    # -- taking in

    def _take_in(self, timeline: Timeline, present: Reader, most: int) -> bool:
        """Take in the next commits until they changed so many notes; say whether there are more."""
        with timeline.writing() as writer:
            if writer.mark != present.history_mark:
                writer.begin(present.history_mark)
            else:
                _follow(writer, present)
            last = present.last_seq
            changes = present.changes_between(writer.seq, last, most)
            if len(changes) == most:  # the last of these commits may have changed more than that
                last = max(changes[-1][0] - 1, writer.seq + 1)
                changes = [change for change in changes if change[0] <= last]
                if changes[0][0] == changes[-1][0]:
                    changes = present.changes_between(last - 1, last)
            for (_, commit), group in itertools.groupby(
                self._versions(present, changes), key=lambda one: one[0]
            ):
                writer.append(commit, (version for _, version in group if version is not None))
            return writer.seq < present.last_seq

    def _versions(
        self, present: Reader, changes: Iterable[_Change]
    ) -> Iterator[tuple[tuple[int, str], Version | None]]:
        """Read what commits made of notes, many at a time: one by one, each would wait for Git."""
        repository = self._vault.repository
        left = iter(changes)
        while some := list(itertools.islice(left, AT_ONCE)):
            kept = [path if blob and self._is_indexed(sha, path) else "" for _, sha, _, path, blob in some]
            raws = repository.blobs(change[4] for change, path in zip(some, kept, strict=True) if path)
            for (seq, sha, lineage, _, blob), path in zip(some, kept, strict=True):
                if not lineage:
                    yield (seq, sha), None
                elif not path:
                    yield (seq, sha), Version(lineage, None)
                else:
                    raw = next(raws)
                    note = note_of(path, raw)
                    told = present.told_of(lineage, seq) if note else ()
                    made = present.made_by(lineage) if note and not note.created else None
                    yield (seq, sha), Version(lineage, path, blob, len(raw), note, told, made)

    def _is_indexed(self, sha: str, path: str) -> bool:
        mode = self._vault.repository.mode_at(sha, path)
        return mode is not None and mode & KIND == REGULAR and not paths.is_hidden(path)


def _follow(writer: TimelineWriter, present: Reader) -> None:
    """See that the timeline ends at a commit of the history there is: it may have been rewritten."""
    for seq, sha in writer.ends():
        found = present.commit(sha) if seq else None
        if not seq or (found is not None and found.seq == seq):
            if seq < writer.seq:
                writer.cut(seq)
            return
