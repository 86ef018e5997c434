"""Git's index file kept in memory, changed a path at a time and written as Git would write it.

The entries are held in chunks, and the state of the checksum before each chunk is remembered, so a commit
hashes only what stands from the first change on.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from hashlib import sha1
from itertools import pairwise
from typing import TYPE_CHECKING

from vault_mcp.errors import RepositoryRefused, VaultError
from vault_mcp.storage import system
from vault_mcp.storage.git import index_entries as entries
from vault_mcp.storage.git.cache_tree import CacheTree
from vault_mcp.storage.git.kept import identity
from vault_mcp.storage.git.objects import blob_id

if TYPE_CHECKING:
    from hashlib import _Hash

    from vault_mcp.storage.files import FileStat
    from vault_mcp.storage.git.trees import Edited

_HEADER = struct.Struct(">4sLL")
_SIZE = struct.Struct(">L")
# Extensions that only repeat, faster, what the rest says: Git makes them again when it wants them.
_DERIVED = (b"EOIE", b"IEOT")
# What no plain index has; it is left to Git to keep these right.
_NOT_OURS = (b"UNTR", b"FSMN", b"link", b"sdir")
_VECTOR = 512


class IndexNotPlainError(Exception):
    """The index is of a kind that only Git itself should write; the text says which."""


class IndexImage:
    """The index of one working tree. Whoever changes or writes it holds `index.lock`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1
        self.forget()

    def forget(self) -> None:
        """Let go of the file, and read it anew at the next `load`."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
        self._fill(b"", 0)
        # Of the file that the image stands for, which is kept open (see `kept`); None: there is no file.
        self._identity: tuple[int, int, int, int] | None = None
        self._loaded = False

    # -- reading

    def load(self) -> None:
        """Read the file, unless the image is what stands there.

        Raises:
            IndexNotPlainError: version 4, split, sparse, without checksum, or with extensions we do not keep.
            UnmergedError: a path is in conflict.
        """
        try:
            found = os.stat(self._path)
            if self._loaded and self._identity == identity(found):
                return
            fd = os.open(self._path, os.O_RDONLY | system.BINARY)
        except FileNotFoundError:
            if not self._loaded or self._identity is not None:
                self.forget()
                self._loaded = True
            return
        self.forget()
        self._fd = fd
        with open(fd, "rb", closefd=False) as file:
            content = file.read()
        found = os.fstat(fd)
        self._fill(content, found.st_mtime_ns // 10**9)
        self._identity = identity(found)
        self._loaded = True
        self._let_go()

    def _let_go(self) -> None:
        """Close the file where it could not be replaced otherwise; then its time tells it from others."""
        if system.WINDOWS and self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _fill(self, content: bytes, second: int) -> None:
        self._chunks: list[entries.Chunk] = []
        self._first: list[bytes] = []
        self._states: list[_Hash] = []
        self._header = b""
        self._count = self._extended = 0
        self._extensions: list[tuple[bytes, bytes]] = []
        # Files that are no older than the index: what Git calls racily clean. Path -> second of its mtime.
        self._fresh: dict[bytes, int] = {}
        self._oldest_fresh = second
        self._tree: CacheTree | None = CacheTree.of_nothing()
        if content:
            self._parse(content, second)

    def _parse(self, content: bytes, second: int) -> None:
        magic, version, count = _HEADER.unpack_from(content)
        if magic != b"DIRC":
            raise RepositoryRefused("The repository's index is damaged. Run: git status")
        if version not in (2, 3):
            raise IndexNotPlainError(f"its index is of version {version}")
        if content.endswith(b"\0" * 20):
            raise IndexNotPlainError("its index has no checksum (index.skipHash)")
        if sha1(memoryview(content)[:-20], usedforsecurity=False).digest() != content[-20:]:
            raise IndexNotPlainError("its index does not end in a SHA-1 checksum")
        survey = entries.Survey(content, count, second)
        cuts = [*survey.cuts, survey.end]
        self._chunks = [entries.Chunk(content[a:b]) for a, b in pairwise(cuts)]
        self._first = [next(entries.parsed(chunk.content))[0] for chunk in self._chunks]
        self._count, self._extended, self._fresh = count, survey.extended, survey.fresh
        self._read_extensions(content, survey.end)

    def _read_extensions(self, content: bytes, at: int) -> None:
        self._tree = None
        while at < len(content) - 20:
            signature = content[at : at + 4]
            (size,) = _SIZE.unpack_from(content, at + 4)
            body = content[at + 8 : at + 8 + size]
            at += 8 + size
            if signature in _NOT_OURS or not signature[:1].isupper():
                raise IndexNotPlainError(
                    f"its index has the extension {signature.decode('ascii', 'replace')}"
                )
            if signature == b"TREE":
                self._tree = CacheTree.parse(body)
            elif signature not in _DERIVED:
                self._extensions.append((signature, body))

    def get(self, path: bytes) -> tuple[int, str] | None:
        """Give mode and blob of a path."""
        if not self._chunks:
            return None
        chunk = self._chunks[self._chunk_of(path)]
        at, there = _place(chunk.names, path)
        return entries.mode_and_oid(chunk.entries[at]) if there else None

    def _chunk_of(self, path: bytes) -> int:
        return max(bisect_right(self._first, path) - 1, 0)

    # -- changing

    def put(self, path: bytes, mode: int, oid: bytes, found: os.stat_result | None) -> None:
        """Set the entry of a path to a blob (20 bytes) and to what the disk says of its file.

        Without that, Git will look inside the file.
        """
        entry = entries.packed(path, mode, oid, found)
        if not self._replace(path, entry):
            self._drop_in_the_way(path)
            self._insert(path, entry)
        if found is None:
            self._fresh.pop(path, None)
            return
        mtime = found.st_mtime_ns // 10**9
        self._fresh[path] = mtime
        self._oldest_fresh = min(self._oldest_fresh, mtime)

    def _replace(self, path: bytes, entry: bytes) -> bool:
        if not self._chunks:
            return False
        number = self._chunk_of(path)
        chunk = self._chunks[number]
        at, there = _place(chunk.names, path)
        if there:
            self._extended -= entries.is_extended(chunk.entries[at])
            chunk.entries[at] = entry
            self._changed(number)
        return there

    def _insert(self, path: bytes, entry: bytes) -> None:
        if not self._chunks:
            self._chunks, self._first = [entries.Chunk()], [path]
        number = self._chunk_of(path)
        chunk = self._chunks[number]
        at, _ = _place(chunk.names, path)
        chunk.names.insert(at, path)
        chunk.entries.insert(at, entry)
        self._first[number] = chunk.names[0]
        self._count += 1
        self._changed(number)

    def _drop_in_the_way(self, path: bytes) -> None:
        """Take out what cannot stand beside a new path: a file where it has a folder, or the other way."""
        end = path.find(b"/")
        while end >= 0:
            self._drop(path[:end])
            end = path.find(b"/", end + 1)
        folder = path + b"/"
        while (below := self._next(folder)) is not None and below.startswith(folder):
            self._drop(below)

    def _drop(self, path: bytes) -> None:
        if self.get(path) is not None:
            self.forget_folders(path)
            self.remove(path)

    def _next(self, path: bytes) -> bytes | None:
        """Give the first path that is not before this one."""
        for chunk in self._chunks[self._chunk_of(path) :]:
            at, _ = _place(chunk.names, path)
            if at < len(chunk.names):
                return chunk.names[at]
        return None

    def remove(self, path: bytes) -> None:
        """Take a path out, if it is there."""
        self._fresh.pop(path, None)
        if not self._chunks:
            return
        number = self._chunk_of(path)
        chunk = self._chunks[number]
        at, there = _place(chunk.names, path)
        if not there:
            return
        self._extended -= entries.is_extended(chunk.entries[at])
        del chunk.entries[at], chunk.names[at]
        self._count -= 1
        self._changed(number)

    def _changed(self, number: int) -> None:
        chunk = self._chunks[number]
        del self._states[number + 1 :]
        if not chunk.entries:
            del self._chunks[number], self._first[number]
            return
        if len(chunk.entries) > 3 * entries.CHUNK:
            self._chunks.insert(number + 1, chunk.split())
            self._first.insert(number + 1, self._chunks[number + 1].names[0])
        else:
            chunk.join()
        self._first[number] = chunk.names[0]

    def forget_folders(self, path: bytes) -> None:
        """Say that the trees of the folders on the way to a path are not known."""
        if self._tree is not None:
            self._tree.forget(path)

    def follow(self, edited: Edited) -> None:
        """Bring the known folders in step with a commit's tree, once its paths are put and removed."""
        if self._tree is not None:
            self._tree.follow(edited)

    def settle(self, second: int, read: Callable[[bytes], tuple[bytes, FileStat] | None]) -> None:
        """Check the files that an index written in this second would wrongly call clean.

        Git compares whole seconds. A file changed in place within the second of its entry, to the same size,
        looks unchanged to it, unless the index is no younger than the file (racy-git in Git's own technical
        documentation). So before the index grows older than such an entry the file is compared, and if it
        differs, the entry's size is set to 0 as Git would do. `read` gives a file's bytes and facts.
        """
        if second <= self._oldest_fresh:
            return
        aged = [path for path, mtime in self._fresh.items() if mtime < second]
        self._oldest_fresh = second
        for path in aged:
            del self._fresh[path]
            if not self._chunks:
                continue
            number = self._chunk_of(path)
            chunk = self._chunks[number]
            at, there = _place(chunk.names, path)
            if there and _hides_a_change(chunk.entries[at], path, read):
                chunk.entries[at] = entries.doubted(chunk.entries[at])
                self._changed(number)

    # -- writing

    def write(self, fd: int) -> None:
        """Write the whole file, checksum and all."""
        # Version 3 says no more than that some entry has more flags; Git goes back to 2 when none has.
        header = _HEADER.pack(b"DIRC", 3 if self._extended else 2, self._count)
        extensions = [(b"TREE", self._tree.body())] if self._tree is not None else []
        extensions += self._extensions
        tail = b"".join([name + _SIZE.pack(len(body)) + body for name, body in extensions])
        state = self._hashed(header)
        state.update(tail)
        _write_vector(fd, [header, *[chunk.content for chunk in self._chunks], tail + state.digest()])

    def _hashed(self, header: bytes) -> _Hash:
        if header != self._header:
            self._header = header
            self._states = [sha1(header, usedforsecurity=False)]
        states = self._states
        state = states[-1].copy()
        for chunk in self._chunks[len(states) - 1 :]:
            state.update(chunk.content)
            states.append(state.copy())
        return state

    def written(self, fd: int, found: os.stat_result) -> None:
        """Take the file that was just written, and now is the index, for what this image stands for."""
        before, self._fd = self._fd, fd
        if before >= 0:
            os.close(before)
        self._identity = identity(found)
        self._loaded = True
        self._let_go()


def _place(names: list[bytes], path: bytes) -> tuple[int, bool]:
    at = bisect_left(names, path)
    return at, at < len(names) and names[at] == path


def _hides_a_change(
    entry: bytes, path: bytes, read: Callable[[bytes], tuple[bytes, FileStat] | None]
) -> bool:
    try:
        found = read(path)
    except VaultError:
        return True  # too large or closed to us: let Git look for itself
    if found is None or not entries.looks_the_same(entry, found[1]):
        return False  # Git sees that by itself
    return entries.mode_and_oid(entry)[1] != blob_id(found[0])


def _write_vector(fd: int, parts: list[bytes]) -> None:
    for start in range(0, len(parts), _VECTOR):
        some = parts[start : start + _VECTOR]
        written = system.write_vector(fd, some)
        if written < sum(map(len, some)):
            rest = memoryview(b"".join(some))[written:]
            while rest:
                rest = rest[os.write(fd, rest) :]
