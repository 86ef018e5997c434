"""Locks that Git's commands left which were killed together with us, known for what they are and removed.

A killed Git leaves its locks behind, and nobody can tell them from those of a living one. So where a lock of
the index or of a branch is not ours to make (`git_lock`), the work is told on disk for as long as it lasts,
and every command of it inherits a lock of the kernel's, which ends with the last of them. Whoever has that
lock and finds such a record knows that none of them lives any more: a lock that is younger than the record,
and does not move for two seconds, is left over. On Windows no command inherits anything, so nothing is
removed there.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator

from vault_mcp.storage import system
from vault_mcp.storage.lock import WriteLock

_PATIENCE = 2.0
_TURN = 10.0
_NAMES = ("HEAD.lock", "packed-refs.lock", "config.lock")


def git_locks(common_dir: str, *below: str) -> Iterator[str]:
    """Give the locks of a Git folder's own files, but for the index, and those below some of its folders."""
    yield from (f"{common_dir}/{name}" for name in _NAMES)
    for folder in below:
        for place, _, names in os.walk(f"{common_dir}/{folder}"):
            yield from (f"{place}/{name}" for name in names if name.endswith(".lock"))


def remove_left(record: str, locks: Iterable[str]) -> None:
    """Remove those of these locks that were left by the commands that a record tells of.

    Whoever calls has the kernel's lock that these commands inherited.
    """
    begun = _seen(record)
    if begun is None or system.WINDOWS:
        return
    left = {path: seen for path in locks if (seen := _seen(path)) and seen[0] >= begun[0]}
    if not left:
        return
    time.sleep(_PATIENCE)  # a command of somebody else's is done with a lock of these sooner
    for path, seen in left.items():
        if _seen(path) == seen:
            with contextlib.suppress(OSError):
                os.unlink(path)


@contextlib.contextmanager
def exchanging(state_dir: str, common_dir: str) -> Iterator[tuple[int, ...]]:
    """Hold for a block what tells of an exchange with a remote; give what its commands are to inherit.

    Exchanges go one after the other. One that has waited ten seconds for another goes on beside it, and then
    its commands inherit nothing: they do each other no harm, and a remote that hangs holds up nobody else.
    """
    lock, record = WriteLock(f"{state_dir}/lock-sync"), f"{state_dir}/syncing"
    ours = lock.acquire(_TURN)
    try:
        if ours:
            remove_left(record, git_locks(common_dir, "refs/remotes"))
            with open(record, "wb"):
                pass
        yield lock.inherited() if ours else ()
    finally:
        if ours:
            with contextlib.suppress(OSError):
                os.unlink(record)
            lock.release()
        lock.close()


def _seen(path: str) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        found = os.stat(path, follow_symlinks=False)
        return found.st_mtime_ns, found.st_ino
    return None
