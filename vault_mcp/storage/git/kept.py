"""A small file of Git's, read anew only when it is another one.

Git replaces such files, by a rename. The one that was read stays open, and as long as it does, no other file
can get its inode number: so one look at the path tells whether it still is that file, even between two
commits within one tick of the clock. Windows replaces no open file, so there nothing is kept, and the file is
read each time.
"""

from __future__ import annotations

import contextlib
import os
import stat as modes
import threading
from typing import NamedTuple

from vault_mcp.storage import system

_MOST = 4096


class _Kept(NamedTuple):
    fd: int
    identity: tuple[int, int, int, int]
    content: str


class KeptFile:
    """The content of one path. Safe to use from several threads."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._kept: _Kept | None = None

    def content(self) -> str | None:
        """Give what the file holds, without white space at its end; None when there is none."""
        try:
            found = os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        kept = self._kept
        if kept is not None and kept.identity == identity(found):
            return kept.content
        return None if modes.S_ISDIR(found.st_mode) else self._read()

    def _read(self) -> str | None:
        with self._lock:
            try:
                fd = os.open(self.path, os.O_RDONLY | system.BINARY)
            except (FileNotFoundError, NotADirectoryError):
                return None
            content = os.read(fd, _MOST).decode("utf-8", "surrogateescape").rstrip()
            self._keep(fd, content)
            return content

    def adopt(self, fd: int, content: str) -> None:
        """Take over an open file that was just renamed to the path, with what it holds."""
        if fd >= 0:
            with self._lock:
                self._keep(fd, content)

    def _keep(self, fd: int, content: str) -> None:
        if system.WINDOWS:
            os.close(fd)
            return
        before, self._kept = self._kept, _Kept(fd, identity(os.fstat(fd)), content)
        if before is not None:
            os.close(before.fd)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            before, self._kept = self._kept, None
            if before is not None:
                with contextlib.suppress(OSError):
                    os.close(before.fd)


def identity(found: os.stat_result) -> tuple[int, int, int, int]:
    """Give what tells a file from any other, and from itself after a change, as long as it is kept open."""
    return found.st_ino, found.st_dev, found.st_size, found.st_mtime_ns
