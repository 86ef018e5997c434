"""Renames that lose nothing: put a file where none may be, and exchange two files at once.

Linux does both in one step (renameat2(2)). Elsewhere, and on file systems without it, hard links do the same
with a moment between two steps.
"""

from __future__ import annotations

import ctypes
import errno
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_NOREPLACE, _EXCHANGE = 1, 2
_AT_FDCWD = -100
_UNSUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


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


def move_to_free(source: str, source_folder: int | None, target: str, target_folder: int | None) -> None:
    """Rename `source` to `target`.

    Raises:
        FileExistsError: something is at `target`.
    """
    if _rename(source, source_folder, target, target_folder, _NOREPLACE):
        return
    os.link(source, target, src_dir_fd=source_folder, dst_dir_fd=target_folder, follow_symlinks=False)
    os.unlink(source, dir_fd=source_folder)


def exchange(source: str, source_folder: int | None, target: str, target_folder: int | None) -> None:
    """Have each of two files stand where the other stood."""
    if _rename(source, source_folder, target, target_folder, _EXCHANGE):
        return
    kept = f"{source}.old"
    os.link(target, kept, src_dir_fd=target_folder, dst_dir_fd=source_folder, follow_symlinks=False)
    try:
        os.replace(source, target, src_dir_fd=source_folder, dst_dir_fd=target_folder)
    except BaseException:
        os.unlink(kept, dir_fd=source_folder)
        raise
    os.replace(kept, source, src_dir_fd=source_folder, dst_dir_fd=source_folder)
