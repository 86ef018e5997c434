"""Servers, imports and Git's tidying killed at random moments of every tool that writes.

Beside the vault that is killed stands a twin, in which the same calls are made and nothing is ever killed.
After a kill the next server is started, and nobody helps it: then the commits of the killed vault have to be
the twin's, for some first part of the calls that holds every call that was answered; and what is shown from
its index has to be what an index made anew shows.
"""

import json
import os
import random
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.concurrency.nursery import ForkedServer, Nursery
from tests.concurrency.test_killing import pass_time
from tests.direct import done
from tests.doors.frames import Frame, Server
from tests.every_tool import Call, calls, numbered
from tests.serving import ask, faults, given, head
from tests.vaults import CLAUDE, git, make_vault, opened
from tests.waiting import wait_until
from vault_mcp.tools.families import whole_catalog
from vault_mcp.vault import Options, Vault

FLAGS = ("--tools", "all,memory", "--embeddings", "off")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_NUMBER = re.compile(r"\b[0-9]{16}\b")
_BLOBS = re.compile(r"^index [0-9a-f.]+.*$", re.MULTILINE)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery


def commits(root: Path, since: str) -> list[str]:
    """Give the commits since another, without times and numbers of memories."""
    form = "%x00%an%n%(trailers:key=Tool,valueonly)"
    said = git(
        root, "log", "--reverse", "-p", "--full-index", "--no-renames", f"--format={form}", f"{since}.."
    )
    for pattern in (_BLOBS, _TIME, _NUMBER):
        said = pattern.sub("#", said)
    return said.split("\0")[1:]


def shown(vault: Vault) -> list[Any]:
    """Give all that the tools show of a vault, without what says when they were asked."""
    answers: list[Any] = [[*calls_of(vault)]]
    changes = json.loads(done(vault, "history_log", limit=100))["changes"]
    for one in changes:
        if "more_paths" in one:
            del one["paths"]  # some of them, and which is of no matter
    return [*answers, changes]


def calls_of(vault: Vault) -> Iterator[Any]:
    cursor = ""
    while True:
        page = json.loads(done(vault, "read_graph", limit=1000, include_superseded=True, cursor=cursor))
        yield page["entities"], sorted(map(json.dumps, page["relations"])), page.get("dangling")
        cursor = page.get("next_cursor", "")
        if not cursor:
            break
    yield done(vault, "list_memory_keys")
    yield done(vault, "memory_list_sessions")
    yield done(vault, "memory_view", path="")
    for word in ("one", "remembered", "value", "above"):
        found = json.loads(done(vault, "search_nodes", query=word, limit=200))
        yield sorted(one["note"] for one in found["entities"])


def at_rest(root: Path) -> bool:
    """Say whether a vault is as it should be; a round of tidying outlives the server, and has its locks."""
    with suppress(FileNotFoundError):  # a folder of objects that Git has just packed
        return faults(root) == []
    return False


