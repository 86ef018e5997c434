"""Calls that Windows and macOS have otherwise than Linux, or not at all.

Windows opens no folder, knows no path relative to one, translates line ends of what is not opened as binary,
and neither replaces nor removes a file that some program holds open, be it a virus scanner for a moment. All
of that is here; none of it was run there, but on a Linux that plays it (`tests/storage/playing.py`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

if sys.platform == "darwin":
    import fcntl

WINDOWS = sys.platform == "win32"
"""Whether an open file stays where it is, and folders are not opened."""

STEPWISE = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd and os.scandir in os.supports_fd
"""Whether a folder can be opened and a path be given relative to it."""

MAC = sys.platform == "darwin"
"""Whether names come from the disk composed or not, and both mean one file."""

FOLDS = sys.platform in ("darwin", "win32")
"""Whether the disk finds a file under another spelling of its name as well."""

BINARY = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
"""What every file is opened with: its bytes as they are, and not for children."""

_PATIENCE = 2.0
_PAUSE = 0.02


def seek_and_read(fd: int, length: int, at: int) -> bytes:
    """Read at a place, as pread(2) does where there is one; for a file that one thread uses at a time."""
    os.lseek(fd, at, os.SEEK_SET)
    chunks = []
    while length > 0 and (chunk := os.read(fd, length)):
        chunks.append(chunk)
        length -= len(chunk)
    return b"".join(chunks)


def seek_and_write(fd: int, content: bytes | memoryview, at: int) -> int:
    """Write at a place, as pwrite(2) does where there is one; for a file that one thread uses at a time."""
    os.lseek(fd, at, os.SEEK_SET)
    return os.write(fd, content)


def write_joined(fd: int, parts: list[bytes]) -> int:
    """Write several parts at once, as writev(2) does where there is one."""
    return os.write(fd, b"".join(parts))


def _replace(source: str, target: str, source_folder: int | None, target_folder: int | None) -> None:
    os.replace(source, target, src_dir_fd=source_folder, dst_dir_fd=target_folder)


def patiently(do: Callable[[], None]) -> None:
    """Do something that Windows refuses for as long as somebody has the file open: up to two seconds."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            do()
            return
        except PermissionError:
            if not WINDOWS or time.monotonic() > deadline:
                raise
        time.sleep(_PAUSE)


def replace(
    source: str, target: str, source_folder: int | None = None, target_folder: int | None = None
) -> None:
    """Rename a file, over another one if need be."""
    if WINDOWS:
        patiently(lambda: _replace(source, target, source_folder, target_folder))
    else:
        _replace(source, target, source_folder, target_folder)


def remove(path: str, folder: int | None = None) -> None:
    """Remove a file, also one that may not be written, which Windows would keep."""
    if not WINDOWS:
        os.unlink(path, dir_fd=folder)
        return
    try:
        os.unlink(path)
    except PermissionError:
        os.chmod(path, 0o666)
        patiently(lambda: os.unlink(path))


if sys.platform == "win32":

    def stored_path(path: str, folder: int | None = None) -> str:
        """Give the whole path of a file as the disk spells it."""
        return os.path.realpath(path).replace(os.sep, "/")

elif sys.platform == "darwin":

    def stored_path(path: str, folder: int | None = None) -> str:
        """Give the whole path of a file as the disk spells it; as it came where it may not be opened."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            fd = os.open(path, flags, dir_fd=folder)
        except OSError:
            return path
        try:
            return os.fsdecode(fcntl.fcntl(fd, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
        finally:
            os.close(fd)

else:

    def stored_path(path: str, folder: int | None = None) -> str:
        """Give the path as it came: no other leads to the file."""
        return path


if sys.platform == "win32":
    pread = seek_and_read
    pwrite = seek_and_write
    write_vector = write_joined

    def set_mode(fd: int, mode: int) -> None:
        """Set the permissions of an open file, which Windows has none of."""

    def set_owner(path: str, uid: int, gid: int, folder: int | None) -> None:
        """Set whose file it is, which follows the folder on Windows."""

else:

    def pread(fd: int, length: int, at: int) -> bytes:
        """Read at a place, which other readers of the file do not move."""
        return os.pread(fd, length, at)

    def pwrite(fd: int, content: bytes | memoryview, at: int) -> int:
        """Write at a place; give how many bytes were written."""
        return os.pwrite(fd, content, at)

    def write_vector(fd: int, parts: list[bytes]) -> int:
        """Write several parts at once; give how many bytes were written."""
        return os.writev(fd, parts)

    def set_mode(fd: int, mode: int) -> None:
        """Set the permissions of an open file."""
        os.fchmod(fd, mode)

    def set_owner(path: str, uid: int, gid: int, folder: int | None) -> None:
        """Set whose file it is."""
        os.chown(path, uid, gid, dir_fd=folder, follow_symlinks=False)
