"""What a watcher told, kept for a test to look at."""

import time
from collections.abc import Callable
from pathlib import Path

from tests.waiting import wait_until
from vault_mcp.storage.watcher import Told, Watcher

QUIET = 0.15
NO_TICK = 1000.0


class Telling:
    """Keeps what was told, and what the files held at that moment."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.told: list[Told] = []
        self.at: list[float] = []
        self.held: dict[str, list[bytes | None]] = {}
        self.trouble: list[str] = []

    def __call__(self, told: Told) -> None:
        for path in told or ():
            file = self.root / path
            self.held.setdefault(path, []).append(file.read_bytes() if file.is_file() else None)
        self.at.append(time.monotonic())
        self.told.append(told)

    @property
    def paths(self) -> set[str]:
        return {path for told in self.told for path in told or ()}

    @property
    def comparisons(self) -> int:
        return self.told.count(None)

    def forget(self) -> None:
        self.told, self.at, self.held = [], [], {}


Watch = Callable[..., tuple[Watcher, Telling]]
"""Starts a watcher with the settings given."""


def settle(telling: Telling, root: Path, name: str = "sentinel.md") -> set[str]:
    """Save a file of our own and wait until it is told of: whatever was heard before has then rested too."""
    (root / name).write_text("here\n")
    wait_until(lambda: name in telling.paths)
    return telling.paths - {name}
