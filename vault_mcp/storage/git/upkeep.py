"""Git's own tidying, in the background: never in a call's way, and nothing is written into its configuration.

`git maintenance run --auto` packs loose objects once there are enough of them, and the commit graph with
changed paths makes `git log -- FILE` several times faster.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time

from vault_mcp.storage.git.environment import GitProgram

EVERY = 500
"""Own commits after which there is something to tidy."""

_STALE = 12 * 3600
"""Seconds after which a lock of Git's own tidying counts as left over: `git gc` trusts its own as long."""

_LOCKS = (
    "objects/maintenance.lock",
    "objects/info/commit-graph.lock",
    "objects/info/commit-graphs/commit-graph-chain.lock",
    "objects/pack/multi-pack-index.lock",
    "packed-refs.lock",
)
_NICE = 10
_PATIENCE = 1.0
_STEPS = (
    ("commit-graph", "write", "--reachable", "--changed-paths", "--split"),
    # Git goes into the background by itself when it has to pack, and goes on when we end.
    ("maintenance", "run", "--auto", "--quiet"),
)


class Upkeep:
    """Runs at most one round at a time."""

    def __init__(self, program: GitProgram, common_dir: str) -> None:
        self._program = program
        self._common_dir = common_dir
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._commits = 0
        self._closed = False

    def count(self, commits: int) -> None:
        """Take in that so many commits were made; every 500 of them begin a round."""
        self._commits += commits
        if self._commits >= EVERY:
            self.begin()

    def begin(self) -> None:
        """Begin a round, unless one is running."""
        with self._lock:
            if self._closed or (self._thread is not None and self._thread.is_alive()):
                return
            self._commits = 0
            self._thread = threading.Thread(target=self._run, name="git upkeep", daemon=True)
            self._thread.start()

    def _remove_stale(self) -> None:
        """Remove locks of a tidying that was killed long ago: with them there would never be another."""
        for name in _LOCKS:
            path = f"{self._common_dir}/{name}"
            with contextlib.suppress(OSError):
                if os.stat(path).st_mtime < time.time() - _STALE:
                    os.unlink(path)

    def _run(self) -> None:
        self._remove_stale()
        for step in _STEPS:
            with self._lock:
                if self._closed:
                    return
                child = self._program.start_alone(*step)
            with child, contextlib.suppress(OSError):
                if sys.platform != "win32":
                    os.setpriority(os.PRIO_PROCESS, child.pid, _NICE)
                # What it has to say is its own affair: a round that fails is tried again later.
                child.wait()

    def now(self) -> None:
        """Do a round in the foreground."""
        self._remove_stale()
        for step in _STEPS:
            self._program.run("-c", "gc.autoDetach=false", *step)

    def wait(self, timeout: float) -> bool:
        """Wait for the round that is running, if any; say whether none runs any more."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout)
        return thread is None or not thread.is_alive()

    def close(self) -> None:
        """Begin nothing more. A step that runs goes on by itself: cut off, it could leave a lock behind."""
        with self._lock:
            self._closed = True
        self.wait(_PATIENCE)
