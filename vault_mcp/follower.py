"""The background work of an open vault: opening comparison, hand edits, the past, upkeep."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from typing import TYPE_CHECKING

from vault_mcp import progress
from vault_mcp.errors import RepositoryRefused, StorageFailed, VaultBusy, VaultError
from vault_mcp.follow import align_history, compare, follow_files, follow_found, look_at_files
from vault_mcp.storage.index import IndexDamaged, words
from vault_mcp.storage.index.replay import replay as read_past

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from vault_mcp.storage.git.writer import Writer
    from vault_mcp.vault import Vault

log = logging.getLogger(__name__)

REPORT_EVERY = 0.2
"""Seconds between two words on how far the first index is, to a call that waits for it."""

OPENING_WAIT = 0.3
"""Seconds that a read waits for the opening comparison of a warm index; then it answers as it can."""

WORTH_WAITING = 20_000
"""Files up to which the opening comparison may be over in that time; with more, a read does not wait."""

SETTLE_AFTER = 0.5
"""Seconds after a change before the background work that it put off."""

TURN = 1_000
"""Files that are taken in while the lock is held once."""

LOG_UNITS = 2_500
"""Units of the word index after which what was written is moved from the index's log into its file."""

UPKEEP_EVERY = 500
"""Commits of ours from which Git is asked, in the background, whether it wants upkeep."""


