"""A person and their own Git beside the servers: nothing is lost, and nobody gets another's words."""

import subprocess
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from tests.doors.frames import Frame, Server
from tests.every_tool import Call
from tests.serving import added, answers, ask, entity, facts, faults, found, given, greeted
from tests.vaults import PERSON, git, make_vault
from tests.waiting import wait_until

WRITES = 40


def try_git(root: Path, *args: str) -> bool:
    """Run Git as a program does that does not wait for locks, and say whether it worked."""
    command = ["git", "-C", str(root), *args]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def words_of(root: Path, commit: str) -> set[str]:
    """Whose lines a commit adds or removes: the first word of each."""
    shown = git(root, "show", "--format=", "-U0", commit).splitlines()
    lines = [line[1:].removeprefix("- ") for line in shown if line[:1] in "+-"]
    return {line.split()[0] for line in lines if line.startswith(("one ", "two ", "hand "))}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    note = "---\nentity: t\n---\n\n## Observations\n\n"
    return make_vault(tmp_path / "v", {"Shared.md": note, "hand.md": "hand first\n"})


def backup(root: Path) -> bool:
    """Do what Obsidian Git does every few minutes."""
    return try_git(root, "add", "-A") and try_git(root, "commit", "-q", "-m", "vault backup: 2026-11-30")


def write(server: Server, agent: str, number: int) -> dict[int, Call]:
    calls: list[Call] = [
        ("add_observations", {"observations": [added("Shared", f"{agent} fact {number}")]}),
        ("create_entities", {"entities": [entity(f"{agent}{number}", f"{agent} first")]}),
    ]
    return {ask(server, tool, **arguments): (tool, arguments) for tool, arguments in calls}


def again(server: Server, call: Call) -> bool:
    """Do what the answer says that another has written for ten seconds: call again soon."""
    tool, arguments = call
    result = server.call(tool, **arguments)
    return not result["isError"] or not busy(result)


def busy(result: Frame) -> bool:
    assert "Another process has been writing" in result["content"][0]["text"], result
    return True


def test_backups_of_a_person_in_the_midst_of_calls_lose_nothing_and_take_nothing(root: Path) -> None:
    with greeted(root, agent="one") as one, greeted(root, agent="two") as two:
        assert facts(one, "Shared") == facts(two, "Shared") == []
        backups = 0
        for number in range(WRITES):
            asked = {server: write(server, agent, number) for agent, server in (("one", one), ("two", two))}
            # The person types in a file of their own, and saves all that Git sees.
            with (root / "hand.md").open("a") as file:
                file.write(f"hand {number}\n")
            backups += backup(root)
            for server, calls in asked.items():
                for one_of_them, result in answers(server, calls).items():
                    if result["isError"] and busy(result):  # a machine so slow that others wait in vain
                        wait_until(partial(again, server, calls[one_of_them]), 120)
        assert backups > WRITES // 10
        # What a backup has staged and could not commit is the person's, and waits for the next one.
        wait_until(lambda: backup(root) or git(root, "status", "--porcelain") == "", 20)
        for server in (one, two):
            assert Counter(facts(server, "Shared")) == Counter(
                f"{agent} fact {number}" for agent in ("one", "two") for number in range(WRITES)
            )
        names = [f"{agent}{number}" for agent in ("one", "two") for number in range(WRITES)]
        assert "missing" not in given(one, "open_nodes", names=names)
    hand = "".join(f"hand {number}\n" for number in range(WRITES))
    assert git(root, "show", "HEAD:hand.md") == f"hand first\n{hand}"
    whose = {"one": {"one"}, "two": {"two"}, PERSON: {"hand"}}
    for row in git(root, "log", "--format=%H|%an", "--", ".").splitlines():
        commit, by = row.split("|")
        assert words_of(root, commit) <= whose[by], git(root, "show", commit)
    assert faults(root) == []


