"""Two machines, one memory: real clones, one bare remote, real merges."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.clones import remote_and_clones, tree
from tests.notes.merges import BASE, CASES, check
from tests.sync.machines import ADA, PLAN, Two, both, entity, move, note, path, quiet, remove, text, write
from tests.vaults import CLAUDE, CURSOR, commits, git, make_vault, write_files
from vault_mcp.errors import PathRefused
from vault_mcp.notes.note import read_note
from vault_mcp.sync import sync
from vault_mcp.tools.graph.entities import create_entities, merge_entities
from vault_mcp.tools.graph.observations import add_observations, edit_observation
from vault_mcp.tools.graph.reading import open_nodes
from vault_mcp.tools.graph.relations import create_relations
from vault_mcp.tools.memories.writing import memory_update
from vault_mcp.vault import Vault

# -- facts


def test_what_agents_added_on_two_machines_is_on_both(two: Two) -> None:
    here, there = two
    add_observations(here, CLAUDE, [{"entityName": "Ada", "contents": ["From here"]}])
    add_observations(there, CURSOR, [{"entityName": "Ada", "contents": ["From there"]}])
    done = both(two)
    assert (done.state, done.received, done.sent, done.told) == ("in step", 1, 2, ())
    for vault in two:
        texts = [fact.text for fact in note(vault, ADA).observations]
        assert texts[-2:] in (["From here", "From there"], ["From there", "From here"])
        with vault.reading() as reader:
            assert reader.totals().observations == 7
    assert git(Path(there.root), "log", "-1", "--format=%an%n%cn%n%s%n%P").splitlines()[:3] == [
        "Ann on b",
        "vault-mcp",
        "sync: 1 change from origin",
    ]


def test_the_fourteen_merges_are_right_through_a_sync(tmp_path: Path) -> None:
    names = {f"entities/person/{case.name}.md": case for case in CASES}
    a, b = remote_and_clones(tmp_path, files=dict.fromkeys(names, BASE))
    with quiet(a) as here, quiet(b) as there:
        write_files(a, {name: case.ours(BASE) for name, case in names.items()})
        write_files(b, {name: case.theirs(BASE) for name, case in names.items()})
        done = both((here, there))
        for name, case in names.items():
            check(case, text(here, name), case.ours(BASE), case.theirs(BASE))
            assert any(told.path == name for told in done.told) == case.reported
    assert done.conflicts == ()


def test_nothing_new_makes_no_commit(two: Two) -> None:
    here, there = two
    assert sync(here) == sync(there)
    before = git(Path(here.root), "rev-parse", "HEAD")
    done = sync(here)
    assert (done.state, done.received, done.sent) == ("in step", 0, 0)
    assert git(Path(here.root), "rev-parse", "HEAD") == before


def test_a_hand_edit_that_nobody_committed_is_the_persons_and_goes_along(two: Two) -> None:
    here, there = two
    write_files(Path(here.root), {"Plan.md": PLAN.replace("One.", "One by hand.")})
    sync(here)
    assert commits(Path(here.root))[0] == "hand-edit: Plan.md"
    sync(there)
    assert "One by hand." in text(there, "Plan.md")


def test_a_hand_edit_in_a_file_that_comes_is_merged_too(two: Two) -> None:
    here, there = two
    write(here, "Plan.md", PLAN.replace("One.", "One of here."))
    sync(here)
    write_files(Path(there.root), {"Plan.md": PLAN.replace("Three.", "Three by hand.")})
    both(two)
    assert text(here, "Plan.md") == PLAN.replace("One.", "One of here.").replace("Three.", "Three by hand.")


# -- what only a person can decide


def test_prose_changed_on_both_sides_stays_as_ours_with_theirs_in_a_note_beside(two: Two) -> None:
    here, there = two
    write(here, "Plan.md", PLAN.replace("Two.", "Two of here."))
    write(there, "Plan.md", PLAN.replace("Two.", "Two of there."))
    done = both(two)
    (conflict,) = done.conflicts
    assert conflict.startswith("Plan (conflict ")
    for vault in two:
        assert text(vault, "Plan.md") == PLAN.replace("Two.", "Two of there.")
        kept = text(vault, conflict)
        assert "Two of here.\n````" in kept
        assert [link.target for link in note(vault, conflict).links] == ["Plan", "Plan"]
    assert [told.what for told in done.told] == ["decide"]
    assert f"to decide: {conflict}" in git(Path(there.root), "log", "-1", "--format=%s")


def test_a_property_set_two_ways_is_left_to_the_person(two: Two) -> None:
    here, there = two
    for vault, status in ((here, "done"), (there, "late")):
        write(vault, "Task.md", f"---\nstatus: {status}\n---\n\nTask.\n")
    done = both(two)
    assert "status: late" in text(here, "Task.md")
    assert "done" in text(here, done.conflicts[0])


def test_two_values_of_one_key_are_left_to_the_person(two: Two) -> None:
    here, there = two
    for vault, value in ((here, "dark"), (there, "light")):
        write(vault, "keys/theme.md", f"---\nkey: theme\n---\n\n{value}\n")
    done = both(two)
    assert note(here, "keys/theme.md").value == "light"
    assert "dark" in text(here, done.conflicts[0])


def test_a_file_that_is_no_note_is_kept_in_both_versions(two: Two) -> None:
    here, there = two
    for vault, content in ((here, "1"), (there, "2")):
        write(vault, "data.csv", content)
    done = both(two)
    assert text(here, "data.csv") == "2"
    (copy,) = [p for p in os.listdir(here.root) if p.startswith("data (conflict ") and p.endswith(".csv")]
    assert text(here, copy) == "1"
    assert copy in text(here, done.conflicts[0])


# -- files


def test_a_rename_here_and_a_fact_there_meet(two: Two) -> None:
    here, there = two
    move(here, ADA, "people/Ada Lovelace.md")
    add_observations(there, CURSOR, [{"entityName": "Ada", "contents": ["From there"]}])
    both(two)
    for vault in two:
        assert not path(vault, ADA).exists()
        assert note(vault, "people/Ada Lovelace.md").observations[-1].text == "From there"


def test_a_note_moved_two_ways_stays_where_ours_put_it(two: Two) -> None:
    here, there = two
    move(here, "Plan.md", "here/Plan.md")
    move(there, "Plan.md", "there/Plan.md")
    done = both(two)
    assert [told.what for told in done.told] == ["moved"]
    assert text(here, "there/Plan.md") == PLAN
    assert not path(here, "here/Plan.md").exists()


@pytest.mark.parametrize("turned", [False, True])
def test_a_deletion_yields_to_an_edit_and_says_so(two: Two, turned: bool) -> None:
    deletes, edits = reversed(two) if turned else two
    remove(deletes, "Plan.md")
    write(edits, "Plan.md", PLAN.replace("Two.", "Two, edited."))
    done = both(two)
    assert "Two, edited." in text(deletes, "Plan.md")
    assert [told.what for told in done.told] == ["kept"]


def test_a_deletion_of_what_nobody_edited_holds(two: Two) -> None:
    here, there = two
    remove(here, "Plan.md")
    write(there, "Other.md", "x\n")
    both(two)
    assert not path(there, "Plan.md").exists()


def test_an_entity_made_on_both_machines_is_one(two: Two) -> None:
    here, there = two
    create_entities(here, CLAUDE, [entity("Grace", "Here", "Both")])
    create_entities(there, CURSOR, [entity("Grace", "There", "Both", type="admiral")])
    done = both(two)
    assert sorted(told.what for told in done.told) == ["decide", "joined"]
    (only,) = [p for p in Path(here.root).rglob("*.md") if read_note(p.name, p.read_text()).name == "Grace"]
    found = read_note(only.name, only.read_text())
    assert sorted(fact.text for fact in found.observations) == ["Both", "Here", "There"]
    assert found.type == "admiral"


@pytest.mark.parametrize("turned", [False, True])
def test_a_fact_added_there_follows_an_entity_to_the_one_it_was_joined_to_here(
    two: Two, turned: bool
) -> None:
    create_entities(two[0], CLAUDE, [entity("Ada L", "Alias fact"), entity("Bob")])
    both(two)
    joins, adds = reversed(two) if turned else two
    merge_entities(joins, CLAUDE, "Ada L", "Ada")
    add_observations(adds, CURSOR, [{"entityName": "Ada L", "contents": ["Late"]}])
    add_observations(joins, CLAUDE, [{"entityName": "Ada", "contents": ["Later"]}])
    edit_observation(adds, CURSOR, "Ada L", "Alias fact", "Alias fact, edited")
    create_relations(adds, CURSOR, [{"from": "Ada L", "to": "Bob", "relationType": "taught"}])
    done = both(two)
    assert [(told.what, told.path) for told in done.told] == [("followed", ADA)]
    for vault in two:
        assert not path(vault, "entities/person/Ada L.md").exists()
        found = note(vault, ADA)
        facts = [fact.text for fact in found.observations]
        assert {"Late", "Later", "Alias fact, edited", "Fact one", "Fact five"} < set(facts)
        assert len(facts) == len(set(facts)) == 8
        assert [r.target for r in found.relations if r.type == "taught"] == ["Bob"]


@pytest.mark.parametrize("turned", [False, True])
def test_an_entity_joined_here_of_which_prose_was_written_there_stays_without_what_was_carried(
    two: Two, turned: bool
) -> None:
    create_entities(two[0], CLAUDE, [entity("Ada L", "Alias fact")])
    both(two)
    joins, adds = reversed(two) if turned else two
    merge_entities(joins, CLAUDE, "Ada L", "Ada")
    old = text(adds, "entities/person/Ada L.md")
    write(adds, "entities/person/Ada L.md", old + "- Typed\n\nSome prose.\n")
    done = both(two)
    assert [told.what for told in done.told] == ["kept"]
    for vault in two:
        assert [fact.text for fact in note(vault, "entities/person/Ada L.md").observations] == ["Typed"]
        assert "Alias fact" in text(vault, ADA)


def test_a_memory_number_given_twice_is_given_anew_to_the_one_that_nobody_else_knows(two: Two) -> None:
    here, there = two
    memory = "---\nmemory: episodic\nid: 2026100509123301\n---\n\n{}\n"
    write(here, "memories/Here.md", memory.format("Said here."))
    write(there, "memories/There.md", memory.format("Said there."))
    done = both(two)
    assert [told.what for told in done.told] == ["number"]
    assert note(here, "memories/Here.md").id == 2026100509123301
    assert note(here, "memories/There.md").id == 2026100509123302


def test_two_memories_at_one_path_are_two(two: Two) -> None:
    here, there = two
    for vault, number in ((here, 2026100509123301), (there, 2026100509123401)):
        write(vault, "memories/Same.md", f"---\nmemory: episodic\nid: {number}\n---\n\nSame words.\n")
    both(two)
    found = {note(here, f"memories/{p.name}").id for p in path(here, "memories").iterdir()}
    assert found == {2026100509123301, 2026100509123401}


def test_two_memories_of_one_number_at_one_path_get_numbers_of_their_own(two: Two) -> None:
    here, _ = two
    for vault, words in zip(two, ("alpha here", "bravo there"), strict=True):
        write(
            vault,
            "memories/Same.md",
            f"---\nmemory: episodic\nid: 2026100509123301\n---\n\nSame words\n\n{words}\n",
        )
    done = both(two)
    assert [told.what for told in done.told] == ["renamed", "number"]
    assert note(here, "memories/Same.md").id == 2026100509123302
    assert note(here, "memories/Same (2).md").id == 2026100509123301
    for vault in two:
        memory_update(vault, CLAUDE, 2026100509123301, "Alpha again", "s")
    assert "bravo there" in text(here, "memories/Same.md")
    assert "Alpha again" in text(here, "memories/Same (2).md")


def test_names_that_differ_in_case_alone_get_apart(two: Two) -> None:
    here, there = two
    write(here, "notes/Idea.md", "Here.\n")
    write(there, "notes/idea.md", "There.\n")
    done = both(two)
    assert [told.what for told in done.told] == ["renamed"]
    assert sorted(p.name for p in path(here, "notes").iterdir()) == ["Idea (2).md", "idea.md"]


def test_entities_whose_names_differ_in_case_alone_keep_their_names_and_links(two: Two) -> None:
    here, there = two
    write(there, "Both.md", "# Both\n\nA.\n\nB.\n")
    both(two)
    write(there, "Both.md", "# Both\n\nA [[Log]].\n\nB.\n")
    create_entities(there, CLAUDE, [entity("Log", "A diary.", type="thing")])
    create_entities(here, CURSOR, [entity("log", "A piece of wood.", type="thing")])
    write(here, "Other.md", "Nothing of the kind.\n")
    create_relations(here, CURSOR, [{"from": "Ada", "to": "log", "relationType": "uses"}])
    write(here, "Plan.md", PLAN + "\nSee [[log]], [it](entities/thing/log.md) and `[[log]]`.\n")
    write(here, "Both.md", "# Both\n\nA.\n\nB [[log]] and [[Log]].\n")
    sync(here)
    done = sync(there)
    sync(here)
    assert tree(Path(here.root)) == tree(Path(there.root))
    moved = "entities/thing/log (2).md"
    (told,) = [told for told in done.told if told.what == "renamed"]
    assert told.path == moved
    assert told.text.endswith(f"in Both.md: have them name {moved}.")
    assert text(there, "Both.md") == "# Both\n\nA [[Log]].\n\nB [[log (2)|log]] and [[Log]].\n"
    assert text(there, "Plan.md").endswith(
        "\nSee [[log (2)|log]], [it](entities/thing/log%20%282%29.md) and `[[log]]`.\n"
    )
    (uses,) = [relation for relation in note(there, ADA).relations if relation.type == "uses"]
    assert (uses.target, uses.shown) == ("log (2)", "log")
    for vault in two:
        assert note(vault, moved).name == "log"
        assert text(vault, moved).startswith("---\nentity: thing\n")
        for name, fact in (("log", "A piece of wood."), ("Log", "A diary.")):
            assert fact in str(open_nodes(vault, CLAUDE, [name])["entities"]), name


def test_a_file_and_a_folder_of_one_name_get_apart(two: Two) -> None:
    here, there = two
    write(here, "thing", "a file\n")
    write(there, "thing/note.md", "in a folder\n")
    both(two)
    assert text(here, "thing/note.md") == "in a folder\n"
    assert text(here, "thing (2)") == "a file\n"


def agent(vault: Vault, **files: str | None) -> None:
    for name, content in files.items():
        with vault.change("test", by="claude", session="s", subject=name) as change:
            if content is None:
                change.delete(name)
            else:
                change.write(name, content.encode())


def test_a_folder_that_became_a_file_there_becomes_one_here(two: Two) -> None:
    here, there = two
    agent(here, **{"thing/in.md": "in\n", "thing/deep/er.md": "deeper\n"})
    both(two)
    agent(here, **{"thing/in.md": None, "thing/deep/er.md": None, "thing": "a file\n"})
    both(two)
    assert text(there, "thing") == "a file\n"
    agent(there, **{"thing": None, "thing/a.md": "again\n"})
    both((there, here))
    assert text(here, "thing/a.md") == "again\n"


@pytest.mark.parametrize("name", [".mine", "deep/mine.log"])
def test_a_file_of_ones_own_in_a_folder_that_became_a_file_is_named(two: Two, name: str) -> None:
    here, there = two
    agent(here, **{"thing/in.md": "in\n"})
    both(two)
    agent(here, **{"thing/in.md": None, "thing": "a file\n"})
    sync(here)
    path(there, ".git/info/exclude").write_text("*.log\n")
    write_files(Path(there.root), {f"thing/{name}": "mine\n"})
    with pytest.raises(PathRefused, match=rf"thing is a folder that still holds thing/{name[:5]}"):
        sync(there)
    assert text(there, f"thing/{name}") == "mine\n"
    assert text(there, "thing/in.md") == "in\n"
    mine = path(there, f"thing/{name}")
    mine.unlink()
    if mine.parent.name == "deep":
        mine.parent.rmdir()
    both(two)
    assert text(there, "thing") == "a file\n"


def test_a_folder_that_a_person_replaced_by_a_file_is_committed_so(two: Two) -> None:
    here, there = two
    write(here, "thing/in.md", "in\n")
    both(two)
    path(here, "thing/in.md").unlink()
    path(here, "thing").rmdir()
    path(here, "thing").write_text("a file\n")
    here.noticed(None)
    both(two)
    assert text(there, "thing") == "a file\n"


def test_histories_that_share_nothing_become_one(tmp_path: Path) -> None:
    bare = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(bare))
    a = make_vault(tmp_path / "a", {"A.md": "a\n", "Same.md": "s\n"})
    b = make_vault(tmp_path / "b", {"B.md": "b\n", "Same.md": "s\n"})
    with quiet(a) as here, quiet(b) as there:
        assert sync(here, str(bare)).sent == 2
        sync(there, str(bare))
        sync(here)
        assert tree(a) == tree(b)
        assert {"A.md", "B.md", "Same.md"} <= set(os.listdir(a))


def test_a_branch_of_another_name_is_the_remotes_own(tmp_path: Path) -> None:
    a, _ = remote_and_clones(tmp_path)
    b = tmp_path / "c"
    b.mkdir()
    git(b, "init", "-q", "-b", "master")
    make_vault(b)
    with quiet(b) as there:
        done = sync(there, str(tmp_path / "remote.git"))
        assert (done.branch, done.state) == ("main", "in step")
        assert git(a, "ls-remote", "--heads", "origin").count("refs/heads/") == 1
        assert sync(there).branch == "main"