class Follower:
    """Compares the files with the index at the start, takes in what the watcher tells, and keeps Git tidy."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._readable = threading.Event()
        self._compared = threading.Event()
        self._stopping = threading.Event()
        self._rebuilding = threading.Lock()
        self._awake = threading.Event()
        self._commits = 0
        self._opening_wait = OPENING_WAIT
        self.progress = (0, 0)
        self._thread = threading.Thread(target=self._run, name="follower", daemon=True)

    def start(self) -> None:
        """Begin with the opening comparison; a warm index can be read meanwhile."""
        if not self._vault.index.empty:
            with self._vault.snapshot() as reader:
                self._opening_wait = OPENING_WAIT if reader.totals().files <= WORTH_WAITING else 0.0
            self._readable.set()
        self._thread.start()

    def stop(self) -> None:
        """Let the background work end."""
        self._stopping.set()
        self._awake.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=5)

    @property
    def readable(self) -> bool:
        """Whether there is an index to read."""
        return self._readable.is_set()

    def wait_until_readable(self, longest: float) -> None:
        """Wait for the first index, and a moment for the opening comparison.

        Raises:
            VaultBusy: the first index takes longer.
        """
        if not self._readable.is_set() and not self._wait_for_first_index(longest):
            done, total = self.progress
            raise VaultBusy(
                f"The notes are being indexed for the first time ({done:,} of {total:,} files so far). "
                "Call again in a few seconds."
            )
        self._compared.wait(self._opening_wait)

    def _wait_for_first_index(self, longest: float) -> bool:
        deadline = time.monotonic() + longest
        while not self._readable.wait(min(REPORT_EVERY, max(0.0, deadline - time.monotonic()))):
            done, total = self.progress
            progress.tell(done, total, "files indexed for the first time")
            if time.monotonic() >= deadline:
                return False
        return True

    def wait_until_compared(self, longest: float) -> bool:
        """Wait until the files have been compared with the index; say whether they have."""
        return self._compared.wait(longest)

    def rebuild(self) -> None:
        """Make the index anew, here and now if nobody else is at it."""
        if self._rebuilding.acquire(blocking=False):
            try:
                self._readable.clear()
                self._vault.index.mend()
                threading.Thread(target=self._compare_all, name="rebuild", daemon=True).start()
            except BaseException:
                self._readable.set()  # nothing to wait for: the next call tries again
                raise
            finally:
                self._rebuilding.release()

    def noticed(self, paths: frozenset[str] | None) -> None:
        """Take in files that may have changed; a busy vault is tried again."""
        vault = self._vault
        found, gone = compare(vault, paths)
        changed = [*found, *gone]
        if not changed and not vault.owed:
            vault.tell_of_others()
            return
        if paths is None and changed and vault.let_rest(changed):
            return  # a look at all may meet a file in the midst of being saved: each is told again at rest
        paths = frozenset(changed)
        deadline = time.monotonic() + 60
        while not self._stopping.is_set():
            try:
                with vault.repository.writing(vault.options.lock_wait) as writer:
                    vault.catch_up(writer)
                    follow_files(vault, writer, paths)
                return
            except VaultBusy:
                if time.monotonic() > deadline:
                    raise
                self._stopping.wait(0.2)
            except (RepositoryRefused, StorageFailed, OSError) as error:
                vault.trouble(str(error))
                look_at_files(vault, paths)
                return
            except VaultError as error:
                vault.trouble(str(error))
                return

    def count_commit(self) -> None:
        """Count a commit of ours; Git is asked for upkeep after some hundreds, in the background."""
        self._commits += 1
        self._awake.set()
        if self._commits % UPKEEP_EVERY == 0:
            threading.Thread(target=self._vault.repository.upkeep, name="upkeep", daemon=True).start()

    def wake(self) -> None:
        """Have the background work look whether history is behind."""
        self._awake.set()

    def _run(self) -> None:
        self._compare_all()
        with contextlib.suppress(VaultError, OSError):  # whatever is wrong, the first write will say
            self._vault.repository.warm()
        while not self._stopping.is_set():
            try:
                if not self._vault.alone:
                    self._replay_and_tell()
                self._settle()
                self._keep_time()
            except (VaultError, OSError) as error:
                self._vault.trouble(str(error))
            except IndexDamaged:
                self.rebuild()
            except Exception:
                log.exception("history could not be followed")
            self._awake.wait()
            self._awake.clear()
            # Calls go before what they put off.
            self._stopping.wait(SETTLE_AFTER)

    def _replay_and_tell(self) -> None:
        """Read what is left of the past; which notes changed last is known only then."""
        before = self._vault.index.history_head
        self.replay()
        if self._vault.index.history_head != before:
            self._vault.tell()

    def _settle(self) -> None:
        """Do what writes put off, in short turns so that calls go between."""
        vault = self._vault
        more = True
        while more and not self._stopping.is_set():
            self._let_calls_in()
            with vault.index_turn(60):
                more = vault.index.upkeep()
        written, size = 0, words.BATCH
        more = True
        while more and not self._stopping.is_set():
            self._let_calls_in()
            with vault.index_turn(60), vault.index.writing() as index:
                more = index.words.settle_words(size) > 0
                size = words.BATCH if vault.repository.wanted else min(2 * size, words.BULK)
            written += size
            if written > LOG_UNITS:  # else a call would, once the log is long enough
                vault.index.empty_log()
                written = 0
        vault.settled()

    def _keep_time(self) -> None:
        """Bring the timeline in step, where there is one; its file is its own, so no call waits for it."""
        while not self._stopping.is_set() and self._vault.timekeeping.catch_up():
            self._let_calls_in()

    def _let_calls_in(self) -> None:
        """Wait, a second at most, until no call of this process waits for the lock between two turns."""
        deadline = time.monotonic() + 1
        while self._vault.repository.wanted and time.monotonic() < deadline:
            self._stopping.wait(0.001)

    def _compare_all(self) -> None:
        vault = self._vault
        try:
            self._take_in_turns()
            with vault.repository.writing(60) as writer:
                vault.catch_up(writer)
                follow_files(vault, writer, None)
        except IndexDamaged:
            vault.index.mend(anew=True)
            self._compare_all()
            return
        except (RepositoryRefused, StorageFailed, OSError) as error:
            vault.trouble(str(error))
            self._look()
        except VaultError as error:
            vault.trouble(str(error))
        except Exception:
            log.exception("the opening comparison failed")
        finally:
            self._readable.set()
            self._compared.set()
            vault.tell()

    def _take_in_turns(self) -> None:
        """Take in a great many files a part at a time, so that nobody waits for the lock for long."""
        vault = self._vault
        found, gone = compare(vault, None)
        if len(found) + len(gone) <= TURN:
            return
        paths = sorted(found)
        for start in range(0, len(paths), TURN):
            self.progress = (start, len(paths))
            if self._stopping.is_set():
                return
            with self._turn_of_writing() as writer:
                follow_found(vault, writer, {path: found[path] for path in paths[start : start + TURN]})
        for start in range(0, len(gone), TURN):
            if self._stopping.is_set():
                return
            with self._turn_of_writing() as writer:
                follow_files(vault, writer, frozenset(gone[start : start + TURN]))

    def _look(self) -> None:
        try:
            look_at_files(self._vault, None)
        except VaultError as error:
            self._vault.trouble(str(error))

    def replay(self, longest: float = float("inf")) -> bool:
        """Read the part of history that the index does not know yet, a batch at a time; say whether all is.

        After `longest` seconds it stops, and the background work goes on.
        """
        vault, repository = self._vault, self._vault.repository
        deadline = time.monotonic() + longest
        while not self._stopping.is_set():
            with vault.repository.writing(60) as writer:
                old, new = vault.index.history_head, writer.head
                if old == new or new is None:
                    # Whoever read the last of it may still be at dating lines.
                    while vault.index.undated and vault.index.date():
                        pass
                    return True
                old = align_history(vault, new)
            commits = repository.history(old, new)
            total = vault.commits_behind() if progress.wanted() else 0
            for _ in read_past(vault.index, commits, repository.blobs, turn=self._turn):
                if self._stopping.is_set() or time.monotonic() > deadline:
                    self.wake()
                    return False
                if total:
                    progress.tell(total - vault.commits_behind(), total, "commits of the past read")
        return False

    def _turn(self) -> AbstractContextManager[object]:
        return self._turn_of_writing()

    def _turn_of_writing(self) -> AbstractContextManager[Writer]:
        self._let_calls_in()
        return self._vault.repository.writing(60)
