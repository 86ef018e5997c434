"""What grows with the vault: first index, start, every call, memory, disk, at 1,000 to 100,000 notes.

    python -m benchmarks.scale [--notes 1000 10000 100000] [--rounds 30] [--only first calls vectors watch]

The vaults are those of benchmarks.made_vault, with 10, 1,000 and 50,000 commits beside the import.

- first: the notes taken in from nothing, in CPU seconds of the process, without vectors: until calls are
  answered, until the past is read, until the words are; beside a bare read of the same files. Disk: the index
  beside the notes.
- calls: a server for each vault with a warm index, all asked in turns over stdio; medians, and the ratio to
  the smallest. Start is from the start of the process to the answer of its first tool call. Memory is the
  resident set after all calls.
- vectors: vaults of short memories (one passage a note) with made-up vectors: recall by meaning, memory.
- watch: up to 5,000 files changed by hand at once, until all are in one commit and can be found.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.made_vault import RARE, MadeVault, make_notes, make_vault
from benchmarks.memories import wait_for_rest
from benchmarks.stdio_client import StdioClient
from vault_mcp.storage.git.repository import STATE
from vault_mcp.vault import Options, Vault

COMMITS = {1_000: 10, 10_000: 1_000, 100_000: 50_000}
CHANGED = 5_000
SERVE = [sys.executable, "-m", "vault_mcp", "serve"]
# Ratio to the smallest vault at most, by kind of call.
TARGETS = {"start": 1.5, "point": 3.0, "page": 3.0, "ranked": 10.0, "write": 0.0, "whole": 0.0}

Call = tuple[str, str, str, Mapping[str, object]]
"""Kind, label, tool, arguments."""


def calls_of(made: MadeVault, turn: int) -> list[Call]:
    """Give the calls of one turn."""

    def one(of: Sequence[object]) -> object:
        return of[(turn * 7919 + 13) % len(of)]

    name, path = str(one(made.entities)), str(one(made.entity_paths))
    added = {"entityName": name, "contents": [f"a new fact of turn {turn} at {time.time()}"]}
    return [
        ("point", "open_nodes", "open_nodes", {"names": [name]}),
        ("point", "memory_view, a note", "memory_view", {"path": path}),
        ("point", "read_memory", "read_memory", {"key": one(made.keys)}),
        ("point", "history_blame", "history_blame", {"note": path}),
        ("point", "history_log, a note", "history_log", {"note": path}),
        ("page", "read_graph", "read_graph", {}),
        ("page", "history_log", "history_log", {}),
        ("page", "list_memory_keys", "list_memory_keys", {"limit": 20}),
        ("page", "memory_list_sessions", "memory_list_sessions", {"limit": 20}),
        ("page", "memory_view, a folder", "memory_view", {"path": "entities"}),
        (
            "page",
            "memory_explore_hierarchy",
            "memory_explore_hierarchy",
            {"concept_id": name, "direction": "down"},
        ),
        ("ranked", "search_nodes, one hit", "search_nodes", {"query": RARE}),
        ("ranked", "search_nodes, many hits", "search_nodes", {"query": made.word}),
        ("ranked", "search_memory", "search_memory", {"query": made.word}),
        ("ranked", "memory_recall, by words", "memory_recall", {"query": f"{made.word} {RARE} {name}"}),
        ("whole", "memory_stats", "memory_stats", {}),
        ("whole", "export_taxonomy", "export_taxonomy", {}),
        ("write", "add_observations", "add_observations", {"observations": [added]}),
        ("write", "write_memory", "write_memory", {"key": one(made.keys), "value": f"{time.time()}"}),
        (
            "write",
            "memory_remember",
            "memory_remember",
            {"text": f"Turn {turn} is a memory.", "session_id": "bench"},
        ),
    ]


def resident(process: int, field: str = "VmRSS") -> float:
    """Give the megabytes that a process has in memory, or with `VmHWM` had at most."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) / 1024


def note_files(root: Path) -> list[Path]:
    """Give every note."""
    return [path for path in root.rglob("*.md") if ".git" not in path.parts]


def made_at(root: Path, size: int, commits: int, *, memories: bool = False) -> MadeVault:
    """Make a vault, unless it is there from an earlier run."""
    if root.exists():
        return make_notes(size, memories=memories)[1]
    return make_vault(root, size, commits, memories=memories)


# -- first


def first(root: Path) -> dict[str, float]:
    """Index a vault from nothing, in this process."""
    shutil.rmtree(root / ".git" / STATE, ignore_errors=True)
    began = time.process_time()
    size = 0
    paths = note_files(root)
    read = time.process_time()
    for path in paths:
        with open(path, "rb") as file:
            size += len(file.read())
    bare = time.process_time() - read
    marks = {"notes": float(len(paths)), "bytes": float(size), "bare": bare}
    began, clock = time.process_time(), time.perf_counter()
    vault = Vault.open(str(root), Options(embeddings="off", index_wait=3600))
    vault.wait_until_compared(3600)
    marks["files"] = time.process_time() - began
    while vault.index.history_head != vault.repository.head():
        time.sleep(0.05)  # what is measured is processor time, which a sleep does not use
    marks["past"] = time.process_time() - began
    wait_for_rest(vault)
    marks["words"] = time.process_time() - began
    marks["clock"] = time.perf_counter() - clock
    marks["memory"] = resident(os.getpid())
    vault.close()
    marks["git"] = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    marks["most"] = resident(os.getpid(), "VmHWM")
    marks["index"] = sum(path.stat().st_size for path in (root / ".git" / STATE).glob("index-*"))
    return marks


