"""Servers and commands killed at random moments of a sync and of an erasure, some with all of Git below them.

Two machines have one vault. One is killed again and again while it syncs; the other never is. Whatever was
answered to an agent, or saved by the person, on either, has to be in both after the next sync that comes to
its end, and nobody helps in between.
"""

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.clones import remote_and_clones
from tests.concurrency.nursery import Born, Nursery
from tests.concurrency.test_killing import pass_time
from tests.concurrency.test_killing_every_tool import environment, shown
from tests.direct import done
from tests.doors.frames import Frame, Server
from tests.serving import added, ask, entity, given
from tests.vaults import git, make_vault, opened
from tests.waiting import wait_until
from vault_mcp.doors.clients import driver_command
from vault_mcp.sync import sync
from vault_mcp.vault import Options, Vault

OPTIONS = Options(embeddings="off")
SHARED = "Shared"
LINES = 9
SECRET = "hunter2 is my password"


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery


def below(pid: int) -> list[int]:
    """Give a process and all that it started, and they."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with suppress(OSError):
                stat = Path("/proc", name, "stat").read_text()
                children.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def kill(child: Born | Server, *, whole: bool) -> None:
    """Kill a process; the `whole` of it with what it started, as when a container is stopped."""
    pid = child.pid if isinstance(child, Born) else child.process.pid
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
    for one in below(pid) if whole else [pid]:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def under_way(root: Path) -> list[str]:
    """Name what Git leaves in the middle of something."""
    names = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "index.lock")
    return [name for name in names if (root / ".git" / name).exists()]


def broken(root: Path) -> str:
    """Say what Git finds broken; what nothing leads to is not."""
    fsck = ["git", "fsck", "--strict", "--no-dangling", "--no-progress"]
    told = subprocess.run(fsck, cwd=root, capture_output=True, text=True, check=False)
    return told.stdout + told.stderr


def words(root: Path) -> str:
    """Give what all files of the last commit say."""
    return git(root, "grep", "-h", "", "HEAD") if git(root, "ls-files") else ""


class Machines:
    """`root` is killed, `other` is not, and `remote` stands between."""

    def __init__(self, folder: Path, nursery: Nursery, seed: int) -> None:
        files = {
            "plan.md": "".join(f"line {number}\n" for number in range(LINES)),
            f"entities/t/{SHARED}.md": "---\nentity: t\n---\n\n## Observations\n\n- first\n",
        }
        self.root, self.other = remote_and_clones(folder, files=files)
        self.remote = folder / "remote.git"
        self.nursery = nursery
        self.chance = random.Random(seed)
        self.number = 0
        self.kept: set[str] = {"first"}
        """Texts that were answered, or saved by the person, on either machine."""
        self.kills = 0
        self.long = 0.2
        """Seconds that a sync takes, about."""
        self.finished = 0
        with opened(self.root, OPTIONS) as vault:
            sync(vault, driver=driver_command())

    def text(self, who: str) -> str:
        self.number += 1
        return f"{who} said {self.number}."

    def write_there(self) -> None:
        """Have the other machine write what meets what is written here, and sync."""
        with opened(self.other, OPTIONS) as vault:
            for one in (SHARED, f"Of {self.number}"):
                text = self.text("other")
                if one == SHARED:
                    done(vault, "add_observations", observations=[added(one, text)])
                else:
                    done(vault, "create_entities", entities=[entity(one, text)])
                self.kept.add(text)
            self.edit(self.other, "other")
            vault.noticed(None)
            sync(vault)

    def edit(self, root: Path, who: str) -> None:
        """Have the person write a line of one note, which the other machine may write too."""
        plan = root / "plan.md"
        lines = plan.read_text("utf-8").splitlines(keepends=True)
        text = self.text(who)
        lines.insert(self.chance.randrange(len(lines) + 1), f"{text}\n")
        plan.write_text("".join(lines), "utf-8")
        self.kept.add(text)

    def round(self) -> None:
        """Write on both, have a sync killed, and look at what is left."""
        self.write_there()
        how = self.chance.choice(("a server", "a command", "both"))
        whole = self.chance.random() < 0.5
        if self.chance.random() < 0.5:
            self.edit(self.root, "person")
        if how == "a command":
            self.kill_command(whole=whole)
        else:
            self.kill_server(beside=how == "both", whole=whole)
        self.kills += 1
        self.look_at_the_next_start()
        self.sync_to_the_end()

    def kill_command(self, *, whole: bool) -> None:
        begun = time.monotonic()
        with self.command("sync", "--vault", str(self.root)) as child:
            pass_time(self.chance.random() * self.long * 1.2)
            if child.poll() is None:
                kill(child, whole=whole)
            else:
                self.finished += 1
                self.long = time.monotonic() - begun

    @contextmanager
    def command(self, *words: str) -> Iterator[Born]:
        child = self.nursery.start(*words, env=environment())
        try:
            yield child
            said = child.stderr.read().decode()
            assert child.wait(60) in (0, -signal.SIGKILL), said
        finally:
            for pipe in (child.stdin, child.stdout, child.stderr):
                pipe.close()

    def kill_server(self, *, beside: bool, whole: bool) -> None:
        """Kill a server that syncs on change while it is written to, perhaps with a command beside it."""
        flags = ("--tools", "all", "--embeddings", "off", "--sync", "on-change")
        with self.nursery.serve("--vault", str(self.root), *flags, agent="bot") as server:
            texts = [self.text("bot") for _ in range(self.chance.randrange(1, 6))]
            asked = {
                ask(server, "add_observations", observations=[added(SHARED, text)]): text for text in texts
            }
            moment = self.chance.random() * 0.9
            if beside:
                with self.command("sync", "--vault", str(self.root)) as child:
                    pass_time(moment)
                    both: list[Born | Server] = [child, server]
                    self.chance.shuffle(both)
                    for one in both:
                        kill(one, whole=whole)
                    frames = server.kill()
            else:
                pass_time(moment)
                kill(server, whole=whole)
                frames = server.kill()
            self.hear(frames, asked)

    def hear(self, frames: list[Frame], asked: dict[int, str]) -> None:
        for frame in frames:
            if frame.get("id") in asked:
                assert frame["result"]["isError"] is False, frame
                self.kept.add(asked[frame["id"]])
                commit = frame["result"]["structuredContent"]["receipt"]["commit"]
                assert git(self.root, "merge-base", commit, "HEAD").strip() == commit

    def look_at_the_next_start(self) -> None:
        """Start without any help: nothing is under way, and what is not committed is the person's."""
        with self.nursery.serve("--vault", str(self.root), "--embeddings", "off", agent="next") as server:
            text = self.text("next")
            given(server, "add_observations", observations=[added(SHARED, text)])
            self.kept.add(text)
            wait_until(lambda: git(self.root, "status", "--porcelain") == "", 20)
            server.close_input()
            assert server.ended() == 0
        assert under_way(self.root) == []
        assert broken(self.root) == ""
        assert broken(self.remote) == ""

    def sync_to_the_end(self) -> None:
        """Sync both without any help, and see that nothing is missing on either."""
        code, said = run(self.nursery, "sync", "--vault", str(self.root))
        if "is locked by another Git program" in said:
            # The remote's own Git was killed in its folder, and whose its lock is nobody can know.
            (self.remote / "refs/heads/main.lock").unlink()
            code, said = run(self.nursery, "sync", "--vault", str(self.root))
        assert code == 0, said
        with opened(self.other, OPTIONS) as vault:
            sync(vault)
        assert git(self.root, "rev-parse", "HEAD") == git(self.other, "rev-parse", "HEAD")
        assert git(self.root, "rev-parse", "HEAD") == git(self.remote, "rev-parse", "main")
        here = words(self.root)
        assert [text for text in sorted(self.kept) if text not in here] == []
        wait_until(lambda: at_rest_but_merges(self.root), 60, every=0.1)
        with opened(self.root, OPTIONS) as vault:
            look(vault)


