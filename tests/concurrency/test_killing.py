"""Servers killed at random moments of a loop of writes: what was told is kept, the rest is whole or absent.

The calls of a round are sent at once and done in the order sent, so after a kill the graph has to be the
plain model after some first part of them that holds every call that was answered.
"""

import random
import time
from pathlib import Path

import pytest

from tests.doors.frames import Frame, Server, greeting
from tests.graph_model import TOOLS, Call, Caller, Model
from tests.serving import Graph, ask, count, entity, faults, given, graph, greeted, head, serve
from tests.vaults import PERSON, git, make_vault
from tests.waiting import HANGS, wait_until
from vault_mcp.notes.note import read_note

HAND = "Written by hand"
"""An entity that a person edits meanwhile, and no tool."""


def without_hand(shown: Graph) -> Graph:
    return {name: facts for name, facts in shown[0].items() if name != HAND}, shown[1]


def in_files(root: Path) -> dict[str, list[str]]:
    """What the notes say, read from the files themselves."""
    paths = [path for path in git(root, "ls-files", "-z").split("\0") if path.endswith(".md")]
    notes = [read_note(path, (root / path).read_text(encoding="utf-8")) for path in paths]
    return {
        note.name: [fact.text for fact in note.observations if not fact.superseded]
        for note in notes
        if note.kind == "entity"
    }


def pass_time(seconds: float) -> None:
    """Let a random moment come."""
    moment = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() >= moment, seconds + HANGS, every=0.0001)


class Ordeal:
    """One vault through many kills."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.chance = random.Random(seed)
        self.model = Model()
        self.number = 0
        self.killed_at: set[int] = set()
        """After how many answers a server was killed."""

    def calls(self) -> tuple[list[Call], list[Model]]:
        """Give the calls of one round, all tools that write in turn, and the model before and after each."""
        caller = Caller(self.model.copy(), self.chance, self.number)
        made, states = [], [self.model]
        for tool in TOOLS * 2:
            made.append(caller.call(tool))
            states.append(caller.model.copy())
        self.number = caller.number
        return made, states

    def round(self) -> None:
        """Write, be killed, and look at what is left with the eyes of the next server."""
        made, states = self.calls()
        agent = f"bot {self.number}"
        before = head(self.root)
        with greeted(self.root, agent=agent) as server:
            if self.chance.random() < 0.7:
                graph(server)
            told = self.write_until_killed(server, made)
        with greeted(self.root, agent="next") as server:
            shown = without_hand(graph(server))
            assert shown in [state.shown() for state in states[told:]], f"{told} calls were answered"
            done = self.check_history(before, agent, made, told)
            assert shown == states[done].shown()
            # What the person left is soon in history, too, and nothing else is.
            wait_until(lambda: git(self.root, "status", "--porcelain") == "", 20)
            assert graph(server)[0] == in_files(self.root)
            server.close_input()
            assert server.ended() == 0
        self.model = states[done]
        self.check_authors(before)
        assert faults(self.root) == []

    def write_until_killed(self, server: Server, made: list[Call]) -> int:
        """Send all calls, kill at a random moment, and give how many were answered."""
        waited_for = self.chance.randrange(len(made))
        asked = {ask(server, tool, **arguments) for tool, arguments in made}
        frames: list[Frame] = []
        while sum(frame.get("id") in asked for frame in frames) < waited_for:
            frames.append(server.next())
            if self.chance.random() < 0.1:
                self.edit_by_hand()
        pass_time(self.chance.random() * 0.008)
        frames += server.kill()
        results = [frame["result"] for frame in frames if frame.get("id") in asked]
        assert [result for result in results if result["isError"]] == []
        for result in results:
            commit = result["structuredContent"]["receipt"]["commit"]
            assert git(self.root, "merge-base", commit, "HEAD").strip() == commit
        self.killed_at.add(len(results))
        return len(results)

    def edit_by_hand(self) -> None:
        self.number += 1
        with (self.root / f"entities/t/{HAND}.md").open("a") as note:
            note.write(f"- by hand {self.number}\n")
        (self.root / "hand.md").write_text(f"by hand {self.number}\n")

    def check_history(self, before: str, agent: str, made: list[Call], told: int) -> int:
        """Say how many calls are in history: each once, in the order sent, in the agent's name."""
        log = git(
            self.root, "log", "--reverse", "--format=%an|%(trailers:key=Tool,valueonly)|", f"{before}.."
        )
        rows = [line for line in log.replace("\n|", "|").splitlines() if line]
        tools = [row.split("|")[1] for row in rows if row.startswith(f"{agent}|")]
        assert tools == [tool for tool, _ in made[: len(tools)]]
        assert told <= len(tools)
        assert {row.split("|")[0] for row in rows} <= {agent, PERSON}
        return len(tools)

    def check_authors(self, before: str) -> None:
        """No commit of the person holds a word of an agent, and none of an agent a word of the person."""
        for commit in git(self.root, "rev-list", f"{before}..").split():
            by = git(self.root, "log", "-1", "--format=%an", commit).strip()
            changed = git(self.root, "show", "--format=", "-U0", commit).splitlines()
            lines = [line for line in changed if line[:1] in "+-" and line[:3] not in ("+++", "---")]
            assert {"by hand" in line for line in lines} <= {by == PERSON}, commit


def start(tmp_path: Path, seed: int) -> Ordeal:
    root = make_vault(tmp_path / "v")
    with greeted(root, "--no-watch") as server:
        given(server, "create_entities", entities=[entity(HAND)])
    return Ordeal(root, seed)


def test_kills_at_random_moments_lose_nothing_that_was_told(tmp_path: Path) -> None:
    ordeal = start(tmp_path, seed=1)
    for _ in range(8):
        ordeal.round()
    assert len(ordeal.killed_at) > 3


def test_a_kill_during_the_start_leaves_the_next_start_as_it_was(tmp_path: Path) -> None:
    ordeal = start(tmp_path, seed=2)
    ordeal.round()
    for _ in range(6):
        with serve(ordeal.root) as server:
            server.send("initialize", greeting(), id=1)
            pass_time(ordeal.chance.random() * 1.2)
            server.kill()
    before = count(ordeal.root)
    with greeted(ordeal.root) as server:
        assert without_hand(graph(server)) == ordeal.model.shown()
    assert count(ordeal.root) == before
    assert faults(ordeal.root) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 20))
def test_two_hundred_kills_lose_nothing_that_was_told(tmp_path: Path, seed: int) -> None:
    ordeal = start(tmp_path, seed)
    for _ in range(20):
        ordeal.round()
    assert len(ordeal.killed_at) > 6
