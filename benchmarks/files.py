"""The file and key tools over stdio, beside the least that a server on the same SDK can do.

    python -m benchmarks.files [--notes 10000] [--rounds 200] [--repeat 3]

The bare server has one tool that does nothing (the SDK's own empty call), and runs on the SDK's own stdio.
The vault holds that many entity notes and as many keys. Every round asks all servers once and makes one bare
commit in a copy of the vault, in turns, so that a slow moment of the machine falls on each; medians in
milliseconds, and the ratios that count.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.commit_path import AGENT, FOLDERS, note, path_of
from benchmarks.stdio_client import StdioClient
from vault_mcp.adopt import adopt
from vault_mcp.notes.keyed import new_keyed
from vault_mcp.notes.names import shard
from vault_mcp.storage import files
from vault_mcp.storage.git.message import Message
from vault_mcp.storage.git.repository import Repository
from vault_mcp.storage.git.writer import Write, blob_id
from vault_mcp.vault import Vault

EMPTY = """
from mcp.server import MCPServer
server = MCPServer("bare", version="1")
@server.tool()
def nothing() -> str:
    "Do nothing."
    return ""
server.run()
"""

TARGETS = {
    "memory_str_replace": 1.3,
    "memory_view": 1.5,
    "read_memory": 1.5,
    "search_memory (rare)": 20.0,
    "search_memory (in every value)": 20.0,
    "search_memory (two letters)": 20.0,
    "search_memory (in no value)": 20.0,
    "search_memory (blank)": 20.0,
}
"""Ratio at most: of an edit to a bare commit and an empty call together, of the others to an empty call."""


def make_vault(root: Path, notes: int) -> None:
    """Make a vault of so many entity notes and as many keys, indexed and packed."""
    for folder in range(FOLDERS):
        (root / f"entities/{folder:02x}").mkdir(parents=True)
    for number in range(notes):
        (root / path_of(number)).write_bytes(note(number))
        path = root / f"keys/{shard(f'user/setting {number}')}/setting {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(new_keyed(f"user/setting {number}", value_of(number)), encoding="utf-8")
    adopt(str(root))
    for command in (["config", "gc.auto", "0"], ["repack", "-adq"], ["prune-packed", "-q"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    vault = Vault.open(str(root))
    while not at_rest(vault):
        time.sleep(0.1)  # not timed: waits for the background work to end
    with vault.reading() as reader:
        assert reader.count_keys() == notes
    vault.close()


def at_rest(vault: Vault) -> bool:
    """Say whether nothing is left to do in the background, as some minutes after a vault was brought in."""
    with vault.reading() as reader:
        return reader.unworded() == 0 and vault.index.history_head == vault.index.head


def value_of(number: int) -> str:
    """Give a value of some forty characters; one of all holds a word of its own."""
    return f"the colour number {number} of " + ("zyzzyva" if number == 4321 else "the palette")


def bare_commit(root: Path, repository: Repository, number: int, turn: int) -> float:
    """Commit one changed note with nothing around the writer; give the milliseconds it took."""
    path = path_of(number)
    found = files.read(str(root), path)
    assert found is not None
    write = Write(note(number, turn), seen=found[1], seen_blob=blob_id(found[0]))
    message = Message(f"bench: {path}", "", (("Tool", "bench"), ("Edited-By", "bench")))
    began = time.perf_counter()
    with repository.writing() as writer:
        writer.commit({path: write}, message, author=AGENT, at=int(time.time()))
    return (time.perf_counter() - began) * 1000


def measure(folder: Path, notes: int, rounds: int) -> dict[str, list[float]]:
    """Time every call in turns: {what: milliseconds}."""
    root, copy = folder / "vault", folder / "copy"
    make_vault(root, notes)
    shutil.copytree(root, copy)
    subprocess.run(["git", "status", "--porcelain"], cwd=copy, check=True, capture_output=True)
    repository = Repository.open(str(copy))
    times: dict[str, list[float]] = {}
    serve = [sys.executable, "-m", "vault_mcp", "serve", "--vault", str(root)]
    with StdioClient([sys.executable, "-c", EMPTY]) as bare, StdioClient(serve) as ours:
        for turn in range(rounds):
            number = (turn * 7919) % notes
            calls = {
                "memory_view": ("memory_view", {"path": path_of(number)}),
                "read_memory": ("read_memory", {"key": f"user/setting {number}"}),
                "search_memory (rare)": ("search_memory", {"query": "zyzzyva"}),
                "search_memory (in every value)": ("search_memory", {"query": "palette"}),
                "search_memory (two letters)": ("search_memory", {"query": f"{turn % 90 + 10}"}),
                "search_memory (in no value)": ("search_memory", {"query": "no such thing"}),
                "search_memory (blank)": ("search_memory", {"query": ""}),
                "memory_str_replace": (
                    "memory_str_replace",
                    {"path": path_of(number), "old_str": "was seen 0 times", "new_str": f"seen {turn}"},
                ),
            }
            times.setdefault("empty call", []).append(bare.timed("nothing", {}))
            times.setdefault("bare commit", []).append(bare_commit(copy, repository, number, turn + 1))
            for what, (tool, arguments) in calls.items():
                times.setdefault(what, []).append(ours.timed(tool, arguments))
        check(ours)
    repository.close()
    clean = ["git", "status", "--porcelain"]
    assert subprocess.run(clean, cwd=root, check=True, capture_output=True).stdout == b""
    return times


def check(ours: StdioClient) -> None:
    """See that what was timed does what it says."""
    (found,) = json.loads(ours.call("search_memory", {"query": "ZYZZYVA"})["content"][0]["text"])
    assert found == {"key": "user/setting 4321", "value": value_of(4321)}
    assert ours.call("read_memory", {"key": "user/setting 1"})["content"][0]["text"] == value_of(1)


def report(times: dict[str, list[float]]) -> bool:
    """Print medians and ratios; say whether the targets were met."""
    median = {what: statistics.median(values[5:]) for what, values in times.items()}
    empty, commit = median["empty call"], median["bare commit"]
    print(f"{'empty call of the SDK':32} {empty:7.2f} ms")
    print(f"{'bare commit':32} {commit:7.2f} ms")
    met = True
    for what, most in TARGETS.items():
        edit = what == "memory_str_replace"
        ratio = median[what] / (empty + commit if edit else empty)
        met &= ratio <= most
        against = "a bare commit and an empty call" if edit else "an empty call"
        print(f"{what:32} {median[what]:7.2f} ms  {ratio:5.2f}x {against} (at most {most:g})")
    return met


def main() -> int:
    """Measure and say whether every target was met."""
    parser = argparse.ArgumentParser(description="What the file and key tools cost.")
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=1)
    chosen = parser.parse_args()
    shared = Path("/dev/shm")
    met = True
    for _ in range(chosen.repeat):
        with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None, prefix="files-") as name:
            met &= report(measure(Path(name), chosen.notes, chosen.rounds))
    print("every target met" if met else "a target was missed")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
