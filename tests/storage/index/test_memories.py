"""Sessions of memories: page by page, newest first, whichever way they are looked up."""

import itertools
import random
from collections import defaultdict

import pytest

from tests.storage.index.conftest import Indexed
from vault_mcp.notes.note import Note
from vault_mcp.storage.index import memories


def memory(path: str, number: int | None, session: str) -> Note:
    return Note(path=path, kind="memory", name=path, type="episodic", id=number, session=session)


def made(chooser: random.Random, count: int, *, archived: bool) -> list[Note]:
    """Give memories in sessions of all sizes, some of one number, some of none, some archived."""
    notes = []
    for place in range(count):
        session = "" if chooser.random() < 0.1 else f"s{chooser.randrange(12)}"
        number = None if chooser.random() < 0.1 else chooser.randrange(count)
        folder = "archive" if archived and chooser.random() < 0.3 else "memories"
        notes.append(memory(f"{folder}/{place}.md", number, session))
    return notes


@pytest.mark.parametrize("looked_at", [0, 5, 8_000])
@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_pages_of_sessions_are_those_of_a_model(
    indexed: Indexed, monkeypatch: pytest.MonkeyPatch, looked_at: int, archived: bool, seed: int
) -> None:
    monkeypatch.setattr(memories, "_LOOKED_AT", looked_at)
    chooser = random.Random(seed)
    notes = made(chooser, chooser.choice([0, 1, 7, 60]), archived=archived)
    index = indexed(*notes)
    model: dict[str, list[int]] = defaultdict(list)
    for note in notes:
        if note.id is not None and not note.path.startswith("archive/"):
            model[note.session].append(note.id)
    wanted = sorted(((max(ids), session, len(ids)) for session, ids in model.items()), reverse=True)

    with index.reading() as reader:
        for limit in (1, 3, 100):
            got, cursor = [], None
            for _ in itertools.count():
                page = reader.sessions(limit, cursor)
                got += [(row.newest, row.session, row.count) for row in page.rows]
                cursor = page.cursor
                if cursor is None:
                    break
                assert len(page.rows) == limit
            assert got == wanted
        assert reader.count_sessions() == len(wanted)
