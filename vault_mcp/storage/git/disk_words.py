"""What the disk refused, said in words that a caller may see."""

from __future__ import annotations

import errno
import os

from vault_mcp.errors import StorageFailed


def storage_failed(error: OSError, root: str) -> StorageFailed:
    """Make the error that the caller may see: no path of the host in it, only those of the vault."""
    where = ""
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
    if name:
        where = os.path.relpath(name, root) if os.path.isabs(name) else name
        where = "the repository's Git folder" if where.startswith("..") else where
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFailed("No space left on the disk. Free some, then call again.")
    if error.errno in (errno.EACCES, errno.EPERM):
        return StorageFailed(f"Permission denied: {where or 'the vault'}. Let the server's user write there.")
    if error.errno == errno.EROFS:
        return StorageFailed("The disk is read-only. Make it writable, then call again.")
    return StorageFailed(
        f"The disk refused the write ({error.strerror or error}{': ' + where if where else ''})."
    )
