"""The folders of a vault, opened one inside the other from its root on and never through a link."""

from __future__ import annotations

import contextlib
import errno
import os

from vault_mcp.errors import PathRefused, Stale

_ROOT = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = _ROOT | getattr(os, "O_NOFOLLOW", 0)
_MOST_OPEN = 200


class NoFolderError(PathRefused):
    """A part of a path is a file or a link, so nothing of the vault is below it."""


class Folders:
    """Open folders by their path from the root. They stay open, so that nothing can be put in their place."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._open: dict[str, int] = {}
        self._facts: dict[str, os.stat_result] = {}
        self.made: list[str] = []
        """Folders that were not there before, in the order of their making."""

    def open(self, path: str, *, make: bool = False) -> int:
        """Open a folder, and if need be make it.

        Raises:
            NoFolderError: a part is a link or a file.
            PathRefused: the folder belongs to another repository.
            FileNotFoundError: it is not there, and not to be made.
        """
        fd = self._open.get(path)
        if fd is not None:
            return fd
        if not path:
            fd = self._open[""] = os.open(self._root, _ROOT)
            self._facts[""] = os.fstat(fd)
            return fd
        if len(self._open) > _MOST_OPEN:
            self.refuse_moved()
            self.close()
        above, _, name = path.rpartition("/")
        fd = self._open[path] = self._step(path, name, self.open(above, make=make), make=make)
        self._facts[path] = os.fstat(fd)
        if os.access(".git", os.F_OK, dir_fd=fd):
            raise PathRefused(
                f"{path} is a Git repository of its own (a submodule or a nested one), which the vault "
                "leaves alone. Choose a path outside it."
            )
        return fd

    def _step(self, path: str, name: str, parent: int, *, make: bool) -> int:
        try:
            return os.open(name, _FOLDER, dir_fd=parent)
        except FileNotFoundError:
            if not make:
                raise
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.EMLINK):
                raise NoFolderError(
                    f"{path} is not a folder of the vault but a file or a link. Choose another path."
                ) from None
            raise
        os.mkdir(name, dir_fd=parent)
        self.made.append(path)
        return os.open(name, _FOLDER, dir_fd=parent)

    def flush(self) -> None:
        """Have the disk keep the names in the open folders."""
        for fd in self._open.values():
            os.fsync(fd)

    def device(self, path: str) -> int:
        """Give the file system that an open folder is on."""
        return self._facts[path].st_dev

    def refuse_moved(self) -> None:
        """Look whether each open folder still is what its path leads to.

        Raises:
            Stale: one was moved or replaced, so what was put there is elsewhere now.
        """
        for path, ours in self._facts.items():
            if not path:
                continue
            above, _, name = path.rpartition("/")
            there = None
            with contextlib.suppress(FileNotFoundError):
                there = os.stat(name, dir_fd=self._open[above], follow_symlinks=False)
            if there is None or there.st_ino != ours.st_ino or there.st_dev != ours.st_dev:
                raise Stale(
                    f"The folder {path} was moved or replaced during the write. Call again.", retry=True
                )

    def remove_if_empty(self, path: str, stop: str = "") -> None:
        """Remove a folder and those above it, up to `stop`, as far as they are empty."""
        while path != stop:
            self._forget(path)
            above, _, name = path.rpartition("/")
            try:
                os.rmdir(name, dir_fd=self.open(above))
            except (OSError, PathRefused):
                return  # not empty, gone already, or a file by now
            path = above

    def remove_made(self) -> None:
        """Remove the folders that were made, as far as they are empty."""
        for path in reversed(self.made):
            self._forget(path)
            above, _, name = path.rpartition("/")
            with contextlib.suppress(OSError, PathRefused):
                os.rmdir(name, dir_fd=self.open(above))

    def _forget(self, path: str) -> None:
        fd = self._open.pop(path, None)
        if fd is not None:
            del self._facts[path]
            os.close(fd)

    def close(self) -> None:
        """Close every folder."""
        opened, self._open, self._facts = self._open, {}, {}
        for fd in opened.values():
            os.close(fd)
