"""The write-ahead log: all that makes a commit, on the disk before its branch moves.

One file that is full of zeros from the start, so that to keep a record is one flush of data and no change of
the file system. It begins with a magic and a salt; each record repeats the salt, then its length and the
SHA-1 of salt, place and payload. To empty the log is to change the salt: what stands there is of another time
then. A record that was cut short does not match its checksum, and ends the log.

The payload is one line of JSON, then the bytes of the commit object, then those of each file, one after the
other.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import time
from collections.abc import Sequence
from hashlib import sha1
from typing import NamedTuple

from vault_mcp.storage import system
from vault_mcp.storage.git.flush import flush_file, flush_folders

MOST_BYTES = 8 * 1024 * 1024
"""Payload of one record at most; a commit of more is flushed whole rather than written twice."""

_VERSION = 1
_MAGIC = b"vmcpwal1"
_HEAD = struct.Struct(">8s8s")
_RECORD = struct.Struct(">8sQ20s")
_ROOM = 1024 * 1024
_MANY_BYTES, _MANY = _ROOM // 2, 128


class Put(NamedTuple):
    """One file of a record: what is to be there (no `content`: nothing), and the blob of what was there."""

    path: str
    mode: str
    seen: str | None
    content: bytes | None


class Record(NamedTuple):
    """A commit: `body` is its object, `time` when it was logged (ns since 1970), `boot` the system's run."""

    commit: str
    parent: str | None
    ref: str
    time: int
    boot: str
    body: bytes
    puts: tuple[Put, ...]

    @classmethod
    def of(cls, commit: str, parent: str | None, ref: str, body: bytes, puts: Sequence[Put]) -> Record:
        """Make a record of this moment."""
        return cls(commit, parent, ref, time.time_ns(), boot(), body, tuple(puts))

    def packed(self) -> bytes:
        """Give the payload."""
        puts = [
            (put.path, put.mode, put.seen, -1 if put.content is None else len(put.content))
            for put in self.puts
        ]
        line = json.dumps((_VERSION, *self[:5], len(self.body), puts)).encode() + b"\n"
        return b"".join((line, self.body, *[put.content or b"" for put in self.puts]))

    @classmethod
    def unpacked(cls, payload: bytes) -> Record:
        """Read a payload whose checksum was right."""
        end = payload.index(b"\n") + 1
        _, commit, parent, ref, at, run, length, listed = json.loads(payload[:end])
        body, end = payload[end : end + length], end + length
        puts = []
        for path, mode, seen, size in listed:
            puts.append(Put(path, mode, seen, None if size < 0 else payload[end : end + size]))
            end += max(size, 0)
        return cls(commit, parent, ref, at, run, body, tuple(puts))


def boot() -> str:
    """Give what names this run of the system; nothing where the system does not say."""
    with contextlib.suppress(OSError), open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()
    return ""


class Log:
    """The log at `path`. Only whoever holds the write lock uses it, but for `left`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1
        self._salt = b""
        self._end = self._last = self._count = 0
        self.tip: str | None = ""
        """The last commit that the disk or the log is known to have, with all before it; "" for none."""

    def left(self) -> bool:
        """Say without changing anything whether there may be records."""
        try:
            fd = os.open(self._path, os.O_RDONLY | system.BINARY)
        except OSError:
            return False
        with open(fd, "rb") as file:
            head = file.read(_HEAD.size + _RECORD.size)
        return len(head) == _HEAD.size + _RECORD.size and head[8:16] == head[16:24]

    def make(self) -> None:
        """Make the log if it is not there, before anything is under way that the disk must not keep alone."""
        self._open()

    @property
    def pressing(self) -> bool:
        """Whether it has grown so that it should be emptied."""
        return self._end > _MANY_BYTES or self._count >= _MANY

    def records(self) -> list[Record]:
        """Give all records, oldest first."""
        self._open()
        self._salt = system.pread(self._fd, _HEAD.size, 0)[8:]
        self._end, self._count = _HEAD.size, 0
        found = []
        while (payload := self._next()) is not None:
            found.append(Record.unpacked(payload))
        return found

    def append(self, record: Record) -> None:
        """Have the disk keep a record, behind those of other processes.

        Raises:
            OSError: the disk said no; the record does not count.
        """
        self.read_on()
        payload = record.packed()
        self._last = self._end
        try:
            self._write(_RECORD.pack(self._salt, len(payload), self._digest(payload)) + payload, self._end)
            flush_file(self._fd)
        except BaseException:
            self.retract()
            raise
        self._end += _RECORD.size + len(payload)
        self._count += 1
        self.tip = record.commit

    def read_on(self) -> None:
        """Take in what other processes did to the log since."""
        self._open()
        salt = system.pread(self._fd, _HEAD.size, 0)[8:]
        if salt != self._salt:
            self._salt, self._end, self._count = salt, _HEAD.size, 0
        while (payload := self._next()) is not None:
            self.tip = Record.unpacked(payload).commit

    def retract(self) -> None:
        """Take the last record back: its commit was not made."""
        with contextlib.suppress(OSError):
            self._write(bytes(_RECORD.size), self._last)
            flush_file(self._fd)
        self._end, self.tip = self._last, ""

    def empty(self) -> None:
        """Forget all records, once the disk has everything they tell of."""
        self._open()
        self._salt = os.urandom(8)
        self._end, self._count = _HEAD.size, 0
        self._write(_HEAD.pack(_MAGIC, self._salt), 0)
        if os.fstat(self._fd).st_size > 2 * _ROOM:
            os.ftruncate(self._fd, _ROOM)

    def wipe(self) -> None:
        """Have nothing stand in the log any more, not even what was forgotten."""
        if os.path.exists(self._path):
            self.empty()
            os.ftruncate(self._fd, _HEAD.size)
            self._write(bytes(_ROOM), _HEAD.size)
            os.fsync(self._fd)

    def _next(self) -> bytes | None:
        """Give the payload that stands at the end as we know it, and move the end behind it."""
        head = system.pread(self._fd, _RECORD.size, self._end)
        if len(head) < _RECORD.size or head[:8] != self._salt:
            return None
        _, length, digest = _RECORD.unpack(head)
        if length > os.fstat(self._fd).st_size:
            return None
        payload = system.pread(self._fd, length, self._end + _RECORD.size)
        if self._digest(payload) != digest:
            return None
        self._end += _RECORD.size + length
        self._count += 1
        return payload

    def _digest(self, payload: bytes) -> bytes:
        state = sha1(self._salt + self._end.to_bytes(8, "big"), usedforsecurity=False)
        state.update(payload)
        return state.digest()

    def _write(self, content: bytes, at: int) -> None:
        rest = memoryview(content)
        while rest:
            written = system.pwrite(self._fd, rest, at)
            rest, at = rest[written:], at + written

    def _open(self) -> None:
        if self._fd >= 0:
            return
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | system.BINARY, 0o600)
        head = system.pread(self._fd, _HEAD.size, 0)
        if head[:8] == _MAGIC and len(head) == _HEAD.size:
            self._salt, self._end = head[8:], _HEAD.size
            return
        try:
            self._salt = os.urandom(8)
            self._end = _HEAD.size
            self._write(_HEAD.pack(_MAGIC, self._salt) + bytes(_ROOM), 0)
            os.fsync(self._fd)
            flush_folders([os.path.dirname(self._path), os.path.dirname(os.path.dirname(self._path))])
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
