"""A loss of power, as the disk would have it: only what was flushed is there afterwards."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from stat import S_ISDIR
from typing import Literal

from vault_mcp.storage.git import flush

Loss = Literal["names", "bytes"]
"""What is lost: names that were not flushed, and with them files; or the bytes of files, whose names stay."""


class Disk:
    """What the disk has of a folder, by inode: bytes of files, names of folders.

    Each inode that was flushed is kept open, so that no other file gets its number.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[int, tuple[bytes, int, int]] = {}
        self._names: dict[int, dict[str, int]] = {}
        self._open: list[int] = []
        self._syncfs(0)

    def watch(self) -> None:
        """Take in every flush of this process from now on."""
        os.fsync = os.fdatasync = self._flushed  # type: ignore[assignment]  # in a forked child only
        flush._call = self._syncfs

    def _flushed(self, fd: int) -> None:
        found = os.fstat(fd)
        self._open.append(os.dup(fd))
        if not S_ISDIR(found.st_mode):
            with open(f"/proc/self/fd/{fd}", "rb") as file:
                self._files[found.st_ino] = file.read(), found.st_mode & 0o777, found.st_mtime_ns
            return
        names = self._names[found.st_ino] = {}
        for entry in os.scandir(f"/proc/self/fd/{fd}"):
            names[entry.name] = entry.inode()
            self._open.append(os.open(entry.path, os.O_RDONLY))
            if entry.is_dir():
                self._names.setdefault(entry.inode(), {})

    def _syncfs(self, _: int) -> int:
        for folder, _folders, names in os.walk(self.root):
            for path in (folder, *(f"{folder}/{name}" for name in names)):
                fd = os.open(path, os.O_RDONLY)
                self._flushed(fd)
                os.close(fd)
        return 0

    def restore(self, target: Path, lost: Loss) -> None:
        """Make a folder as it is found when the power is back."""
        self._placed: dict[int, Path] = {}
        self._restore(self.root.stat().st_ino, self.root, target, lost)

    def _restore(self, ino: int, now: Path, target: Path, lost: Loss) -> None:
        target.mkdir()
        names = self._names.get(ino, {})
        if lost == "bytes":
            names = {entry.name: entry.inode() for entry in os.scandir(now)}
        for name, inner in names.items():
            if inner in self._names:
                self._restore(inner, now / name, target / name, lost)
                continue
            if lost == "bytes" and (now / name).is_dir():
                self._restore(inner, now / name, target / name, lost)
                continue
            if inner in self._placed:
                (target / name).hardlink_to(self._placed[inner])
                continue
            self._placed[inner] = target / name
            content, mode, mtime = self._files.get(inner, (b"", 0o644, 0))
            (target / name).write_bytes(content)
            (target / name).chmod(mode)
            os.utime(target / name, ns=(mtime, mtime))


def power_lost(
    root: Path, target: Path, lost: Loss, action: Callable[[Disk, Callable[[str], None]], None]
) -> list[str]:
    """Run `action` in a child until the power is lost at its end; give what it acknowledged.

    The folder as it is then found is `target`.
    """
    told = target.with_suffix(".told")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            disk = Disk(root)
            disk.watch()
            acknowledged: list[str] = []
            action(disk, acknowledged.append)
            disk.restore(target, lost)
            told.write_text(json.dumps(acknowledged))
            code = 0
        finally:
            os._exit(code)
    assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 0
    found: list[str] = json.loads(told.read_text())
    return found
