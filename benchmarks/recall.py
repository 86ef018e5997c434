"""How well a question finds its evidence: `python benchmarks/recall.py DATA [--set NAME] [--no-vectors]`.

DATA is a folder of ``*.json`` files of one shape: ``{name, convs: [{id, docs: [{id, text, speaker?, ts?,
session?, title?}], queries: [{id, text, cat, rel: [doc ids]}]}]}``. It stays where it is: it is for measuring
only. Four systems answer the same questions in the same run:

- a bare FTS5 table asked as most programs ask it, every word required, and with any word and stop words out;
- the recipe: weighted sums of normalised BM25, neighbours, names, dates and cosine, as first designed;
- the ranking of this project, with and without vectors.

R@k is the share of a question's evidence among the first k answers, hit@k whether any is. Differences come
with the 95 % interval of a paired bootstrap over questions.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import random
import re
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np

from vault_mcp.notes.analyse import STOP_WORDS, words
from vault_mcp.notes.passages import cut, passage_key
from vault_mcp.notes.question import read_question
from vault_mcp.notes.ranking import BY_MEANING, BY_WORDS, Candidate, Weights, rank, rarity, worth_asking
from vault_mcp.storage.vectors import Nearness, SentenceEncoder, Vectors, embed

Search = Callable[[str, int], Sequence[str]]

ANALYSED = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
TABLES = {"passage": ANALYSED, "session": ANALYSED, "bare": "unicode61", "porter": "porter unicode61"}


@dataclass
class Passage:
    id: int
    note: int
    session: str
    text: str
    words: frozenset[str]
    speaker: str
    created: date | None
    before: int | None = None
    after: int | None = None


@dataclass
class Corpus:
    """One conversation, its documents as passages in an index in memory."""

    ids: list[str]
    passages: list[Passage]
    db: sqlite3.Connection
    vectors: Vectors
    parts: dict[int, int] = field(default_factory=lambda: defaultdict(int))


class Encoder:
    """The sentence encoder with what it made kept on disk, since only the first run should wait for it."""

    def __init__(self, cache: str | None) -> None:
        self._encoder = SentenceEncoder()
        self._cache = cache
        self._rows: dict[bytes, bytes] = {}
        if cache and os.path.exists(cache):
            with np.load(cache, allow_pickle=False) as kept:
                for key in kept.files:
                    self._rows[bytes.fromhex(key)] = kept[key].tobytes()

    def rows(self, texts: Sequence[str]) -> list[bytes]:
        new = sorted({text for text in texts if passage_key(text) not in self._rows}, key=len)
        for start in range(0, len(new), 64):
            batch = new[start : start + 64]
            self._rows.update(zip(map(passage_key, batch), embed(self._encoder, batch), strict=True))
        return [self._rows[passage_key(text)] for text in texts]

    def save(self) -> None:
        if self._cache:
            kept: dict[str, Any] = {
                key.hex(): np.frombuffer(row, np.float16) for key, row in self._rows.items()
            }
            np.savez(self._cache, **kept)


def build(conversation: dict[str, Any], encoder: Encoder) -> Corpus:
    passages: list[Passage] = []
    last: dict[str, Passage] = {}
    ids = [document["id"] for document in conversation["docs"]]
    for note, document in enumerate(conversation["docs"]):
        session = f"session {document['session']}" if document.get("session") else ""
        made = document.get("ts")
        speaker = document.get("speaker") or ""
        beside = frozenset(words(f"{speaker} {(document.get('title') or '').replace('_', ' ')}"))
        for part in cut(document["text"].split("\n"), 0):
            passage = Passage(
                len(passages), note, session, part.text, beside | frozenset(words(part.text)), speaker,
                date.fromisoformat(made[:10]) if made else None,
            )  # fmt: skip
            line = session or f"note {note}"
            if line in last:
                last[line].after, passage.before = passage.id, last[line].id
            last[line] = passage
            passages.append(passage)
    db = sqlite3.connect(":memory:")
    for table, tokenizer in TABLES.items():
        db.execute(f'CREATE VIRTUAL TABLE {table} USING fts5(words, tokenize = "{tokenizer}")')
    told: dict[str, list[str]] = defaultdict(list)
    corpus = Corpus(ids, passages, db, Vectors(512))
    for passage in passages:
        document = conversation["docs"][passage.note]
        prefix = f"{passage.speaker} {(document.get('title') or '').replace('_', ' ')}".strip()
        analysed = " ".join([*words(prefix), *words(passage.text)])
        told[passage.session or f"note {passage.note}"].append(analysed)
        db.execute("INSERT INTO passage (rowid, words) VALUES (?, ?)", (passage.id, analysed))
        corpus.parts[passage.note] += 1
    for note, document in enumerate(conversation["docs"]):
        db.execute("INSERT INTO bare (rowid, words) VALUES (?, ?)", (note, document["text"]))
        db.execute("INSERT INTO porter (rowid, words) VALUES (?, ?)", (note, document["text"]))
    db.execute("CREATE TABLE session_name (id INTEGER PRIMARY KEY, name TEXT)")
    for number, (name, parts) in enumerate(told.items()):
        db.execute("INSERT INTO session (rowid, words) VALUES (?, ?)", (number, " ".join(parts)))
        db.execute("INSERT INTO session_name VALUES (?, ?)", (number, name))
    for passage, row in zip(passages, encoder.rows([p.text for p in passages]), strict=True):
        corpus.vectors.put(passage.id, row)
    return corpus


def any_of(asked: Sequence[str]) -> str:
    return " OR ".join(f'"{term}"' for term in asked)


def bare_and(corpus: Corpus) -> Search:
    def search(question: str, limit: int) -> list[str]:
        asked = " ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        rows = corpus.db.execute(
            "SELECT rowid FROM bare WHERE bare MATCH ? ORDER BY rank LIMIT ?", (asked, limit)
        )
        return [corpus.ids[note] for (note,) in rows]

    return search


def porter_or(corpus: Corpus) -> Search:
    def search(question: str, limit: int) -> list[str]:
        asked = any_of([word for word in re.findall(r"\w+", question.lower()) if word not in STOP_WORDS])
        if not asked:
            return []
        rows = corpus.db.execute(
            "SELECT rowid FROM porter WHERE porter MATCH ? ORDER BY rank LIMIT ?", (asked, limit)
        )
        return [corpus.ids[note] for (note,) in rows]

    return search


def scores(db: sqlite3.Connection, table: str, asked: Sequence[str], limit: int) -> dict[int, float]:
    if not asked:
        return {}
    rows = db.execute(
        f"SELECT rowid, -rank FROM {table} WHERE {table} MATCH ? ORDER BY rank LIMIT ?",
        (any_of(asked), limit),
    )
    return dict(rows.fetchall())


def recipe(corpus: Corpus, encoder: Encoder, *, vectors: bool) -> Search:
    """The first design: P + 0.3 N + 0.3 neighbours + 0.2 named + 0.3 date - 0.15 ln(parts) + 0.7 cosine."""

    def search(question: str, limit: int) -> list[str]:
        asked = read_question(question)
        found = scores(corpus.db, "passage", asked.terms, len(corpus.passages))
        best = max(found.values(), default=0.0) or 1.0
        found = {passage: score / best for passage, score in found.items()}
        names = dict(corpus.db.execute("SELECT id, name FROM session_name").fetchall())
        whole = scores(corpus.db, "session", asked.terms, len(names))
        best_whole = max(whole.values(), default=0.0) or 1.0
        whole_by_name = {names[number]: score / best_whole for number, score in whole.items()}
        near = _nearness(corpus, encoder, question) if vectors else None
        total: dict[int, float] = {}
        for p in corpus.passages:
            score = found.get(p.id, 0.0) + 0.3 * whole_by_name.get(p.session or f"note {p.note}", 0.0)
            for side in ("before", "after") if p.session else ():
                first = getattr(p, side)
                if first is not None:
                    score += 0.3 * found.get(first, 0.0)
                    second = getattr(corpus.passages[first], side)
                    score += 0.09 * found.get(second, 0.0) if second is not None else 0.0
            score += 0.2 * bool(p.speaker and asked.names(p.speaker))
            if p.created:
                score += 0.3 * max((d.closeness(p.created) for d in asked.dates), default=0.0)
            score -= 0.15 * np.log(corpus.parts[p.note])
            if near is not None:
                score += 0.7 * ((near.of(p.id) or 0.0) - near.least) / ((near.greatest - near.least) or 1.0)
            total[p.note] = max(total.get(p.note, -9.0), score)
        return [corpus.ids[note] for note in sorted(total, key=lambda note: (-total[note], note))[:limit]]

    return search


def _nearness(corpus: Corpus, encoder: Encoder, question: str) -> Nearness:
    return corpus.vectors.nearness(np.frombuffer(encoder.rows([question])[0], np.float16)[:512])


def ours(corpus: Corpus, encoder: Encoder, *, vectors: bool, weights: Weights) -> Search:
    def search(question: str, limit: int) -> list[str]:
        asked = read_question(question)
        total = len(corpus.passages)
        holding = {term: _holding(corpus.db, term) for term in asked.terms}
        found = scores(corpus.db, "passage", worth_asking(holding, total), BY_WORDS)
        near = _nearness(corpus, encoder, question) if vectors else None
        wanted = set(found) | set(near.top(BY_MEANING) if near else ())
        for _ in range(2):
            for passage in [corpus.passages[number] for number in wanted]:
                wanted |= {beside for beside in (passage.before, passage.after) if beside is not None}
        rarities = {term: rarity(total, count) for term, count in holding.items()}
        candidates = [_candidate(corpus, number, found, near) for number in sorted(wanted)]
        ranked = rank(
            asked, candidates, rarities, limit=limit, weights=weights,
            least=near.least if near else 0.0, greatest=near.greatest if near else 0.0,
        )  # fmt: skip
        return [corpus.ids[one.candidate.note] for one in ranked]

    return search


def _holding(db: sqlite3.Connection, term: str) -> int:
    (count,) = db.execute("SELECT count(*) FROM passage WHERE passage MATCH ?", (f'"{term}"',)).fetchone()
    return int(count)


def _candidate(corpus: Corpus, number: int, found: dict[int, float], near: Nearness | None) -> Candidate:
    p = corpus.passages[number]
    return Candidate(
        id=p.id, note=p.note, group=p.session or p.note, words=p.words, text=p.text,
        before=p.before, after=p.after, bm25=found.get(p.id, 0.0), cosine=near.of(p.id) if near else None,
        people=(p.speaker,) if p.speaker else (), created=p.created, passages=corpus.parts[p.note],
    )  # fmt: skip


def measured(search: Search, queries: Sequence[dict[str, Any]], k: int, *, hit: bool = False) -> list[float]:
    shares = []
    for query in queries:
        top = set(search(query["text"], k))
        evidence = set(query["rel"])
        shares.append(float(bool(top & evidence)) if hit else len(top & evidence) / len(evidence))
    return shares


def bootstrap(differences: Sequence[float], rounds: int = 2000) -> tuple[float, float, float]:
    rng = random.Random(0)
    count = len(differences)
    means = sorted(sum(rng.choices(differences, k=count)) / count for _ in range(rounds))
    mean = sum(differences) / count
    return 100 * mean, 100 * means[int(0.025 * rounds)], 100 * means[int(0.975 * rounds)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("data")
    parser.add_argument("--set", default="", help="only the sets whose name holds this")
    parser.add_argument("--cache", help="an .npz file that keeps the vectors between runs")
    parser.add_argument("--fast", action="store_true", help="only the ranking of this project")
    parser.add_argument(
        "--weight", action="append", default=[], metavar="NAME=NUMBER", help="try another weight"
    )
    options = parser.parse_args()
    weights = Weights(**{name: float(number) for name, number in (w.split("=") for w in options.weight)})
    encoder = Encoder(options.cache)
    for path in sorted(glob.glob(os.path.join(options.data, "*.json"))):
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        if options.set in content["name"]:
            report(content, encoder, weights, fast=options.fast)
    encoder.save()


def report(content: dict[str, Any], encoder: Encoder, weights: Weights, *, fast: bool) -> None:
    k = 5 if content["name"].startswith("xquad") else 10
    results: dict[str, list[float]] = defaultdict(list)
    hits: list[float] = []
    kinds: list[str] = []
    spent = 0.0
    for conversation in content["convs"]:
        corpus = build(conversation, encoder)
        queries = conversation["queries"]
        kinds += [query["cat"] for query in queries]
        encoder.rows([query["text"] for query in queries])
        systems: dict[str, Search] = {
            "FTS5, every word": bare_and(corpus),
            "FTS5, any word, porter": porter_or(corpus),
            "recipe, words": recipe(corpus, encoder, vectors=False),
            "recipe": recipe(corpus, encoder, vectors=True),
            "ours, words": ours(corpus, encoder, vectors=False, weights=weights),
            "ours": ours(corpus, encoder, vectors=True, weights=weights),
        }
        for name, search in systems.items():
            if fast and not name.startswith("ours"):
                continue
            start = time.process_time()
            results[name] += measured(search, queries, k)
            spent += time.process_time() - start if name == "ours" else 0.0
        if "session" in content["name"]:
            hits += measured(systems["ours"], queries, 5, hit=True)
    each = 1000 * spent / len(kinds)
    print(f"\n{content['name']}: R@{k}, {len(kinds)} questions; ours {each:.1f} ms of CPU each")
    for name, shares in results.items():
        by_kind = defaultdict(list)
        for kind, share in zip(kinds, shares, strict=True):
            by_kind[kind].append(share)
        told = "  ".join(f"{kind} {100 * sum(v) / len(v):.1f}" for kind, v in sorted(by_kind.items()))
        print(f"  {name:24} {100 * sum(shares) / len(shares):6.2f}   {told}")
    if hits:
        print(f"  ours, hit@5              {100 * sum(hits) / len(hits):6.2f}")
    if not fast:
        for other in ("recipe", "recipe, words"):
            gain = [a - b for a, b in zip(results["ours"], results[other], strict=True)]
            print("  ours over {}: {:+.2f} [{:+.2f}, {:+.2f}]".format(other, *bootstrap(gain)))


if __name__ == "__main__":
    main()
