"""A disk of another system, played below one folder: what Windows and macOS do otherwise than Linux.

`os` and `open` are what is replaced, so the vault's own code runs as it is. Git itself, a process of its own,
sees the plain disk, with the names as they are stored on it.
"""

import builtins
import errno
import io
import os
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import pytest

from vault_mcp.storage import system
from vault_mcp.storage.git import flush, swap
from vault_mcp.storage.paths import place_key

System = Literal["windows", "mac", "old mac"]
"""Windows on NTFS; macOS on APFS; macOS on HFS+, which stores every name decomposed."""

_ONE = ("open", "stat", "lstat", "access", "mkdir", "rmdir", "unlink", "scandir", "listdir", "utime", "chmod")
_TWO = ("replace", "rename", "link")
_STATE = "/.git/"
_NEVER_ON_WINDOWS = re.compile(
    r'.*[<>:"|?*\x00-\x1f\\].*|.*[. ]|(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?', re.I | re.S
)

Call = Callable[..., Any]


class Played:
    """The disk below `root`, until `patch` takes everything back."""

    def __init__(self, root: Path, kind: System, patch: pytest.MonkeyPatch) -> None:
        self.root = os.path.realpath(root)
        self.kind = kind
        self.real: dict[str, Call] = {name: getattr(os, name) for name in (*_ONE, *_TWO)}
        for name in _ONE:
            patch.setattr(os, name, self._one(name))
        for name in _TWO:
            patch.setattr(os, name, self._two(name))
        real_open = builtins.open
        for where in (builtins, io):
            patch.setattr(where, "open", lambda path, *args, **how: real_open(self.at(path), *args, **how))
        patch.setattr(swap, "_call", None)
        if kind == "windows":
            patch.setattr(flush, "_call", None)
            patch.delattr(os, "sync")
            patch.delattr(os, "fdatasync")
            for name, value in (("WINDOWS", True), ("STEPWISE", False)):
                patch.setattr(system, name, value)
            for name, other in (("pread", "seek_and_read"), ("pwrite", "seek_and_write")):
                patch.setattr(system, name, getattr(system, other))
            patch.setattr(system, "write_vector", system.write_joined)
            patch.setattr(system, "set_mode", lambda fd, mode: None)
            patch.setattr(system, "set_owner", lambda path, uid, gid, folder: None)
        else:
            patch.setattr(system, "MAC", True)
        patch.setattr(system, "FOLDS", True)
        patch.setattr(system, "stored_path", self.at)

    # -- names

    def key(self, name: str) -> str:
        return name.upper() if self.kind == "windows" else place_key(name)

    def stored(self, name: str) -> str:
        return unicodedata.normalize("NFD", name) if self.kind == "old mac" else name

    def at(self, path: Any, dir_fd: int | None = None, *, exactly: bool = False) -> Any:
        """Give where a path leads on the plain disk; `exactly`: its last name as it is said."""
        if not isinstance(path, str | Path):
            return path
        whole = str(path)
        if dir_fd is not None and not os.path.isabs(whole):
            whole = f"{os.readlink(f'/proc/self/fd/{dir_fd}')}/{whole}"
        whole = os.path.normpath(whole) if os.path.isabs(whole) else whole
        if not whole.startswith(self.root + "/"):
            return path if dir_fd is None else whole
        place = self.root
        parts = whole[len(self.root) + 1 :].split("/")
        for number, part in enumerate(parts):
            last = number == len(parts) - 1
            place = f"{place}/{self.stored(part) if last and exactly else self.found(place, part)}"
        return place

    def found(self, folder: str, name: str) -> str:
        """Give the name under which a folder has a file, or would have it."""
        with suppress(OSError):
            there = self.real["listdir"](folder)
            if name in there:
                return name
            for one in there:
                if self.key(one) == self.key(name):
                    return str(one)
        return self.stored(name)

    # -- calls

    def _one(self, name: str) -> Call:
        real = self.real[name]

        def call(path: Any = ".", *args: Any, dir_fd: int | None = None, **how: Any) -> Any:
            place = self.at(path, dir_fd)
            if self.mine(place) and self.kind == "windows":
                self.refuse_relative(dir_fd)
                self.refuse(name, place, args)
            elif dir_fd is not None and place is path:
                how["dir_fd"] = dir_fd
            return real(place, *args, **how)

        return call

    def _two(self, name: str) -> Call:
        real = self.real[name]

        def call(
            source: Any,
            target: Any,
            *,
            src_dir_fd: int | None = None,
            dst_dir_fd: int | None = None,
            **how: Any,
        ) -> Any:
            old, twin = self.at(source, src_dir_fd), self.at(target, dst_dir_fd)
            new = self.at(target, dst_dir_fd, exactly=True)
            if not self.mine(new):
                return real(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd, **how)
            if self.kind == "windows":
                self.refuse_relative(src_dir_fd, dst_dir_fd)
                self.refuse(name, twin, ())
                self.refuse("name", new, ())
                if name != "link":
                    self.refuse(name, old, ())
            if name == "link":
                return real(old, twin, **how)
            if twin != new and os.path.lexists(twin) and not os.path.samefile(twin, old):
                self.real["unlink"](twin)
            return real(old, new)

        return call

    def mine(self, place: Any) -> bool:
        return isinstance(place, str) and place.startswith(self.root + "/")

    # -- what Windows refuses

    def refuse_relative(self, *folders: int | None) -> None:
        if any(folder is not None for folder in folders):
            raise NotImplementedError("dir_fd unavailable on this platform")

    def refuse(self, name: str, place: str, args: tuple[Any, ...]) -> None:
        makes = name in ("mkdir", "name") or (name == "open" and args and args[0] & os.O_CREAT)
        if makes and any(map(_NEVER_ON_WINDOWS.fullmatch, place[len(self.root) + 1 :].split("/"))):
            raise OSError(errno.EINVAL, "the name is none", place)
        with suppress(FileNotFoundError):
            facts = self.real["stat"](place, follow_symlinks=False)
            if name == "open" and os.path.isdir(place):
                raise PermissionError(errno.EACCES, "a folder is not opened", place)
            if name in ("unlink", "replace", "rename"):
                if name == "unlink" and not facts.st_mode & 0o222:
                    raise PermissionError(errno.EACCES, "it may not be written", place)
                if (facts.st_ino, facts.st_dev) in self.opened():
                    raise PermissionError(errno.EACCES, "somebody has it open", place)

    def opened(self) -> set[tuple[int, int]]:
        """Give the files that this process has open."""
        found = set()
        for fd in self.real["listdir"]("/proc/self/fd"):
            with suppress(OSError):
                facts = os.fstat(int(fd))
                found.add((facts.st_ino, facts.st_dev))
        return found