class Erasing:
    """A vault in which a secret is told again and again, and taken out again and again."""

    def __init__(self, folder: Path, nursery: Nursery, seed: int) -> None:
        self.root = make_vault(folder / "v", {"n.md": "a note\n"})
        self.nursery = nursery
        self.chance = random.Random(seed)
        self.kept: set[str] = set()
        self.number = 0
        self.long = 0.0
        self.cut = 0
        """Erasures that were killed before their end."""
        with self.served() as server:
            given(server, "create_entities", entities=[entity(SHARED, "first")])
        git(self.root, "branch", "side")

    @contextmanager
    def served(self) -> Iterator[Server]:
        with self.nursery.serve("--vault", str(self.root), "--embeddings", "off", agent="bot") as server:
            yield server

    def write(self, server: Server, words: str) -> None:
        """Have a fact kept, as soon as nobody else writes any more."""
        self.number += 1
        text = f"{words} {self.number}."

        def told() -> bool:
            result = server.call("add_observations", observations=[added(SHARED, text)])
            busy = "Another process has been writing" in json.dumps(result)
            assert result["isError"] is busy, result
            return not busy

        wait_until(told, 120)
        self.kept.add(text.replace(SECRET, "(erased)"))

    def round(self) -> None:
        with self.served() as server:
            self.write(server, "fact")
            self.write(server, SECRET)
            self.write(server, "fact")
        moment = self.chance.random() * self.long
        if self.chance.random() < 0.5:
            self.kill(moment)
        else:
            with self.served() as server:
                given(server, "read_graph")
                self.kill(moment)
                self.write(server, "fact")
        assert broken(self.root) == ""
        with self.served() as server:
            self.write(server, "fact")
            self.rest(server)
        begun = time.monotonic()
        code, said = run(self.nursery, *self.asked())
        assert code == 0 or "Nothing in the vault" in said, said
        self.long = time.monotonic() - begun
        self.look()

    def asked(self) -> list[str]:
        return ["erase", "--vault", str(self.root), "--text", SECRET, "--yes"]

    def kill(self, moment: float) -> None:
        child = self.nursery.start(*self.asked(), env=environment())
        pass_time(moment)
        kill(child, whole=self.chance.random() < 0.5)
        self.cut += child.wait(60) == -signal.SIGKILL
        for pipe in (child.stdin, child.stdout, child.stderr):
            pipe.close()

    def rest(self, server: Server) -> None:
        wait_until(lambda: git(self.root, "status", "--porcelain") == "", 20)
        server.close_input()
        assert server.ended() == 0

    def look(self) -> None:
        """See that the secret is gone, and nothing else is."""
        assert at_rest_but_merges(self.root)
        everything = ["git", "cat-file", "--batch-all-objects", "--batch"]
        objects = subprocess.run(everything, cwd=self.root, capture_output=True, check=True).stdout
        assert SECRET.encode() not in objects
        here = words(self.root)
        assert [text for text in sorted(self.kept) if text not in here] == []
        with opened(self.root, OPTIONS) as vault:
            look(vault)


