"""Tells of files that were changed by hand, once they rest.

Two ways of noticing run side by side. Events come from the system through watchdog and tell within a second.
A tick asks for a full comparison every few seconds, so that a file system without events (NFS, SMB, a bind
mount from another system) is followed too; it costs at most a hundredth of one core, however large the vault.
When the system has no watches left, the tick goes on alone and `on_trouble` is told. (watchdog's own polling
is turned down: it takes a picture of the whole folder, `.git` included, every second.)
"""

import itertools
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Literal

from vault_mcp.errors import StorageFailed, VaultError
from vault_mcp.storage import files
from vault_mcp.storage.watcher.rest import MANY, Heard, Rest, Tick
from vault_mcp.storage.watcher.sources import NONE_LEFT, Ear, Source
from vault_mcp.storage.watcher.sources import listen as listen_to_system

log = logging.getLogger(__name__)

Told = frozenset[str] | None
Mode = Literal["events", "polling", "off"]

EMPTY_HOLD = 2.0
"""Seconds that an empty file is held: some editors truncate first and write a moment later."""


def _unheard(_: str) -> None:
    """Take no notice."""


class Watcher:
    """Calls `on_rest` with the files that changed, from one thread of its own, until it is stopped.

    The set holds vault-relative paths of files that were made, changed or deleted. None means that anything
    may have changed: a folder went away, thousands of files changed at once, events were lost, or the tick
    came. A comparison may come upon a file in the middle of being saved (or for that moment gone); what it
    finds can be handed to `look_again`, which tells of it once it rests.

    Hidden files and repositories inside the vault are never told of. The vault's own writes are told of like
    any other: comparing shows that they are known.
    """

    def __init__(
        self,
        root: str,
        on_rest: Callable[[Told], object],
        *,
        quiet: float = 0.8,
        longest: float = 5.0,
        first: float = 2.0,
        every: float = 5.0,
        on_trouble: Callable[[str], object] = _unheard,
        listen: Callable[[str, Ear], Source] | None = None,
    ) -> None:
        """Prepare to watch; nothing runs before `start`.

        Args:
            root: the vault's folder, an absolute path.
            on_rest: called with what has rested. What it raises goes to `on_trouble`; a comparison follows.
            quiet: seconds that a file must be left alone before it is told of.
            longest: seconds after which a file that never rests is told of all the same.
            first: seconds to the first comparison; it finds what was done before the watches were set.
            every: seconds between two comparisons at least.
            on_trouble: called with a sentence when watching does not go as it should.
            listen: where events come from; by default what serves this system best.
        """
        self._root = root
        self._on_rest = on_rest
        self._on_trouble = on_trouble
        self._listen = listen or listen_to_system
        self._quiet, self._longest, self._first = quiet, longest, first
        self._rest = Rest(quiet, longest)
        self._wake = threading.Condition()
        self._wakes_at = 0.0
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._mode: Mode = "off"
        self._source: Source | None = None
        self._watched: tuple[int, int] | None = None  # device and inode of the folder the source listens to
        self._failed: OSError | None = None
        self._tick = Tick(every)
        self._last_trouble = ""

    @property
    def mode(self) -> Mode:
        """How changes are noticed: by events and the tick, by the tick alone, or (not running) not at all."""
        return self._mode

    @property
    def alive(self) -> bool:
        """Whether the thread that tells is running."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Begin to watch, at once: importing watchdog and setting the watches is left to the thread."""
        if not self.alive:
            self._stopping = False
            self._thread = threading.Thread(target=self._run, name="vault-watcher", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop watching, after a running `on_rest` has returned. What has not rested by now is not told."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def look_again(self, paths: Iterable[str]) -> None:
        """Tell of these files once they rest, as if each had changed just now, and however many they are."""
        with self._wake:
            now = time.monotonic()
            for path in paths:
                self._rest.look_again(path, now)
            self._wake.notify()

    # What a source hears, said from a thread of its own: nothing here may take long.

    def hear(self, path: str) -> None:
        """Take note that a file was made, changed, moved or deleted; with `/` at the end, a folder came."""
        with self._wake:
            now = time.monotonic()
            self._rest.hear(path, now)
            # Most events only push a file's rest further away, so the thread is woken only if it would
            # oversleep.
            if now + self._quiet < self._wakes_at:
                self._wake.notify()

    def hear_everything(self) -> None:
        """Take note that anything may have changed, such as when a folder was moved away."""
        with self._wake:
            self._rest.hear_everything(time.monotonic())
            self._wake.notify()

    def hear_no_more(self, error: OSError | None) -> None:
        """Take note that events were lost (None) or that no more will come (the error)."""
        with self._wake:
            self._failed, self._watched = error, None if error is None else self._watched
            self._rest.hear_everything(time.monotonic())
            self._wake.notify()

    # The thread that tells.

    def _run(self) -> None:
        try:
            self._set_watches()
            self._tick.start(time.monotonic() + self._first)
            while self._wait():
                self._tell_what_rested()
        finally:
            self._close_source()
            self._mode = "off"

    def _wait(self) -> bool:
        """Sleep until something has rested or the tick is due, and tell whether to go on."""
        with self._wake:
            if self._stopping:
                return False
            rested_at = self._rest.next_at()
            self._wakes_at = self._tick_due() if rested_at is None else min(rested_at, self._tick_due())
            self._wake.wait(max(self._wakes_at - time.monotonic(), 0.0))
            self._wakes_at = 0.0
            return not self._stopping

    def _tick_due(self) -> float:
        # While files are being saved the comparison waits: it would find them half done.
        return self._tick.at + self._longest if self._rest else self._tick.at

    def _tell_what_rested(self) -> None:
        now = time.monotonic()
        with self._wake:
            rested = self._rest.rested(now)
            due = self._tick_due()
        told = None if rested is None else self._files_of(rested, now)
        if told is None or told or now >= due:
            self._tell(told or None)

    def _files_of(self, rested: Mapping[str, Heard], now: float) -> Told:
        """Give the files among what has rested, or None when the new folders hold too many to name."""
        told = set()
        for path, heard in rested.items():
            is_folder = path.endswith("/")
            if is_folder and not rested.keys().isdisjoint(_above(path)):
                continue
            found = self._within(path[:-1]) if is_folder else [path]
            for file in found:
                if now < heard.last + EMPTY_HOLD and self._is_empty(file):
                    with self._wake:
                        self._rest.hold(file, heard, heard.last + EMPTY_HOLD)
                else:
                    told.add(file)
            if len(found) > MANY:
                return None
        folders = {file.rpartition("/")[0] for file in told} - {""}
        nested = {folder for folder in folders if self._is_nested(folder)}
        return frozenset(file for file in told if file.rpartition("/")[0] not in nested)

    def _within(self, folder: str) -> list[str]:
        with suppress(StorageFailed):
            return [
                path for path, _ in itertools.islice(files.walk(self._root, folder, unreadable=[]), MANY + 1)
            ]
        return []

    def _is_empty(self, path: str) -> bool:
        with suppress(StorageFailed):
            facts = files.stat(self._root, path)
            return facts is not None and facts.size == 0
        return False

    def _is_nested(self, folder: str) -> bool:
        with suppress(StorageFailed):
            return files.within_nested(self._root, folder + "/")
        return False

    def _tell(self, told: Told) -> None:
        if told is None:
            self._keep_watching()
        began = time.monotonic()
        try:
            self._on_rest(told)
            self._last_trouble = ""
        except Exception as error:  # the watcher outlives whatever became of one change
            self._report(f"Files changed by hand could not be followed: {_words(error)}")
            log.debug("on_rest failed", exc_info=True)
            self._tick.sooner(time.monotonic())
        if told is None:
            ended = time.monotonic()
            self._tick.took(ended - began, ended)

    def _keep_watching(self) -> None:
        """Set the watches anew where they are lost: the queue ran over, or the folder is another one."""
        with self._wake:
            failed, self._failed = self._failed, None
        if failed is not None:
            self._close_source()
            self._without_events(failed)
        elif self._watched != _identity(self._root) or (self._source is not None and not self._source.alive):
            self._set_watches()

    def _set_watches(self) -> None:
        self._close_source()
        self._watched = _identity(self._root)
        try:
            # The vault's folder may be reached through a link; the watch is on what that leads to.
            self._source = self._listen(os.path.realpath(self._root), self)
            self._mode = "events"
        except OSError as error:
            self._without_events(error)

    def _without_events(self, error: OSError) -> None:
        self._mode = "polling"
        advice = " Raise fs.inotify.max_user_watches to be told at once." if error.errno in NONE_LEFT else ""
        self._report(
            f"The system tells of no changes ({_words(error)}), "
            f"so the vault is looked through every few seconds instead.{advice}"
        )

    def _close_source(self) -> None:
        if self._source is not None:
            self._source.close()
            self._source = None

    def _report(self, trouble: str) -> None:
        # Once and not at every tick. What the callback raises must not end the thread either.
        if trouble != self._last_trouble:
            self._last_trouble = trouble
            with suppress(Exception):
                self._on_trouble(trouble)


def _words(error: Exception) -> str:
    """Say what an error says, without the paths of the host that a system's error carries."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return str(error) if isinstance(error, VaultError) else f"{type(error).__name__}: {error}"


def _above(folder: str) -> list[str]:
    """Name the folders above one, each with `/` at the end as it has."""
    return [folder[: at + 1] for at, char in enumerate(folder[:-1]) if char == "/"]


def _identity(root: str) -> tuple[int, int] | None:
    with suppress(OSError):
        facts = os.stat(root)
        return facts.st_dev, facts.st_ino
    return None