class Twins:
    """A vault through many kills, and its twin through none."""

    def __init__(self, folder: Path, nursery: Nursery, twin: Vault, seed: int) -> None:
        self.root = folder / "v"
        self.other = Path(twin.root)
        self.twin = twin
        self.nursery = nursery
        self.chance = random.Random(seed)
        self.number = 0
        self.kept: list[int] = []
        """Rounds whose memory still stands."""
        self.kills = 0
        self.cut: set[str] = set()
        """Tools of which a call was the first that was not done when a kill came."""

    def serve(self) -> ForkedServer:
        watch = () if self.chance.random() < 0.5 else ("--no-watch",)
        tidy = self.chance.choice((4, 500))
        return self.nursery.serve("--vault", str(self.root), *FLAGS, *watch, agent=CLAUDE.agent, tidy=tidy)

    def round(self) -> None:
        """Have one round of calls killed, and look at what is left."""
        self.number += 1
        planned = calls(self.number, self.kept[-1] if self.kept else None, fresh=self.chance.random() < 0.1)
        made = [(tool, numbered(self.root, said)) for tool, said in planned]
        since, since_twin = head(self.root), head(self.other)
        with self.serve() as server:
            told = self.write_until_killed(server, made)
        with self.serve() as server:
            given(server, "read_graph")
            self.rest(server)
        mine = commits(self.root, since)
        assert told <= len(mine) <= len(made), f"{told} calls were answered"
        for tool, said in planned[: len(mine)]:
            done(self.twin, tool, **numbered(self.other, said))
            self.remember(tool, said)
        assert mine == commits(self.other, since_twin)
        if len(mine) < len(made):
            self.cut.add(made[len(mine)][0])
        self.look()

    def remember(self, tool: str, said: Mapping[str, Any]) -> None:
        """Note which memories stand after a call."""
        if tool == "memory_remember" and said["text"] == f"remembered {self.number}":
            self.kept.append(self.number)
        elif tool in ("memory_update", "memory_forget"):
            self.kept.remove(int(said["memory_id"].text.removeprefix("remembered ")))

    def write_until_killed(self, server: Server, made: list[Call]) -> int:
        """Send all calls, kill at a random moment, and give how many were answered."""
        wanted = self.chance.randrange(len(made))
        asked = {ask(server, tool, **arguments) for tool, arguments in made}
        frames: list[Frame] = []
        while sum(frame.get("id") in asked for frame in frames) < wanted:
            frames.append(server.next())
        pass_time(self.chance.random() * 0.008)
        frames += server.kill()
        self.kills += 1
        results = [frame["result"] for frame in frames if frame.get("id") in asked]
        assert [result for result in results if result["isError"]] == []
        return len(results)

    def rest(self, server: Server) -> None:
        """See that nothing is left to be done in the vault, and end the server."""
        wait_until(lambda: git(self.root, "status", "--porcelain") == "", 20)
        server.close_input()
        assert server.ended() == 0

    def look(self) -> None:
        """Compare the index with one that is made anew."""
        wait_until(lambda: at_rest(self.root), 60, every=0.1)
        with opened(self.root, Options(embeddings="off")) as vault:
            vault.read_past()
            before = shown(vault)
            vault.reindex()
            vault.read_past()
            after = shown(vault)
            for one, other in zip(before, after, strict=True):
                for left, right in zip(one, other, strict=True):
                    assert left == right

    def import_until_killed(self, folder: Path) -> None:
        """Kill an import at a random moment; all of it or nothing is in history."""
        self.number += 1
        names = [f"Imported {self.number} {one}" for one in range(40)]
        lines = [
            {"type": "entity", "name": name, "entityType": "t", "observations": [f"{name} a", f"{name} b"]}
            for name in names
        ]
        lines += [
            {"type": "relation", "from": names[0], "to": name, "relationType": "knows"} for name in names[1:]
        ]
        file = folder / "memory.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        since, since_twin = head(self.root), head(self.other)
        child = self.nursery.start("import", str(file), "--vault", str(self.root), env=environment())
        moment = self.chance.random() * 0.5
        pass_time(moment)
        child.kill()
        said = child.stdout.read(), child.stderr.read()
        ended = child.wait(30)
        assert ended in (0, -9), said
        self.kills += 1
        for pipe in (child.stdin, child.stdout, child.stderr):
            pipe.close()
        with self.serve() as server:
            given(server, "read_graph")
            self.rest(server)
        mine = commits(self.root, since)
        assert len(mine) == 1 or (ended != 0 and not mine)
        if mine:
            again = self.nursery.start("import", str(file), "--vault", str(self.other), env=environment())
            for pipe in (again.stdout, again.stderr):
                pipe.read()
            assert again.wait(30) == 0
            for pipe in (again.stdin, again.stdout, again.stderr):
                pipe.close()
            assert mine == commits(self.other, since_twin)
        self.look()


def environment() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}


@contextmanager
def twins(folder: Path, nursery: Nursery, seed: int) -> Iterator[Twins]:
    root = make_vault(folder / "v", {"n.md": "a note\n"})
    git(root, "config", "gc.auto", "100")  # so that Git finds something to tidy in a vault this small
    shutil.copytree(folder / "v", folder / "twin")
    with opened(folder / "twin", Options(embeddings="off")) as twin:
        yield Twins(folder, nursery, twin, seed)


def test_the_calls_are_those_of_every_tool_that_writes() -> None:
    writing = {tool.name for tool in whole_catalog().tools if not tool.hints.read_only}
    # It moves a mark of the agent's, which is no commit; what it has to keep is in its own tests.
    made = calls(1, 0, fresh=True) + calls(3, 0, fresh=True)
    assert {tool for tool, _ in made} == writing - {"history_since"}


def test_the_calls_are_a_commit_each(tmp_path: Path, nursery: Nursery) -> None:
    with twins(tmp_path, nursery, seed=0) as pair:
        for number, before in ((1, None), (2, 1), (3, 2)):
            for tool, said in calls(number, before, fresh=before is not None):
                since = head(pair.other)
                done(pair.twin, tool, **numbered(pair.other, said))
                assert len(commits(pair.other, since)) == 1, (tool, said)


def test_a_kill_in_any_tool_leaves_all_of_a_call_or_nothing(tmp_path: Path, nursery: Nursery) -> None:
    with twins(tmp_path, nursery, seed=1) as pair:
        for _ in range(4):
            pair.round()
        pair.import_until_killed(tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 140))
def test_a_thousand_kills_leave_all_of_a_call_or_nothing(tmp_path: Path, nursery: Nursery, seed: int) -> None:
    with twins(tmp_path, nursery, seed) as pair:
        for number in range(26):
            if number % 8 == 7:
                pair.import_until_killed(tmp_path)
            else:
                pair.round()
        assert pair.kills == 26
        assert len(pair.cut) > 6
