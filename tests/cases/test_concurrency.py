"""Cases about several writers at once, and about writes that are cut off or cannot be made."""

import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.cases.conftest import Desk
from tests.doors.commands import Commands
from tests.doors.frames import Server
from tests.serving import added, answers, ask, count, entity, facts, faults, given, graph, greeted, head, make
from tests.vaults import PERSON, authors, git
from tests.waiting import wait_until


def all_saved(server: Server, asked: Iterable[int]) -> None:
    """Wait for the answers, each of which has to name a commit of its own."""
    told = answers(server, asked).values()
    assert [result for result in told if result["isError"]] == []
    commits = [result["structuredContent"]["receipt"]["commit"] for result in told]
    assert None not in commits
    assert len(set(commits)) == len(commits)


def test_CON_01_a_hundred_calls_at_once_are_a_hundred_commits(root: Path) -> None:
    before = count(root)
    with greeted(root) as server:
        asked = [
            ask(server, "create_entities", entities=[entity(f"E{n}", f"o{n}", f"p{n}")]) for n in range(100)
        ]
        all_saved(server, asked)
        assert graph(server)[0] == {f"E{n}": [f"o{n}", f"p{n}"] for n in range(100)}
    assert count(root) == before + 100
    assert faults(root) == []


def test_CON_02_two_servers_keep_every_write_of_each(root: Path) -> None:
    before = count(root)
    with greeted(root, agent="one") as one, greeted(root, agent="two") as two:
        asked: dict[str, list[int]] = {"A": [], "B": []}
        for number in range(100):
            for letter, server in (("A", one), ("B", two)):
                wanted = [entity(f"{letter}{number}", letter)]
                asked[letter].append(ask(server, "create_entities", entities=wanted))
        all_saved(one, asked["A"])
        all_saved(two, asked["B"])
        written = {f"{letter}{number}": [letter] for number in range(100) for letter in "AB"}
        # Each sees at once what the other was told is saved.
        assert graph(one)[0] == written
        assert graph(two)[0] == written
    assert count(root) == before + 200
    assert {name: authors(root).count(name) for name in ("one", "two")} == {"one": 100, "two": 100}
    assert faults(root) == []


def test_CON_03_four_servers_add_to_one_note_and_no_line_is_lost(root: Path) -> None:
    with greeted(root) as first, greeted(root) as second, greeted(root) as third, greeted(root) as fourth:
        servers = (first, second, third, fourth)
        given(first, "create_entities", entities=[entity("Shared")])
        before = count(root)
        asked: list[list[int]] = [[], [], [], []]
        for number in range(50):
            for place, server in enumerate(servers):
                wanted = [added("Shared", f"p{place}-{number}")]
                asked[place].append(ask(server, "add_observations", observations=wanted))
        for place, server in enumerate(servers):
            all_saved(server, asked[place])
        written = sorted(f"p{place}-{number}" for place in range(4) for number in range(50))
        for server in servers:
            assert sorted(facts(server, "Shared")) == written
    assert count(root) == before + 200
    assert faults(root) == []


# A server that is killed in the instant before the branch is moved to its commit: the file is in place.
DIES_BEFORE_THE_COMMIT = """
import os, signal, sys
def hook(event, arguments):
    if event == "os.rename" and str(arguments[1]).endswith("refs/heads/main") and armed():
        os.kill(os.getpid(), signal.SIGKILL)
def armed():
    return os.path.exists(os.environ["ARMED"])
sys.addaudithook(hook)
from vault_mcp.doors.cli import main
main()
"""


@pytest.mark.parametrize("edited", [False, True], ids=["left alone", "edited after the crash"])
def test_CON_05_a_change_cut_off_before_its_commit_is_made_by_the_next_start_in_its_own_name(
    root: Path, tmp_path: Path, edited: bool
) -> None:
    """A policy of ours: docs/policies.md, "A change that was cut off"."""
    armed = tmp_path / "armed"
    command = [sys.executable, "-c", DIES_BEFORE_THE_COMMIT, "serve", "--vault", str(root)]
    with Server(command, env={"ARMED": str(armed)}) as doomed:
        doomed.greet(name="doomed")
        make(doomed, "A")
        before = count(root)
        armed.touch()
        ask(doomed, "add_observations", observations=[added("A", "new")])
        assert doomed.ended() == -9
    note = root / "entities/t/A.md"
    assert "- new %%" in note.read_text()
    assert count(root) == before
    if edited:
        note.write_text(note.read_text() + "- by hand\n")
    with greeted(root, agent="next") as server:
        assert facts(server, "A") == ["a1", "new", *(["by hand"] if edited else [])]
        wait_until(lambda: git(root, "status", "--porcelain") == "")
        given(server, "create_entities", entities=[entity("B")])
    told = ["next", PERSON] if edited else ["next"]
    assert authors(root)[: len(told) + 2] == [*told, "doomed", "doomed"]
    if edited:
        # The agent's line is in the agent's commit, and only the person's in theirs.
        hand = git(root, "show", "--format=", "-U0", "HEAD~1").splitlines()
        assert [line for line in hand if line[:1] in "+-" and line[:3] not in ("+++", "---")] == [
            "+- by hand"
        ]
    assert faults(root) == []


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("arr.json", '[{"type":"entity","name":"A","entityType":"t","observations":[]}]', ["A"]),
        (
            "glued.jsonl",
            '{"type":"entity","name":"A","entityType":"t","observations":[]}'
            '{"type":"entity","name":"B","entityType":"t","observations":[]}',
            ["A", "B"],
        ),
        (
            "cut.jsonl",
            '{"type":"entity","name":"A","entityType":"t","observations":[]}\n{"type":"enti',
            ["A"],
        ),
    ],
)
def test_CON_07_an_export_in_one_array_or_with_objects_glued_together_is_taken_in(
    root: Path, tmp_path: Path, name: str, text: str, names: list[str]
) -> None:
    """A policy of ours: docs/decisions/an-import-keeps-what-it-can.md."""
    (tmp_path / name).write_text(text)
    before = count(root)
    told = Commands(tmp_path).run("import", tmp_path / name, "--vault", root)
    assert told.returncode == 0 or "cut" in name
    assert ("2" in told.stdout + told.stderr) or "cut" not in name
    assert sorted(path.stem for path in (root / "entities/t").iterdir()) == names
    assert count(root) == before + 1
    assert faults(root) == []


def test_CON_14_a_batch_with_one_bad_item_is_not_half_applied(desk: Desk) -> None:
    given(desk.server, "create_entities", entities=[entity("A")])
    before = head(desk.root)
    wanted = [added("A", "x"), added("Nope", "y")]
    assert "Nope not found" in desk.server.error("add_observations", observations=wanted)
    assert facts(desk.server, "A") == []
    assert head(desk.root) == before
