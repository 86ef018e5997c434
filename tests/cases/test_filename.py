"""Cases about names: what no file can carry, what two systems spell differently, what a person moved."""

import unicodedata
from pathlib import Path

import pytest

from tests.cases.conftest import Desk
from tests.serving import added, count, entity, facts, found, given, graph, greeted, head, path_of, relation
from tests.vaults import clean, commits, git, write_files
from tests.waiting import wait_until
from vault_mcp.notes.links import find_links

FORBIDDEN = set('#^[]|:\\<>"*?')
HARD = 'C# [v2] | a:b "q" <x> 50%? ^y * z'


def listed(root: Path) -> list[str]:
    """Every path that Git tracks."""
    return git(root, "ls-files", "-z").strip("\0").split("\0")


def notes(root: Path) -> list[str]:
    return [path for path in listed(root) if path.endswith(".md")]


def test_NAME_01_two_unicode_forms_of_one_name_are_one_entity_in_one_file(desk: Desk) -> None:
    composed, decomposed = "Café Zürich", "Cafe\u0301 Zu\u0308rich"
    given(desk.server, "create_entities", entities=[entity(composed, "o")])
    again = given(desk.server, "create_entities", entities=[entity(decomposed, "o")])
    assert (again["entities"], again["skipped"]) == ([], [decomposed])
    assert facts(desk.server, decomposed) == ["o"]
    for query in ("café", "cafe\u0301"):
        (path,) = found(desk.server, query)
    assert path in listed(desk.root)
    assert unicodedata.is_normalized("NFC", path)


def test_NAME_02_two_files_of_two_unicode_forms_are_both_found_and_both_kept(root: Path) -> None:
    files = {"café.md": "one zebra\n", "cafe\u0301.md": "two zebra\n"}
    write_files(root, files)
    with greeted(root, "--no-watch") as server:
        assert sorted(found(server, "zebra")) == sorted(files)
        # One name, two notes: making an entity of that name is no reason to overwrite either.
        given(server, "create_entities", entities=[entity("café", "three")])
        assert facts(server, "café") == ["three"]
        given(server, "rename_entity", entityName="café", newName="tea room")
    texts = sorted(path.read_text().splitlines()[-1] for path in root.glob("*.md"))
    assert "two zebra" in texts
    assert any("one zebra" in (root / path).read_text() for path in notes(root))
    assert clean(root)


def test_NAME_03_emoji_and_cjk_names_come_back_and_are_readable_in_the_log(desk: Desk) -> None:
    names = ["🧠 brain", "東京メモ", "👨\u200d👩\u200d👧 family"]
    given(desk.server, "create_entities", entities=[entity(name, "o") for name in names])
    assert list(graph(desk.server)[0]) == sorted(names)
    assert len({path_of(desk.server, name) for name in names}) == 3
    subject = git(desk.root, "log", "-1", "--format=%s")
    assert all(name in subject for name in names)
    shown = git(desk.root, "show", "--name-only", "--format=", "HEAD")
    assert all(name in shown for name in names)


def test_NAME_05_names_that_differ_by_case_are_two_entities_in_two_safe_files(desk: Desk) -> None:
    given(desk.server, "create_entities", entities=[entity("Log", "a"), entity("log", "b")])
    assert graph(desk.server)[0] == {"Log": ["a"], "log": ["b"]}
    given(desk.server, "create_relations", relations=[relation("Log", "r", "log")])
    assert graph(desk.server)[1] == {("Log", "r", "log")}
    keys = [unicodedata.normalize("NFC", path).casefold() for path in listed(desk.root)]
    assert len(set(keys)) == len(keys)


def test_NAME_06_a_rename_of_case_only_is_one_file_and_one_commit(desk: Desk) -> None:
    given(desk.server, "create_entities", entities=[entity("log", "a")])
    before = count(desk.root)
    given(desk.server, "rename_entity", entityName="log", newName="Log")
    assert facts(desk.server, "Log") == ["a"]
    assert given(desk.server, "open_nodes", names=["log"])["missing"] == ["log"]
    assert [path for path in notes(desk.root) if path.casefold().endswith("/log.md")] == [
        path_of(desk.server, "Log")
    ]
    assert count(desk.root) == before + 1
    assert clean(desk.root)


