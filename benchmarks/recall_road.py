"""How well recall finds on the whole road: `vault-mcp import`, a server, `memory_recall` over stdio.

    python -m benchmarks.recall_road DATA [--set NAME] [--conversations N] [--words] [--keep DIR]

DATA is a folder of JSON files as `recall.py` reads them; it stays where it is. Each conversation becomes a
vault: its documents are written as JSON lines, brought in by `vault-mcp import`, and each of its questions
is asked by `memory_recall(limit=10)`, once with vectors (all of them made first) and once with
`--embeddings off`.
Beside that a bare FTS5 table answers the same questions in the same run.

R@k is the share of a question's evidence among the first k results, hit@k whether any is.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.stdio_client import StdioClient
from vault_mcp.notes.analyse import STOP_WORDS

Search = Callable[[str], Sequence[str]]
SERVE = [sys.executable, "-m", "vault_mcp", "serve", "--no-watch", "--vault"]
LONGEST_WAIT = 1800.0


def load(documents: Sequence[Mapping[str, Any]], vault: str) -> float:
    """Bring documents into a new vault by the command; give the seconds it took."""
    lines = [json.dumps(record(number, document)) for number, document in enumerate(documents)]
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "vault_mcp", "import", "-", "--vault", vault],
        input="\n".join(lines).encode(), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return time.perf_counter() - began


def record(number: int, document: Mapping[str, Any]) -> dict[str, object]:
    """Give a document as a line of the import; its tag tells which one it is."""
    said: dict[str, object] = {"text": document["text"], "tags": [f"doc/{number}"]}
    if document.get("session"):
        said["session_id"] = f"session {document['session']}"
    for name, key in (("created", "ts"), ("speaker", "speaker")):
        if document.get(key):
            said[name] = document[key]
    return said


def complete(client: StdioClient) -> None:
    """Wait until every passage is indexed and has its vectors, or none are wanted and all words are in."""
    deadline = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < deadline:
        vectors = client.call("memory_stats", {})["structuredContent"]["vectors"]
        if vectors["state"] == "complete" or (vectors["state"] == "off" and not vectors["unread"]):
            return
        time.sleep(0.5)  # not timed: each look is a call to the server
    raise RuntimeError("the vectors were never complete")


def over_mcp(client: StdioClient, ids: Sequence[str], spent: list[float]) -> Search:
    """Ask `memory_recall` and give the documents its results were made of."""

    def search(question: str) -> list[str]:
        began = time.perf_counter()
        result = client.call("memory_recall", {"query": question, "limit": 10})
        spent.append(time.perf_counter() - began)
        tags = [one["tags"][0] for one in result["structuredContent"]["results"]]
        return [ids[int(tag.removeprefix("doc/"))] for tag in tags]

    return search


def bare(documents: Sequence[Mapping[str, Any]], between: str) -> Search:
    """Ask an FTS5 table with stems and without stop words; `between` has every word or any word hold."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'porter unicode61')")
    db.executemany(
        "INSERT INTO t (rowid, x) VALUES (?, ?)", [(n, d["text"]) for n, d in enumerate(documents)]
    )

    def search(question: str) -> list[str]:
        asked = [word for word in re.findall(r"\w+", question.lower()) if word not in STOP_WORDS]
        query = between.join(f'"{word}"' for word in asked)
        if not query:
            return []
        rows = db.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10", (query,))
        return [documents[number]["id"] for (number,) in rows]

    return search


class Tally:
    """What one system found, question by question."""

    def __init__(self) -> None:
        self.shares: dict[int, list[float]] = defaultdict(list)
        self.hits: list[float] = []
        self.kinds: list[str] = []

    def ask(self, search: Search, query: Mapping[str, Any]) -> None:
        found = search(query["text"])
        evidence = set(query["rel"])
        for k in (5, 10):
            self.shares[k].append(len(set(found[:k]) & evidence) / len(evidence))
        self.hits.append(float(bool(set(found[:5]) & evidence)))
        self.kinds.append(query["cat"])

    def told(self) -> str:
        by_kind: dict[str, list[float]] = defaultdict(list)
        for kind, share in zip(self.kinds, self.shares[10], strict=True):
            by_kind[kind].append(share)
        kinds = "  ".join(f"{kind} {percent(found)}" for kind, found in sorted(by_kind.items()))
        whole = f"{percent(self.shares[5])}  {percent(self.shares[10])}  {percent(self.hits)}"
        return f"{whole}   R@10 by kind: {kinds}"


def percent(found: Sequence[float]) -> str:
    return f"{100 * sum(found) / max(1, len(found)):5.1f}"


def measure(content: Mapping[str, Any], conversations: int, *, words_only: bool, keep: str) -> None:
    tallies: dict[str, Tally] = defaultdict(Tally)
    spent: dict[str, list[float]] = defaultdict(list)
    loaded = 0.0
    count = 0
    modes = {"memory_recall, words": ["--embeddings", "off"], "memory_recall": []}
    for conversation in content["convs"][:conversations]:
        documents = conversation["docs"]
        count += len(documents)
        ids = [document["id"] for document in documents]
        with tempfile.TemporaryDirectory() as folder:
            vault = os.path.join(keep or folder, content["name"], str(conversation["id"]))
            if not os.path.exists(vault):
                loaded += load(documents, vault)
            systems = {
                "FTS5, every word": bare(documents, " "),
                "FTS5, any word": bare(documents, " OR "),
            }
            for name, search in systems.items():
                for query in conversation["queries"]:
                    tallies[name].ask(search, query)
            for name, flags in modes.items():
                if words_only and not flags:
                    continue
                with StdioClient([*SERVE, vault, *flags]) as client:
                    complete(client)
                    search = over_mcp(client, ids, spent[name])
                    for query in conversation["queries"]:
                        tallies[name].ask(search, query)
    asked = len(next(iter(tallies.values())).hits)
    print(f"\n{content['name']}: {count} documents (import {loaded:.1f} s), {asked} questions")
    print(f"  {'':24}  R@5   R@10  hit@5")
    for name, tally in tallies.items():
        each = sorted(spent[name])
        took = f"; median {1000 * each[len(each) // 2]:.1f} ms" if each else ""
        print(f"  {name:24} {tally.told()}{took}")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("data")
    parser.add_argument("--set", default="", help="only the sets whose name holds this")
    parser.add_argument("--conversations", type=int, default=100, help="only the first ones of each set")
    parser.add_argument("--words", action="store_true", help="only without vectors")
    parser.add_argument("--keep", default="", help="a folder where the vaults stay, for the next run")
    options = parser.parse_args()
    for path in sorted(glob.glob(os.path.join(options.data, "*.json"))):
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        if options.set in content["name"]:
            measure(content, options.conversations, words_only=options.words, keep=options.keep)


if __name__ == "__main__":
    main()
