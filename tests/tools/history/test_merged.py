"""What came with a merge: each line, fact and receipt names the change of the other machine that wrote it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clones import remote_and_clones
from tests.vaults import CLAUDE, CURSOR, git, opened, write_files
from vault_mcp.sync import sync
from vault_mcp.tools.graph.entities import create_entities, rename_entity
from vault_mcp.tools.graph.observations import add_observations, edit_observation
from vault_mcp.tools.history import blame
from vault_mcp.tools.memories.writing import memory_remember, memory_update
from vault_mcp.vault import Options, Vault

ADA = "entities/person/Ada.md"
PLAN = "Plan.md"
Two = tuple[Vault, Vault]


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    """Give two machines with one vault, in which Ada is known and a plan is made."""
    a, b = remote_and_clones(tmp_path, files={PLAN: "# Plan\n\nOne.\n\nTwo.\n"})
    with contextlib.ExitStack() as stack:
        here, there = (stack.enter_context(opened(root, Options(embeddings="off"))) for root in (a, b))
        ada = {"name": "Ada", "entityType": "person", "observations": ["counts", "walks"]}
        create_entities(here, CLAUDE, [ada])
        sync(here)
        sync(there)
        yield here, there


def typed(vault: Vault, path: str, old: str, new: str) -> str:
    """Change some words of a file by hand; give the change."""
    text = Path(vault.root, path).read_text()
    assert old in text
    write_files(Path(vault.root), {path: text.replace(old, new, 1)})
    vault.noticed(frozenset([path]))
    return head(vault)


def head(vault: Vault) -> str:
    return git(vault.root, "rev-parse", "HEAD").strip()


def merge(two: Two) -> None:
    """Sync there, then here, so that here is where the merge is made."""
    here, there = two
    typed(here, PLAN, "One.", "One, and more.")
    sync(there)
    sync(here)
    assert len(git(here.root, "rev-list", "--parents", "-1", "HEAD").split()) == 3


def line(vault: Vault, note: str, text: str) -> dict[str, Any]:
    told: Any = blame.history_blame(vault, CLAUDE, note, text=text)
    (row,) = told["lines"]
    return dict(row)


def test_a_line_that_was_typed_there_is_blamed_on_the_change_that_typed_it(two: Two) -> None:
    here, there = two
    prose = typed(there, PLAN, "Two.\n", "Two.\n\nThree.\n\n## Later\n")
    fact = typed(there, ADA, "- walks", "- sings\n- walks")
    merge(two)
    row = line(here, PLAN, "Three.")
    assert (row["change"], row["added_by"], row["by_hand"]) == (prose[:12], "Ann on b", True)
    assert line(here, PLAN, "Later")["added_in"] == prose[:12]
    row = line(here, "Ada", "sings")
    assert (row["change"], row["added_in"], row["added_by"]) == (fact[:12], fact[:12], "Ann on b")
    assert row["added_at"] == git(here.root, "log", "-1", "--format=%aI", fact).strip().replace("+00:00", "Z")
    assert line(here, PLAN, "more")["added_by"] == "Ann Person"


def test_an_edit_there_is_told_as_one(two: Two) -> None:
    here, there = two
    by_hand = typed(there, ADA, "- counts", "- counts stars")
    edit_observation(there, CURSOR, "Ada", "walks", "walks far")
    edited = head(there)
    merge(two)
    row = line(here, "Ada", "stars")
    assert (row["added_by"], row["edited_by"], row["edited_in"], row["edited_by_hand"], row["before"]) == (
        "claude-desktop", "Ann on b", by_hand[:12], True, "counts",
    )  # fmt: skip
    row = line(here, "Ada", "walks")
    assert (row["added_by"], row["edited_by"], row["edited_in"]) == ("claude-desktop", "cursor", edited[:12])


def test_a_note_that_was_moved_there_is_followed_to_its_lines(two: Two) -> None:
    here, there = two
    before = typed(there, ADA, "- walks", "- sings\n- walks")
    rename_entity(there, CURSOR, "Ada", "Ada Lovelace")
    after = typed(there, "entities/person/Ada Lovelace.md", "- walks", "- reads\n- walks")
    merge(two)
    assert line(here, "Ada Lovelace", "sings")["added_in"] == before[:12]
    assert line(here, "Ada Lovelace", "reads")["added_in"] == after[:12]


def test_a_receipt_names_whose_words_were_replaced(two: Two) -> None:
    here, there = two
    told: Any = memory_remember(there, CURSOR, "The theme is dark.", "s")
    at = git(there.root, "log", "-1", "--format=%aI").strip().replace("+00:00", "Z")
    merge(two)
    told = memory_update(here, CLAUDE, int(told["memory_id"]), "The theme is light.", "s")
    (words,) = told["receipt"]["replaced"]
    assert (words["text"], words["by"]) == ("The theme is dark.", "cursor")
    assert (words["at"], words["kind"]) == (at, "agent")


def test_lines_are_dated_by_it_and_an_index_made_anew_says_the_same(two: Two) -> None:
    here, there = two
    typed(there, ADA, "- walks", "- sings\n- walks")
    typed(there, ADA, "- counts", "- counts stars")
    create_entities(there, CURSOR, [{"name": "Bob", "entityType": "person", "observations": ["reads"]}])
    add_observations(there, CURSOR, [{"entityName": "Ada", "contents": ["plays"]}])
    merge(two)
    here.read_past()
    followed = dates(here)
    assert ("sings", "Ann on b", None) in followed
    assert ("counts stars", "claude-desktop", "Ann on b") in followed
    here.reindex()
    assert dates(here) == followed
    there.read_past()
    sync(there)
    there.read_past()
    assert dates(there) == followed


def dates(vault: Vault) -> set[tuple[str, str | None, str | None]]:
    with vault.remembering() as reader:
        notes = [note for name in ("Ada", "Bob") if (note := reader.note_named(name)) is not None]
        rows = [row for note in notes for row in reader.observations(note.id)]
    return {(row.text, row.agent, row.edited_by) for row in rows}
