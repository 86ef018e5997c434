"""Renames that lose nothing: put a file where none may be, and exchange two files at once.

Linux does both in one step (renameat2(2)). Elsewhere, and on file systems without it, hard links do the same
with a moment between two steps; where there are none either, plain renames do, and in that moment the file is
missing.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
from typing import TYPE_CHECKING

from vault_mcp.storage import system

if TYPE_CHECKING:
    from collections.abc import Callable

_NOREPLACE, _EXCHANGE = 1, 2
_AT_FDCWD = -100
_UNSUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
"""What a file system without hard links answers, or one that cannot link to another."""

ASIDE = ".old"
"""How the name ends under which a file stands aside while another takes its place."""


def _renameat2() -> Callable[[int, bytes, int, bytes, int], int] | None:
    try:
        return ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return None


_call = _renameat2()


def _rename(source: str, source_folder: int | None, target: str, target_folder: int | None, how: int) -> bool:
    """Rename in one step; say False where the system cannot."""
    if _call is None:
        return False
    from_fd = _AT_FDCWD if source_folder is None else source_folder
    to_fd = _AT_FDCWD if target_folder is None else target_folder
    if _call(from_fd, os.fsencode(source), to_fd, os.fsencode(target), how) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), target)


def is_there(name: str, folder: int | None) -> bool:
    """Say whether anything is at a path, be it a link that leads nowhere."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def move_to_free(source: str, source_folder: int | None, target: str, target_folder: int | None) -> None:
    """Rename `source` to `target`.

    Raises:
        FileExistsError: something is at `target`.
    """
    if _rename(source, source_folder, target, target_folder, _NOREPLACE):
        return
    if _linked(source, source_folder, target, target_folder):
        system.remove(source, source_folder)
        return
    if is_there(target, target_folder):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    system.replace(source, target, source_folder, target_folder)


def exchange(source: str, source_folder: int | None, target: str, target_folder: int | None) -> None:
    """Have each of two files stand where the other stood."""
    if _rename(source, source_folder, target, target_folder, _EXCHANGE):
        return
    kept = source + ASIDE
    with contextlib.suppress(FileNotFoundError):
        system.remove(kept, source_folder)  # left by a killed process, and looked at by whoever recovered
    if not _linked(target, target_folder, kept, source_folder):
        system.replace(target, kept, target_folder, source_folder)
    try:
        system.replace(source, target, source_folder, target_folder)
    except BaseException:
        if is_there(target, target_folder):
            system.remove(kept, source_folder)
        else:
            system.replace(kept, target, source_folder, target_folder)
        raise
    system.replace(kept, source, source_folder, source_folder)


def _linked(source: str, source_folder: int | None, target: str, target_folder: int | None) -> bool:
    """Give a file a second name; say False where the file system has no such thing."""
    try:
        if system.STEPWISE:
            os.link(source, target, src_dir_fd=source_folder, dst_dir_fd=target_folder, follow_symlinks=False)
        else:
            os.link(source, target)
    except OSError as error:
        if error.errno in NO_LINKS:
            return False
        raise
    return True