def test_NAME_08_a_slash_in_a_name_makes_no_folder_and_links_find_their_file(desk: Desk) -> None:
    names = ["Enable/Disable coupons", "Enable-Disable coupons", "a\\b"]
    given(desk.server, "create_entities", entities=[entity(name, "o") for name in names])
    given(desk.server, "create_relations", relations=[relation(names[0], "near", names[2])])
    assert list(graph(desk.server)[0]) == sorted(names)
    assert not (desk.root / "entities/t/Enable").exists()
    shown = given(desk.server, "open_nodes", names=[names[0]])
    assert [(one["from"], one["to"]) for one in shown["relations"]] == [(names[0], names[2])]
    (link,) = find_links((desk.root / path_of(desk.server, names[0])).read_text())
    assert path_of(desk.server, names[2]) in (f"entities/t/{link.target}.md", f"{link.target}.md")


@pytest.mark.parametrize("name", ["", "   ", "\n\t"])
def test_NAME_09_blank_names_are_refused(desk: Desk, name: str) -> None:
    before = head(desk.root)
    assert "blank" in desk.server.error("create_entities", entities=[entity(name, "o")])
    assert head(desk.root) == before


def test_NAME_09_dots_are_names_like_any_other_and_stay_inside(desk: Desk) -> None:
    """A policy of ours: docs/policies.md, "Names that no file can carry"."""
    around = sorted(desk.root.parent.iterdir())
    given(desk.server, "create_entities", entities=[entity(".", "one"), entity("..", "two")])
    given(desk.server, "create_relations", relations=[relation(".", "below", "..")])
    assert graph(desk.server) == ({".": ["one"], "..": ["two"]}, {(".", "below", "..")})
    assert sorted(desk.root.parent.iterdir()) == around
    assert all(path_of(desk.server, name).startswith("entities/t/") for name in (".", ".."))


def test_NAME_12_what_links_and_windows_cannot_hold_stays_out_of_the_file_name(desk: Desk) -> None:
    given(desk.server, "create_entities", entities=[entity(HARD, "o"), entity("Plain", "o")])
    given(desk.server, "create_relations", relations=[relation("Plain", "uses", HARD)])
    assert graph(desk.server) == ({HARD: ["o"], "Plain": ["o"]}, {("Plain", "uses", HARD)})
    assert not FORBIDDEN & set(path_of(desk.server, HARD))
    (link,) = find_links((desk.root / path_of(desk.server, "Plain")).read_text())
    assert link.target == Path(path_of(desk.server, HARD)).stem


@pytest.mark.parametrize("name", ["a\nb", "a\u0007\tb", "a\0b", "a\r\n\r\nb", "a\u2028b", "a\x7f\x85b"])
def test_NAME_13_control_characters_come_back_and_reach_no_file_name_or_subject(
    desk: Desk, name: str
) -> None:
    """A policy of ours: docs/policies.md, "Names that no file can carry"."""
    before = count(desk.root)
    made = given(desk.server, "create_entities", entities=[entity(name, "o"), entity("other", "o")])
    assert made["entities"][0]["name"] == name
    given(desk.server, "create_relations", relations=[relation("other", "near", name)])
    assert graph(desk.server) == ({name: ["o"], "other": ["o"]}, {("other", "near", name)})
    assert path_of(desk.server, name).isprintable()
    assert len(git(desk.root, "log", "-2", "--format=%s").splitlines()) == 2
    assert b"\0" not in git(desk.root, "cat-file", "commit", "HEAD").encode()
    assert count(desk.root) == before + 2
    assert clean(desk.root)


@pytest.mark.parametrize("name", ["--output=pwn.md", "-rf", "--", "-c core.pager=x", "@{-1}", ":(top)x"])
def test_NAME_15_names_that_look_like_options_are_only_names(desk: Desk, name: str) -> None:
    """With entities in place of files; the file tools are shown in test_files_filename.py."""
    given(desk.server, "create_entities", entities=[entity(name, "o")])
    shown = git(desk.root, "show", "--name-only", "--format=", "-z", "HEAD").strip("\0\n").split("\0")
    assert shown == [path_of(desk.server, name)]
    assert not (desk.root / "pwn.md").exists()
    given(desk.server, "delete_entities", entityNames=[name])
    assert clean(desk.root)


