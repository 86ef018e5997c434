"""What one commit costs: ours, the raw limit of the file system, Git's own commands, and GitPython.

    python -m benchmarks.commit_path [--notes 1000 10000 100000] [--rounds N] [--where DIR]

All columns are measured in turns within one run, each turn in another order, so that what else the machine
does falls on all alike, and the medians are compared. The folder is in memory (/dev/shm) where there is one;
nothing is synced to disk. Ours has been in use for a while: it has written to each of the 256 folders once.

- limit: the files that one such commit leaves (note, objects, index, branch, reflogs), their bytes ready
  beforehand, written to a temporary file and renamed, or appended, as Git would.
- ours: `Writer.commit` under the write lock, with its intent record.
- git: the note written, `git add`, `git commit`.
- gitpython: the note written, `index.add`, `index.commit` (at 1,000 notes only: it parses the whole index).
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import itertools
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import git

from vault_mcp.storage import files
from vault_mcp.storage.git.message import Ident, Message
from vault_mcp.storage.git.repository import Repository
from vault_mcp.storage.git.writer import Write, blob_id

FOLDERS = 256
AGENT = Ident("bench", "bench@agent.invalid")
# Ratio to the limit at most, times faster than Git at least, times faster than GitPython at least.
TARGETS = {1_000: (4.0, 10.0, 40.0), 10_000: (4.0, 10.0, None), 100_000: (2.5, 15.0, None)}
ROUNDS = {1_000: 200, 10_000: 120, 100_000: 30}


def note(number: int, version: int = 0) -> bytes:
    """Give a small entity note."""
    return (
        f"---\nentity: person\ncreated: 2026-01-01T00:00:00Z\nagent: bench\n---\n# Person {number}\n\n"
        f"## Observations\n- likes the number {number}\n- was seen {version} times\n"
    ).encode()


def path_of(number: int) -> str:
    """Spread the notes evenly over 256 folders of two hex digits."""
    return f"entities/{number % FOLDERS:02x}/person {number}.md"


def run_git(root: str, *arguments: str) -> bytes:
    """Run Git as a person's shell would."""
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True).stdout


def make_vault(root: str, notes: int) -> None:
    """Make a vault of so many notes, committed and packed."""
    os.makedirs(root)
    run_git(root, "init", "-q", "-b", "main")
    run_git(root, "config", "user.name", "bench")
    run_git(root, "config", "user.email", "bench@example.invalid")
    run_git(root, "config", "gc.auto", "0")
    for folder in range(FOLDERS):
        os.makedirs(f"{root}/entities/{folder:02x}", exist_ok=True)
    for number in range(notes):
        with open(f"{root}/{path_of(number)}", "wb") as file:
            file.write(note(number))
    run_git(root, "add", "-A")
    run_git(root, "commit", "-qm", "all")
    run_git(root, "repack", "-adq")
    run_git(root, "prune-packed", "-q")


