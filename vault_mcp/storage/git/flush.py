"""Having the disk keep what was written: a folder, or a whole file system at once."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Literal

from vault_mcp.storage import system

if sys.platform == "darwin":
    import fcntl

Durability = Literal["git", "wal", "fsync"]
"""What is on the disk before a commit is answered: as Git does it, a record of it, or all of its files."""

_QUIET = 5.0
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


# What sync_volume_np of macOS (unistd.h) is to do: not return before the disk itself has emptied its cache.
_FULL_AND_WAIT = 0x01 | 0x02


def _of_the_system(name: str) -> Callable[..., int] | None:
    try:
        call: Callable[..., int] = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (AttributeError, OSError, TypeError):
        return None
    return call


_call: Callable[[int], int] | None = _of_the_system("syncfs")
_volume = _of_the_system("sync_volume_np")


def can_flush_all() -> bool:
    """Say whether a whole disk can be made to keep what it has: on Windows only an administrator may."""
    return _call is not None or hasattr(os, "sync")


def flush_file(fd: int) -> None:
    """Have the disk keep an open file: fdatasync(2), or F_FULLFSYNC, as fsync(2) stops short on macOS."""
    if sys.platform == "darwin":
        try:
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        except OSError:  # a network drive has none
            os.fsync(fd)
    else:
        getattr(os, "fdatasync", os.fsync)(fd)


def flush_folders(folders: Iterable[str]) -> None:
    """Have the disk keep the names in these folders."""
    if not system.STEPWISE:
        return  # Windows keeps them by itself, and opens no folder
    for folder in folders:
        fd = os.open(folder, _FOLDER)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def flush_all(folders: Iterable[str]) -> None:
    """Have the disks that these folders are on keep everything (syncfs(2), on macOS sync_volume_np).

    Elsewhere all disks do (sync(2)), or none (`can_flush_all`).

    Raises:
        OSError: something could not be kept.
    """
    if _call is None:
        if _volume is not None:
            for folder in folders:
                _volume(os.fsencode(folder), _FULL_AND_WAIT)
        elif hasattr(os, "sync"):
            os.sync()
        return
    for folder in folders:
        fd = os.open(folder, _FOLDER)
        try:
            if _call(fd) != 0:
                code = ctypes.get_errno()
                raise OSError(code, os.strerror(code), folder)
        finally:
            os.close(fd)


class WhenQuiet:
    """Calls `do` on a thread of its own once nothing was told for five seconds, or at once if it presses."""

    def __init__(self, do: Callable[[], None]) -> None:
        self._do = do
        self._changed = threading.Condition()
        self._told = 0
        self._pressing = self._closed = False
        self._thread: threading.Thread | None = None

    def tell(self, *, pressing: bool) -> None:
        """Take in that there is something to do."""
        with self._changed:
            if self._closed:
                return
            self._told += 1
            self._pressing |= pressing
            if pressing:
                self._changed.notify()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="flush", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            with self._changed:
                told = -1
                while told != self._told and not self._pressing and not self._closed:
                    told = self._told
                    self._changed.wait(_QUIET)
                if self._closed:
                    return
                told, self._pressing = self._told, False
            self._do()
            with self._changed:
                if told == self._told:
                    self._thread = None
                    return

    def close(self) -> None:
        """Begin nothing more, and wait for what is being done."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()
