"""One writer at a time, across threads and processes.

The lock is the kernel's (`flock`, on Windows `msvcrt.locking`, which was not run): it vanishes with its
process, so no killed server leaves a vault locked. The file itself stays and means nothing.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
import threading
import time

from vault_mcp.storage import system

if sys.platform == "win32":
    import msvcrt

    def _try(fd: int) -> bool:
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _let_go(fd: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _let_go(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)


_SHORTEST, _LONGEST = 0.0003, 0.02


class WriteLock:
    """A lock file at `path`, made when first taken. Not re-entrant."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._threads = threading.Lock()
        self._waiting = 0
        self._counting = threading.Lock()
        self._fd = -1
        self._file = 0, 0

    def acquire(self, timeout: float) -> bool:
        """Take the lock within `timeout` seconds (0: at once or not at all) and say whether that worked."""
        deadline = time.monotonic() + timeout
        if not self._threads.acquire(blocking=False) and not (timeout > 0 and self._wait(timeout)):
            return False
        taken = False
        try:
            taken = self._acquire_among_processes(deadline)
        finally:
            if not taken:
                self._threads.release()
        return taken

    @property
    def wanted(self) -> bool:
        """Whether another thread of this process waits for the lock."""
        return self._waiting > 0

    def _wait(self, timeout: float) -> bool:
        with self._counting:
            self._waiting += 1
        try:
            return self._threads.acquire(timeout=timeout)
        finally:
            with self._counting:
                self._waiting -= 1

    def _acquire_among_processes(self, deadline: float) -> bool:
        pause = _SHORTEST
        while True:
            self._open()
            if _try(self._fd):
                if self._is_the_file_of_all():
                    return True
                self.close()
                continue
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, pause * random.uniform(0.5, 1.5)))
            pause = min(pause * 1.6, _LONGEST)

    def _open(self) -> None:
        if self._fd < 0:
            flags = os.O_RDWR | os.O_CREAT | system.BINARY
            try:
                self._fd = os.open(self._path, flags, 0o666)
            except FileNotFoundError:
                # Only its own folder: where that would be is somebody's, and may have been moved away.
                with contextlib.suppress(FileExistsError):
                    os.mkdir(os.path.dirname(self._path))
                self._fd = os.open(self._path, flags, 0o666)
            found = os.fstat(self._fd)
            self._file = found.st_ino, found.st_dev

    def _is_the_file_of_all(self) -> bool:
        """Say whether others would open the file we locked: somebody may have cleared the folder away."""
        try:
            there = os.stat(self._path)
        except FileNotFoundError:
            return False
        return (there.st_ino, there.st_dev) == self._file

    def inherited(self) -> tuple[int, ...]:
        """Give what a child is to inherit so that the lock holds as long as it lives, if we are killed first.

        On Windows that is nothing: there a lock ends with the process that took it.
        """
        return (self._fd,) if self._fd >= 0 and not system.WINDOWS else ()

    def release(self) -> None:
        """Let the next one write."""
        try:
            if self._fd >= 0:
                _let_go(self._fd)
        finally:
            self._threads.release()

    def close(self) -> None:
        """Close the file; the lock can be used again, which opens it anew."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
