"""The folders of a vault, opened one inside the other from its root on and never through a link.

Windows opens no folders: there each part of a path is looked at before the whole path is used.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat as modes

from vault_mcp.errors import PathRefused, Stale
from vault_mcp.storage import system
from vault_mcp.storage.files import is_mount, named

_ROOT = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = _ROOT | getattr(os, "O_NOFOLLOW", 0)
_MOST_OPEN = 200


Place = int | str
"""An open folder, or where folders are not opened its path."""

Spot = tuple[str, int | None]
"""A name in an open folder, or a whole path: what the calls of `os` take as path and `dir_fd`."""


def spot(place: Place, name: str) -> Spot:
    """Give where a name is in a folder."""
    return (name, place) if isinstance(place, int) else (f"{place}/{name}", None)


class NoFolderError(PathRefused):
    """A part of a path is a file or a link, so nothing of the vault is below it."""


class Folders:
    """Open folders by their path from the root. They stay open, so that nothing can be put in their place."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._open: dict[str, Place] = {}
        self._facts: dict[str, os.stat_result] = {}
        self.made: list[str] = []
        """Folders that were not there before, in the order of their making."""

    def open(self, path: str, *, make: bool = False) -> Place:
        """Open a folder, and if need be make it.

        Raises:
            NoFolderError: a part is a link or a file.
            PathRefused: the folder belongs to another repository.
            FileNotFoundError: it is not there, and not to be made.
        """
        place = self._open.get(path)
        if place is not None:
            return place
        if not path:
            place = self._open[""] = os.open(self._root, _ROOT) if system.STEPWISE else self._root
            self._facts[""] = os.stat(place)
            return place
        if len(self._open) > _MOST_OPEN:
            self.refuse_moved()
            self.close()
        above, _, name = path.rpartition("/")
        place = self._open[path] = self._step(path, spot(self.open(above, make=make), name), make=make)
        self._facts[path] = os.stat(place)
        inner, where = spot(place, ".git")
        if os.access(inner, os.F_OK, dir_fd=where):
            raise PathRefused(
                f"{path} is a Git repository of its own (a submodule or a nested one), which the vault "
                "leaves alone. Choose a path outside it."
            )
        return place

    def _step(self, path: str, there: Spot, *, make: bool) -> Place:
        name, parent = there
        try:
            return _opened(name, parent)
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
        return _opened(name, parent)

    def flush(self) -> None:
        """Have the disk keep the names in the open folders."""
        for place in self._open.values():
            if isinstance(place, int):
                os.fsync(place)

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
            name, where = spot(self._open[above], name)
            with contextlib.suppress(FileNotFoundError):
                there = os.stat(name, dir_fd=where, follow_symlinks=False)
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
                name, where = spot(self.open(above), name)
                os.rmdir(name, dir_fd=where)
            except (OSError, PathRefused):
                return  # not empty, gone already, or a file by now
            path = above

    def respell(self, path: str) -> None:
        """Have the disk spell a folder, and those above it, as a path does that led there anyway."""
        above, _, name = path.rpartition("/")
        if above:
            self.respell(above)
        place, where = spot(self.open(above), name)
        stored = system.stored_path(place, where).rpartition("/")[2]
        if named(stored) != name:
            os.rename(spot(self.open(above), stored)[0], place, src_dir_fd=where, dst_dir_fd=where)

    def remove_made(self) -> None:
        """Remove the folders that were made, as far as they are empty."""
        for path in reversed(self.made):
            self._forget(path)
            above, _, name = path.rpartition("/")
            with contextlib.suppress(OSError, PathRefused):
                name, where = spot(self.open(above), name)
                os.rmdir(name, dir_fd=where)

    def _forget(self, path: str) -> None:
        place = self._open.pop(path, None)
        if place is not None:
            del self._facts[path]
            _close(place)

    def close(self) -> None:
        """Close every folder."""
        opened, self._open, self._facts = self._open, {}, {}
        for place in opened.values():
            _close(place)


def _opened(name: str, parent: int | None) -> Place:
    if parent is not None:
        return os.open(name, _FOLDER, dir_fd=parent)
    found = os.lstat(name)
    if not modes.S_ISDIR(found.st_mode) or is_mount(found):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
    return name


def _close(place: Place) -> None:
    if isinstance(place, int):
        os.close(place)