@dataclass
class Limit:
    """The same files as one commit of ours, written with nothing to think about."""

    root: str
    steps: list[tuple[str, bytes]] = field(default_factory=list)
    appended: list[tuple[str, bytes]] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    @classmethod
    def of(cls, vault: str, root: str, path: str) -> Limit:
        """Take the bytes of the last commit of a vault of ours."""
        limit = cls(root)
        commit = run_git(vault, "rev-parse", "HEAD").decode().strip()
        names = [commit, run_git(vault, "rev-parse", "HEAD^{tree}").decode().strip()]
        parts = path.split("/")
        below = ["/".join(parts[: count + 1]) for count in range(len(parts))]
        names += [run_git(vault, "rev-parse", f"HEAD:{part}").decode().strip() for part in below]
        for name in names:
            with open(f"{vault}/.git/objects/{name[:2]}/{name[2:]}", "rb") as file:
                limit.steps.append(("objects", file.read()))
        for kind in ("index", "refs/heads/main", path):
            with open(f"{vault}/{kind}" if kind == path else f"{vault}/.git/{kind}", "rb") as file:
                limit.steps.append(("note" if kind == path else kind, file.read()))
        with open(f"{vault}/.git/logs/HEAD", "rb") as file:
            line = file.read().splitlines(keepends=True)[-1]
        limit.appended = [("logs/HEAD", line), ("logs/refs/heads/main", line)]
        for folder in ("objects", "refs/heads", "logs/refs/heads"):
            os.makedirs(f"{root}/{folder}")
        for number in range(FOLDERS):
            os.makedirs(f"{root}/objects/{number:02x}")
            os.makedirs(f"{root}/{number:02x}")
        return limit

    def __call__(self) -> float:
        """Write them; give the seconds it took."""
        number = next(self.numbers)
        targets = []
        for index, (kind, content) in enumerate(self.steps):
            folder = f"{self.root}/{(number * 7 + index) % FOLDERS:02x}"
            target = {
                "objects": f"{self.root}/objects/{(number * 31 + index * 57) % FOLDERS:02x}/{number}-{index}",
                "note": f"{folder}/{number}.md",
            }.get(kind, f"{self.root}/{kind}")
            temporary = f"{os.path.dirname(target)}/tmp" if kind == "objects" else f"{self.root}/tmp-{index}"
            targets.append((temporary, target, content))
        began = time.perf_counter()
        for temporary, target, content in targets:
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            os.write(fd, content)
            os.close(fd)
            os.rename(temporary, target)
        for target, line in self.appended:
            fd = os.open(f"{self.root}/{target}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            os.write(fd, line)
            os.close(fd)
        return time.perf_counter() - began


class Ours:
    """The vault's own writer."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.repository = Repository.open(root)

    def __call__(self, path: str, content: bytes) -> float:
        """Commit one note; give the seconds it took."""
        found = files.read(self.root, path)
        seen, blob = (found[1], blob_id(found[0])) if found else (None, None)
        write = Write(content, seen=seen, seen_blob=blob)
        message = Message(f"bench: {path}", "", (("Tool", "bench"), ("Edited-By", "bench")))
        began = time.perf_counter()
        with self.repository.writing() as writer:
            writer.commit({path: write}, message, author=AGENT, at=int(time.time()))
        return time.perf_counter() - began

    def close(self) -> None:
        self.repository.close()


class Git:
    """Git's own commands."""

    def __init__(self, root: str) -> None:
        self.root = root

    def __call__(self, path: str, content: bytes) -> float:
        """Commit one note; give the seconds it took."""
        began = time.perf_counter()
        with open(f"{self.root}/{path}", "wb") as file:
            file.write(content)
        run_git(self.root, "add", "--", path)
        run_git(self.root, "commit", "-qm", f"bench: {path}")
        return time.perf_counter() - began


class GitPython:
    """GitPython's index, kept in one `Repo` as its documentation shows."""

    def __init__(self, root: str) -> None:
        self.repo = git.Repo(root)
        self.root = root
        self.actor = git.Actor("bench", "bench@agent.invalid")

    def __call__(self, path: str, content: bytes) -> float:
        """Commit one note; give the seconds it took."""
        began = time.perf_counter()
        with open(f"{self.root}/{path}", "wb") as file:
            file.write(content)
        self.repo.index.add([path])
        self.repo.index.commit(f"bench: {path}", author=self.actor, committer=self.actor)
        return time.perf_counter() - began

    def close(self) -> None:
        self.repo.close()


Column = Callable[[str, bytes], float]


def measure(where: str, notes: int, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Time every column in turns: {"changed"|"added": {column: seconds}}."""
    place = f"{where}/{notes}"
    make_vault(f"{place}/ours", notes)
    shutil.copytree(f"{place}/ours", f"{place}/git")
    run_git(f"{place}/git", "update-index", "--refresh")
    run_git(f"{place}/ours", "status")
    ours = Ours(f"{place}/ours")
    columns: dict[str, Column] = {"ours": ours, "git": Git(f"{place}/git")}
    chooser = random.Random(7)
    times: dict[str, dict[str, list[float]]] = {}
    with contextlib.ExitStack() as stack:
        stack.callback(ours.close)
        if notes <= 1_000:
            shutil.copytree(f"{place}/git", f"{place}/gitpython")
            run_git(f"{place}/gitpython", "update-index", "--refresh")
            gitpython = GitPython(f"{place}/gitpython")
            stack.callback(gitpython.close)
            columns["gitpython"] = gitpython
        for folder in range(FOLDERS):
            ours(path_of(folder), note(folder, -1))
        for kind in ("changed", "added"):
            for warm in range(5):
                for column in columns.values():
                    column(path_of(warm), note(warm, -2 - (kind == "added")))
            limit = Limit.of(f"{place}/ours", f"{place}/limit-{kind}", path_of(4))
            times[kind] = {name: [] for name in ("limit", *columns)}
            # What GitPython leaves to be collected is not to be collected in somebody else's turn.
            gc.collect()
            gc.disable()
            for turn in range(rounds):
                number = chooser.randrange(notes) if kind == "changed" else notes + turn
                order = ["limit", *columns]
                chooser.shuffle(order)
                for name in order:
                    if name == "limit":
                        times[kind][name].append(limit())
                    elif name == "ours" or turn % 4 == 0:  # the slow ones need fewer turns
                        times[kind][name].append(columns[name](path_of(number), note(number, turn + 1)))
                        if name == "gitpython":
                            gc.collect()
            gc.enable()
        for name in columns:
            assert run_git(f"{place}/{name}", "status", "--porcelain") == b"", name
        assert run_git(f"{place}/ours", "fsck", "--strict") == b""
    shutil.rmtree(place)
    return times


def report(notes: int, times: dict[str, dict[str, list[float]]]) -> bool:
    """Print medians and ratios; say whether the targets were met."""
    most, git_least, gitpython_least = TARGETS.get(notes, (float("inf"), 0.0, None))
    met = True
    for kind, columns in times.items():
        median = {name: statistics.median(seconds) * 1e3 for name, seconds in columns.items()}
        ours = median["ours"]
        against_limit, against_git = ours / median["limit"], median["git"] / ours
        met &= against_limit <= most and against_git >= git_least
        line = f"{notes:>7,} notes, one {kind:<7}  " + "  ".join(
            f"{k} {v:8.3f} ms" for k, v in median.items()
        )
        line += f"  | {against_limit:.2f}x the limit (at most {most:g})"
        line += f", {against_git:.1f}x faster than git (at least {git_least:g})"
        if "gitpython" in median:
            line += f", {median['gitpython'] / ours:.0f}x than GitPython (at least {gitpython_least:g})"
            met &= median["gitpython"] / ours >= (gitpython_least or 0)
        print(line, flush=True)
    return met


def main() -> int:
    """Measure each size and say whether every target was met."""
    parser = argparse.ArgumentParser(description="What one commit costs.")
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=None)
    parser.add_argument("--where", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
    chosen = parser.parse_args()
    met = True
    with tempfile.TemporaryDirectory(dir=chosen.where, prefix="commit-path-") as where:
        for notes in chosen.notes:
            times = measure(where, notes, chosen.rounds or ROUNDS.get(notes, 60))
            met &= report(notes, times)
    print("every target met" if met else "a target was missed")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
