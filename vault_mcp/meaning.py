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

from vault_mcp.errors import StorageFailed, VaultError

if TYPE_CHECKING:
    from vault_mcp.storage.vectors import Embedder, Embedding, Nearness, Vectors
    from vault_mcp.vault import Vault

log = logging.getLogger(__name__)

QUIET = 1.0
"""Seconds after the last settled change before passages are embedded: calls come first."""

LONGEST = 2_000
"""Characters of a text that are compared with another."""

PREVIEW = 6
"""Numbers shown of a mean vector."""

LOCK_WAIT = 60.0
"""Seconds that the background waits for the vault's write lock."""


class Meaning:
    """The vectors of one vault. Safe to use from several threads."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._lock = threading.RLock()
        self._embedder: Embedder | None = None
        self._vectors: Vectors | None = None
        self._embedding: Embedding | None = None
        self._mark, self._rev = "", 0
        self._timer: threading.Timer | None = None
        self._timing = threading.Lock()
        self._closed = False
        self.problem = ""

    @property
    def on(self) -> bool:
        """Whether vectors are used at all."""
        return self._vault.options.embeddings != "off"

    def notice(self) -> None:
        """Have what is missing embedded after a quiet moment; returns at once."""
        if not self.on:
            return
        with self._timing:
            if self._closed:
                return
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
                embedder = self._loaded()
                vectors = self._caught_up(embedder)
            if vectors is None or not len(vectors):
                return None
            return vectors.nearness(embedder.encode([question])[0])
        except VaultError as error:
            self._trouble(str(error))
            return None

    def likeness(self, one: str, other: str) -> float | None:
        """Give the cosine of two texts, from -1 to 1; None without vectors."""
        if not self.on:
            return None
        try:
            with self._lock:
                embedder = self._loaded()
            first, second = embedder.encode([one[:LONGEST], other[:LONGEST]])
        except VaultError as error:
            self._trouble(str(error))
            return None
        return float(first.astype("float32") @ second.astype("float32"))

    def mean(self, texts: Sequence[str]) -> list[float]:
        """Give the first numbers of the mean vector of some texts; none without vectors."""
        if not self.on or not texts:
            return []
        try:
            with self._lock:
                embedder = self._loaded()
            rows = embedder.encode([text[:LONGEST] for text in texts]).astype("float32")
        except VaultError as error:
            self._trouble(str(error))
            return []
        return [round(float(number), 6) for number in rows.mean(axis=0)[:PREVIEW]]

    @property
    def dimensions(self) -> int:
        """Numbers of one vector, 0 before the encoder is loaded or without one."""
        return self._embedder.dimensions if self._embedder else 0

    def waiting(self) -> int:
        """Count the texts that wait for vectors; 0 when none are made."""
        if not self.on:
            return 0
        with self._vault.snapshot() as reader:
            return reader.count_unvectored()

    def state(self) -> dict[str, object]:
        """Say how many texts have vectors, how many wait or are not read yet, and whose vectors they are."""
        with self._vault.snapshot() as reader:
            stored, waiting = reader.count_vectors(), reader.count_unvectored()
            unread, model = reader.unworded(), reader.vector_model
        complete = not waiting and not unread
        told: dict[str, object] = {
            "state": "off" if not self.on else "complete" if complete else "in preparation",
            "model": model,
            "stored": stored,
            "waiting": waiting,
            "unread": unread,
        }
        if self.problem:
            told["problem"] = self.problem
        return told

    def close(self) -> None:
        """End the background work; the batch at hand is finished first."""
        with self._timing:
            self._closed = True
            timer = self._timer
        if timer is not None:
            timer.cancel()
            if timer.is_alive() and timer is not threading.current_thread():
                timer.join(timeout=5)
        if self._embedding is not None:
            self._embedding.stop()

    # -- loading

    def _loaded(self) -> Embedder:
        """Give the encoder, loaded; vectors of another one are thrown away."""
        if self._embedder is None:
            # Measured: numpy and the encoder take 1.1 s of CPU, which a server asked for words never needs.
            from vault_mcp.storage import vectors  # noqa: PLC0415

            options = self._vault.options
            embedder: Embedder = (
                vectors.LocalEndpoint(options.embedding_url, options.embedding_model)
                if options.embedding_url
                else vectors.SentenceEncoder()
            )
            self._choose(embedder.model)
            self._vectors = vectors.Vectors(embedder.dimensions)
            self._embedder = embedder
        return self._embedder

    def _choose(self, model: str) -> None:
        with self._vault.snapshot() as reader:
            known = reader.vector_model
        if known != model:
            with self._vault.index_turn(LOCK_WAIT), self._vault.index.writing() as index:
                index.words.set_model(model)

    def _caught_up(self, embedder: Embedder) -> Vectors | None:
        """Give the vectors with what was settled and embedded since the last look, by whichever process.

        None while another server has the vault embedded by another model: the one that came last is right.
        """
        vectors = self._vectors
        assert vectors is not None
        with self._vault.snapshot() as reader:
            news = reader.vectors_since(self._mark, self._rev)
            if news.model not in ("", embedder.model):
                self._trouble(f"Another server uses {news.model} on this vault. Give both the same model.")
                return None
            if news.mark != self._mark:
                vectors = self._vectors = type(vectors)(embedder.dimensions)
            for passage in news.gone:
                vectors.drop(passage)
            damaged = vectors.put_all(news.came)
        if news.model == "":  # the index was made anew, and the model has still to be told
            self._choose(embedder.model)
            self.notice()
        self._mark, self._rev = news.mark, news.newest
        if damaged:
            self._trouble(f"{len(damaged)} vectors were damaged and are made anew.")
            with self._vault.index_turn(LOCK_WAIT), self._vault.index.writing() as index:
                index.words.drop_vectors(damaged)
            self.notice()
        return vectors

    # -- in the background

    def _begin(self) -> None:
        try:
            if self._closed or not self.waiting():
                return
            with self._lock:
                embedder = self._loaded()
                self._caught_up(embedder)
                if self._embedding is None:
                    from vault_mcp.storage.vectors import Embedding  # noqa: PLC0415 (as in `_loaded`)

                    self._embedding = Embedding(embedder, _Table(self._vault))
                    self._embedding.start()
            self._embedding.notice()
        except VaultError as error:
            if not self._closed:
                self._trouble(str(error))
        except Exception:
            log.exception("passages could not be embedded")

    def _trouble(self, text: str) -> None:
        self.problem = text
        self._vault.trouble(text)


class _Table:
    """The index as the embedding thread sees it: what waits for vectors, and where they go.

    Whatever goes wrong with the index ends the work until the next notice, never the thread.
    """

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def missing(self, model: str, limit: int) -> Sequence[tuple[bytes, str]]:
        """Give texts that wait for vectors, and forget those that no note holds any more."""
        try:
            while True:
                with self._vault.snapshot() as reader:
                    if reader.vector_model != model:
                        return ()
                    rows = reader.unvectored(limit)
                found = {key: text for _, key, text in rows if text is not None}
                gone = [unit for unit, _, text in rows if text is None]
                if gone:
                    with self._vault.index_turn(LOCK_WAIT), self._vault.index.writing() as index:
                        index.words.drop_unvectored(gone)
                if found or not rows:
                    return list(found.items())
        except VaultError as error:
            raise StorageFailed(str(error)) from error

    def store(self, model: str, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep a batch of vectors."""
        kept = list(rows)
        try:
            with self._vault.index_turn(LOCK_WAIT), self._vault.index.writing() as index:
                index.words.store_vectors(model, kept)
        except VaultError as error:
            raise StorageFailed(str(error)) from error

    def waiting(self, model: str) -> int:
        """Count what waits."""
        with self._vault.snapshot() as reader:
            return reader.count_unvectored()
