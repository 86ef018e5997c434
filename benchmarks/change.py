"""What a whole change costs: lock, intent record, files, commit, index, receipt, beside the raw limit.

    python -m benchmarks.change [--notes 1000 10000 100000] [--rounds N] [--where DIR]

`limit` and `bare` are the columns of benchmarks.commit_path (the same bytes written with nothing to think
about, and the commit path alone); `change` is `with vault.change(): read, write` of one note, up to the
receipt. All are measured in turns within one run, and the medians are compared. Nothing is synced to disk.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import shutil
import statistics
import sys
import tempfile
import time

from benchmarks.commit_path import ROUNDS, Limit, Ours, make_vault, path_of, run_git
from vault_mcp.vault import Options, Vault

TARGETS = {1_000: 8.0, 10_000: 5.0, 100_000: 2.5}


def note(number: int, version: int) -> bytes:
    """Give a small entity note as a tool writes it, one fact of which is other with each version."""
    stamp = "%%+2026-01-01T00:00:00Z bench%%"
    return (
        f"---\nentity: person\ncreated: 2026-01-01T00:00:00Z\nagent: bench\n---\n\n"
        f"## Observations\n\n- likes the number {number} {stamp}\n- was seen {version} times {stamp}\n"
    ).encode()


class Whole:
    """A whole change of one note."""

    def __init__(self, root: str) -> None:
        self.vault = Vault.open(root, Options(embeddings="off", index_wait=600))
        self.vault.wait_until_compared(600)
        deadline = time.monotonic() + 600
        # The past of the vault and its words are read in the background; benchmarks.upkeep tells what calls
        # cost meanwhile.
        while not self._at_rest() and time.monotonic() < deadline:
            time.sleep(0.2)  # not timed: to look more often would slow the work waited for

    def _at_rest(self) -> bool:
        with self.vault.snapshot() as reader:
            if reader.unworded():
                return False
        return self.vault.index.history_head == self.vault.repository.head()

    def __call__(self, path: str, content: bytes) -> float:
        """Change one note; give the seconds it took."""
        began = time.perf_counter()
        with self.vault.change("bench", by="bench", subject=path) as change:
            change.read(path)
            change.write(path, content)
        return time.perf_counter() - began


def measure(where: str, notes: int, rounds: int) -> dict[str, list[float]]:
    """Time the columns in turns, one note changed each time."""
    place = f"{where}/{notes}"
    make_vault(f"{place}/bare", notes)
    shutil.copytree(f"{place}/bare", f"{place}/change")
    for name in ("bare", "change"):
        run_git(f"{place}/{name}", "update-index", "--refresh")
    bare, whole = Ours(f"{place}/bare"), Whole(f"{place}/change")
    chooser = random.Random(7)
    times: dict[str, list[float]] = {"limit": [], "bare": [], "change": []}
    try:
        for warm in range(20):
            for column in (bare, whole):
                column(path_of(warm), note(warm, -1))
        limit = Limit.of(f"{place}/bare", f"{place}/limit", path_of(4))
        gc.collect()
        gc.freeze()  # as the server does once it is up
        for turn in range(rounds):
            number = chooser.randrange(notes)
            times["limit"].append(limit())
            times["bare"].append(bare(path_of(number), note(number, turn + 1)))
            times["change"].append(whole(path_of(number), note(number, turn + 1)))
        assert run_git(f"{place}/change", "status", "--porcelain") == b""
        assert run_git(f"{place}/change", "fsck", "--strict") == b""
    finally:
        whole.vault.close()
        bare.close()
    shutil.rmtree(place)
    return times


def main() -> int:
    """Measure each size and say whether every target was met."""
    parser = argparse.ArgumentParser(description="What a whole change costs.")
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=None)
    parser.add_argument("--where", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
    chosen = parser.parse_args()
    met = True
    with tempfile.TemporaryDirectory(dir=chosen.where, prefix="change-") as where:
        for notes in chosen.notes:
            times = measure(where, notes, chosen.rounds or ROUNDS.get(notes, 60))
            median = {name: statistics.median(seconds) * 1e3 for name, seconds in times.items()}
            ratio, most = median["change"] / median["limit"], TARGETS.get(notes, float("inf"))
            met &= ratio <= most
            line = f"{notes:>7,} notes  " + "  ".join(f"{k} {v:8.3f} ms" for k, v in median.items())
            print(f"{line}  | a change is {ratio:.2f}x the limit (at most {most:g})", flush=True)
    print("every target met" if met else "a target was missed")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
