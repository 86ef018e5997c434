"""Cases about writes that cannot be made: a full disk, a vault that may not be written."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.frames import ROOT
from tests.serving import serve
from tests.vaults import commits, make_vault

# Root may write everything by a right of its own, which this takes from it.
AS_ANYBODY = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"] if os.geteuid() == 0 else []
IN_A_MOUNT = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=3m none "$0" && exec "$@"']


def can_mount() -> bool:
    """Say whether this process may mount a small disk for itself, as root in a container of its own can."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([*IN_A_MOUNT, folder, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="only who may mount a disk has a small one to fill")
def test_CON_09_a_full_disk_is_named_and_nothing_has_changed(tmp_path: Path) -> None:
    program = [*IN_A_MOUNT, str(tmp_path), sys.executable, "-m", "tests.cases.small_disk", str(tmp_path)]
    run = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    text, error = told["edit"]
    assert error
    assert "no space" in text.lower()
    assert str(tmp_path) not in text
    assert told["view"].endswith("     1\told")
    assert (told["head"], told["after"], told["status"], told["left"]) == (True, False, "", [])


def can_be_anybody() -> bool:
    """Say whether a program can be run for whom closed files are closed."""
    return (
        not AS_ANYBODY
        or subprocess.run([*AS_ANYBODY, "true"], capture_output=True, check=False).returncode == 0
    )


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """A vault in which nothing may be written."""
    root = make_vault(tmp_path / "vault", {"a.md": "old\n"})
    for path in [*root.rglob("*"), root]:
        path.chmod(path.stat().st_mode & ~0o222)
    yield root
    for path in [root, *root.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)


@pytest.mark.skipif(os.name != "posix" or not can_be_anybody(), reason="nothing is closed to who runs this")
def test_CON_10_a_vault_that_may_not_be_written_can_be_read(closed: Path) -> None:
    with serve(closed, "--no-watch", command=[*AS_ANYBODY, sys.executable, "-m", "vault_mcp"]) as server:
        server.greet()
        told = server.error("memory_str_replace", path="a.md", old_str="old", new_str="new")
        assert "permission" in told.lower()
        assert str(closed) not in told
        assert server.text("memory_view", path="a.md").endswith("     1\told")
        assert "a.md" in server.text("memory_view", path="")
        assert "a.md" in server.text("search_nodes", query="old")
    assert (closed / "a.md").read_text() == "old\n"
    assert commits(closed)[0] == "start"
