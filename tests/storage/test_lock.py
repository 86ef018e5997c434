import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.waiting import HANGS, wait_until
from vault_mcp.storage.lock import WriteLock

HOLDER = """
import sys
from vault_mcp.storage.lock import WriteLock
lock = WriteLock(sys.argv[1])
assert lock.acquire(5)
print("held", flush=True)
sys.stdin.readline()
"""


def holder(path: Path) -> "subprocess.Popen[str]":
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout
    assert child.stdout.readline() == "held\n"
    return child


def test_a_lock_is_taken_and_given_back(tmp_path: Path) -> None:
    lock = WriteLock(str(tmp_path / "deep/lock"))

    assert lock.acquire(0)
    assert not lock.acquire(0)
    lock.release()
    assert lock.acquire(1)
    lock.release()
    lock.close()


def test_it_is_wanted_while_another_thread_waits_for_it(tmp_path: Path) -> None:
    lock = WriteLock(str(tmp_path / "lock"))
    assert lock.acquire(0)
    assert not lock.acquire(0)
    assert not lock.wanted

    def wait() -> None:
        assert lock.acquire(30)
        lock.release()

    other = threading.Thread(target=wait)
    other.start()
    wait_until(lambda: lock.wanted)
    lock.release()
    other.join()

    assert not lock.wanted
    assert lock.acquire(0)
    assert not lock.acquire(0.01)
    assert not lock.wanted
    lock.release()
    lock.close()


def test_another_process_waits_no_longer_than_it_said(tmp_path: Path) -> None:
    with holder(tmp_path / "lock") as child:
        lock = WriteLock(str(tmp_path / "lock"))
        began = time.monotonic()
        assert not lock.acquire(0.3)
        assert 0.25 < time.monotonic() - began < HANGS
        assert not lock.acquire(0)
        child.communicate("done\n")

    assert lock.acquire(5)
    lock.release()
    lock.close()


def test_the_kernel_frees_the_lock_of_a_killed_process(tmp_path: Path) -> None:
    lock = WriteLock(str(tmp_path / "lock"))
    with holder(tmp_path / "lock") as child:
        assert not lock.acquire(0)
        child.kill()
        child.wait()

        assert lock.acquire(5)
    lock.release()
    lock.close()


def test_threads_of_one_process_take_turns(tmp_path: Path) -> None:
    lock = WriteLock(str(tmp_path / "lock"))
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(50):
            assert lock.acquire(20)
            inside.append(1)
            most.append(len(inside))
            inside.pop()
            lock.release()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(most) == 300
    assert max(most) == 1
    lock.close()


def test_a_lock_file_that_was_cleared_away_divides_nobody(tmp_path: Path) -> None:
    first, second = WriteLock(str(tmp_path / "lock")), WriteLock(str(tmp_path / "lock"))
    assert first.acquire(0)
    first.release()
    os.unlink(tmp_path / "lock")
    assert second.acquire(0)

    assert not first.acquire(0)
    second.release()
    assert first.acquire(1)
    first.release()
    first.close()
    second.close()


def test_a_waiting_thread_gets_the_lock_when_the_other_process_is_done(tmp_path: Path) -> None:
    lock = WriteLock(str(tmp_path / "lock"))
    got: list[bool] = []
    with holder(tmp_path / "lock") as child:
        thread = threading.Thread(target=lambda: got.append(lock.acquire(20)))
        thread.start()
        assert child.stdin
        child.stdin.write("done\n")
        child.stdin.flush()
        wait_until(lambda: got == [True], 20)
        thread.join()
    lock.release()
    lock.close()
