"""The entries of Git's index, one by one and in chunks: gitformat-index(5), versions 2 and 3."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vault_mcp.storage import system

if TYPE_CHECKING:
    from vault_mcp.storage.files import FileStat

CHUNK = 128
"""Entries that a chunk begins with."""

_FIELDS = struct.Struct(">LLLLLLLLLL20sH")
_MTIME_AND_FLAGS = struct.Struct(">L48xH").unpack_from
_FLAGS = struct.Struct(">H").unpack_from
_SIZE = struct.Struct(">L").pack_into
_LOW = 0xFFFFFFFF
_NAME_LENGTH = 0xFFF
_STAGE = 0x3000
_EXTENDED = 0x4000
_MTIME_AT, _SIZE_AT, _FLAGS_AT = 8, 36, 60
_PADDING = [b"\0" * (8 - length % 8) for length in range(8)]


class UnmergedError(Exception):
    """The index holds a path with both sides of a conflict."""


class Survey:
    """What one pass over the entries finds: where chunks begin, and which entries matter later."""

    def __init__(self, content: bytes, count: int, second: int) -> None:
        self.cuts: list[int] = []
        self.extended = 0
        self.fresh: dict[bytes, int] = {}
        self.end = self._walk(content, count, second)

    def _walk(self, content: bytes, count: int, second: int) -> int:
        at = 12
        for number in range(count):
            if not number % CHUNK:
                self.cuts.append(at)
            mtime, flags = _MTIME_AND_FLAGS(content, at + _MTIME_AT)
            length = flags & _NAME_LENGTH
            fixed = 62
            if flags & (_STAGE | _EXTENDED):
                if flags & _STAGE:
                    raise UnmergedError
                self.extended += 1
                fixed = 64
            if length == _NAME_LENGTH:
                length = content.index(b"\0", at + fixed) - at - fixed
            if mtime >= second:
                self.fresh[content[at + fixed : at + fixed + length]] = mtime
            at += (fixed + length + 8) & ~7
        return at


class Chunk:
    """Some hundred entries: their bytes, and once one of them was asked for, also one by one."""

    __slots__ = ("_names", "content", "entries")

    def __init__(self, content: bytes = b"", names: list[bytes] | None = None) -> None:
        self.content = content
        self.entries: list[bytes] = []
        self._names = names

    @property
    def names(self) -> list[bytes]:
        """The paths, in order; `entries` stands beside it, entry for path."""
        if self._names is None:
            self._names = []
            for name, entry in parsed(self.content):
                self._names.append(name)
                self.entries.append(entry)
        return self._names

    def join(self) -> None:
        """Take the entries as they are now for the bytes."""
        self.content = b"".join(self.entries)

    def split(self) -> Chunk:
        """Give away the later half."""
        half = len(self.entries) // 2
        later = Chunk(names=self.names[half:])
        later.entries = self.entries[half:]
        del self.names[half:], self.entries[half:]
        later.join()
        self.join()
        return later


def parsed(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Give path and bytes of each entry."""
    at = 0
    while at < len(content):
        (flags,) = _FLAGS(content, at + _FLAGS_AT)
        start = at + (64 if flags & _EXTENDED else 62)
        length = flags & _NAME_LENGTH
        end = start + length if length < _NAME_LENGTH else content.index(b"\0", start)
        after = at + ((end - at + 8) & ~7)
        yield content[start:end], content[at:after]
        at = after


def packed(path: bytes, mode: int, oid: bytes, found: os.stat_result | None) -> bytes:
    """Make an entry from a blob (20 bytes) and from what the disk says of the file, if that is known."""
    if found is None:
        entry = _FIELDS.pack(0, 0, 0, 0, 0, 0, mode, 0, 0, 0, oid, min(len(path), _NAME_LENGTH)) + path
        return entry + _PADDING[len(entry) % 8]
    entry = (
        _FIELDS.pack(
            found.st_ctime_ns // 10**9 & _LOW,
            found.st_ctime_ns % 10**9,
            found.st_mtime_ns // 10**9 & _LOW,
            found.st_mtime_ns % 10**9,
            # Git for Windows knows neither.
            0 if system.WINDOWS else found.st_dev & _LOW,
            0 if system.WINDOWS else found.st_ino & _LOW,
            mode,
            found.st_uid & _LOW,
            found.st_gid & _LOW,
            found.st_size & _LOW,
            oid,
            min(len(path), _NAME_LENGTH),
        )
        + path
    )
    return entry + _PADDING[len(entry) % 8]


def mode_and_oid(entry: bytes) -> tuple[int, str]:
    """Read mode and blob (hex) of an entry."""
    fields = _FIELDS.unpack_from(entry)
    return fields[6], fields[10].hex()


def is_extended(entry: bytes) -> bool:
    """Say whether the entry has the second flags word that makes an index version 3."""
    return bool(_FLAGS(entry, _FLAGS_AT)[0] & _EXTENDED)


def looks_the_same(entry: bytes, found: FileStat) -> bool:
    """Say whether Git, which compares whole seconds, could take the file for unchanged."""
    fields = _FIELDS.unpack_from(entry)
    return bool(fields[2] == found.mtime_ns // 10**9 & _LOW and fields[9] == found.size & _LOW)


def doubted(entry: bytes) -> bytes:
    """Give the entry with size 0, on which Git looks inside the file."""
    changed = bytearray(entry)
    _SIZE(changed, _SIZE_AT, 0)
    return bytes(changed)
