"""Git's own lock files, taken so that we know ours again after a crash.

A lock is a hard link to a private file of ours: making it is as atomic as Git's own way, and as long as the
private file is there, the two can be told to be one. So a lock that a killed process left is removed by the
next writer, and a lock of another program never is.
"""

from __future__ import annotations

import contextlib
import os
import random
import time

from vault_mcp.errors import VaultBusy
from vault_mcp.storage import system
from vault_mcp.storage.git.objects import write_all
from vault_mcp.storage.git.swap import NO_LINKS

PATIENCE = 5.0
"""Seconds to wait for another Git program. None of its commands waits for us: they fail at once."""


class GitLock:
    """The lock of one file of Git's: `index`, or a branch."""

    def __init__(self, private: str, target: str, shown: str) -> None:
        """Lock `target`, using the file `private`; `shown` is what messages call the lock."""
        self._private = private
        self._lock = f"{target}.lock"
        self._target = target
        self._shown = shown
        self.fd = -1
        self._held = False
        self._private_there = False
        self.published = False

    def take(self) -> None:
        """Make the lock.

        Raises:
            VaultBusy: another program has held it for five seconds.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | system.BINARY
        try:
            self.fd = os.open(self._private, flags, 0o666)
        except FileExistsError:
            self.recover()  # only a killed process leaves it, since ours are one at a time
            self.fd = os.open(self._private, flags, 0o666)
        self._private_there = True
        deadline, pause = 0.0, 0.001
        while True:
            try:
                self._make(flags)
                self._held = True
                return
            except (FileExistsError, FileNotFoundError) as error:
                now = time.monotonic()
                deadline = deadline or now + PATIENCE
                if isinstance(error, FileNotFoundError):
                    if now > deadline:
                        raise
                    os.makedirs(os.path.dirname(self._lock), exist_ok=True)
                    continue
                if now > deadline:
                    raise self._busy() from None
            time.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(pause * 1.6, 0.1)

    def _make(self, flags: int) -> None:
        try:
            os.link(self._private, self._lock)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            # Made as Git makes it: after a crash nobody can tell whose it was, and a person has to remove it.
            fd = os.open(self._lock, flags, 0o666)
            os.close(self.fd)
            self.fd = fd

    def _busy(self) -> VaultBusy:
        age = ""
        with contextlib.suppress(OSError):
            age = f" for {_duration(time.time() - os.stat(self._lock).st_mtime)}"
        return VaultBusy(
            f"Another Git program has held {self._shown}{age}. Wait until it is done; if no Git program is "
            f"running, remove the lock with: rm {self._shown}"
        )

    def write(self, content: bytes) -> None:
        """Write what the file is to hold."""
        write_all(self.fd, content)

    def publish(self) -> None:
        """Make what was written to `fd` the file itself, which ends the lock."""
        if system.WINDOWS:
            self._close()  # it moves no open file
        try:
            system.replace(self._lock, self._target)
        except IsADirectoryError:
            _remove_empty(self._target)  # what deleted branches below this name left
            system.replace(self._lock, self._target)
        self._held = False
        self.published = True

    def release(self) -> None:
        """Give the lock back, if it is still held. What cannot be removed now, the next `take` removes."""
        self._close()
        if self._held:
            self._held = False
            with contextlib.suppress(OSError):
                system.remove(self._lock)
        if self._private_there:
            self._private_there = False
            with contextlib.suppress(OSError):
                system.remove(self._private)

    def _close(self) -> None:
        fd = self.hand_over()
        if fd >= 0:
            os.close(fd)

    def hand_over(self) -> int:
        """Give the open file to somebody who goes on with it; on Windows there is none any more (-1)."""
        fd, self.fd = self.fd, -1
        return fd

    def recover(self) -> bool:
        """Remove what a killed process of ours left of this lock; say whether the lock was ours."""
        try:
            private = os.stat(self._private)
        except FileNotFoundError:
            return False
        ours = False
        with contextlib.suppress(FileNotFoundError):
            lock = os.stat(self._lock)
            ours = (lock.st_ino, lock.st_dev) == (private.st_ino, private.st_dev)
            if ours:
                system.remove(self._lock)
        system.remove(self._private)
        return ours


def _remove_empty(folder: str) -> None:
    for place, _, _ in os.walk(folder, topdown=False):
        os.rmdir(place)


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{int(seconds // length)} {unit}"
    return f"{max(int(seconds), 0)} s"
