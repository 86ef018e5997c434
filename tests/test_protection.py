"""Words of a person under `protect_person`: no tool takes them away unless its caller has read the note."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clones import remote_and_clones
from tests.vaults import CLAUDE, PERSON, clean, git, make_vault, opened, write_files
from vault_mcp.change import version_of
from vault_mcp.errors import Stale
from vault_mcp.sync import sync
from vault_mcp.tools.families import whole_catalog
from vault_mcp.tools.files import editing, moving, single
from vault_mcp.tools.graph import entities, observations, relations, taxonomy
from vault_mcp.tools.history import blame, restoring
from vault_mcp.tools.keys import writing as keys
from vault_mcp.tools.memories import consolidating
from vault_mcp.tools.memories import writing as memories
from vault_mcp.tools.notes_importing import import_notes
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Options, Vault

GUARDED = Options(protect_person=True, embeddings="off", undo_others=True)
OWNER = Caller(PERSON, person=True)
ADA = "entities/person/Ada.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


@pytest.fixture
def vault(root: Path) -> Iterator[Vault]:
    with opened(root, GUARDED) as vault:
        yield vault
        assert clean(root)


def by_hand(vault: Vault, path: str, old: str, new: str) -> None:
    """Edit a file as a person does: with an editor."""
    file = Path(vault.root, path)
    text = file.read_text("utf-8") if file.exists() else ""
    assert old in text
    write_files(Path(vault.root), {path: text.replace(old, new, 1) if old else text + new})
    vault.noticed(None)


def made(vault: Vault, path: str, text: str) -> None:
    """Have an agent make a file."""
    editing.memory_create(vault, CLAUDE, path, text)


def entity(vault: Vault, name: str, *texts: str) -> None:
    rows = [{"name": name, "entityType": "person", "observations": list(texts)}]
    entities.create_entities(vault, CLAUDE, rows)


def version(vault: Vault, *notes: str) -> str:
    return " ".join(version_of(Path(vault.root, path).read_bytes()) for path in notes)


def head(vault: Vault) -> str:
    return git(vault.root, "rev-parse", "HEAD")


def refused(vault: Vault, call: Callable[..., object], *arguments: Any, words: str, **more: Any) -> str:
    """Call a tool that has to refuse for these words of a person, and to leave everything as it is."""
    before = head(vault)
    with pytest.raises(Stale) as caught:
        call(vault, CLAUDE, *arguments, **more)
    assert head(vault) == before
    said = str(caught.value)
    assert f"“{words}”" in said
    assert f"a person's ({PERSON}, 20" in said
    return said


def asks(
    vault: Vault, call: Callable[..., object], *arguments: Any, words: str, notes: tuple[str, ...]
) -> None:
    """Call a tool without a version, with a wrong one, and with those that its refusal names."""
    said = refused(vault, call, *arguments, words=words)
    needed = re.findall(r'if_version "([0-9a-f ]+)"', said)
    assert needed == [version(vault, *notes)]
    with pytest.raises(Stale, match="changed since"):
        call(vault, CLAUDE, *arguments, if_version="0123456789ab")
    call(vault, CLAUDE, *arguments, if_version=needed[0])
    assert git(vault.root, "log", "-1", "--format=%an").strip() == CLAUDE.agent


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
