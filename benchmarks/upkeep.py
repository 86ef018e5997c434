"""A day of 10,000 commits: what calls take while Git's upkeep runs, and what is left of it at the end.

    python -m benchmarks.upkeep [--commits 10000] [--notes 1000] [--where DIR]

One client calls `add_observations` and `open_nodes` over stdio, one after the other, on a vault with its past
(benchmarks.made_vault). Ten times a second another thread looks in /proc whether a git program tidies up in
the vault; each call is counted as beside upkeep or not. At the end Git is asked what there is and how long
its own commands take, beside a clone that was just packed. Nobody runs `git gc`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.made_vault import make_vault
from benchmarks.stdio_client import StdioClient

TIDYING = ("maintenance", "gc", "repack", "pack-objects", "commit-graph", "prune", "pack-refs", "reflog")
MOST = 3.0
"""Ratio of the 99th percentiles at most."""


class Lookout:
    """Knows whether Git tidies up in a folder."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._stop = threading.Event()
        self.busy = False
        self.rounds = 0
        self.seconds = 0.0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Lookout:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        last = time.monotonic()
        while not self._stop.wait(0.1):
            busy = any(map(self._tidies, filter(str.isdigit, os.listdir("/proc"))))
            now = time.monotonic()
            self.rounds += busy and not self.busy
            self.seconds += (now - last) * busy
            self.busy, last = busy, now

    def _tidies(self, process: str) -> bool:
        with contextlib.suppress(OSError, IndexError):
            words = Path(f"/proc/{process}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            if words[0].rpartition("/")[2] == "git" and words[1] in TIDYING:
                place = os.readlink(f"/proc/{process}/cwd")
                return place == self._root or place.startswith(f"{self._root}/")
        return False


def git(root: Path, *arguments: str) -> str:
    """Run Git as a person would."""
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def percentile(values: list[float], share: float) -> float:
    """Give the value below which that share of all lies."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def took(root: Path, *arguments: str) -> float:
    """Give the median milliseconds of one of Git's commands."""
    times = []
    for _ in range(7):
        began = time.perf_counter()
        git(root, *arguments)
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def main() -> int:
    """Measure and print; say by the exit code whether the target was met."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--notes", type=int, default=1_000)
    parser.add_argument("--where", help="a folder for the vault, which is removed afterwards")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.where, prefix="upkeep-") as name:
        root = Path(name).resolve() / "vault"
        made = make_vault(root, chosen.notes, 1_000)
        serve = [sys.executable, "-m", "vault_mcp", "serve", "--vault", str(root), "--embeddings", "off"]
        times: dict[tuple[str, bool], list[float]] = {}
        with Lookout(root) as lookout, StdioClient(serve) as client:
            client.call("memory_stats", {})
            for turn in range(chosen.commits):
                entity = made.entities[turn * 7919 % len(made.entities)]
                added = {"entityName": entity, "contents": [f"what happened in turn {turn}"]}
                for tool, arguments in (
                    ("add_observations", {"observations": [added]}),
                    ("open_nodes", {"names": [entity]}),
                ):
                    before = lookout.busy
                    taken = client.timed(tool, arguments)
                    if before == lookout.busy:
                        times.setdefault((tool, before), []).append(taken)
            ends = time.monotonic() + 120
            while lookout.busy and time.monotonic() < ends:
                time.sleep(0.2)
            print(f"upkeep ran {lookout.rounds} times, {lookout.seconds:.0f} s in all")
        met = True
        for tool in ("add_observations", "open_nodes"):
            alone, beside = times[tool, False], times.get((tool, True), [])
            if not beside:
                print(f"{tool}: no call fell beside upkeep")
                continue
            ratio = percentile(beside, 0.99) / percentile(alone, 0.99)
            met &= ratio <= MOST
            print(
                f"{tool:18} alone {statistics.median(alone):.2f} ms, 99 of 100 within "
                f"{percentile(alone, 0.99):.2f} ({len(alone)}); beside upkeep "
                f"{statistics.median(beside):.2f}, {percentile(beside, 0.99):.2f} ({len(beside)}): "
                f"{ratio:.2f}x (at most {MOST:g})"
            )
        report_left(root)
    print("every target met" if met else "a target was missed")
    return 0 if met else 1


def report_left(root: Path) -> None:
    """Say what upkeep left, beside a copy that was just packed."""
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "fsck", "--strict", "--no-dangling") == ""
    left = dict(line.split(": ") for line in git(root, "count-objects", "-v").splitlines())
    packed = root.parent / "packed"
    git(root.parent, "clone", "-q", "--no-local", str(root), str(packed))
    git(packed, "gc", "-q")
    print(
        f"left: {left['count']} loose objects ({int(left['size']) / 1024:.1f} MiB), {left['packs']} packs "
        f"({int(left['size-pack']) / 1024:.1f} MiB)"
    )
    for arguments in (
        ("log", "--oneline", "-1000"),
        ("status",),
        ("log", "--oneline", "--", "entities/book"),
    ):
        ours, best = took(root, *arguments), took(packed, *arguments)
        print(f"git {' '.join(arguments)}: {ours:.0f} ms, {ours / best:.2f}x that of a packed clone")


if __name__ == "__main__":
    sys.exit(main())
