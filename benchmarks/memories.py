"""What recall and remember cost, beside the least that either can.

    python -m benchmarks.memories [--notes 10000 100000] [--rounds N] [--no-remember]

Recall is called in the process, on a vault whose texts and vectors are made up (words by Zipf's law, sessions
of fifty), in turns with a bare FTS5 query for any word over the same texts and with the encoding of the
question. Times are of CPU, so that what else the machine does falls out. Remember is called over stdio, in
turns with `vault.change()` in this process that adds a note of the same kind to the same folder of a copy,
and with an empty call of the SDK.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.files import EMPTY
from benchmarks.stdio_client import StdioClient
from vault_mcp.adopt import adopt
from vault_mcp.notes.analyse import STOP_WORDS
from vault_mcp.notes.memory import new_memory
from vault_mcp.notes.names import shard
from vault_mcp.notes.note import read_note
from vault_mcp.notes.transcript import MemoryRecord, Transcript
from vault_mcp.storage import files
from vault_mcp.storage.git.writer import blob_id
from vault_mcp.storage.vectors import SentenceEncoder
from vault_mcp.tools.memories.importing import import_memories
from vault_mcp.tools.memories.recalling import memory_recall
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Options, Vault

CALLER = Caller("bench")
BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
LATIN = "".join(map(chr, range(ord("a"), ord("z") + 1)))


def vocabulary(count: int = 20_000) -> list[str]:
    """Make up words; the first ones are the commonest."""
    rng = random.Random(1)
    made: dict[str, None] = {}
    while len(made) < count:
        made["".join(rng.choices(LATIN, k=rng.randint(3, 9)))] = None
    return list(made)


class Texts:
    """Texts and questions of made-up words, as common as words are."""

    def __init__(self) -> None:
        self._rng = random.Random(2)
        self._words = vocabulary()
        self._weights = [1 / rank for rank in range(5, len(self._words) + 5)]

    def of(self, count: int, least: int, most: int) -> list[str]:
        """Give texts of so many words each."""
        lengths = [self._rng.randint(least, most) for _ in range(count)]
        drawn = iter(self._rng.choices(self._words, self._weights, k=sum(lengths)))
        return [" ".join(next(drawn) for _ in range(length)) + "." for length in lengths]


def make_recall_vault(root: Path, texts: Sequence[str]) -> Vault:
    """Make a vault that is asked only: its notes lie on disk and in the index, and are in no commit."""
    adopt(str(root))
    vault = Vault.open(str(root), Options(), follow=False)
    vault._follower._readable.set()
    vault._follower._compared.set()
    with vault.index.writing() as index:
        for number, text in enumerate(texts):
            at = BEGIN + timedelta(minutes=number)
            path = f"memories/{number // 500:04}/{number}.md"
            said = new_memory(
                text, type="episodic", id=int(f"{at:%Y%m%d%H%M%S}01"), importance=5,
                session=f"session {number // 50}", tags=(), created=f"{at:%Y-%m-%dT%H:%M:%SZ}", agent="bench",
            )  # fmt: skip
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(said)
            stat = files.stat(str(root), path)
            assert stat is not None
            index.put_file(path, blob_id(said.encode()), stat, read_note(path, said))
        index.set_head(vault.repository.head())
    while True:
        with vault.index.writing() as index:
            if not index.words.settle_words(5000):
                break
    encoder = SentenceEncoder()
    rng = np.random.default_rng(0)
    with vault.index.writing() as index:
        index.settle()
        index.words.set_model(encoder.model)
        keys = [
            row[0]
            for row in index.words._db.execute(
                "SELECT DISTINCT key FROM unvectored JOIN word_units USING (id)"
            )
        ]
        rows = rng.standard_normal((len(keys), encoder.dimensions), dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        index.words.store_vectors(encoder.model, zip(keys, map(_bytes, rows), strict=True))
    return vault


def _bytes(row: np.ndarray[tuple[int], np.dtype[np.float32]]) -> bytes:
    return row.astype(np.float16).tobytes()


def bare_table(folder: Path, texts: Sequence[str]) -> sqlite3.Connection:
    """Put the texts into an FTS5 table on disk, and nothing else."""
    db = sqlite3.connect(folder / "bare.sqlite")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'porter unicode61')")
    db.executemany("INSERT INTO t VALUES (?)", [(text,) for text in texts])
    db.commit()
    return db


def rows_of(db: sqlite3.Connection, sql: str, asked: str) -> list[object]:
    """Give all that a query finds."""
    return db.execute(sql, (asked,)).fetchall()


def spent(call: Callable[[], object]) -> float:
    """Give the milliseconds of CPU that a call takes."""
    began = time.process_time()
    call()
    return (time.process_time() - began) * 1000


def recall_times(folder: Path, count: int, rounds: int) -> tuple[float, float, float]:
    """Give the medians of recall, of a bare query and of the encoding, in ms."""
    made = Texts()
    texts = made.of(count, 8, 40)
    vault = make_recall_vault(folder / "vault", texts)
    db = bare_table(folder, texts)
    encoder = SentenceEncoder()
    times: list[tuple[float, float, float]] = []
    for question in made.of(rounds, 5, 10):
        asked = " OR ".join(f'"{word}"' for word in question[:-1].split() if word not in STOP_WORDS)
        sql = "SELECT rowid, x, rank FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10"
        times.append(
            (
                spent(partial(memory_recall, vault, CALLER, question, limit=10)),
                spent(partial(rows_of, db, sql, asked)),
                spent(partial(encoder.encode, [question])),
            )
        )
    vault.close()
    recall, bare, encoding = (statistics.median(column) for column in zip(*times[5:], strict=True))
    return recall, bare, encoding


def remember_times(folder: Path, count: int, rounds: int) -> tuple[float, float, float]:
    """Give the medians of memory_remember over stdio, of a change that adds a note, and of an empty call."""
    made = Texts()
    root, copy = folder / "vault", folder / "copy"
    adopt(str(root))
    vault = Vault.open(str(root), Options(embeddings="off"))
    records = [MemoryRecord(n, text, f"session {n // 50}") for n, text in enumerate(made.of(count, 8, 40), 1)]
    import_memories(vault, Transcript(tuple(records)), by="bench", source="bench")
    wait_for_rest(vault)
    vault.close()
    for command in (["config", "gc.auto", "0"], ["repack", "-adq"], ["prune-packed", "-q"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    shutil.copytree(root, copy)
    beside = Vault.open(str(copy), Options(embeddings="off"))
    wait_for_rest(beside)
    times: list[tuple[float, float, float]] = []
    serve = [sys.executable, "-m", "vault_mcp", "serve", "--vault", str(root)]
    with StdioClient([sys.executable, "-c", EMPTY]) as bare, StdioClient(serve) as ours:
        for number, text in enumerate(made.of(rounds, 8, 40)):
            arguments = {"text": text, "session_id": "bench"}
            times.append(
                (
                    ours.timed("memory_remember", arguments),
                    added_note(beside, number, text),
                    bare.timed("nothing", {}),
                )
            )
    beside.close()
    remember, change, empty = (statistics.median(column) for column in zip(*times[5:], strict=True))
    return remember, change, empty


def wait_for_rest(vault: Vault) -> None:
    """Wait until the background has nothing left to do."""
    while True:
        with vault.reading() as reader:
            if reader.unworded() == 0 and vault.index.history_head == vault.index.head:
                return
        time.sleep(0.1)  # not timed: waits for the background work to end


def added_note(vault: Vault, number: int, text: str) -> float:
    """Add a note of the same kind by `vault.change()` and nothing else; give the milliseconds it took."""
    began = time.perf_counter()
    with vault.change("bench", by="bench", session="bench", subject=str(number)) as change:
        said = new_memory(
            text, type="episodic", id=9000000000000000 + number, importance=5, session="bench", tags=(),
            created=change.at, agent="bench",
        )  # fmt: skip
        folder = (
            f"memories/{change.at[:4]}/{change.at[5:7]}/{shard(str(number))}"  # where a full month goes on
        )
        change.write(f"{folder}/{change.at[:10]} {number}.md", said)
    return (time.perf_counter() - began) * 1000


def places() -> Iterator[Path]:
    """Give a folder in memory, where there is one, and remove it."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None, prefix="memories-") as name:
        yield Path(name)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What recall and remember cost.")
    parser.add_argument("--notes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--no-remember", action="store_true")
    chosen = parser.parse_args()
    first = 0.0
    for count in chosen.notes:
        for folder in places():
            recall, bare, encoding = recall_times(folder, count, chosen.rounds)
            first = first or recall
            print(
                f"recall at {count}: {recall:.1f} ms of CPU; FTS5 {bare:.1f} + encoding {encoding:.1f}:"
                f" {recall / (bare + encoding):.2f}x (at most 3);"
                f" {recall / first:.2f}x the first (at most 6)",
                flush=True,
            )
    if not chosen.no_remember:
        for folder in places():
            remember, change, empty = remember_times(folder, min(chosen.notes), chosen.rounds)
            print(
                f"remember at {min(chosen.notes)}: {remember:.2f} ms; change {change:.2f} + empty call"
                f" {empty:.2f}: {remember / (change + empty):.2f}x (at most 1.2)"
            )


if __name__ == "__main__":
    main()
