"""An index to test with, closed when the test ends."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from tests.storage.index.build import put
from tests.storage.index.story import Story
from vault_mcp.notes.note import Note
from vault_mcp.storage.index import Index


class Indexed(Protocol):
    def __call__(self, *notes: Note, name: str = "index") -> Index: ...


@pytest.fixture
def indexed(tmp_path: Path) -> Iterator[Indexed]:
    opened: list[Index] = []

    def make(*notes: Note, name: str = "index") -> Index:
        index = Index.open(str(tmp_path / name))
        opened.append(index)
        with index.writing() as writer:
            put(writer, *notes)
            writer.set_head("1" * 40)
        return index

    yield make
    for index in opened:
        index.close()


@pytest.fixture
def story(indexed: Indexed) -> Story:
    return Story(indexed())
