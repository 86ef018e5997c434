"""Having the disk keep what was written: a folder, or a whole file system at once."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterable
from typing import Literal

Durability = Literal["git", "wal", "fsync"]
"""What is on the disk before a commit is answered: as Git does it, a record of it, or all of its files."""

_QUIET = 5.0
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


def _syncfs() -> Callable[[int], int] | None:
    try:
        return ctypes.CDLL(None, use_errno=True).syncfs
    except (AttributeError, OSError, TypeError):
        return None


_call = _syncfs()


def flush_file(fd: int) -> None:
    """Have the disk keep an open file (fdatasync(2), where there is one)."""
    getattr(os, "fdatasync", os.fsync)(fd)


def flush_folders(folders: Iterable[str]) -> None:
    """Have the disk keep the names in these folders."""
    if os.name == "nt":
        return  # Windows keeps them by itself, and opens no folder
    for folder in folders:
        fd = os.open(folder, _FOLDER)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def flush_all(folders: Iterable[str]) -> None:
    """Have the disks that these folders are on keep everything (syncfs(2); elsewhere all disks, sync(2)).

    Raises:
        OSError: something could not be kept.
    """
    if _call is None:
        if hasattr(os, "sync"):
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