def test_a_commit_of_a_person_that_waits_in_an_editor_stops_no_call(root: Path, tmp_path: Path) -> None:
    """`git commit` holds no lock while its editor is open; what it staged is kept, whoever comes first."""
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\ntouch '{tmp_path}/open'\nwhile [ ! -e '{tmp_path}/go' ]; do :; done\n")
    editor.write_text(editor.read_text() + 'echo "by the person" > "$1"\n')
    editor.chmod(0o755)
    with greeted(root, "--no-watch") as server:
        (root / "hand.md").write_text("hand staged\n")
        git(root, "add", "hand.md")
        command = ["git", "-C", str(root), "-c", f"core.editor={editor}", "commit"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as commit:
            wait_until(lambda: (tmp_path / "open").exists(), 20)
            given(server, "add_observations", observations=[added("Shared", "one fact")])
            (tmp_path / "go").touch()
            commit.wait(20)
        # Git found the branch moved and gave up, or (a newer one) went on top: either way all is there.
        assert facts(server, "Shared") == ["one fact"]
        assert git(root, "show", ":hand.md") == "hand staged\n"
        assert git(root, "show", "--name-only", "--format=", "--grep=^add_obs", "HEAD").split() in (
            ["Shared.md"],
            [],
        )
        assert words_of(root, git(root, "log", "-1", "--grep=^add_obs", "--format=%H").strip()) == {"one"}


def by_hand(root: Path) -> int:
    return len(git(root, "log", "--format=%H", "--grep=^hand-edit").splitlines())


def test_a_note_that_a_person_saves_all_the_time_fails_no_call_that_writes_it(root: Path) -> None:
    """A call that meets a newer note begins again with that: the caller has not seen it anyway."""
    # cp gives up on a file that is replaced under it: an editor would not save what it could not read.
    save = "cp Shared.md .new 2>&- && echo '- hand '$i >> .new && mv .new Shared.md; sleep 0.05"
    with greeted(root, "--no-watch") as server:
        assert facts(server, "Shared") == []
        with subprocess.Popen(["sh", "-c", f"i=0; while [ ! -e .enough ]; do {save}; i=$i+; done"], cwd=root):
            try:
                number = 0
                while number < 40 or (by_hand(root) < 5 and number < 400):
                    given(server, "add_observations", observations=[added("Shared", f"one {number}")])
                    number += 1
            finally:
                (root / ".enough").touch()
        (root / ".enough").unlink()
        assert by_hand(root) >= 5
        given(server, "add_observations", observations=[added("Shared", "one last")])
        assert facts(server, "Shared")[-1] == "one last"
    assert faults(root) == []


def test_ten_backups_of_nothing_but_a_persons_files_are_followed(root: Path) -> None:
    with greeted(root) as server:
        for number in range(10):
            (root / "hand.md").write_text(f"hand {number} zebra{number}\n")
            wait_until(lambda: backup(root) or git(root, "status", "--porcelain") == "", 20)
            paths = [one["note"] for one in given(server, "search_nodes", query=f"zebra{number}")["entities"]]
            assert paths == ["hand.md"]
    by = git(root, "log", "--format=%an|%s", "--", "hand.md").splitlines()
    assert {line.split("|")[0] for line in by} == {PERSON}
    assert faults(root) == []


def test_three_servers_that_watch_commit_a_hand_edit_once(root: Path) -> None:
    with greeted(root) as one, greeted(root) as two, greeted(root) as three:
        servers = (one, two, three)
        for server in servers:
            assert facts(server, "Shared") == []
        before = git(root, "rev-list", "--count", "HEAD")
        for number in range(4):
            (root / f"new{number}.md").write_text(f"hand zebra{number}\n")
            for server in servers:
                wait_until(partial(found, server, f"zebra{number}"), 15)
            wait_until(lambda: git(root, "status", "--porcelain") == "", 15)
        assert int(git(root, "rev-list", "--count", "HEAD")) == int(before) + 4
        assert git(root, "log", "-4", "--format=%s").splitlines() == [
            f"hand-edit: new{number}.md" for number in (3, 2, 1, 0)
        ]
    assert faults(root) == []
