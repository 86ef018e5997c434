"""Words of a person under `protect_person`: no tool takes them away unless its caller has read the note."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.protection.guarded import ADA, GUARDED, asks, by_hand, entity, head, made, refused, version
from tests.vaults import CLAUDE, PERSON, git, opened, write_files
from vault_mcp.errors import Stale
from vault_mcp.tools.files import editing, moving
from vault_mcp.tools.graph import entities, observations, relations
from vault_mcp.tools.history import blame, restoring
from vault_mcp.tools.keys import writing as keys
from vault_mcp.tools.memories import writing as memories
from vault_mcp.vault import Vault

# -- every tool that takes lines away


def test_a_line_of_prose_is_replaced_by_who_names_the_version_alone(vault: Vault) -> None:
    made(vault, "plan.md", "# Plan\n\nby the agent\n")
    by_hand(vault, "plan.md", "", "by a person\n")
    editing.memory_str_replace(vault, CLAUDE, "plan.md", "by the agent", "by an agent")
    editing.memory_insert(vault, CLAUDE, "plan.md", 3, "between")
    said = refused(vault, editing.memory_str_replace, "plan.md", "by a p", "by the p", words="by a person")
    assert "plan.md, line 5, is a person's" in said
    asks(
        vault,
        editing.memory_str_replace,
        "plan.md",
        "by a p",
        "by the p",
        words="by a person",
        notes=("plan.md",),
    )
    editing.memory_str_replace(vault, CLAUDE, "plan.md", "by the p", "by that p")  # its own words by now


def test_text_may_be_added_behind_a_last_line_without_an_end(vault: Vault) -> None:
    write_files(Path(vault.root), {"todo.md": "mine\r\n\r\nlast"})
    vault.noticed(None)
    editing.memory_insert(vault, CLAUDE, "todo.md", 3, "added")
    editing.memory_insert(vault, CLAUDE, "todo.md", 1, "between")
    refused(vault, editing.memory_str_replace, "todo.md", "last", "", words="last")


def test_a_file_and_a_folder_with_a_persons_lines_are_deleted_with_their_versions(vault: Vault) -> None:
    made(vault, "a/one.md", "agent\n")
    made(vault, "a/two.md", "agent\n")
    made(vault, "a/three.md", "agent\n")
    by_hand(vault, "a/one.md", "", "typed\n")
    by_hand(vault, "a/two.md", "agent", "typed too")
    by_hand(vault, "own.md", "", "all mine\n")
    asks(vault, moving.memory_delete, "own.md", words="all mine", notes=("own.md",))
    moving.memory_delete(vault, CLAUDE, "a/three.md")
    asks(vault, moving.memory_delete, "a", words="typed", notes=("a/one.md", "a/two.md"))


def test_a_persons_file_that_is_no_text_is_one_thing(vault: Vault) -> None:
    path = Path(vault.root, "image.bin")
    path.write_bytes(bytes(range(256)))
    vault.noticed(None)
    moving.memory_rename(vault, CLAUDE, "image.bin", "pictures/image.bin")
    with pytest.raises(Stale, match=r"The file pictures/image\.bin is a person's"):
        moving.memory_delete(vault, CLAUDE, "pictures/image.bin")
    moving.memory_delete(vault, CLAUDE, "pictures/image.bin", version(vault, "pictures/image.bin"))


def test_facts_are_edited_superseded_and_deleted_with_the_version(vault: Vault) -> None:
    entity(vault, "Ada", "one", "two")
    by_hand(vault, ADA, "", "- typed\n- typed second\n- typed third\n")
    observations.edit_observation(vault, CLAUDE, "Ada", "one", "uno")
    observations.supersede_observation(vault, CLAUDE, "Ada", "two", "due")
    asks(vault, observations.edit_observation, "Ada", "typed", "changed", words="typed", notes=(ADA,))
    asks(vault, observations.supersede_observation, "Ada", "typed second", words="typed second", notes=(ADA,))
    observations.add_observations(
        vault, CLAUDE, [{"entityName": "Ada", "contents": ["typed second", "three"]}]
    )  # it holds again
    rows = [{"entityName": "Ada", "observations": ["typed third"]}]
    asks(vault, observations.delete_observations, rows, words="typed third", notes=(ADA,))
    rows = [{"entityName": "Ada", "observations": ["uno", "three", "changed"]}]
    observations.delete_observations(vault, CLAUDE, rows)


def test_relations_and_entities_are_deleted_with_the_versions_of_all_notes(vault: Vault) -> None:
    for name in ("Ada", "Bob", "Cy"):
        entity(vault, name, "a fact")
    relations.create_relations(vault, CLAUDE, [{"from": "Ada", "to": "Cy", "relationType": "knows"}])
    bob, cy = "entities/person/Bob.md", "entities/person/Cy.md"
    by_hand(vault, ADA, "", "- likes [[Bob]]\n- likes [[Cy]]\n")
    by_hand(vault, bob, "", "- drinks tea\n")
    rows = [{"from": "Ada", "to": "Cy", "relationType": "likes"}]
    asks(vault, relations.delete_relations, rows, words="likes -> Cy", notes=(ADA,))
    entities.delete_entities(vault, CLAUDE, ["Cy"])
    assert not Path(vault.root, cy).exists()
    asks(vault, entities.delete_entities, ["Bob"], words="likes -> Bob", notes=(ADA, bob))


def test_a_merge_carries_a_persons_words_and_may_not_lose_any(vault: Vault) -> None:
    entity(vault, "Ada", "both", "one")
    entity(vault, "Countess", "two")
    countess = "entities/person/Countess.md"
    by_hand(vault, countess, "", "- both\n- typed\n\n## Notes\n\nprose by hand\n")
    entities.merge_entities(vault, CLAUDE, "Countess", "Ada")
    text = Path(vault.root, ADA).read_text("utf-8")
    assert "typed" in text
    assert "prose by hand" in text
    rows = [{"entityName": "Ada", "observations": ["typed"]}]
    refused(vault, observations.delete_observations, rows, words="typed")
    refused(vault, editing.memory_str_replace, ADA, "prose by hand", "", words="prose by hand")
    entity(vault, "Lady", "three")
    lady = "entities/person/Lady.md"
    by_hand(vault, lady, "entity: person\n", "entity: person\nborn: 1815\n")
    asks(vault, entities.merge_entities, "Lady", "Ada", words="born: 1815", notes=(lady,))


def test_a_merge_stamps_a_persons_relation_with_what_git_tells(vault: Vault) -> None:
    entity(vault, "Ada", "one")
    write_files(
        Path(vault.root),
        {"entities/person/Hand.md": "---\nentity: person\n---\n\n- typed\n\n## Relations\n\n- knows [[Z]]\n"},
    )
    author = "--author=Anna <anna@example.org>"
    git(vault.root, "add", "-A")
    git(vault.root, "commit", "-q", "-m", "typed", author, "--date=2021-03-04T05:06:07Z")
    vault.noticed(None)
    entities.merge_entities(vault, CLAUDE, "Hand", "Ada")
    text = Path(vault.root, ADA).read_text("utf-8")
    assert "- typed %%+2021-03-04T05:06:07Z Anna%%" in text
    assert "- knows [[Z]] %%+2021-03-04T05:06:07Z Anna%%" in text


@pytest.mark.parametrize("way", ["hand-edit", "git"])
def test_what_a_merge_stamped_stays_the_persons_whatever_their_name_is_now(root: Path, way: str) -> None:
    with opened(root, GUARDED) as vault:
        entity(vault, "Ada", "one")
        hand = "entities/person/Hand.md"
        words = "---\nentity: person\n---\n\n- typed\n\n## Relations\n\n- knows [[Z]]\n"
        if way == "git":
            write_files(root, {hand: words})
            git(root, "add", "-A")
            git(root, "commit", "-q", "-m", "typed")
            vault.noticed(None)
        else:
            by_hand(vault, hand, "", words)
    git(root, "config", "user.name", "Ben")
    with opened(root, GUARDED) as vault:
        entities.merge_entities(vault, CLAUDE, "Hand", "Ada")
        told: Any = blame.history_blame(vault, CLAUDE, "Ada")
        found = {row["text"]: (row["added_by"], row["by_hand"]) for row in told["lines"]}
        assert found["typed"] == found["knows -> Z"] == (PERSON, True)
        assert found["one"] == (CLAUDE.agent, False)
        rows = [{"entityName": "Ada", "observations": ["typed"]}]
        refused(vault, observations.delete_observations, rows, words="typed")
        ends = [{"from": "Ada", "to": "Z", "relationType": "knows"}]
        refused(vault, relations.delete_relations, ends, words="knows -> Z")
        rows = [{"entityName": "Ada", "observations": ["one"]}]
        observations.delete_observations(vault, CLAUDE, rows)


def test_a_line_typed_with_an_agents_stamp_is_the_agents(vault: Vault) -> None:
    entity(vault, "Ada", "one")
    by_hand(vault, ADA, "", "- typed %%+2021-03-04T05:06:07Z claude%%\n")
    told: Any = blame.history_blame(vault, CLAUDE, "Ada", text="typed")
    assert [row["by_hand"] for row in told["lines"]] == [False]


def test_a_rename_takes_nothing_and_what_it_touched_stays_the_persons(vault: Vault) -> None:
    entity(vault, "Ada", "one")
    entity(vault, "Bob", "b")
    bob = "entities/person/Bob.md"
    by_hand(vault, bob, "", "- knows [[Ada]]\n- met [[Ada]] twice\n\n## Diary\n\nlunch with [[Ada]] today\n")
    by_hand(vault, "Board.canvas", "", '{"nodes":[{"type":"file","file":"entities/person/Ada.md"}]}\n')
    entities.rename_entity(vault, CLAUDE, "Ada", "Countess")
    moving.memory_rename(vault, CLAUDE, bob, "people/Robert.md")
    text = Path(vault.root, "people/Robert.md").read_text("utf-8")
    assert "lunch with [[Countess]] today" in text
    there = "people/Robert.md"
    refused(
        vault, editing.memory_str_replace, there, "lunch", "dinner", words="lunch with [[Countess]] today"
    )
    refused(vault, editing.memory_str_replace, there, "met", "saw", words="met [[Countess]] twice")
    refused(vault, editing.memory_str_replace, there, "knows", "hates", words="knows [[Countess]]")
    # A link that an agent turns elsewhere by hand is no link that follows.
    refused(
        vault,
        editing.memory_str_replace,
        there,
        "lunch with [[Countess]]",
        "lunch with [[Robert]]",
        words="lunch with [[Countess]] today",
    )


def test_a_name_that_a_person_typed_is_theirs(vault: Vault) -> None:
    by_hand(vault, ADA, "", "---\nentity: person\nname: Ada\n---\n")
    asks(vault, entities.rename_entity, "Ada", "Countess", words="name: Ada", notes=(ADA,))


def test_memories_are_updated_and_forgotten_with_the_version(vault: Vault) -> None:
    told: Any = memories.memory_remember(vault, CLAUDE, "first line\nsecond line", "s", ["tea"])
    number, note = told["memory_id"], told["note"]
    by_hand(vault, note, "second line", "second line, by hand")
    memories.memory_update(vault, CLAUDE, number, "another first\nsecond line, by hand", "s")
    asks(vault, memories.memory_update, number, "all new", "s", words="second line, by hand", notes=(note,))
    by_hand(vault, note, "  - tea", "  - mate")
    refused(vault, memories.memory_update, number, "all new", "s", ["coffee"], words="- mate")
    asks(vault, memories.memory_forget, number, words="- mate", notes=(note,))


def test_keys_are_written_and_deleted_with_the_version(vault: Vault) -> None:
    keys.write_memory(vault, CLAUDE, "theme", "dark")
    keys.write_memory(vault, CLAUDE, "theme", "light")
    note = "keys/theme.md"
    by_hand(vault, note, "light", "solarized")
    keys.write_memory(vault, CLAUDE, "theme", "solarized")
    asks(vault, keys.write_memory, "theme", "dark", words="solarized", notes=(note,))
    keys.write_memory(vault, CLAUDE, "theme", "light")
    by_hand(vault, note, "light", "green")
    asks(vault, keys.delete_memory, "theme", words="green", notes=(note,))


def test_undo_and_restore_leave_what_a_person_wrote_since(vault: Vault) -> None:
    made(vault, "plan.md", "one\ntwo\n")
    first = head(vault).strip()
    by_hand(vault, "plan.md", "two", "two by hand")
    asks(vault, restoring.history_restore, "plan.md", first, words="two by hand", notes=("plan.md",))
    by_hand(vault, "plan.md", "", "three by hand\n")
    typed = head(vault).strip()
    asks(vault, restoring.history_undo, typed, words="three by hand", notes=("plan.md",))
    made(vault, "own.md", "mine\n")
    created = head(vault).strip()
    by_hand(vault, "own.md", "", "and a person's\n")
    restoring.history_undo(vault, CLAUDE, created, on_conflict="skip")
    assert Path(vault.root, "own.md").read_text().endswith("and a person's\n")


def test_what_was_deleted_and_brought_back_is_still_the_persons(vault: Vault) -> None:
    by_hand(vault, "own.md", "", "all mine\n")
    moving.memory_delete(vault, CLAUDE, "own.md", version(vault, "own.md"))
    restoring.history_undo(vault, CLAUDE, head(vault).strip())
    refused(vault, moving.memory_delete, "own.md", words="all mine")
    moving.memory_delete(vault, CLAUDE, "own.md", version(vault, "own.md"))
    restoring.history_restore(vault, CLAUDE, "own.md")
    refused(vault, moving.memory_delete, "own.md", words="all mine")
