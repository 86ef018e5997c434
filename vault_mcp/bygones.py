"""The vault as it was: out of the timeline, or from an index made of a moment and kept for the next question.

Such an index is needed as long as the timeline is being built.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from vault_mcp import progress
from vault_mcp.follow import note_of
from vault_mcp.notes.note import Note
from vault_mcp.storage import paths
from vault_mcp.storage.index import Index, Reader
from vault_mcp.storage.index.bygone import make_bygone
from vault_mcp.storage.index.database import ENDS

if TYPE_CHECKING:
    from vault_mcp.vault import Vault

KEPT = 2
"""Moments whose indexes are kept; each is about as large as the index of now."""

AT_ONCE = 200
"""Notes that are asked of Git at once."""

FORGOTTEN = 24 * 3600
"""Seconds after which what a killed process left is removed."""

_NAME = "bygone-"


class Bygones:
    """The indexes of a few moments. Safe to use from several threads."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Index] = OrderedDict()

    @contextlib.contextmanager
    def reading(self, sha: str | None, seq: int, *, words: bool = False) -> Iterator[Reader]:
        """Give a snapshot of the vault as a commit has it; None is the vault before its first commit.

        `seq` is the commit's number in the history tables, which have to reach it. With `words` the word
        index is brought in step too, which only recall needs.
        """
        with self._vault.timekeeping.reading(sha, seq) as reader:
            if reader is not None:
                yield reader
                return
        with self._lock:
            index = self._known.get(sha or "")
            if index is None:
                index = self._make(sha, seq)
            self._known[sha or ""] = index
            self._known.move_to_end(sha or "")
            while len(self._known) > KEPT:
                self._forget(self._known.popitem(last=False)[1])
            if words:
                with index.writing() as writer:
                    while writer.words.settle_words(AT_ONCE):
                        pass
        with index.reading() as reader:
            yield reader

    def _make(self, sha: str | None, seq: int) -> Index:
        folder = self._vault.repository.state_dir
        if not self._known:
            _sweep(folder)
        path = os.path.join(folder, f"{_NAME}{uuid.uuid4().hex}.sqlite")
        try:
            if sha is None:
                return Index.open(path)
            known = functools.partial(self._is_indexed, sha)
            return make_bygone(self._vault.index, path, sha, seq, self._read, known)
        except BaseException:
            _remove(path)
            raise

    def _read(self, blobs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, Note | None, int]]:
        """Read notes, many at a time: one by one, each would wait for Git."""
        left, read = iter(blobs), 0
        while some := list(itertools.islice(left, AT_ONCE)):
            progress.tell(read, 0, "notes read as they were then")
            read += len(some)
            raws = self._vault.repository.blobs(blob for _, blob in some)
            for (path, blob), raw in zip(some, raws, strict=True):
                yield path, blob, note_of(path, raw), len(raw)

    def _is_indexed(self, sha: str, path: str) -> bool:
        mode = self._vault.repository.mode_at(sha, path)
        return mode is not None and mode & 0o170000 == 0o100000 and not paths.is_hidden(path)

    def _forget(self, index: Index) -> None:
        index.close()
        _remove(index.path)

    def close(self) -> None:
        """Take the indexes away."""
        with self._lock:
            while self._known:
                self._forget(self._known.popitem()[1])


def _remove(path: str) -> None:
    for end in ENDS:
        with contextlib.suppress(OSError):
            os.unlink(path + end)


def _sweep(folder: str) -> None:
    """Remove what a killed process left."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_NAME) and entry.stat().st_mtime < time.time() - FORGOTTEN:
                os.unlink(entry.path)