def in_a_child(step: str, root: Path, *more: str) -> dict[str, float]:
    """Run a step in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "--step", step, "--root", str(root), *more]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, float] = json.loads(told.splitlines()[-1])
    return found


def report_first(root: Path) -> None:
    """Index a vault and print what it took."""
    m = in_a_child("first", root)
    notes = m["notes"]
    print(
        f"{notes:>9,.0f} notes  files {notes / m['files']:6,.0f} notes/s/core ({m['files'] / m['bare']:.0f}x "
        f"a bare read), with the past {notes / m['past']:6,.0f}, with words {notes / m['words']:6,.0f}; "
        f"{m['clock']:.0f} s in all, and {m['git']:.0f} s of Git's own on the other core; "
        f"memory {m['memory']:.0f} MB, {m['most']:.0f} at most; index {m['index'] / m['bytes']:.1f}x the "
        f"notes' {m['bytes'] / 1e6:.1f} MB",
        flush=True,
    )


# -- calls


def starts(roots: Mapping[int, Path], made: Mapping[int, MadeVault], runs: int) -> dict[int, float]:
    """Give the median seconds from a process's start to its first tool answer."""
    times: dict[int, list[float]] = {size: [] for size in roots}
    for run in range(runs + 1):
        for size, root in roots.items():
            began = time.perf_counter()
            with StdioClient([*SERVE, "--vault", str(root), "--embeddings", "off"]) as client:
                client.call("open_nodes", {"names": [made[size].entities[run]]})
                times[size].append(time.perf_counter() - began)
    return {size: statistics.median(values[1:]) for size, values in times.items()}


def calls(roots: Mapping[int, Path], made: Mapping[int, MadeVault], rounds: int) -> bool:
    """Ask all servers in turns; print medians and ratios; say whether every target was met."""
    smallest = min(roots)
    begun = starts(roots, made, 7)
    rows: list[tuple[str, str, dict[int, float]]] = [
        ("start", "start to first answer", {size: 1000 * value for size, value in begun.items()})
    ]
    clients = {
        size: StdioClient([*SERVE, "--vault", str(root), "--embeddings", "off"])
        for size, root in roots.items()
    }
    for client in clients.values():
        client.call("memory_stats", {})
    time.sleep(5 + max(roots) / 20_000)  # what a start does in the background ends first
    times: dict[tuple[str, str], dict[int, list[float]]] = {}
    for turn in range(rounds):
        asked = {size: calls_of(made[size], turn) for size in clients}
        for step, (kind, label, _, _) in enumerate(asked[smallest]):
            for size, client in clients.items():
                tool, arguments = asked[size][step][2:]
                taken = client.timed(tool, arguments)
                times.setdefault((kind, label), {}).setdefault(size, []).append(taken)
    memory = {size: resident(client.pid) for size, client in clients.items()}
    for client in clients.values():
        client.close()
    for (kind, label), by_size in times.items():
        rows.append((kind, label, {size: statistics.median(taken) for size, taken in by_size.items()}))
    met = True
    for kind, label, medians in rows:
        cells = "  ".join(f"{medians[size]:9.2f}" for size in sorted(roots))
        ratio, most = medians[max(roots)] / medians[smallest], TARGETS[kind]
        missed = bool(most) and ratio > most
        met &= not missed
        promise = f"  (at most {most:g}{', MISSED' if missed else ''})" if most else ""
        print(f"  {kind:7} {label:28} {cells}  ms  {ratio:6.2f}x{promise}", flush=True)
    print(f"  memory  {'':28} " + "  ".join(f"{memory[size]:9.0f}" for size in sorted(roots)) + "  MB")
    return met


# -- vectors


