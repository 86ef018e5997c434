"""What a commit was about to do, on disk before its first file is touched.

The record is one JSON line in a file that otherwise is empty: a version, then what an `Intent` says, in its
order. It is written in one go after all objects are stored, and emptied after the commit; a line without its
end was never acted on. Whoever takes the write lock next and finds a record finishes the commit from it
(`recovery`).
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import NamedTuple

from vault_mcp.errors import RepositoryRefused
from vault_mcp.storage import system

_VERSION = 2
_FIRST = 1
"""The form without what a merge needs."""


class Step(NamedTuple):
    """One file of a commit.

    `old` and `raw` name (`blob_id`) the bytes on disk before and after, `new` is the blob in Git: the same as
    `raw` unless Git converts. `mode` are the permission bits to have, `holder` is where bytes wait
    (`placing`).
    """

    path: str
    old: str | None
    raw: str | None
    new: str | None
    mode: int | None
    holder: str


class Intent(NamedTuple):
    """A commit that is made, but for its files, its branch and the index."""

    commit: str
    parent: str | None
    ref: str
    agent: str
    email: str
    committer: str
    committer_email: str
    tool: str
    at: int
    message: str
    write_files: bool
    steps: tuple[Step, ...]
    merged: tuple[str, ...] = ()
    made: str = ""


class IntentFile:
    """The record's place. Only whoever holds the write lock reads or writes it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1

    def _open(self) -> int:
        if self._fd < 0:
            self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | system.BINARY, 0o600)
        return self._fd

    def left(self) -> bool:
        """Say without opening anything whether there may be a record."""
        with contextlib.suppress(OSError):
            return os.stat(self._path).st_size > 0
        return False

    def pending(self) -> bool:
        """Say whether there is a record."""
        return os.fstat(self._open()).st_size > 0

    def read(self) -> Intent | None:
        """Give the record; None when there is none, or one that was never finished and so never acted on.

        Raises:
            RepositoryRefused: a newer release wrote it.
        """
        fd = self._open()
        os.lseek(fd, 0, os.SEEK_SET)
        with open(fd, "rb", closefd=False) as file:
            line = file.read()
        if not line.endswith(b"\n"):
            return None
        try:
            version, *fields = json.loads(line)
        except ValueError:
            return None  # a loss of power left other bytes than were written
        if version == _FIRST:
            fields += [[], ""]
        elif version != _VERSION:
            raise RepositoryRefused(
                "A newer release of this program left a write unfinished. Start that release to finish it."
            )
        *fields, steps, merged, made = fields
        return Intent._make((*fields, tuple(Step(*step) for step in steps), tuple(merged), made))

    def write(self, intent: Intent) -> None:
        """Put the record on disk."""
        line = json.dumps((_VERSION, *intent)).encode() + b"\n"
        fd = self._open()
        written = system.pwrite(fd, line, 0)
        while written < len(line):
            written += system.pwrite(fd, line[written:], written)

    def clear(self) -> None:
        """Say that nothing is under way any more."""
        if self._fd >= 0:
            os.ftruncate(self._fd, 0)

    def close(self) -> None:
        """Close the file."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            with contextlib.suppress(OSError):
                os.close(fd)
