"""Killing a process of ours between any two things that it does to the disk."""

import os
import shutil
import signal
import sys
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


def _arm(left: int) -> None:
    """Have this process die before it touches the disk for the `left`-th time; in a write, half-way."""
    count = iter(range(left, 0, -1))

    def touch() -> bool:
        return next(count, 0) == 1

    def hook(event: str, _: object) -> None:
        if event in _WATCHED and touch():
            _die()

    write, writev, call = os.write, os.writev, swap._call

    def half_write(fd: int, content: bytes) -> int:
        if touch():
            write(fd, bytes(content)[: len(content) // 2])
            _die()
        return write(fd, content)

    def half_writev(fd: int, parts: list[bytes]) -> int:
        if touch():
            writev(fd, parts[: len(parts) // 2])
            _die()
        return writev(fd, parts)

    def rename(*arguments: object) -> int:
        if touch():
            _die()
        assert call is not None
        return call(*arguments)  # type: ignore[arg-type]  # passed on as they came

    os.write, os.writev = half_write, half_writev  # type: ignore[assignment]  # in a forked child only
    swap._call = rename if call else None
    sys.addaudithook(hook)


def dies_at(left: int, action: Callable[[], object]) -> bool:
    """Run something in a child that dies before its `left`-th touch of the disk; say whether it did die."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _arm(left)
            action()
            code = 0
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0, "the child failed instead of being killed"
    return False


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
