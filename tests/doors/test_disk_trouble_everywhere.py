"""What writes, on a disk that is full or may not be written: an error, and once there is room it works."""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.clones import clone
from tests.doors.frames import Server
from tests.doors.test_disk_trouble import FILL, can_mount, told
from tests.every_tool import calls, numbered
from tests.serving import added, facts, given, make, serve
from tests.vaults import git, make_vault

pytestmark = pytest.mark.skipif(not can_mount(), reason="only who may mount a disk has a small one to fill")

COMMAND = (sys.executable, "-m", "vault_mcp")
ROOM = 24
"""Megabytes of the disk."""


class Disk:
    """A small disk that a server sees, and what is done on it."""

    def __init__(self, server: Server, place: Path, root: Path) -> None:
        self.server = server
        self.place = place
        self.root = root
        # What is mounted for the server is seen through its own root.
        self.seen = Path("/proc", str(server.process.pid), "root", str(root).lstrip("/"))

    def inside(self, *command: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
        entered = ["nsenter", "-t", str(self.server.process.pid), "-m", *command]
        return subprocess.run(entered, capture_output=True, text=True, check=check)

    def git(self, *words: str) -> str:
        """Run Git where the disk is seen."""
        return self.inside("git", "-C", str(self.root), *words).stdout.strip()

    def state(self) -> str:
        """Give the last commit, from which no file differs."""
        assert self.git("--no-optional-locks", "status", "--porcelain") == ""
        return self.git("rev-parse", "HEAD")

    def sound(self) -> bool:
        return self.git("fsck", "--strict", "--no-dangling", "--no-progress") == ""

    @contextmanager
    def full(self, pages: int = 0) -> Iterator[None]:
        """Have no room left but some pages of four kilobytes."""
        self.inside(sys.executable, "-c", FILL, str(self.place / "ballast"), str(pages))
        try:
            yield
        finally:
            self.inside("rm", str(self.place / "ballast"))


@contextmanager
def on_a_disk(place: Path, root: Path, *, how: str = "") -> Iterator[Disk]:
    place.mkdir(exist_ok=True)
    mount = how or f'mount -t tmpfs -o size={ROOM}m none "$0" && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", mount, str(place), *COMMAND]
    flags = ("--no-watch", "--tools", "all,memory", "--embeddings", "off")
    with serve(root, *flags, command=command) as server:
        server.greet()
        yield Disk(server, place, root)


def works(server: Server, tool: str, arguments: Mapping[str, object]) -> None:
    result = server.call(tool, **arguments)
    assert result["isError"] is False, result


def test_every_tool_fails_whole_on_a_full_disk_and_works_once_there_is_room(tmp_path: Path) -> None:
    root = tmp_path / "disk/vault"
    with on_a_disk(tmp_path / "disk", root) as disk:
        given(disk.server, "read_graph")
        refused = set()
        for number, before in ((1, None), (2, 1)):
            for pages, (tool, said) in enumerate(calls(number, before, fresh=number == 2)):
                arguments = numbered(disk.seen, said)
                at = disk.state()
                with disk.full(pages % 3):
                    result = disk.server.call(tool, **arguments)
                if result["isError"]:
                    assert "No space left on the disk" in told(result), tool
                    assert disk.state() == at, tool
                    refused.add(tool)
                    works(disk.server, tool, arguments)
                assert disk.git("rev-parse", "HEAD^") == at, tool
        assert len(refused) > 20
        assert disk.sound()


@pytest.mark.parametrize(
    "pages", [0, 40, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 20, 2))]
)
def test_commands_fail_whole_on_a_full_disk_and_work_once_there_is_room(tmp_path: Path, pages: int) -> None:
    place = tmp_path / "disk"
    with on_a_disk(place, place / "vault") as disk:
        given(disk.server, "read_graph")
        make(disk.server, "A")
        given(disk.server, "add_observations", observations=[added("A", "a secret that has to go")])
        bare = tmp_path / "remote.git"
        git(tmp_path, "init", "-q", "--bare", "-b", disk.git("branch", "--show-current"), str(bare))
        vault = ("--vault", str(place / "vault"))

        def run(*words: str) -> "subprocess.CompletedProcess[str]":
            return disk.inside(*COMMAND, *words, *vault, check=False)

        assert run("sync", str(bare)).returncode == 0
        other = clone(bare, tmp_path / "other")
        for number in range(60):
            (other / f"from the other {number}.md").write_text(f"{number} " + "x" * 3_000)
        git(other, "add", "-A")
        git(other, "commit", "-q", "-m", "much")
        git(other, "push", "-q")
        lines = "".join(
            f'{{"type":"entity","name":"I{n}","entityType":"t","observations":["{"y" * 2_000}"]}}\n'
            for n in range(100)
        )
        (tmp_path / "memory.jsonl").write_text(lines)
        for words in (
            ("sync",),
            ("import", str(tmp_path / "memory.jsonl")),
            ("erase", "--text", "a secret that has to go", "--yes"),
        ):
            at = disk.state()
            with disk.full(pages):
                failed = run(*words)
            assert failed.returncode != 0, (words, failed.stdout)
            assert "Traceback" not in failed.stderr
            assert re.search(
                "No space left|is full|couldn't write|unable to write|write error", failed.stderr
            ), (words, failed.stderr)
            if words[0] != "erase":  # which may have committed the files without the text by then
                assert disk.state() == at
            assert disk.sound()
            worked = run(*words)
            assert worked.returncode == 0, (words, worked.stderr)
            assert disk.state() != at
        assert disk.sound()
        assert facts(disk.server, "A") == ["a1", "(erased)"]
        assert (disk.seen / "from the other 59.md").exists()
        given(disk.server, "open_nodes", names=["I99"])


def test_a_vault_on_a_mount_that_may_only_be_read_is_read_and_written_once_it_may(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"n.md": "a note\n"})
    how = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    with on_a_disk(root, root, how=how) as disk:
        assert given(disk.server, "search_nodes", query="note")["entities"]
        before = disk.state()
        made = calls(1, None, fresh=False)
        tried = set()
        for tool, said in made:
            if tool in ("create_entities", "memory_remember", "memory_create", "write_memory"):
                text = told(disk.server.call(tool, **said))
                assert "permission" in text or "read-only" in text.lower(), text
                assert str(tmp_path) not in text
                tried.add(tool)
        assert len(tried) == 4
        assert disk.state() == before
        disk.inside("mount", "-o", "remount,rw,bind", str(root))
        for tool, said in made:
            works(disk.server, tool, numbered(disk.seen, said))
        assert disk.state()
        assert disk.sound()


@pytest.mark.parametrize("pages", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 8, 2))])
def test_the_vaults_own_records_and_index_may_lie_on_another_disk_that_is_full(
    tmp_path: Path, pages: int
) -> None:
    root = make_vault(tmp_path / "v", {"n.md": "a note\n"})
    own = root / ".git/vault-mcp"
    own.mkdir(exist_ok=True)
    with on_a_disk(own, root) as disk:
        given(disk.server, "read_graph")
        for number, before in ((1, None), (2, 1)):
            for tool, said in calls(number, before, fresh=False)[:12]:
                arguments = numbered(disk.seen, said)
                at = disk.state()
                with disk.full(pages):
                    result = disk.server.call(tool, **arguments)
                if result["isError"]:
                    assert re.search("(No space|no room) left on the disk", told(result)), tool
                    assert disk.state() == at, tool
                    works(disk.server, tool, arguments)
                assert disk.git("rev-parse", "HEAD^") == at, tool
        assert disk.sound()
        assert [path.name for path in root.rglob(".vault-mcp-*")] == []
