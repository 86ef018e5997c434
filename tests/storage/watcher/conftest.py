"""A folder and watchers on it."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.storage.watcher.telling import NO_TICK, QUIET, Telling, Watch
from tests.waiting import wait_until
from vault_mcp.storage.watcher import Watcher


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    (vault / "sub").mkdir(parents=True)
    (vault / "n.md").write_text("old zebra\n")
    return vault


@pytest.fixture
def watch(root: Path) -> Iterator[Watch]:
    """Start watchers that are past their first comparison, so that each later one has a cause."""
    started: list[Watcher] = []

    def start(**settings: Any) -> tuple[Watcher, Telling]:
        telling = Telling(root)
        usual: dict[str, Any] = {"quiet": QUIET, "first": 0, "every": NO_TICK}
        watcher = Watcher(str(root), telling, on_trouble=telling.trouble.append, **(usual | settings))
        watcher.start()
        started.append(watcher)
        wait_until(lambda: telling.comparisons == 1)
        telling.forget()
        return watcher, telling

    yield start
    for watcher in started:
        watcher.stop()
        assert not watcher.alive
        assert watcher.mode == "off"
    assert not [thread for thread in threading.enumerate() if "watch" in thread.name.lower()]
