"""One server for the cases that need nothing but tools: its graph is emptied before each."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.doors.frames import Server
from tests.serving import given, graph, greeted
from tests.vaults import make_vault


@dataclass(frozen=True)
class Desk:
    """A running server and its vault."""

    server: Server
    root: Path


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    root = make_vault(tmp_path_factory.mktemp("desk") / "vault")
    with greeted(root, "--no-watch") as server:
        yield Desk(server, root)


@pytest.fixture
def desk(running: Desk) -> Desk:
    """A server whose graph is empty, shared by the cases of one worker: what they make are entities only."""
    given(running.server, "delete_entities", entityNames=list(graph(running.server)[0]))
    assert graph(running.server) == ({}, set())
    return running


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault")
