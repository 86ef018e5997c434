"""What came with a merge: each line, fact and receipt names the change of the other machine that wrote it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.clones import remote_and_clones, tree
from tests.vaults import CLAUDE, CURSOR, git, opened, write_files
from vault_mcp.errors import AlreadyThere, BadArgument, Stale
from vault_mcp.notes.note import read_note
from vault_mcp.sync import sync
from vault_mcp.tools.graph.entities import create_entities, rename_entity
from vault_mcp.tools.graph.observations import add_observations, edit_observation
from vault_mcp.tools.graph.reading import read_graph
from vault_mcp.tools.history import blame, looking, restoring
from vault_mcp.tools.memories.writing import memory_remember, memory_update
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Options, Vault

ADA = "entities/person/Ada.md"
PLAN = "Plan.md"
OWNER = Caller("Ann Person", person=True)
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


# -- undo


def undo(vault: Vault, **wanted: Any) -> dict[str, Any]:
    told: Any = restoring.history_undo(vault, OWNER, **wanted)
    return dict(told)


def facts(vault: Vault, path: str = ADA) -> list[str]:
    return [fact.text for fact in read_note(path, Path(vault.root, path).read_text()).observations]


def test_one_change_that_came_with_a_merge_is_undone_by_facts_and_can_come_back(two: Two) -> None:
    here, there = two
    fact = typed(there, ADA, "- walks", "- sings\n- walks")
    prose = typed(there, PLAN, "Two.\n", "Two.\n\nThree.\n")
    add_observations(there, CURSOR, [{"entityName": "Ada", "contents": ["plays"]}])
    title = typed(there, PLAN, "# Plan", "# The plan")
    merge(two)
    add_observations(here, CLAUDE, [{"entityName": "Ada", "contents": ["reads"]}])
    before = tree(Path(here.root))
    done = undo(here, change=fact)
    assert [row["change"] for row in done["undone"]] == [fact[:12]]
    assert facts(here) == ["counts", "walks", "plays", "reads"]
    undo(here, change=prose)
    assert Path(here.root, PLAN).read_text() == "# The plan\n\nOne, and more.\n\nTwo.\n"
    undo(here, change=title)
    for undone in git(here.root, "log", "-3", "--format=%H").split():
        undo(here, change=undone)
    assert tree(Path(here.root)) == before


def test_those_of_an_agent_are_undone_wherever_they_were_made(two: Two) -> None:
    here, there = two
    since = head(here)
    add_observations(there, CURSOR, [{"entityName": "Ada", "contents": ["plays"]}])
    create_entities(there, CURSOR, [{"name": "Bob", "entityType": "person", "observations": ["reads"]}])
    merge(two)
    add_observations(here, CURSOR, [{"entityName": "Ada", "contents": ["cooks"]}])
    done = undo(here, since=git(here.root, "rev-parse", f"{since}~0").strip(), agent="cursor")
    assert len(done["undone"]) == 3
    assert facts(here) == ["counts", "walks"]
    assert not Path(here.root, "entities/person/Bob.md").exists()
    assert "and more" in Path(here.root, PLAN).read_text()


def test_of_an_entity_that_both_made_theirs_alone_is_undone(two: Two) -> None:
    here, there = two
    bob = "entities/person/Bob.md"
    create_entities(
        here, CLAUDE, [{"name": "Bob", "entityType": "person", "observations": ["bakes", "swims"]}]
    )
    create_entities(
        there, CURSOR, [{"name": "Bob", "entityType": "person", "observations": ["reads", "swims"]}]
    )
    made = head(there)
    merge(two)
    assert set(facts(here, bob)) == {"bakes", "swims", "reads"}
    undo(here, change=made)
    assert set(facts(here, bob)) == {"bakes", "swims"}


def test_a_deletion_that_the_merge_did_not_take_over_leaves_nothing_to_undo(two: Two) -> None:
    here, there = two
    Path(there.root, PLAN).unlink()
    there.noticed(frozenset([PLAN]))
    deleted = head(there)
    merge(two)  # the plan was edited here, so it is kept
    done = undo(here, change=deleted)
    assert (done["undone"], done["receipt"]["commit"]) == ([], None)
    assert Path(here.root, PLAN).exists()


def test_a_merge_is_undone_where_it_was_made_and_nowhere_else(two: Two) -> None:
    here, there = two
    add_observations(there, CURSOR, [{"entityName": "Ada", "contents": ["plays"]}])
    merge(two)
    merged = head(here)
    sync(there)
    assert head(there) == merged
    there.read_past()
    with pytest.raises(BadArgument, match="another machine made"):
        undo(there, change=merged)
    assert head(there) == merged
    undo(here, change=merged)
    assert facts(here) == ["counts", "walks"]
    assert "and more" in Path(here.root, PLAN).read_text()


# -- what stands in the way


def test_a_folder_where_a_file_was_is_named_and_can_be_left(two: Two) -> None:
    here, _ = two
    typed(here, PLAN, "One.", "One!")
    Path(here.root, PLAN).unlink()
    here.noticed(frozenset([PLAN]))
    deleted = head(here)
    write_files(Path(here.root), {f"{PLAN}/inside.md": "In.\n"})
    here.noticed(None)
    before = head(here)
    with pytest.raises(Stale, match="a folder of that name is there now"):
        undo(here, change=deleted)
    done = undo(here, change=deleted, on_conflict="skip")
    assert (done["undone"], done["skipped"][0]["note"]) == ([], PLAN)
    with pytest.raises(AlreadyThere, match="a folder of that name is there now"):
        restoring.history_restore(here, OWNER, PLAN, at=previous(here, deleted))
    assert head(here) == before


def test_a_file_where_a_folder_was_is_named(two: Two) -> None:
    here, _ = two
    Path(here.root, ADA).unlink()
    Path(here.root, "entities/person").rmdir()
    write_files(Path(here.root), {"entities/person": "A file.\n"})
    here.noticed(None)
    with pytest.raises(AlreadyThere, match="entities/person is a file now"):
        restoring.history_restore(here, OWNER, ADA, at=previous(here, head(here)))


def previous(vault: Vault, change: str) -> str:
    return git(vault.root, "rev-parse", f"{change}^").strip()


def test_what_differs_from_before_the_first_change_is_all_there_is(two: Two) -> None:
    here, _ = two
    told: Any = looking.history_diff(here, CLAUDE, "2001-01-01")
    assert "+# Plan" in told["diff"]
    assert "counts" in told["diff"]


def test_as_of_a_moment_to_come_is_refused(two: Two) -> None:
    here, _ = two
    with pytest.raises(BadArgument, match="in the future"):
        read_graph(here, CLAUDE, as_of="2999-01-01")
    soon = datetime.fromtimestamp(time.time() + 5, UTC).isoformat()
    told: Any = read_graph(here, CLAUDE, as_of=soon)
    assert [one["name"] for one in told["entities"]] == ["Ada"]
