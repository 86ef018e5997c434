"""The past looked at: lists, single changes, two moments, notes as they were, what is new, who wrote what."""

from pathlib import Path
from typing import Any

import pytest

from tests.tools.history.stories import unreached
from tests.vaults import CLAUDE, CURSOR, clean, git, make_vault, opened, write_files
from vault_mcp.errors import NotFound
from vault_mcp.storage.git.marks import mark_of, move_mark, ref_of
from vault_mcp.timekeeping import Timekeeping
from vault_mcp.tools.files import editing, moving, viewing
from vault_mcp.tools.graph import entities, observations, reading
from vault_mcp.tools.history import blame, looking, since
from vault_mcp.tools.history import reading as past
from vault_mcp.tools.keys import reading as keys
from vault_mcp.tools.keys import writing
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Options, Vault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


def create(vault: Vault, name: str, *texts: str) -> None:
    rows = [{"name": name, "entityType": "person", "observations": list(texts)}]
    entities.create_entities(vault, CLAUDE, rows)


def subjects(told: Any) -> list[str]:
    return [row["subject"] for row in told["changes"]]


def head(root: Path) -> str:
    return git(root, "rev-parse", "HEAD").strip()


def test_the_log_of_a_note_follows_it_through_its_names_and_out_of_the_vault(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one")
        create(vault, "Bob", "b")
        entities.rename_entity(vault, CURSOR, "Ada", "Countess")
        moving.memory_rename(vault, CURSOR, "entities/person/Countess.md", "people/Countess.md")
        story = [
            "memory_rename: entities/person/Countess.md -> people/Countess.md",
            "rename_entity: Ada -> Countess",
            "create_entities: Ada",
        ]
        for name in ("Countess", "Ada", "people/Countess.md", "/memories/people"):
            assert subjects(looking.history_log(vault, CLAUDE, note=name)) == story, name
        entities.delete_entities(vault, CURSOR, ["Countess"])
        told = looking.history_log(vault, CLAUDE, note="Countess")
        assert subjects(told) == ["delete_entities: Countess", *story]
        with pytest.raises(NotFound, match="Nothing called 'Nobody'"):
            looking.history_log(vault, CLAUDE, note="Nobody")


def test_the_log_is_filtered_and_paged(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "Zürich is nice")
        first = head(root)
        for number in range(5):
            rows = [{"entityName": "Ada", "contents": [f"fact {number}"]}]
            observations.add_observations(vault, Caller("cursor", "s1"), rows)
        assert len(subjects(looking.history_log(vault, CLAUDE, agent="cursor"))) == 5
        assert len(subjects(looking.history_log(vault, CLAUDE, session="s1"))) == 5
        assert subjects(looking.history_log(vault, CLAUDE, tool="create_entities")) == [
            "create_entities: Ada"
        ]
        assert subjects(looking.history_log(vault, CLAUDE, text="zurich")) == ["create_entities: Ada"]
        assert subjects(looking.history_log(vault, CLAUDE, before="2001-01-01")) == []
        assert len(subjects(looking.history_log(vault, CLAUDE, since=first[:9]))) >= 6
        seen: list[str] = []
        cursor = ""
        while True:
            page: Any = looking.history_log(vault, CLAUDE, agent="cursor", limit=2, cursor=cursor)
            seen += [row["change"] for row in page["changes"]]
            cursor = page.get("next_cursor", "")
            if not cursor:
                break
        assert seen == [sha[:12] for sha in git(root, "log", "--author=cursor", "--format=%H").split()]


def test_a_change_is_shown_in_words_and_lines(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one", "two")
        observations.edit_observation(vault, CURSOR, "Ada", "one", "uno")
        told: Any = looking.history_show(vault, CLAUDE, head(root)[:7])
        assert (told["by"], told["tool"], told["change"]) == ("cursor", "edit_observation", head(root))
        assert told["edited"] == [
            {"note": "entities/person/Ada.md", "kind": "observation", "old": "one", "new": "uno"}
        ]
        assert "\n+- uno %%" in told["diff"]
        entities.rename_entity(vault, CURSOR, "Ada", "Countess")
        told = looking.history_show(vault, CLAUDE, head(root))
        assert told["moved"] == [{"from": "entities/person/Ada.md", "to": "entities/person/Countess.md"}]


def test_a_deletion_leaves_a_trace_and_its_text_can_be_read(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "A", "a1")
        made = head(root)
        entities.delete_entities(vault, CURSOR, ["A"])
        told: Any = looking.history_show(vault, CLAUDE, head(root))
        assert (told["by"], told["subject"]) == ("cursor", "delete_entities: A")
        assert [fact["text"] for fact in told["removed"] if fact["kind"] == "observation"] == ["a1"]
        then: Any = past.history_read(vault, CLAUDE, "A", made)
        assert [fact["text"] for fact in then["observations"]] == ["a1"]
        with pytest.raises(NotFound, match="was not there"):
            past.history_read(vault, CLAUDE, "A", "now")


def test_two_moments_are_compared_by_facts(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one", "two")
        first = head(root)
        observations.edit_observation(vault, CURSOR, "Ada", "one", "uno")
        observations.edit_observation(vault, CURSOR, "Ada", "uno", "un")
        rows = [{"entityName": "Ada", "observations": ["two"]}]
        observations.delete_observations(vault, CURSOR, rows)
        writing.write_memory(vault, CLAUDE, "k", "v")
        told: Any = looking.history_diff(vault, CLAUDE, first)
        assert [(row["old"], row["new"]) for row in told["edited"]] == [("one", "un")]
        assert [row["text"] for row in told["removed"]] == ["two"]
        assert [row["text"] for row in told["added"]] == ["v"]
        assert told["changes"] == 4
        assert looking.history_diff(vault, CLAUDE, first, note="k")["edited"] == []


def test_files_keys_and_entities_are_read_as_they_were(root: Path) -> None:
    with opened(root) as vault:
        writing.write_memory(vault, CLAUDE, "user/theme", "dark")
        editing.memory_create(vault, CLAUDE, "notes/plan.txt", "first\n")
        create(vault, "Ada", "one")
        moment = head(root)
        writing.write_memory(vault, CLAUDE, "user/theme", "light")
        moving.memory_delete(vault, CLAUDE, "notes")
        entities.rename_entity(vault, CURSOR, "Ada", "Countess")
        theme: Any = past.history_read(vault, CLAUDE, "user/theme", moment)
        assert theme["value"] == "dark"
        assert keys.read_memory(vault, CLAUDE, "user/theme", moment) == "dark"
        assert keys.read_memory(vault, CLAUDE, "user/theme") == "light"
        plan: Any = past.history_read(vault, CLAUDE, "/memories/notes/plan.txt", moment)
        assert plan["text"] == "first\n"
        assert "1\tfirst" in viewing.memory_view(vault, CLAUDE, "/memories/notes/plan.txt", (), moment)
        listing = viewing.memory_view(vault, CLAUDE, "", (), moment)
        assert "6B\tnotes/plan.txt" in listing
        assert "entities/person/" in listing
        for name in ("Ada", "Countess"):
            then: Any = past.history_read(vault, CLAUDE, name, moment)
            assert (then["name"], then["note"]) == ("Ada", "entities/person/Ada.md")
        told: Any = reading.read_graph(vault, CLAUDE, as_of="2001-01-01")
        assert told["entities"] == []


def test_a_fact_keeps_its_story_through_edits_a_rename_and_a_merge(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "likes tea")
        made = head(root)
        create(vault, "Countess", "another")
        observations.edit_observation(vault, CURSOR, "Ada", "likes tea", "likes coffee")
        edited = head(root)
        entities.rename_entity(vault, CURSOR, "Ada", "Ada L")
        entities.merge_entities(vault, CURSOR, "Ada L", "Countess")
        told: Any = blame.history_blame(vault, CLAUDE, "Countess", text="likes coffee")
        (line,) = told["lines"]
        assert (line["added_by"], line["added_in"]) == ("claude-desktop", made[:12])
        assert (line["edited_by"], line["edited_in"]) == ("cursor", edited[:12])
        assert (line["before"], line["edited_by_hand"]) == ("likes tea", False)
        assert line["came_from"] == "entities/person/Ada L.md"


def test_an_edit_by_hand_is_the_persons_on_a_line_that_an_agent_stamped(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "likes tea")
        path = root / "entities/person/Ada.md"
        path.write_text(path.read_text("utf-8").replace("likes tea", "likes green tea"), "utf-8")
        vault.noticed(None)
        told: Any = blame.history_blame(vault, CLAUDE, "Ada", text="green")
        (line,) = told["lines"]
        assert (line["added_by"], line["edited_by"]) == ("claude-desktop", "Ann Person")
        assert line["edited_by_hand"] is True
        assert line["edited_in"] == head(root)[:12]


def test_the_past_knows_nothing_of_what_is_in_no_commit(root: Path) -> None:
    with opened(root, Options(hand_edits="leave")) as vault:
        create(vault, "Ada", "one")
        create(vault, "Bob", "b")
        (root / "link.md").symlink_to("entities/person/Ada.md")
        git(root, "add", "link.md")
        git(root, "commit", "-q", "-m", "a link")
        path = root / "entities/person/Ada.md"
        path.write_text(path.read_text("utf-8") + "- two\n", "utf-8")
        (root / "entities/person/Bob.md").unlink()
        write_files(root, {"entities/person/Cy.md": "---\nentity: person\n---\n\n- c\n"})
        vault.noticed(None)
        now: Any = reading.read_graph(vault, CLAUDE)
        assert [one["name"] for one in now["entities"]] == ["Ada", "Cy"]
        then: Any = reading.read_graph(vault, CLAUDE, as_of=head(root))
        assert [one["name"] for one in then["entities"]] == ["Ada", "Bob"]
        assert [fact["text"] for fact in then["entities"][0]["observations"]] == ["one"]


def test_a_moment_long_ago_is_answered_from_the_few_notes_of_then(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Timekeeping, "reading", unreached)
    with opened(root) as vault:
        create(vault, "Ada", "one")
        moment = head(root)
        for number in range(12):
            create(vault, f"E{number:02}", "x")
        told: Any = reading.read_graph(vault, CLAUDE, as_of=moment)
        assert told["total"] == {"entities": 1, "relations": 0}
        found: Any = reading.search_nodes(vault, CLAUDE, "one", as_of=moment)
        assert [one["name"] for one in found["entities"]] == ["Ada"]
        kept = len(list((root / ".git/vault-mcp").glob("bygone-*.sqlite")))
        assert kept == 1
        for revision in git(root, "log", "-4", "--format=%H").split():
            reading.read_graph(vault, CLAUDE, as_of=revision)
        assert len(list((root / ".git/vault-mcp").glob("bygone-*.sqlite"))) == 2
    assert list((root / ".git/vault-mcp").glob("bygone-*")) == []


# -- what is new


def test_the_mark_moves_with_each_look_and_is_no_commit(root: Path) -> None:
    with opened(root) as vault:
        first: Any = since.history_since(vault, CURSOR)
        assert first["last_look"] is None
        before = (head(root), git(root, "status", "--porcelain"))
        create(vault, "Ada", "one")
        write_files(root, {"n.md": "by hand\n"})
        vault.noticed(None)
        rows = [{"entityName": "Ada", "contents": ["mine"]}]
        observations.add_observations(vault, CURSOR, rows)
        told: Any = since.history_since(vault, CURSOR)
        assert [row["subject"] for row in told["by_hand"]] == ["hand-edit: n.md"]
        assert [row["subject"] for row in told["by_agents"]] == ["create_entities: Ada"]
        assert told["own"] == 1
        again: Any = since.history_since(vault, CURSOR)
        assert (again["by_hand"], again["by_agents"], again["own"]) == ([], [], 0)
        other: Any = since.history_since(vault, CLAUDE, agent="cursor")
        assert other["by_agents"] == []
        assert mark_of(vault.repository.program, "claude-desktop") is None
        assert before[1] == git(root, "status", "--porcelain")
        assert clean(root)


def test_more_than_fits_is_told_in_parts_of_which_none_is_lost(root: Path) -> None:
    with opened(root) as vault:
        since.history_since(vault, CURSOR)
        for number in range(7):
            create(vault, f"E{number}", "x")
        seen: list[str] = []
        for _ in range(4):
            told: Any = since.history_since(vault, CURSOR, limit=3)
            seen += [row["subject"] for row in reversed(told["by_agents"])]
        assert seen == [f"create_entities: E{number}" for number in range(7)]


def test_a_mark_that_another_process_moved_is_not_moved_back(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "A", "a")
        program = vault.repository.program
        assert move_mark(program, "cursor", None, head(root))
        assert not move_mark(program, "cursor", None, head(root))
        old = head(root)
        create(vault, "B", "b")
        assert move_mark(program, "cursor", old, head(root))
        assert not move_mark(program, "cursor", old, head(root))


@pytest.mark.parametrize(
    "name", ["Claude Desktop", "../../heads/main", "a.lock", "-x", "日本", "A" * 300, "@{"]
)
def test_every_name_has_a_mark_of_its_own_that_git_takes(root: Path, name: str) -> None:
    with opened(root) as vault:
        assert move_mark(vault.repository.program, name, None, head(root))
        assert mark_of(vault.repository.program, name) == head(root)
        git(root, "check-ref-format", ref_of(name))
        assert ref_of(name).startswith("refs/vault-mcp/seen/")
        assert ref_of(name) != ref_of(name.lower() + "x")
    assert git(root, "branch", "--format=%(refname)").split() == ["refs/heads/main"]


def test_names_that_differ_in_case_alone_have_marks_that_every_disk_keeps_apart() -> None:
    assert ref_of("claude").lower() != ref_of("Claude").lower()


def test_a_line_of_a_person_in_which_a_link_followed_a_rename_stays_the_persons(root: Path) -> None:
    with opened(root) as vault:
        write_files(
            root, {"X.md": "---\nentity: person\n---\n\n- saw [[Z]] once\n\n## Relations\n\n- knows [[Z]]\n"}
        )
        write_files(root, {"Z.md": "---\nentity: person\n---\n\n- z\n"})
        vault.noticed(None)
        made = head(root)
        vault.read_past()
        entities.rename_entity(vault, CURSOR, "Z", "Q")
        told: Any = blame.history_blame(vault, CLAUDE, "X")
        lines = {line["text"]: (line["added_by"], line["added_in"]) for line in told["lines"]}
        assert lines["saw [[Q]] once"] == lines["knows -> Q"] == ("Ann Person", made[:12])
        opened_: Any = reading.open_nodes(vault, CLAUDE, ["X"])
        (fact,) = opened_["entities"][0]["observations"]
        assert fact["agent"] == "Ann Person"
        (relation,) = opened_["relations"]
        assert relation["agent"] == "Ann Person"
        then: Any = reading.open_nodes(vault, CLAUDE, ["X"], as_of=head(root))
        assert then["entities"][0]["observations"] == opened_["entities"][0]["observations"]