def at_rest_but_merges(root: Path) -> bool:
    return git(root, "status", "--porcelain") == "" and under_way(root) == [] and broken(root) == ""


def look(vault: Vault) -> None:
    """Compare the index with one that is made anew."""
    vault.read_past()
    before = shown(vault)
    vault.reindex()
    vault.read_past()
    for one, other in zip(before, shown(vault), strict=True):
        for left, right in zip(one, other, strict=True):
            assert left == right


def run(nursery: Nursery, *words: str) -> tuple[int, str]:
    """Run a command to its end; give its code and what it said on standard error."""
    child = nursery.start(*words, env=environment())
    said = child.stderr.read().decode()
    code = child.wait(120)
    for pipe in (child.stdin, child.stdout, child.stderr):
        pipe.close()
    return code, said


def test_a_kill_in_a_sync_loses_nothing_and_needs_nobody(tmp_path: Path, nursery: Nursery) -> None:
    machines = Machines(tmp_path, nursery, seed=1)
    for _ in range(4):
        machines.round()


def test_a_kill_in_an_erasure_loses_nothing_and_needs_nobody(tmp_path: Path, nursery: Nursery) -> None:
    erasing = Erasing(tmp_path, nursery, seed=1)
    for _ in range(3):
        erasing.round()
    assert erasing.cut > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(300, 310))
def test_hundreds_of_kills_in_an_erasure_lose_nothing(tmp_path: Path, nursery: Nursery, seed: int) -> None:
    erasing = Erasing(tmp_path, nursery, seed)
    for _ in range(20):
        erasing.round()
    assert erasing.cut > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(200, 220))
def test_hundreds_of_kills_in_a_sync_lose_nothing(tmp_path: Path, nursery: Nursery, seed: int) -> None:
    machines = Machines(tmp_path, nursery, seed)
    for _ in range(25):
        machines.round()
    assert machines.kills == 25