def test_NAME_18_a_file_name_that_is_no_utf8_wedges_nothing(root: Path) -> None:
    """With the graph's own reads in place of the listing of files."""
    odd = bytes(root) + b"/bad\xff.md"
    with open(odd, "wb") as file:
        file.write(b"zebra in a badly named file\n")
    write_files(root, {"n.md": "zebra too\n"})
    with greeted(root) as server:
        wait_until(lambda: found(server, "zebra") == ["n.md"], 10)
        for _ in range(2):
            assert graph(server) == ({}, set())
        given(server, "create_entities", entities=[entity("A", "o")])
    with open(odd, "rb") as file:
        assert file.read() == b"zebra in a badly named file\n"


def test_NAME_19_a_note_of_another_spelling_is_another_note(root: Path) -> None:
    """A policy of ours: docs/policies.md, "When a person's note becomes an entity"."""
    hand = "---\ntitle: Site Plan\ntype: t\n---\nhand\n"
    write_files(root, {"site-plan.md": hand, "People/Ann Lee.md": "met [[Bob]]\n"})
    with greeted(root, "--no-watch") as server:
        given(server, "create_entities", entities=[entity("Site Plan", "x"), entity("Ann Lee", "y")])
        assert graph(server)[0] == {"Site Plan": ["x"], "Ann Lee": ["y"]}
        # Exactly its name: the person's own note becomes the entity, where it lies, with all its text.
        assert path_of(server, "Ann Lee") == "People/Ann Lee.md"
        assert "met [[Bob]]\n" in (root / "People/Ann Lee.md").read_text()
        # Another spelling: the person's note keeps its bytes and is found beside the entity.
        assert (root / "site-plan.md").read_text() == hand
        assert sorted(found(server, "plan")) == ["entities/t/Site Plan.md", "site-plan.md"]
    assert clean(root)


def test_NAME_20_a_note_that_a_person_moved_is_written_where_it_lies_now(root: Path) -> None:
    with greeted(root, "--no-watch") as server:
        given(server, "create_entities", entities=[entity("Song", "one")])
        path = path_of(server, "Song")
        (root / "sub").mkdir()
        git(root, "mv", path, "sub/Song.md")
        git(root, "commit", "-q", "-m", "move")
        given(server, "add_observations", observations=[added("Song", "two")])
        assert facts(server, "Song") == ["one", "two"]
        assert path_of(server, "Song") == "sub/Song.md"
    assert git(root, "show", "--name-only", "--format=", "HEAD").split() == ["sub/Song.md"]
    assert clean(root)


def test_NAME_20_a_note_that_a_person_renamed_is_an_entity_of_its_new_name(root: Path) -> None:
    """The case keeps the old name; format.md §6 has the file name be the entity's name, as in Obsidian."""
    with greeted(root, "--no-watch") as server:
        given(server, "create_entities", entities=[entity("Song", "one"), entity("Co: lon", "one")])
        (root / "sub").mkdir()
        for old, new in (("Song", "renamed"), ("Co: lon", "moved")):
            git(root, "mv", path_of(server, old), f"sub/{new}.md")
        git(root, "commit", "-q", "-m", "move")
        assert "Song not found" in server.error("add_observations", observations=[added("Song", "two")])
        given(server, "add_observations", observations=[added("renamed", "two")])
        # A name that stands in the note, since no file can carry it, stays whatever the file is called.
        given(server, "add_observations", observations=[added("Co: lon", "two")])
        assert graph(server)[0] == {"renamed": ["one", "two"], "Co: lon": ["one", "two"]}
        assert {path_of(server, "renamed"), path_of(server, "Co: lon")} == {"sub/renamed.md", "sub/moved.md"}
    assert [subject for subject in commits(root) if subject.startswith("hand-edit")] == []
    assert clean(root)
