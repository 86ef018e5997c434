"""Undo and restore: by facts, with what stands in the way named, and within what is allowed."""

from pathlib import Path
from typing import Any

import pytest

from tests.vaults import CLAUDE, CURSOR, clean, commits, git, make_vault, opened, write_files
from vault_mcp.errors import BadArgument, NotFound, Stale
from vault_mcp.tools.files import editing, moving
from vault_mcp.tools.graph import entities, observations, reading, relations
from vault_mcp.tools.history import looking, restoring
from vault_mcp.tools.keys import writing
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Options, Vault

OWNER = Caller("Ann Person", person=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


def create(vault: Vault, name: str, *texts: str) -> str:
    rows = [{"name": name, "entityType": "person", "observations": list(texts)}]
    return commit_of(entities.create_entities(vault, CLAUDE, rows))


def add(vault: Vault, name: str, *texts: str, caller: Caller = CLAUDE) -> str:
    rows = [{"entityName": name, "contents": list(texts)}]
    return commit_of(observations.add_observations(vault, caller, rows))


def commit_of(result: Any) -> str:
    return str(result["receipt"]["commit"])


def facts(vault: Vault, name: str) -> list[str]:
    told: Any = reading.open_nodes(vault, CLAUDE, [name])
    return [fact["text"] for one in told["entities"] for fact in one["observations"]]


def tree(root: Path, revision: str = "HEAD") -> str:
    return git(root, "rev-parse", f"{revision}^{{tree}}")


def test_a_fact_added_in_between_is_taken_back_alone(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one")
        change = add(vault, "Ada", "two", "three")
        add(vault, "Ada", "four", caller=CURSOR)
        told: Any = restoring.history_undo(vault, CLAUDE, change=change[:7])
        assert facts(vault, "Ada") == ["one", "four"]
        assert [fact["text"] for fact in told["receipt"]["removed"]] == ["two", "three"]
        assert clean(root)


def test_a_deleted_fact_comes_back_with_its_stamp(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one", "two", "three")
        before = (root / "entities/person/Ada.md").read_text("utf-8")
        rows = [{"entityName": "Ada", "observations": ["two"]}]
        change = commit_of(observations.delete_observations(vault, CLAUDE, rows))
        add(vault, "Ada", "four", caller=CURSOR)
        restoring.history_undo(vault, CLAUDE, change=change)
        assert facts(vault, "Ada") == ["one", "two", "three", "four"]
        assert (root / "entities/person/Ada.md").read_text("utf-8").startswith(before.removesuffix("\n"))


def test_a_fact_that_was_edited_since_stands_in_the_way_and_is_named(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one")
        change = add(vault, "Ada", "two", "three")
        observations.edit_observation(vault, CURSOR, "Ada", "two", "two and a half")
        before = tree(root)
        with pytest.raises(Stale, match=r"“two and a half” in entities/person/Ada.md was edited later"):
            restoring.history_undo(vault, CLAUDE, change=change)
        assert tree(root) == before
        told: Any = restoring.history_undo(vault, CLAUDE, change=change, on_conflict="skip")
        assert facts(vault, "Ada") == ["one", "two and a half"]
        assert [one["text"] for one in told["skipped"]] == ["two and a half"]


def test_an_edit_is_taken_back_unless_it_was_edited_again(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one", "two")
        first = commit_of(observations.edit_observation(vault, CLAUDE, "Ada", "one", "uno"))
        add(vault, "Ada", "three")
        restoring.history_undo(vault, CLAUDE, change=first)
        assert facts(vault, "Ada") == ["one", "two", "three"]
        second = commit_of(observations.edit_observation(vault, CLAUDE, "Ada", "two", "due"))
        observations.edit_observation(vault, CLAUDE, "Ada", "due", "deux")
        with pytest.raises(Stale, match="“deux”"):
            restoring.history_undo(vault, CLAUDE, change=second)


def test_a_note_that_others_added_to_is_not_deleted_by_undoing_its_creation(root: Path) -> None:
    with opened(root) as vault:
        change = create(vault, "Ada", "one")
        add(vault, "Ada", "two", caller=CURSOR)
        with pytest.raises(Stale, match=r"“two” in .* was added later"):
            restoring.history_undo(vault, CLAUDE, change=change)
        restoring.history_undo(vault, CLAUDE, change=change, on_conflict="skip")
        assert facts(vault, "Ada") == ["two"]


def test_undoing_a_first_relation_leaves_the_section_for_those_that_came_later(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one")
        create(vault, "Bob", "b")
        create(vault, "Cy", "c")
        row = {"from": "Ada", "to": "Bob", "relationType": "knows"}
        change = commit_of(relations.create_relations(vault, CLAUDE, [row]))
        relations.create_relations(vault, CLAUDE, [{"from": "Ada", "to": "Cy", "relationType": "likes"}])
        restoring.history_undo(vault, CLAUDE, change=change)
        told: Any = reading.open_nodes(vault, CLAUDE, ["Ada"])
        assert [(r["relationType"], r["to"]) for r in told["relations"]] == [("likes", "Cy")]
        assert facts(vault, "Ada") == ["one"]


def test_a_merge_and_a_rename_are_undone_with_every_link(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one")
        create(vault, "Lovelace", "two")
        create(vault, "Bob", "b")
        relations.create_relations(vault, CLAUDE, [{"from": "Bob", "to": "Ada", "relationType": "knows"}])
        before = tree(root)
        merged = commit_of(entities.merge_entities(vault, CLAUDE, "Ada", "Lovelace"))
        add(vault, "Bob", "later", caller=CURSOR)
        restoring.history_undo(vault, CLAUDE, change=merged)
        told: Any = reading.open_nodes(vault, CLAUDE, ["Ada"])
        assert [(r["from"], r["to"]) for r in told["relations"]] == [("Bob", "Ada")]
        renamed = commit_of(entities.rename_entity(vault, CLAUDE, "Ada", "Countess"))
        restoring.history_undo(vault, CLAUDE, change=renamed)
        rows = [{"entityName": "Bob", "observations": ["later"]}]
        observations.delete_observations(vault, CURSOR, rows)
        assert tree(root) == before


def test_a_session_is_undone_whole_and_newest_first(root: Path) -> None:
    one = Caller("claude-desktop", "s1")
    with opened(root) as vault:
        create(vault, "Ada", "start")
        before = tree(root)
        observations.add_observations(vault, one, [{"entityName": "Ada", "contents": ["x"]}])
        observations.edit_observation(vault, one, "Ada", "x", "y")
        writing.write_memory(vault, one, "k", "v")
        told: Any = restoring.history_undo(vault, CLAUDE, session="s1")
        assert len(told["undone"]) == 3
        assert tree(root) == before


def test_what_an_agent_did_since_a_change_is_undone_and_others_work_stays(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "start")
        first = add(vault, "Ada", "mine")
        add(vault, "Ada", "theirs", caller=CURSOR)
        add(vault, "Ada", "mine too")
        told: Any = restoring.history_undo(vault, CLAUDE, since=first[:10])
        assert len(told["undone"]) == 2
        assert facts(vault, "Ada") == ["start", "theirs"]


def test_an_agent_undoes_its_own_changes_unless_the_owner_says_otherwise(root: Path) -> None:
    with opened(root) as vault:
        change = create(vault, "Ada", "one")
        with pytest.raises(BadArgument, match=r"claude-desktop's.*undo_others"):
            restoring.history_undo(vault, CURSOR, change=change)
        restoring.history_undo(vault, OWNER, change=change)
        assert git(root, "log", "-1", "--format=%an <%ae>").strip() == "Ann Person <ann@example.org>"
        write_files(root, {"n.md": "by hand\n"})
        vault.noticed(None)
        with pytest.raises(BadArgument, match="Ann Person's"):
            restoring.history_undo(vault, Caller("Ann Person"), change=git(root, "rev-parse", "HEAD").strip())
    with opened(root, Options(undo_others=True)) as vault:
        restoring.history_undo(vault, CURSOR, change=git(root, "rev-parse", "HEAD").strip())
        assert not (root / "n.md").exists()


def test_binary_files_and_executable_ones_come_back_exactly(root: Path) -> None:
    raw = bytes(range(256))
    (root / "image.bin").write_bytes(raw)
    script = root / "run.sh"
    script.write_text("true\n")
    script.chmod(0o755)
    with opened(root) as vault:
        vault.noticed(None)
        before = tree(root)
        for name in ("image.bin", "run.sh"):
            moving.memory_delete(vault, CLAUDE, name)
        told: Any = looking.history_log(vault, CLAUDE, limit=2)
        for row in told["changes"]:
            restoring.history_undo(vault, CLAUDE, change=row["change"])
        assert tree(root) == before
        assert (root / "image.bin").read_bytes() == raw
        assert script.stat().st_mode & 0o111


def test_a_deleted_note_is_restored_without_saying_when(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one")
        text = (root / "entities/person/Ada.md").read_text("utf-8")
        entities.delete_entities(vault, CLAUDE, ["Ada"])
        told: Any = restoring.history_restore(vault, CURSOR, "Ada")
        assert told["restored"] == ["entities/person/Ada.md"]
        assert (root / "entities/person/Ada.md").read_text("utf-8") == text
        assert commits(root)[0] == "history_restore: Ada"
        with pytest.raises(BadArgument, match="is there now"):
            restoring.history_restore(vault, CURSOR, "Ada")
        with pytest.raises(NotFound, match="was not there"):
            restoring.history_restore(vault, CURSOR, "Ada", "2001-01-01")


def test_a_note_is_restored_where_it_lies_now_and_the_receipt_names_the_words_that_went(root: Path) -> None:
    with opened(root) as vault:
        first = create(vault, "Ada", "one")
        add(vault, "Ada", "two", caller=CURSOR)
        moving.memory_rename(vault, CURSOR, "entities/person/Ada.md", "people/Ada.md")
        told: Any = restoring.history_restore(vault, CLAUDE, "Ada", first)
        assert told["restored"] == ["people/Ada.md"]
        assert "entities/person/Ada.md" in told["message"]
        assert [(w["text"], w["by"], w["kind"]) for w in told["receipt"]["replaced"]] == [
            ("two", "cursor", "agent")
        ]


def test_a_folder_is_restored_and_what_came_later_stays(root: Path) -> None:
    with opened(root) as vault:
        for name in "abc":
            editing.memory_create(vault, CLAUDE, f"plans/{name}.txt", f"{name}\n")
        moment = git(root, "rev-parse", "HEAD").strip()
        moving.memory_delete(vault, CLAUDE, "plans/a.txt")
        editing.memory_str_replace(vault, CLAUDE, "plans/b.txt", "b", "B")
        moving.memory_rename(vault, CLAUDE, "plans/c.txt", "c.txt")
        editing.memory_create(vault, CLAUDE, "plans/d.txt", "d\n")
        told: Any = restoring.history_restore(vault, CLAUDE, "/memories/plans", moment)
        assert told["restored"] == ["plans/a.txt", "plans/b.txt"]
        assert told["left"] == ["plans/c.txt was moved to c.txt and stays there"]
        texts = {path.name: path.read_text() for path in (root / "plans").iterdir()}
        assert texts == {"a.txt": "a\n", "b.txt": "b\n", "d.txt": "d\n"}
        before = tree(root, "HEAD~")
        restoring.history_undo(vault, CLAUDE, change=commit_of(told))
        assert tree(root) == before


def test_a_persons_words_are_protected_where_the_owner_wants_it(root: Path) -> None:
    with opened(root, Options(protect_person=True)) as vault:
        create(vault, "Ada", "one")
        path = root / "entities/person/Ada.md"
        path.write_text(path.read_text("utf-8") + "- typed by hand\n", "utf-8")
        vault.noticed(None)
        with pytest.raises(Stale, match=r"“typed by hand” in entities/person/Ada.md.*if_version"):
            observations.edit_observation(vault, CLAUDE, "Ada", "typed by hand", "changed")
        with pytest.raises(Stale, match="protected"):
            observations.delete_observations(
                vault, CLAUDE, [{"entityName": "Ada", "observations": ["typed by hand"]}]
            )
        observations.edit_observation(vault, CLAUDE, "Ada", "one", "uno")
        told: Any = reading.open_nodes(vault, CLAUDE, ["Ada"])
        version = told["entities"][0]["version"]
        observations.edit_observation(vault, CLAUDE, "Ada", "typed by hand", "changed", version)
        assert facts(vault, "Ada") == ["uno", "changed"]


def test_what_is_gone_already_is_no_error(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one")
        change = add(vault, "Ada", "two")
        rows = [{"entityName": "Ada", "observations": ["two"]}]
        observations.delete_observations(vault, CLAUDE, rows)
        told: Any = restoring.history_undo(vault, CLAUDE, change=change)
        assert told["receipt"]["commit"] is None
        assert "Nothing of it is there" in told["message"]


def test_one_thing_at_a_time_is_undone(root: Path) -> None:
    with opened(root) as vault:
        for words in ({}, {"change": "abcdef1", "session": "s"}, {"agent": "x"}):
            with pytest.raises(BadArgument, match="one thing to undo"):
                restoring.history_undo(vault, CLAUDE, **words)
        with pytest.raises(NotFound, match="session"):
            restoring.history_undo(vault, CLAUDE, session="none")
