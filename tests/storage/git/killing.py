"""Killing a process of ours between any two things that it does to the disk."""

import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.storage.git.vaults import Vault
from vault_mcp.storage.git import swap

_WATCHED = {
    "open",
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.truncate",
    "os.utime",
    "os.chmod",
}


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _arm(left: int, then: Callable[[], None], *, half: bool) -> Callable[[], bool]:
    """Have something happen before this process touches the disk for the `left`-th time, or half-way.

    Gives a function that says whether it did happen.
    """
    touches = iter(range(left, -1, -1))
    happened: list[bool] = []

    def touch() -> bool:
        if next(touches, 0) != 1:
            return False
        happened.append(True)
        return True

    def hook(event: str, _: object) -> None:
        if event in _WATCHED and touch():
            then()

    write, writev, call = os.write, os.writev, swap._call

    def half_write(fd: int, content: bytes) -> int:
        if touch():
            if half:
                write(fd, bytes(content)[: len(content) // 2])
            then()
        return write(fd, content)

    def half_writev(fd: int, parts: list[bytes]) -> int:
        if touch():
            if half:
                writev(fd, parts[: len(parts) // 2])
            then()
        return writev(fd, parts)

    def rename(*arguments: object) -> int:
        if touch():
            then()
        assert call is not None
        return call(*arguments)  # type: ignore[arg-type]  # passed on as they came

    os.write, os.writev = half_write, half_writev  # type: ignore[assignment]  # in a forked child only
    swap._call = rename if call else None
    sys.addaudithook(hook)
    return lambda: bool(happened)


def dies_at(left: int, action: Callable[[], object]) -> bool:
    """Run something in a child that dies before its `left`-th touch of the disk; say whether it did die."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _arm(left, _die, half=True)
            action()
            code = 0
        except BaseException:
            traceback.print_exc()  # to the standard error that pytest shows beside the failed assertion
            raise
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0, "the child failed instead of being killed"
    return False


def fails_at(left: int, error: BaseException, action: Callable[[], object]) -> str:
    """Run something in a child whose `left`-th touch of the disk fails with `error`, once.

    Gives "raised" if the action did not get over it, "returned" if it did, "over" if it has fewer touches.
    """
    words = {10: "raised", 11: "returned", 12: "over"}

    def fail() -> None:
        raise error

    child = os.fork()
    if child == 0:
        code = 1
        try:
            happened = _arm(left, fail, half=False)
            try:
                action()
                code = 11 if happened() else 12
            except BaseException:
                code = 10
        finally:
            os._exit(code)
    return words[os.WEXITSTATUS(os.waitpid(child, 0)[1])]


def copies(vault: Vault, folder: Path) -> Iterator[Vault]:
    """Give fresh copies of a vault, one after the other; each is removed before the next."""
    while True:
        target = folder / "copy"
        shutil.copytree(vault.root, target, symlinks=True)
        copy = Vault(target)
        copy.git("update-index", "-q", "--refresh")
        try:
            yield copy
        finally:
            copy.close()
            shutil.rmtree(target, ignore_errors=True)  # a test may have taken it away
