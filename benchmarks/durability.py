"""What it costs that a commit outlives a loss of power: the settings of `durability`, in turns.

    python -m benchmarks.durability [--notes 1000 10000] [--rounds N] --where DIR

DIR has to be on a real disk: in memory nothing is flushed. Each setting has a vault of its own; each turn
changes one note in every one, in another order each time, and the medians are compared. A log that has grown
is emptied in the background as it would be, and what that costs others falls on all alike.
"""

from __future__ import annotations

import argparse
import gc
import random
import shutil
import statistics
import sys
import tempfile

from benchmarks.commit_path import FOLDERS, Ours, make_vault, note, path_of, run_git
from vault_mcp.storage.git.flush import Durability
from vault_mcp.storage.git.repository import Repository

SETTINGS: tuple[Durability, ...] = ("git", "wal", "fsync")
WAL_MOST, ROUNDS = 2.0, 150
"""The record may double the time of a commit at most; more, and it is no default."""


def measure(where: str, notes: int, rounds: int) -> dict[str, list[float]]:
    """Time one changed note with each setting: seconds."""
    make_vault(f"{where}/git", notes)
    columns = {}
    for setting in SETTINGS:
        root = f"{where}/{setting}"
        if setting != "git":
            shutil.copytree(f"{where}/git", root)
        run_git(root, "update-index", "-q", "--refresh")
        columns[setting] = column = Ours(root)
        column.repository.close()
        column.repository = Repository.open(root, durability=setting)
    for folder in range(FOLDERS):
        for column in columns.values():
            column(path_of(folder), note(folder, -1))
    chooser, times = random.Random(7), {str(setting): [0.0] * 0 for setting in SETTINGS}
    gc.disable()
    for turn in range(rounds):
        number, order = chooser.randrange(notes), list(SETTINGS)
        chooser.shuffle(order)
        for setting in order:
            times[setting].append(columns[setting](path_of(number), note(number, turn + 1)))
    gc.enable()
    for setting, column in columns.items():
        column.close()
        assert run_git(f"{where}/{setting}", "status", "--porcelain") == b""
    return times


def main() -> int:
    """Measure each size and say whether the target was met."""
    parser = argparse.ArgumentParser(description="What durability costs.")
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--where", required=True, help="a folder on a real disk")
    chosen = parser.parse_args()
    met = True
    for notes in chosen.notes:
        with tempfile.TemporaryDirectory(dir=chosen.where, prefix="durability-") as where:
            times = measure(where, notes, chosen.rounds)
        middle = {setting: statistics.median(seconds) * 1e3 for setting, seconds in times.items()}
        late = {setting: statistics.quantiles(seconds, n=20)[-1] * 1e3 for setting, seconds in times.items()}
        ratios = {setting: taken / middle["git"] for setting, taken in middle.items()}
        print(f"{notes:>7,} notes, one changed")
        for setting in SETTINGS:
            print(
                f"  {setting:<5}  {middle[setting]:7.2f} ms  95th percentile {late[setting]:7.2f} ms  "
                f"{ratios[setting]:.2f}x git",
                flush=True,
            )
        met &= ratios["wal"] <= WAL_MOST
    print("the target was met" if met else "the target was missed")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
