"""Several writers at once: threads, processes, and a program like Obsidian Git beside them."""

import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.storage.git.vaults import Vault
from tests.storage.git.writing import append
from tests.waiting import wait_until
from vault_mcp.storage.git.message import Ident
from vault_mcp.storage.git.repository import Repository

ROOT = Path(__file__).resolve().parents[3]


def start(vault: Vault, name: str, count: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.storage.git.writing", str(vault.root), name, str(count)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(child: "subprocess.Popen[str]") -> list[list[str]]:
    """Give what a writer acknowledged: commit, path, line."""
    out, err = child.communicate(timeout=120)
    assert err == ""
    assert child.returncode == 0
    return [line.split() for line in out.splitlines()]


def assert_kept(vault: Vault, acknowledged: list[list[str]]) -> None:
    """Every acknowledged line is in its file once and in history, each in a commit of its own."""
    history = vault.git("rev-list", "--first-parent", "HEAD").split()
    assert [" ".join(entry) for entry in acknowledged if entry[0] == "error"] == []
    assert {sha for sha, _, _ in acknowledged} <= set(history)
    assert len({sha for sha, _, _ in acknowledged}) == len(acknowledged)
    assert vault.git("rev-list", "--merges", "HEAD") == ""
    for sha, path, line in acknowledged:
        assert vault.text(path).splitlines().count(line) == 1, (sha, path, line)
    vault.assert_sound()


def test_threads_of_one_server_keep_every_write(vault: Vault) -> None:
    repository = vault.repository
    acknowledged: list[list[str]] = []

    def work(name: str) -> None:
        author = Ident(name, "x@agent.invalid")
        for number in range(25):
            line = f"{name}-{number}"
            for path in (f"{name}.md", "shared.md"):
                acknowledged.append([append(repository, path, line, author), path, line])

    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(acknowledged) == 200
    assert_kept(vault, acknowledged)
    assert vault.index() == vault.index_as_git_writes_it()


def test_processes_on_one_vault_keep_every_write(vault: Vault) -> None:
    children = [start(vault, f"p{number}", 40) for number in range(3)]

    acknowledged = [entry for child in children for entry in finish(child)]

    assert len(acknowledged) == 240
    assert_kept(vault, acknowledged)
    assert int(vault.git("rev-list", "--count", "HEAD")) == 241


def test_a_program_like_obsidian_git_beside_two_writers_loses_nothing(vault: Vault) -> None:
    """`git add -A` and `git commit` over and over, with a person who edits, and `git status` meanwhile."""
    children = [start(vault, f"p{number}", 40) for number in range(2)]
    person: list[str] = []
    refused = 0
    while any(child.poll() is None for child in children):
        line = f"person-{len(person)}"
        with open(vault.root / "diary.md", "a", encoding="utf-8") as file:
            file.write(line + "\n")
        person.append(line)
        for command in (["add", "-A"], ["commit", "-qm", "vault backup"], ["status", "--porcelain"]):
            done = subprocess.run(["git", *command], cwd=vault.root, capture_output=True, check=False)
            # Git does not wait for a lock: it fails at once, and Obsidian Git shows a notice.
            refused += done.returncode != 0
    acknowledged = [entry for child in children for entry in finish(child)]
    vault.git("add", "-A")
    vault.git("commit", "-q", "--allow-empty", "-m", "vault backup")

    assert len(acknowledged) == 160
    assert vault.text("diary.md").split() == person
    assert vault.git("show", "HEAD:diary.md").split() == person
    assert_kept(vault, acknowledged)
    for sha, path, _ in acknowledged:
        assert vault.git("show", "--format=", "--name-only", sha).split() == [path]


def test_gc_and_packing_between_commits_lose_nothing(vault: Vault) -> None:
    child = start(vault, "p", 60)
    while child.poll() is None:
        vault.git("pack-refs", "--all")
        # Not with --prune=now: Git's own manual warns of that beside any writer.
        vault.git("gc", "-q", "--prune=1.minute.ago")

    assert_kept(vault, finish(child))


def kill_writers(vault: Vault, times: int) -> int:
    """Kill writing processes at random moments; give how many lines were acknowledged and kept."""
    chooser = random.Random(times)
    acknowledged: list[list[str]] = []
    for turn in range(times):
        child = start(vault, f"k{turn}", 10_000)
        lines: list[str] = []
        assert child.stdout
        first = child.stdout.readline()
        lines.append(first)
        for _ in range(chooser.randrange(12)):
            lines.append(child.stdout.readline())
        threading.Event().wait(chooser.random() * 0.004)
        child.kill()
        rest, _ = child.communicate()
        text = "".join(lines) + rest
        acknowledged += [line.split() for line in text.split("\n")[:-1]]
    Repository.open(str(vault.root)).close()
    assert_kept(vault, acknowledged)
    return len(acknowledged)


def test_writers_killed_at_random_lose_nothing_that_was_acknowledged(vault: Vault) -> None:
    assert kill_writers(vault, 8) > 8


@pytest.mark.long
def test_two_hundred_killed_writers_lose_nothing_that_was_acknowledged(vault: Vault) -> None:
    assert kill_writers(vault, 200) > 200


def test_thousands_of_calls_leave_no_files_open_and_no_children(vault: Vault) -> None:
    repository = vault.repository
    author = Ident("x", "x@agent.invalid")
    append(repository, "a.md", "first", author)
    before = len(os.listdir("/proc/self/fd"))

    for number in range(600):
        append(repository, f"n{number % 5}.md", str(number), author)
        repository.ignored([f"x{number}.md"])
        repository.head()
        head = repository.head()
        assert head
        repository.blob_at(head, "a.md")

    assert len(os.listdir("/proc/self/fd")) <= before + 6
    assert repository.wait_for_upkeep(30)
    wait_until(lambda: len(git_children()) <= 2)


def git_children() -> list[str]:
    out = subprocess.run(["ps", "-o", "comm=", "--ppid", str(os.getpid())], capture_output=True, check=True)
    return [line for line in out.stdout.decode().split("\n") if line.startswith("git")]
