"""Git objects as loose files: naming, writing and reading them.

The format is that of gitformat-loose(5): zlib over `<kind> <length>NUL<body>`, in `objects/xx/yyyy…`, named
by the SHA-1 of what was compressed.
"""

from __future__ import annotations

import itertools
import os
import struct
import zlib
from hashlib import sha1

from vault_mcp.storage import system
from vault_mcp.storage.git.flush import flush_file, flush_folders

# What fits into a block of the disk anyway is stored as it is. Trees are mostly hashes, which do not shrink:
# to pack one of 31 KiB (756 entries) saves 12 KiB until Git's upkeep packs it for good, and takes 0.4 ms, as
# long as writing all objects of a commit. Level 6 takes twice the time of level 1.
_LEVEL = 1
_STORED, _ONE_BLOCK = 1024, 0xFFFF
# zlib's usual quarter megabyte of working memory costs 50 us and more to set up; for a note less will do.
_SMALL = 16 * 1024
_SMALL_WINDOW, _SMALL_MEMORY = 13, 4
_STORED_BLOCK = struct.Struct("<BHH")

_ASKED_FOR = 16 * 1024
_ATTEMPTS = 20
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.BINARY

_numbers = itertools.count()


def object_id(kind: bytes, body: bytes) -> bytes:
    """Name an object: 20 bytes."""
    return sha1(b"%s %d\0%s" % (kind, len(body), body), usedforsecurity=False).digest()


def blob_id(content: bytes) -> str:
    """Name the blob that holds these bytes: 40 hex digits."""
    return sha1(b"blob %d\0%s" % (len(content), content), usedforsecurity=False).hexdigest()


def write_all(fd: int, content: bytes) -> None:
    """Write every byte, however many calls that takes."""
    written = os.write(fd, content)
    while written < len(content):
        written += os.write(fd, memoryview(content)[written:])


def deflated(kind: bytes, whole: bytes) -> bytes:
    """Give an object as the zlib stream that its file holds (RFC 1950)."""
    length = len(whole)
    if length <= (_ONE_BLOCK if kind == b"tree" else _STORED):
        end = zlib.adler32(whole).to_bytes(4, "big")
        return b"".join((b"\x78\x01", _STORED_BLOCK.pack(1, length, length ^ 0xFFFF), whole, end))
    if length <= _SMALL:
        stream = zlib.compressobj(_LEVEL, zlib.DEFLATED, _SMALL_WINDOW, _SMALL_MEMORY)
        return stream.compress(whole) + stream.flush()
    return zlib.compress(whole, 0 if kind == b"tree" else _LEVEL)


def _made_young(path: str) -> bool:
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    except PermissionError:
        pass  # another user's object in a shared repository: there, and not ours to touch
    return True


class LooseObjects:
    """The folder `objects` of a repository, as far as its objects are files of their own."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.flush = False
        """Whether the disk keeps each object, written anew in any case; names are kept by `flush_names`."""
        self._named: set[str] = set()

    def flush_names(self) -> None:
        """Have the disk keep the names of the objects that were written since the last time."""
        named, self._named = self._named, set()
        flush_folders(named)

    def write(self, kind: bytes, body: bytes) -> bytes:
        """Store an object unless it is there, and return its name (20 bytes).

        An object that is there is made young again, as Git does, so that a `gc` that runs at this moment
        does not take it for forgotten.
        """
        whole = b"%s %d\0%s" % (kind, len(body), body)
        digest = sha1(whole, usedforsecurity=False)
        name = digest.hexdigest()
        path = f"{self._folder}/{name[:2]}/{name[2:]}"
        # A small one is written anew without asking: that makes it young as well, and mostly it is not there.
        if len(whole) < _ASKED_FOR or self.flush or not _made_young(path):
            self._store(path, deflated(kind, whole))
        return digest.digest()

    def _store(self, path: str, packed: bytes) -> None:
        fd, partial = self._create(path[:-39])
        try:
            try:
                write_all(fd, packed)
                if self.flush:
                    flush_file(fd)
                    self._named |= {path[:-39], self._folder}
            finally:
                os.close(fd)
            system.replace(partial, path)
        except BaseException:
            system.remove(partial)
            raise

    def _create(self, folder: str) -> tuple[int, str]:
        """Make a new file in a folder; give it open, and its path."""
        for left in reversed(range(_ATTEMPTS)):
            # Git's own name for such files, so that its `prune` clears what a killed process leaves.
            partial = f"{folder}/tmp_obj_{os.getpid()}_{next(_numbers)}"
            try:
                return os.open(partial, _NEW, 0o444), partial
            except FileExistsError:  # a killed process of our number left it: in a container all are 1
                if not left:
                    raise
            except FileNotFoundError:
                # Not there yet; or a `gc` beside us has just removed it, empty as it was, once more.
                if not left:
                    raise
                os.makedirs(folder, exist_ok=True)
        raise AssertionError("unreachable")

    def read(self, name: str) -> tuple[bytes, bytes] | None:
        """Give kind and body of the object with this name (40 hex digits); None if it is not a loose file."""
        try:
            fd = os.open(f"{self._folder}/{name[:2]}/{name[2:]}", os.O_RDONLY | system.BINARY)
        except (FileNotFoundError, NotADirectoryError):
            return None
        with open(fd, "rb") as file:
            packed = file.read()
        try:
            whole = zlib.decompress(packed)
        except zlib.error:
            return None  # cut short by a power failure; a packed copy may be whole
        header, _, body = whole.partition(b"\0")
        kind, _, length = header.partition(b" ")
        return (kind, body) if length == b"%d" % len(body) else None
