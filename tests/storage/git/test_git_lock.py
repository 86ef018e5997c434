import os
import threading
from pathlib import Path

import pytest

from vault_mcp.errors import VaultBusy
from vault_mcp.storage.git import git_lock
from vault_mcp.storage.git.git_lock import GitLock


def lock(folder: Path) -> GitLock:
    return GitLock(str(folder / "own"), str(folder / "deep/index"), ".git/index.lock")


def test_a_lock_becomes_the_file_and_leaves_nothing(tmp_path: Path) -> None:
    taken = lock(tmp_path)
    taken.take()
    assert (tmp_path / "deep/index.lock").exists()

    taken.write(b"content")
    taken.publish()
    taken.release()

    assert (tmp_path / "deep/index").read_bytes() == b"content"
    assert sorted(os.listdir(tmp_path)) == ["deep"]
    assert os.listdir(tmp_path / "deep") == ["index"]


def test_a_lock_that_is_given_back_leaves_nothing(tmp_path: Path) -> None:
    taken = lock(tmp_path)
    taken.take()
    taken.write(b"half")

    taken.release()

    assert not (tmp_path / "deep/index").exists()
    assert os.listdir(tmp_path / "deep") == []


def test_what_a_killed_process_of_ours_left_is_taken_over(tmp_path: Path) -> None:
    left = lock(tmp_path)
    left.take()
    os.close(left.hand_over())

    taken = lock(tmp_path)
    taken.take()
    taken.release()

    assert os.listdir(tmp_path / "deep") == []


def test_a_lock_of_another_program_is_waited_for_and_never_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_lock, "PATIENCE", 0.1)
    (tmp_path / "deep").mkdir()
    foreign = tmp_path / "deep/index.lock"
    foreign.touch()
    os.utime(foreign, (os.stat(foreign).st_mtime - 300,) * 2)
    taken = lock(tmp_path)

    with pytest.raises(VaultBusy, match="for 5 minutes"):
        taken.take()
    taken.release()
    assert not taken.recover()

    assert foreign.exists()
    assert os.listdir(tmp_path) == ["deep"]


def test_a_lock_that_is_given_back_in_time_is_taken(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    foreign = tmp_path / "deep/index.lock"
    foreign.touch()
    taken = lock(tmp_path)
    timer = threading.Timer(0.05, foreign.unlink)
    timer.start()

    taken.take()

    timer.join()
    taken.release()
    assert os.listdir(tmp_path / "deep") == []


def test_empty_folders_that_deleted_branches_left_make_room(tmp_path: Path) -> None:
    (tmp_path / "deep/index/a/b").mkdir(parents=True)
    taken = lock(tmp_path)
    taken.take()
    taken.write(b"x")

    taken.publish()
    taken.release()

    assert (tmp_path / "deep/index").read_bytes() == b"x"
