"""The past of a vault with 50,000 commits, beside plain Git: library calls, the door's own cost left out.

    python -m benchmarks.history [--commits 50000] [--notes 10000] [--rounds 50] [--where DIR]

One commit brings the notes, each later one adds a line to one of them. Git has what makes it fast: one pack
and a commit-graph with changed paths. Calls and Git's commands take turns. The fastest of so many calls
counts, in milliseconds, since others may share the machine; and the ratios. No moment is asked about twice.
"""

from __future__ import annotations

import argparse
import functools
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from vault_mcp.adopt import adopt
from vault_mcp.tools.graph import reading
from vault_mcp.tools.history import blame, looking
from vault_mcp.tools.history import reading as past
from vault_mcp.tools.memories import recalling
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Options, Vault

START = 1_900_000_000  # behind the commit that makes the vault, whenever that is
VERSIONS = 10
"""Versions of the note that is looked at."""

ME = Caller("bench")
WORDS = ["apollo", "billing", "cache", "deploy", "editor", "fabric", "gateway", "harbor", "index", "journal"]


def path_of(number: int) -> str:
    """Give where a note lies: 256 folders."""
    return f"entities/{number % 256:02x}/note {number}.md"


def line_of(number: int, version: int) -> str:
    """Give a line that a commit adds."""
    return f"- {WORDS[(number + version) % 10]} fact {version} of note {number}\n"


