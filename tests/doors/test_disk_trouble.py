"""A disk that is full, limited or closed in some place: all of a call or nothing, said in a sentence."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.frames import Frame
from tests.serving import added, entity, facts, faults, given, greeted, head, make, path_of, serve
from tests.vaults import commits, git, make_vault
from tests.waiting import wait_until

# Root may write everything by a right of its own, which this takes from it.
AS_ANYBODY = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"] if os.geteuid() == 0 else []
IN_A_MOUNT = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=6m none "$0" && exec "$@"']

FILL = """
import sys
ballast = open(sys.argv[1], "wb", buffering=0)
for size in (1 << 16, 4096):
    try:
        while True:
            ballast.write(b"x" * size)
    except OSError:
        pass
ballast.truncate(max(0, ballast.tell() - int(sys.argv[2]) * 4096))
"""


def can_mount() -> bool:
    """Say whether this process may mount a small disk for a child, as root in a container of its own can."""
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([*IN_A_MOUNT, folder, "true"], capture_output=True, check=False).returncode == 0


def can_be_anybody() -> bool:
    """Say whether a program can be run for whom closed files are closed."""
    tried = subprocess.run([*AS_ANYBODY, "true"], capture_output=True, check=False) if AS_ANYBODY else None
    return tried is None or tried.returncode == 0


def told(result: Frame) -> str:
    assert result["isError"] is True, result
    text: str = result["content"][0]["text"]
    assert text.endswith("Nothing was saved.")
    assert "fault in the server" not in text
    return text


@pytest.mark.skipif(not can_mount(), reason="only who may mount a disk has a small one to fill")
def test_a_full_disk_fails_a_call_whole_wherever_the_room_ends(tmp_path: Path) -> None:
    """The room left grows page by page, so that it ends at every step of a write once."""
    root = tmp_path / "vault"
    command = [*IN_A_MOUNT, str(tmp_path), sys.executable, "-m", "vault_mcp"]
    with serve(root, "--no-watch", command=command) as server:

        def inside(*command: str) -> str:
            """Run a command where the small disk is seen."""
            entered = ["nsenter", "-t", str(server.process.pid), "-m", *command]
            return subprocess.run(entered, capture_output=True, text=True, check=True).stdout.strip()

        def state() -> str:
            assert inside("git", "--no-optional-locks", "-C", str(root), "status", "--porcelain") == ""
            return inside("git", "-C", str(root), "rev-parse", "HEAD")

        server.greet()
        make(server, "A")
        before, kept, refused = state(), ["a1"], 0
        for pages in range(30):
            inside(sys.executable, "-c", FILL, str(tmp_path / "ballast"), str(pages))
            text = f"fact {pages} " + "y" * 1_000
            result = server.call("add_observations", observations=[added("A", text)])
            if result["isError"]:
                assert "No space left on the disk" in told(result)
                assert state() == before
                refused += 1
            else:
                before, old = state(), before
                assert before == result["structuredContent"]["receipt"]["commit"] != old
                kept.append(text)
            inside("rm", str(tmp_path / "ballast"))
            assert facts(server, "A") == kept
        assert 0 < refused < 30
        assert inside("git", "-C", str(root), "fsck", "--strict", "--no-dangling", "--no-progress") == ""
        assert "file-" not in inside("ls", str(root / ".git/vault-mcp"))


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs a limit for a running process")
def test_a_limit_on_the_size_of_files_fails_a_call_whole(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    with greeted(root, "--no-watch") as server:
        make(server, "A")
        index = max(path.stat().st_size for path in (root / ".git/vault-mcp").glob("index*"))
        limit = index + 4_000_000
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        before = head(root)
        # Too large for the disk's limit, not for the line of a request.
        many = [f"{number} " + "x" * 90_000 for number in range(limit // 90_000 + 1)]
        assert "The disk refused the write (File too large" in told(
            server.call("add_observations", observations=[added("A", *many)])
        )
        assert head(root) == before
        given(server, "add_observations", observations=[added("A", "small")])
        # Not even the index may grow: the change stands in the notes and in history, and is told.
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
        made = given(server, "create_entities", entities=[entity("B", "b1")])
        assert made["receipt"]["commit"] == head(root)
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, unlimited)
        assert facts(server, "A") == ["a1", "small"]
        assert facts(server, "B") == ["b1"]
    assert faults(root) == []


CLOSED = ["entities/t", "entities/t/A.md", ".git", ".git/objects", ".git/refs/heads", ".git/vault-mcp"]


@pytest.fixture
def closing(tmp_path: Path) -> Iterator[list[Path]]:
    """Paths that a test closes; they are opened again, so that they can be removed."""
    closed: list[Path] = []
    yield closed
    for path in closed:
        path.chmod(path.stat().st_mode | 0o200)


@pytest.mark.skipif(not can_be_anybody(), reason="nothing is closed to who runs this")
@pytest.mark.parametrize("place", CLOSED)
def test_a_folder_that_may_not_be_written_fails_a_call_whole_until_it_is_opened(
    tmp_path: Path, closing: list[Path], place: str
) -> None:
    root = make_vault(tmp_path / "v")
    command = [*AS_ANYBODY, sys.executable, "-m", "vault_mcp"]
    with serve(root, "--no-watch", command=command) as server:
        server.greet()
        make(server, "A")
        before = head(root)
        below = [path for path in (root / place).rglob("*") if path.is_dir()] if place != ".git" else []
        for path in (*below, root / place):
            path.chmod(path.stat().st_mode & ~0o222)
            closing.append(path)
        result = server.call("add_observations", observations=[added("A", "x")])
        if result["isError"]:
            text = told(result)
            assert "Permission denied" in text or "gave no permission" in text
            assert str(tmp_path) not in text
            assert head(root) == before
        else:
            # Whoever may write a folder may replace a file in it, as editors do; and Git's folder for
            # objects of the same first digits is open.
            assert place == "entities/t/A.md"
        assert facts(server, "A") == (["a1"] if result["isError"] else ["a1", "x"])
        for path in closing:
            path.chmod(path.stat().st_mode | 0o200)
        given(server, "add_observations", observations=[added("A", "y")])
        assert facts(server, "A")[-1] == "y"
        assert "y" in (root / path_of(server, "A")).read_text()
    assert faults(root) == []


@pytest.mark.skipif(not can_be_anybody(), reason="nothing is closed to who runs this")
def test_a_note_that_may_not_be_read_costs_that_note_alone(tmp_path: Path, closing: list[Path]) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "zebra one\n", "b.md": "zebra two\n"})
    (root / "b.md").chmod(0)
    closing.append(root / "b.md")
    with serve(root, command=[*AS_ANYBODY, sys.executable, "-m", "vault_mcp"]) as server:
        server.greet()
        shown = given(server, "search_nodes", query="zebra")["entities"]
        assert [one["note"] for one in shown] == ["a.md"]
        make(server, "A")
        (root / "b.md").chmod(0o644)
        wait_until(lambda: len(given(server, "search_nodes", query="zebra")["entities"]) == 2, 15)
    assert commits(root)[0] == "create_entities: A"
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.parametrize("part", ["", ".git"], ids=["the vault", "its Git folder"])
def test_what_is_moved_away_is_not_made_again_and_is_served_once_it_is_back(
    tmp_path: Path, part: str
) -> None:
    root = make_vault(tmp_path / "v")
    with greeted(root) as server:
        make(server, "A")
        shutil.move(root / part, tmp_path / "away")
        for _ in range(2):
            for tool, arguments in (
                ("add_observations", {"observations": [added("A", "x")]}),
                ("create_entities", {"entities": [entity("B")]}),
            ):
                text = told(server.call(tool, **arguments))
                assert "was moved, renamed or is not mounted" in text
                assert str(tmp_path) not in text
            assert server.call("read_graph")["isError"]
        assert not (root / part).exists()
        shutil.move(tmp_path / "away", root / part)
        wait_until(lambda: not server.call("read_graph")["isError"], 15)
        given(server, "add_observations", observations=[added("A", "back")])
        assert facts(server, "A") == ["a1", "back"]
    assert faults(root) == []
