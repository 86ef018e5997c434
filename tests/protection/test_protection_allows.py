"""What protection never stands in the way of, and that it is asked by every tool."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from tests.clones import remote_and_clones
from tests.protection.guarded import ADA, GUARDED, OWNER, by_hand, entity, head, refused, version
from tests.vaults import CLAUDE, PERSON, git, make_vault, opened, write_files
from vault_mcp.errors import Stale
from vault_mcp.sync import sync
from vault_mcp.tools.families import whole_catalog
from vault_mcp.tools.files import editing, moving, single
from vault_mcp.tools.graph import entities, observations, taxonomy
from vault_mcp.tools.history import restoring
from vault_mcp.tools.memories import consolidating
from vault_mcp.tools.memories import writing as memories
from vault_mcp.tools.notes_importing import import_notes
from vault_mcp.vault import Vault

# -- what never stands in the way


def test_notes_go_to_the_archive_and_back_without_a_word_lost(vault: Vault) -> None:
    entity(vault, "Ada", "one")
    by_hand(vault, ADA, "", "- typed, see [[Bob]]\n")
    entity(vault, "Bob", "b")
    told: Any = memories.memory_remember(vault, CLAUDE, "Tea at five, with Bob.", "s")
    by_hand(vault, told["note"], "five", "six")
    consolidating.memory_consolidate(vault, CLAUDE, "tea", archive_sources=True)
    taxonomy.initialize_memory(vault, CLAUDE, "fresh")
    archived = git(vault.root, "ls-files", "archive").splitlines()
    assert len(archived) == 3
    ada = next(path for path in archived if path.endswith("Ada.md"))
    refused(vault, editing.memory_str_replace, ada, "typed", "", words="typed, see [[Bob]]")


def test_a_plain_note_becomes_an_entity_and_is_added_to(vault: Vault) -> None:
    by_hand(vault, "Ada.md", "", "---\ntags: [maths]\n---\n\n- a fact in a list\n\nprose\n")
    entity(vault, "Ada", "one")
    observations.add_observations(vault, CLAUDE, [{"entityName": "Ada", "contents": ["two"]}])
    rows = [{"entityName": "Ada", "observations": ["a fact in a list"]}]
    refused(vault, observations.delete_observations, rows, words="a fact in a list")
    refused(vault, editing.memory_str_replace, "Ada.md", "maths", "logic", words="tags: [maths]")


def test_lines_of_an_import_are_the_imports_unless_it_bears_the_persons_name(
    vault: Vault, tmp_path: Path
) -> None:
    write_files(tmp_path / "old", {"Plan.md": "# Plan\n\nBuy a boat.\n"})
    for by, into in (("import", "theirs"), (PERSON, "mine")):
        import_notes(vault, str(tmp_path / "old"), by=by, source="old", into=into)
    by_hand(vault, "copied/Plan.md", "", "# Plan\n\nBuy a boat.\n")
    for folder in ("mine", "copied"):
        with pytest.raises(Stale, match="Buy a boat"):
            editing.memory_str_replace(vault, CLAUDE, f"{folder}/Plan.md", "Buy a boat.", "Sell it.")
    editing.memory_str_replace(vault, CLAUDE, "theirs/Plan.md", "Buy a boat.", "Sell it.")
    assert "Sell it." in Path(vault.root, "theirs/Plan.md").read_text("utf-8")
    by_hand(vault, "theirs/Plan.md", "Sell it.", "Keep it.")
    with pytest.raises(Stale, match="Keep it"):
        editing.memory_str_replace(vault, CLAUDE, "theirs/Plan.md", "Keep it.", "Sell it.")


def test_the_owner_and_an_import_are_not_asked(root: Path) -> None:
    with opened(root, GUARDED) as vault:
        by_hand(vault, "own.md", "", "one\n")
        first = head(vault).strip()
        by_hand(vault, "own.md", "", "two\n")
        restoring.history_restore(vault, OWNER, "own.md", first)
        assert Path(root, "own.md").read_text() == "one\n"


def test_what_stood_in_the_folder_before_it_was_a_vault_is_the_persons(tmp_path: Path) -> None:
    root = tmp_path / "old"
    write_files(root, {"diary.md": "dear diary\n"})
    make_vault(root)
    with opened(root, GUARDED) as vault:
        refused(vault, editing.memory_str_replace, "diary.md", "dear", "cheap", words="dear diary")


def test_an_export_that_a_person_wrote_into_is_left_to_them(vault: Vault) -> None:
    entity(vault, "Ada", "one")
    taxonomy.export_taxonomy(vault, CLAUDE)
    by_hand(vault, "taxonomy.json", '"person": 1', '"human": 1')
    said = refused(vault, taxonomy.export_taxonomy, words='"human": 1')
    assert "This tool leaves such words alone" in said


def test_many_words_in_the_way_are_counted(vault: Vault) -> None:
    by_hand(vault, "own.md", "", "".join(f"line {number}\n" for number in range(30)))
    said = refused(vault, moving.memory_delete, "own.md", words="line 0")
    assert "and 29 more like it" in said
    assert len(said) < 600


def test_without_the_setting_nothing_is_asked(root: Path) -> None:
    with opened(root) as vault:
        by_hand(vault, "own.md", "", "mine\n")
        moving.memory_delete(vault, CLAUDE, "own.md")
        assert not Path(root, "own.md").exists()


# -- every tool


ADDING = {
    "create_entities",
    "create_relations",
    "add_observations",
    "memory_remember",
    "memory_link",
    "memory_link_batch",
    "memory_create",
    "memory_insert",
}
"""Tools that only add lines."""

MOVING = {"memory_rename", "memory_consolidate", "initialize_memory"}
"""Tools that move notes, every line with them."""

OF_ITS_OWN = {"export_taxonomy", "history_since"}
"""A file that the tool writes for itself; a mark that is no file."""


def test_every_tool_that_takes_lines_away_takes_a_version() -> None:
    for tool in whole_catalog().tools:
        declared = "if_version" in tool.inputs.fields
        if tool.name == "memory":
            assert declared
            continue
        assert declared == ("if_version" in inspect.signature(tool.run).parameters), tool.name
        writes = not tool.hints.read_only
        assert declared == (writes and tool.name not in ADDING | MOVING | OF_ITS_OWN), tool.name


def test_one_tool_for_all_files_passes_the_version_on(vault: Vault) -> None:
    by_hand(vault, "own.md", "", "all mine\nand this\n")
    with pytest.raises(Stale, match="protected"):
        single.memory(vault, CLAUDE, "str_replace", path="own.md", old_str="all", new_str="none")
    now = version(vault, "own.md")
    single.memory(vault, CLAUDE, "str_replace", path="own.md", old_str="all", new_str="none", if_version=now)
    with pytest.raises(Stale, match="protected"):
        single.memory(vault, CLAUDE, "delete", path="own.md")
    single.memory(vault, CLAUDE, "delete", path="own.md", if_version=version(vault, "own.md"))


def test_what_came_with_a_merge_is_of_who_wrote_it_there(tmp_path: Path) -> None:
    one, other = remote_and_clones(
        tmp_path, files={"plan.md": "# Plan\n\nOne.\n\n## Later\n\nTwo.\n\n## Much later\n\nThree.\n"}
    )
    with opened(one, GUARDED) as here, opened(other, GUARDED) as there:
        editing.memory_str_replace(there, CLAUDE, "plan.md", "Three.", "Three.\n\nby an agent there")
        by_hand(there, "plan.md", "Two.", "Two.\n\ntyped there")
        by_hand(here, "plan.md", "One.", "One, typed here.")
        sync(there)
        sync(here)
        assert len(git(one, "rev-list", "--parents", "-1", "HEAD").split()) == 3
        editing.memory_str_replace(here, CLAUDE, "plan.md", "by an agent there", "by an agent here")
        with pytest.raises(Stale, match=r"“typed there” in plan\.md, line 9, is a person's"):
            editing.memory_str_replace(here, CLAUDE, "plan.md", "typed there", "gone")
        with pytest.raises(Stale, match=r"“One, typed here\.” in plan\.md"):
            editing.memory_str_replace(here, CLAUDE, "plan.md", "typed here", "gone")


def test_an_agent_may_undo_its_own_rename_though_links_of_a_person_go_back(vault: Vault) -> None:
    entity = "---\nentity: person\n---\n\n"
    by_hand(vault, "Links.md", "", "see [[Z]] and more\n")
    by_hand(vault, "X.md", "", f"{entity}- saw [[Z]] once\n\n## Relations\n\n- knows [[Z]]\n")
    by_hand(vault, "Z.md", "", f"{entity}- z\n")
    before = git(vault.root, "rev-parse", "HEAD^{tree}")
    entities.rename_entity(vault, CLAUDE, "Z", "Q")
    assert "[[Q]]" in (Path(vault.root) / "Links.md").read_text("utf-8")
    restoring.history_undo(vault, CLAUDE, git(vault.root, "rev-parse", "HEAD").strip())
    assert git(vault.root, "rev-parse", "HEAD^{tree}") == before