def fill_vectors(root: Path) -> dict[str, float]:
    """Index a vault and give every passage a made-up vector, in this process."""
    import numpy as np  # noqa: PLC0415 (only this step needs it)

    from vault_mcp.storage.vectors import SentenceEncoder  # noqa: PLC0415 (as above)

    vault = Vault.open(str(root), Options(embeddings="off", index_wait=3600))
    vault.wait_until_compared(3600)
    wait_for_rest(vault)
    encoder, rng = SentenceEncoder(), np.random.default_rng(0)
    with vault.index.writing() as index:
        index.words.set_model(encoder.model)
        keys = [
            row[0]
            for row in index.words._db.execute(
                "SELECT DISTINCT key FROM unvectored JOIN word_units USING (id)"
            )
        ]
        for start in range(0, len(keys), 5_000):
            some = keys[start : start + 5_000]
            vectors = rng.standard_normal((len(some), encoder.dimensions), dtype=np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            rows = [row.astype(np.float16).tobytes() for row in vectors]
            index.words.store_vectors(encoder.model, zip(some, rows, strict=True))
    vault.close()
    return {"passages": float(len(keys))}


def vectors(roots: Mapping[int, Path], made: Mapping[int, MadeVault], rounds: int) -> bool:
    """Recall by meaning, in turns; print medians, ratio and memory; say whether the targets were met."""
    clients = {size: StdioClient([*SERVE, "--vault", str(root)]) for size, root in roots.items()}
    times: dict[int, list[float]] = {size: [] for size in roots}
    for turn in range(rounds + 3):
        for size, client in clients.items():
            _, few = make_notes(40)
            query = f"{few.word} of the {turn}th session about {made[size].word}"
            times[size].append(client.timed("memory_recall", {"query": query}))
    memory = {size: resident(client.pid) for size, client in clients.items()}
    for client in clients.values():
        client.close()
    medians = {size: statistics.median(taken[3:]) for size, taken in times.items()}
    ratio = medians[max(roots)] / medians[min(roots)]
    cells = "  ".join(f"{medians[size]:9.2f}" for size in sorted(roots))
    print(f"  ranked  {'memory_recall, by meaning':28} {cells}  ms  {ratio:6.2f}x  (at most 10)")
    print(
        f"  memory  {'one passage a note':28} "
        + "  ".join(f"{memory[size]:9.0f}" for size in sorted(roots))
        + "  MB  (at most 450)",
        flush=True,
    )
    return ratio <= TARGETS["ranked"] and max(memory.values()) <= 450


# -- watch


def watch(root: Path) -> dict[str, float]:
    """Change many files at once beside a server; give the seconds until they are in history and found."""
    paths = note_files(root)[:CHANGED]
    before = _commits(root)
    with StdioClient([*SERVE, "--vault", str(root), "--embeddings", "off"]) as client:
        client.call("memory_stats", {})
        time.sleep(5 + len(paths) / 1_000)
        began = time.perf_counter()
        for number, path in enumerate(paths, 1):
            with open(path, "a", encoding="utf-8") as file:
                file.write(f"\nquuxword{number} typed by hand\n")
        written = time.perf_counter() - began
        last = {"query": f"quuxword{len(paths)}"}
        while not client.call("search_nodes", last)["structuredContent"]["entities"]:
            time.sleep(0.1)
        found = time.perf_counter() - began
        while _dirty(root):
            time.sleep(0.1)
        committed = time.perf_counter() - began
    made = _commits(root) - before
    return {
        "files": float(len(paths)),
        "written": written,
        "committed": committed,
        "found": found,
        "made": made,
    }


def _dirty(root: Path) -> bool:
    asked = ["git", "--no-optional-locks", "status", "--porcelain"]
    return bool(subprocess.run(asked, cwd=root, check=True, capture_output=True).stdout)


def _commits(root: Path) -> float:
    told = subprocess.run(
        ["git", "rev-list", "--count", "HEAD"], cwd=root, check=True, capture_output=True, text=True
    )
    return float(told.stdout)


# -- all of it


def main() -> int:
    """Measure and print; say by the exit code whether every target was met."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--only", nargs="+", default=["first", "calls", "vectors", "watch"])
    parser.add_argument("--where", help="a folder for the vaults, which are removed afterwards")
    parser.add_argument("--keep", type=Path, help="a folder for the vaults, which stay and are used again")
    parser.add_argument("--step", choices=["first", "vectors", "watch"], help=argparse.SUPPRESS)
    parser.add_argument("--root", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.step:
        steps: dict[str, Callable[[Path], dict[str, float]]] = {
            "first": first, "vectors": fill_vectors, "watch": watch,
        }  # fmt: skip
        print(json.dumps(steps[chosen.step](chosen.root)))
        return 0
    met = True
    with tempfile.TemporaryDirectory(dir=chosen.where, prefix="scale-") as name:
        where = chosen.keep or Path(name)
        if {"first", "calls", "watch"} & set(chosen.only):
            roots = {size: where / str(size) for size in chosen.notes}
            made = {size: made_at(root, size, COMMITS.get(size, size // 10)) for size, root in roots.items()}
            if "first" in chosen.only:
                for root in roots.values():
                    report_first(root)
            if "calls" in chosen.only:
                met &= calls(roots, made, chosen.rounds)
            if "watch" in chosen.only:
                for size, root in roots.items():
                    m = in_a_child("watch", root)
                    print(
                        f"{size:>9,} notes  {m['files']:,.0f} files changed by hand in {m['written']:.1f} s: "
                        f"the last found after {m['found']:.1f} s, all in {m['made']:.0f} commit(s) after "
                        f"{m['committed']:.1f} s",
                        flush=True,
                    )
        if "vectors" in chosen.only:
            roots = {size: where / f"m{size}" for size in chosen.notes}
            made = {size: made_at(root, size, 10, memories=True) for size, root in roots.items()}
            for root in roots.values():
                in_a_child("vectors", root)
            met &= vectors(roots, made, chosen.rounds)
    print("every target met" if met else "a target was missed")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