def make_vault(root: Path, notes: int, commits: int) -> str:
    """Make a vault of so many notes and commits; give the path of a note that has ten versions."""
    adopt(str(root))
    chooser = random.Random(5)
    looked_at = 7
    texts: dict[int, list[str]] = {}
    due = {round((step + 1) * commits / VERSIONS) - 1 for step in range(VERSIONS - 1)}
    command = ["git", "-C", str(root), "fast-import", "--quiet", "--force"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
        assert child.stdin
        write = child.stdin.write
        parent = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip()
        branch = subprocess.run(
            ["git", "-C", str(root), "symbolic-ref", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip()

        def commit(at: int, subject: str, files: list[tuple[str, str]], source: str = "") -> None:
            message = f"{subject}\n\nTool: add_observations\n".encode()
            who = f"agent-{at % 5} <agent-{at % 5}@agent.invalid> {at} +0000"
            write(f"commit {branch}\nauthor {who}\ncommitter {who}\ndata {len(message)}\n".encode() + message)
            write(f"from {source}\n".encode() if source else b"")
            for path, text in files:
                raw = text.encode()
                write(f'M 100644 inline "{path}"\ndata {len(raw)}\n'.encode() + raw + b"\n")

        for number in range(notes):
            head = f"---\nentity: thing\n---\n\n## Observations\n\n- {WORDS[number % 10]} is note {number}\n"
            texts[number] = [head, line_of(number, 0)]
        commit(START, "import", [(path_of(n), "".join(t)) for n, t in texts.items()], parent)
        for step in range(commits):
            number = looked_at if step in due else chooser.randrange(notes)
            if number == looked_at and step not in due:
                number += 1
            texts[number].append(line_of(number, step + 1))
            commit(START + 60 * (step + 1), f"change {step}", [(path_of(number), "".join(texts[number]))])
        child.stdin.close()
    for arguments in (
        ("reset", "-q", "--hard"),
        ("repack", "-adq"),
        ("commit-graph", "write", "--reachable", "--changed-paths"),
    ):
        subprocess.run(["git", "-C", str(root), *arguments], check=True, stderr=subprocess.DEVNULL)
    return path_of(looked_at)


def milliseconds(call: Callable[[], object]) -> float:
    """Time one call."""
    began = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - began)


def fastest(rounds: int, calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Time calls in turns; the fastest of each counts, since others share the machine."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(milliseconds(call))
    return {name: min(values) for name, values in times.items()}


def git(root: Path, *arguments: str) -> Callable[[], object]:
    """Give a call of Git."""
    return lambda: subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=True)


def in_index(vault: Vault, path: str) -> object:
    """Give a note's commits out of the tables alone."""
    with vault.snapshot() as reader:
        return reader.log(50, path=path).rows


def as_of(vault: Vault, path: str, at: int) -> bytes:
    """Give a note's bytes as of a second, from the tables and the object store alone."""
    with vault.snapshot() as reader:
        commit, lineage = reader.commit_at(at, int(time.time())), reader.lineage_at(path)
        assert commit is not None
        assert lineage is not None
        blob = reader.place(lineage, commit.seq).blob
    assert blob is not None
    return vault.repository.blob(blob)


def moment_before(commits: int, back: int) -> str:
    """Give the moment of the commit so many before the last."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(START + 60 * (commits - back)))


def ask_next(call: Callable[[str], object], backs: Iterator[int], commits: int) -> None:
    """Ask about the next moment of some."""
    call(moment_before(commits, next(backs)))


def built(vault: Vault) -> None:
    """Wait for the timeline, at which the background work is since the first question."""
    while not vault.timekeeping.in_step:
        time.sleep(0.05)  # the build goes on meanwhile; to look more often would slow it


def measure(root: Path, path: str, commits: int, rounds: int) -> list[tuple[str, float, float, str]]:
    """Measure everything; give (what, its milliseconds, what it is held against, the promise)."""
    vault = Vault.open(str(root), Options(embeddings="off", index_wait=3600))
    rows: list[tuple[str, float, float, str]] = []
    try:
        vault.wait_until_compared(3600)
        walk = milliseconds(git(root, "log", "--first-parent", "--raw", "--no-abbrev", "--no-renames"))
        vault.read_past()
        with vault.index.writing() as writer:
            writer.reset_history()
        rows.append(("tables rebuilt / one git log --raw", milliseconds(vault.read_past), walk, "one pass"))
        middle = START + 60 * commits // 2
        with vault.remembering() as reader:
            there = reader.commit_at(middle, int(time.time()))
            lineage = reader.lineage_at(path)
            assert there is not None
            assert lineage is not None
            rows.append(
                (
                    "commit at a time",
                    fastest(rounds, {"a": lambda: reader.commit_at(middle, int(time.time()))})["a"],
                    0,
                    "0.1 ms",
                )
            )
        sha = there.sha
        few = max(3, rounds // 10)
        pairs: list[tuple[str, Callable[[], object], Callable[[], object], str]] = [
            (
                "history of a note, index / git log -- path",
                lambda: in_index(vault, path),
                git(root, "log", "--format=%H", "--", path),
                "1 ms, 50x",
            ),
            (
                "history_log of a note / git log -- path",
                lambda: looking.history_log(vault, ME, note=path),
                git(root, "log", "--format=%H", "--", path),
                "",
            ),
            (
                "note as of a moment / git show",
                lambda: as_of(vault, path, middle),
                git(root, "show", f"{sha}:{path}"),
                "20x",
            ),
            (
                "history_read / git show",
                lambda: past.history_read(vault, ME, path, sha),
                git(root, "show", f"{sha}:{path}"),
                "",
            ),
            (
                f"blame, {VERSIONS} versions / git blame",
                lambda: blame.history_blame(vault, ME, path),
                git(root, "blame", "--", path),
                "50x",
            ),
        ]
        for name, ours, theirs, promise in pairs:
            mine = fastest(rounds, {"a": ours})["a"]
            rows.append((name, mine, fastest(few, {"b": theirs})["b"], promise))
        calls: dict[str, Callable[[str], object]] = {
            "read_graph": lambda as_of: reading.read_graph(vault, ME, as_of=as_of),
            "search_nodes": lambda as_of: reading.search_nodes(vault, ME, "harbor", as_of=as_of),
            "memory_recall": lambda as_of: recalling.memory_recall(vault, ME, "harbor fact 7", as_of=as_of),
        }
        backs = (100, commits // 10, commits // 2)
        for back in backs:
            # Nobody has asked about the past of this vault yet: an index is made of the moment.
            first = milliseconds(functools.partial(calls["search_nodes"], moment_before(commits, back)))
            rows.append((f"search_nodes as_of {back} changes ago, no timeline yet", first, 0, ""))
        rows.append(("the timeline built / one git log --raw", milliseconds(lambda: built(vault)), walk, ""))
        for name, call in calls.items():
            for back in backs:
                moments = iter(range(back, back + rounds))  # each is asked about for the first time
                both = fastest(
                    rounds,
                    {
                        "then": functools.partial(ask_next, call, moments, commits),
                        "now": functools.partial(call, ""),
                    },
                )
                rows.append(
                    (f"{name} as_of {back} changes ago, first", both["then"], both["now"], "5x of now")
                )
    finally:
        vault.close()
    return rows


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--commits", type=int, default=50_000)
    options.add_argument("--notes", type=int, default=10_000)
    options.add_argument("--rounds", type=int, default=50)
    options.add_argument("--where", help="a folder for the vault, which is removed afterwards")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=given.where) as folder:
        root = Path(folder) / "vault"
        path = make_vault(root, given.notes, given.commits)
        print(f"{given.commits} commits, {given.notes} notes; milliseconds", file=sys.stderr)
        for name, ours, theirs, promise in measure(root, path, given.commits, given.rounds):
            ratio = (
                "" if not theirs else f"{theirs / ours:8.1f}x" if theirs > ours else f"1/{ours / theirs:.1f}"
            )
            print(f"{name:45} {ours:10.3f} {theirs:10.3f} {ratio:>9}   promised: {promise}")


if __name__ == "__main__":
    main()
