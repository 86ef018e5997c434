"""Recall by meaning: vectors of the vault's passages, made in the background and compared on demand.

The encoder and numpy cost a second of start-up and much memory, so both are imported when the first vector
is wanted, and never when embeddings are off. Until every passage has its vector, recall goes by words for
the rest.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from vault_mcp.errors import VaultError
from vault_mcp.storage.index import IndexDamaged

if TYPE_CHECKING:
    from vault_mcp.storage.vectors import Embedder, Embedding, Nearness, Vectors
    from vault_mcp.vault import Vault

log = logging.getLogger(__name__)

QUIET = 2.0
"""Seconds after the last settled change before passages are embedded: calls come first."""


class Meaning:
    """The vectors of one vault. Safe to use from several threads."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._lock = threading.RLock()
        self._embedder: Embedder | None = None
        self._vectors: Vectors | None = None
        self._embedding: Embedding | None = None
        self._rev = 0
        self._timer: threading.Timer | None = None
        self._closed = False
        self.problem = ""

    @property
    def on(self) -> bool:
        """Whether vectors are used at all."""
        return self._vault.options.embeddings != "off"

    def notice(self) -> None:
        """Have what is missing embedded after a quiet moment; returns at once."""
        if not self.on or self._closed:
            return
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(QUIET, self._begin)
            self._timer.daemon = True
            self._timer.start()

    def nearness(self, question: str) -> Nearness | None:
        """Say how near each passage is to a question; None while there is nothing to compare with."""
        if not self.on:
            return None
        try:
            with self._lock:
                embedder, vectors = self._loaded()
                self._catch_up(vectors)
                if not len(vectors):
                    return None
            return vectors.nearness(embedder.encode([question])[0])
        except VaultError as error:
            self._trouble(str(error))
            return None

    def likeness(self, one: str, other: str) -> float | None:
        """Give the cosine of two texts; None without vectors."""
        if not self.on:
            return None
        try:
            with self._lock:
                embedder, _ = self._loaded()
            first, second = embedder.encode([one[:2000], other[:2000]])
        except VaultError as error:
            self._trouble(str(error))
            return None
        return float(first.astype("float32") @ second.astype("float32"))

    @property
    def dimensions(self) -> int:
        """Numbers of one vector, 0 before the encoder is loaded or without one."""
        return self._embedder.dimensions if self._embedder else 0

    def state(self) -> dict[str, object]:
        """Say how many texts have vectors, how many wait, and whose vectors they are."""
        with self._vault.snapshot() as reader:
            stored, waiting = reader.count_vectors(), reader.count_unvectored()
            model = reader.vector_model
        told: dict[str, object] = {
            "state": "off" if not self.on else "complete" if not waiting else "in preparation",
            "model": model,
            "stored": stored,
            "waiting": waiting,
        }
        if self.problem:
            told["problem"] = self.problem
        return told

    def close(self) -> None:
        """End the background work."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._embedding is not None:
            self._embedding.stop()

    # -- loading

    def _loaded(self) -> tuple[Embedder, Vectors]:
        if self._embedder is None or self._vectors is None:
            # Measured: numpy and the encoder take 1.1 s of CPU, which a server asked for words never needs.
            from vault_mcp.storage import vectors  # noqa: PLC0415

            options = self._vault.options
            embedder: Embedder = (
                vectors.LocalEndpoint(options.embedding_url, options.embedding_model)
                if options.embedding_url
                else vectors.SentenceEncoder()
            )
            with self._vault.snapshot() as reader:
                known = reader.vector_model
            if known != embedder.model:
                with self._vault.repository.writing(60), self._vault.index.writing() as index:
                    index.words.set_model(embedder.model)
            self._vectors = vectors.Vectors(embedder.dimensions)
            self._embedder, self._rev = embedder, 0
        return self._embedder, self._vectors

    def _catch_up(self, vectors: Vectors) -> None:
        """Take in what was settled and embedded since the last look, by whichever process."""
        with self._vault.snapshot() as reader:
            newest, gone, came = reader.vectors_since(self._rev)
        if newest < self._rev:  # the index was made anew
            self._vectors, self._rev = type(vectors)(self._embedder.dimensions if self._embedder else 0), 0
            self._catch_up(self._vectors)
            return
        for passage in gone:
            vectors.drop(passage)
        damaged = [passage for passage, row in came if not vectors.put(passage, row)]
        self._rev = newest
        if damaged:
            self._trouble(f"{len(damaged)} vectors were damaged and are made anew.")
            with self._vault.repository.writing(60), self._vault.index.writing() as index:
                index.words.drop_vectors(damaged)
            self.notice()

    # -- in the background

    def _begin(self) -> None:
        try:
            with self._vault.snapshot() as reader:
                waiting = reader.count_unvectored()
            if not waiting or self._closed:
                return
            with self._lock:
                embedder, _ = self._loaded()
                if self._embedding is None:
                    from vault_mcp.storage.vectors import Embedding  # noqa: PLC0415 (as in `_loaded`)

                    self._embedding = Embedding(embedder, _Table(self._vault))
                    self._embedding.start()
            self._embedding.notice()
        except (VaultError, IndexDamaged) as error:
            self._trouble(str(error))
        except Exception:
            log.exception("passages could not be embedded")

    def _trouble(self, text: str) -> None:
        self.problem = text
        self._vault.trouble(text)


class _Table:
    """The index as the embedding thread sees it: what waits for vectors, and where they go."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def missing(self, model: str, limit: int) -> Sequence[tuple[bytes, str]]:
        """Give texts that wait for vectors, and forget those that no note holds any more."""
        while True:
            with self._vault.snapshot() as reader:
                rows = reader.unvectored(limit)
            found = [(key, text) for key, text in rows if text is not None]
            gone = [key for key, text in rows if text is None]
            if gone:
                with self._vault.repository.writing(60), self._vault.index.writing() as index:
                    index.words.drop_unvectored(gone)
            if found or not rows:
                return found

    def store(self, model: str, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep a batch of vectors."""
        kept = list(rows)
        with self._vault.repository.writing(60), self._vault.index.writing() as index:
            index.words.store_vectors(kept)

    def waiting(self, model: str) -> int:
        """Count what waits."""
        with self._vault.snapshot() as reader:
            return reader.count_unvectored()
