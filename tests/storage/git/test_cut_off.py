"""Locks of Git commands that were killed with us: known by a record, removed, and never somebody else's."""

import os
import subprocess
import threading
from pathlib import Path

import pytest

from tests.clones import remote_and_clones
from tests.vaults import CLAUDE, clean, git, make_vault, opened
from tests.waiting import wait_until
from vault_mcp.errors import StorageFailed, VaultBusy
from vault_mcp.storage.git.cut_off import exchanging, git_locks, remove_left
from vault_mcp.storage.git.erasing import UNFINISHED
from vault_mcp.storage.lock import WriteLock
from vault_mcp.sync import sync
from vault_mcp.tools.graph.entities import create_entities
from vault_mcp.vault import Options

OPTIONS = Options(embeddings="off")
ADA = [{"name": "Ada", "entityType": "person", "observations": ["x"]}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "refs/remotes/origin").mkdir(parents=True)
    return tmp_path


def left(path: Path, *, before: Path | None = None) -> Path:
    """Make a lock as a killed Git leaves it; `before` a record it is older."""
    path.write_bytes(b"")
    if before is not None:
        then = before.stat().st_mtime_ns - 1
        os.utime(path, ns=(then, then))
    return path


def test_what_is_younger_than_the_record_and_rests_is_removed_and_nothing_else(folder: Path) -> None:
    record = left(folder / "record")
    ours = [left(folder / "refs/remotes/origin/main.lock"), left(folder / "config.lock")]
    older = left(folder / "packed-refs.lock", before=record)
    index = left(folder / "index.lock")
    moving = folder / "refs/remotes/origin/other.lock"
    moving.write_bytes(b"")

    def go_on() -> None:
        new = left(folder / "new")
        os.utime(new, ns=(2**60, 2**60))
        new.replace(moving)

    timer = threading.Timer(0.5, go_on)
    timer.start()
    remove_left(str(record), git_locks(str(folder), "refs/remotes"))
    timer.join()
    assert [path.exists() for path in ours] == [False, False]
    assert [path.exists() for path in (older, index, moving, record)] == [True] * 4


def test_without_a_record_no_lock_is_touched(folder: Path) -> None:
    lock = left(folder / "refs/remotes/origin/main.lock")
    with exchanging(str(folder), str(folder)):
        assert lock.exists()


def test_a_lock_lasts_as_long_as_the_last_command_that_inherited_it(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    lock, other = WriteLock(path), WriteLock(path)
    assert lock.acquire(0)
    with subprocess.Popen(["sleep", "600"], pass_fds=lock.inherited()) as child:
        lock.close()  # without letting go, as a kill does
        assert not other.acquire(0)
        child.kill()
    assert other.acquire(30)
    other.release()
    other.close()


def test_exchanges_go_one_after_the_other(folder: Path) -> None:
    ends = threading.Event()
    order: list[str] = []

    def second() -> None:
        with exchanging(str(folder), str(folder)) as inherited:
            order.append("second")
            assert inherited
        ends.set()

    thread = threading.Thread(target=second)
    with exchanging(str(folder), str(folder)) as inherited:
        assert inherited
        thread.start()
        assert not ends.wait(0.3)
        order.append("first")
    thread.join(30)
    assert order == ["first", "second"]
    assert not (folder / "syncing").exists()


def test_a_sync_goes_on_where_one_was_killed_with_its_git(tmp_path: Path) -> None:
    a, _ = remote_and_clones(tmp_path)
    with opened(a, OPTIONS) as vault:
        create_entities(vault, CLAUDE, ADA)
        (a / ".git/vault-mcp/syncing").write_bytes(b"")
        for name in ("refs/remotes/origin/main.lock", "config.lock"):
            left(a / ".git" / name)
        assert sync(vault).sent == 1
    assert list((a / ".git").rglob("*.lock")) == []
    assert clean(a)


def test_a_lock_of_somebody_else_stops_a_sync_with_its_name(tmp_path: Path) -> None:
    a, b = remote_and_clones(tmp_path)
    with opened(b, OPTIONS) as vault:
        create_entities(vault, CLAUDE, ADA)
        sync(vault)
    lock = left(a / ".git/refs/remotes/origin/main.lock")
    with opened(a, OPTIONS) as vault, pytest.raises(StorageFailed, match=r"main\.lock"):
        sync(vault)
    assert lock.exists()


def test_a_lock_left_in_the_remote_is_named_with_what_to_do(tmp_path: Path) -> None:
    a, _ = remote_and_clones(tmp_path)
    left(tmp_path / "remote.git/refs/heads/main.lock")
    with opened(a, OPTIONS) as vault:
        create_entities(vault, CLAUDE, ADA)
        with pytest.raises(VaultBusy, match=r"The remote's branch main is locked .* remove .*main\.lock"):
            sync(vault)
        (tmp_path / "remote.git/refs/heads/main.lock").unlink()
        assert sync(vault).sent == 1


def test_a_write_goes_on_where_an_erasure_was_killed_with_its_git(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"n.md": "x\n"})
    with opened(root, OPTIONS) as vault:
        vault.wait_until_compared(60)
        (root / ".git/vault-mcp" / UNFINISHED).write_bytes(b"")
        branch = ("refs/heads/main.lock", "logs/refs/heads/main.lock")
        for name in (*branch, "HEAD.lock", "packed-refs.lock", "objects/info/commit-graph.lock"):
            left(root / ".git" / name)
        create_entities(vault, CLAUDE, ADA)
    assert list((root / ".git").rglob("*.lock")) == []
    assert clean(root)


def test_what_a_killed_erasure_was_writing_is_gone_after_the_next_start(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"n.md": "x\n"})
    half = root / ".git/vault-mcp/rewritten-1"
    half.mkdir(parents=True)
    git(half, "init", "-q", "--bare")
    with opened(root, OPTIONS):
        wait_until(lambda: not half.exists(), 30)
    assert clean(root)
