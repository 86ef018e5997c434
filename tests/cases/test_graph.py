"""Cases about the graph: names, relations, exact texts, and what a person does to the notes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.conftest import Desk
from tests.doors.frames import Server
from tests.serving import (
    added,
    count,
    entity,
    facts,
    found,
    given,
    graph,
    greeted,
    head,
    make,
    path_of,
    relation,
)
from tests.vaults import PERSON, authors, clean, commits, git, write_files
from tests.waiting import wait_until

MARKDOWN_LIKE = [
    *["- dash", "# head", "---", "> q", "```", "[[A]]", "1. one", "* star", "+ plus", "<!-- c -->", "| t |"],
    *["[x] done", "^blk", "  lead", "trail  ", "\ttab", "**b**", "%%c%%", "a: b", "\\", "&amp;"],
    *["- [ ] task", "==h==", "$x$", "~~s~~", "![[A]]", "<b>", "\xa0nbsp"],
]


@pytest.fixture
def watched(root: Path) -> Iterator[Server]:
    """A server of its own that watches for hand edits."""
    with greeted(root) as server:
        yield server


def append(path: Path, text: str) -> None:
    path.write_bytes(path.read_bytes() + text.encode())


def test_GRAPH_02_a_taken_name_is_left_alone_and_said(desk: Desk) -> None:
    server = desk.server
    given(server, "create_entities", entities=[entity("A", "a1")])
    before = count(desk.root)
    made = given(server, "create_entities", entities=[entity("A", "a2"), entity("B", "b1")])
    assert [one["name"] for one in made["entities"]] == ["B"]
    assert made["skipped"] == ["A"]
    assert "A: already exists" in made["message"]
    assert "add_observations" in made["message"]
    assert graph(server)[0] == {"A": ["a1"], "B": ["b1"]}
    assert count(desk.root) == before + 1


def test_GRAPH_03_a_relation_to_nothing_is_skipped_and_says_what_is_missing(desk: Desk) -> None:
    """The case wants an error; contracts.md §1a has it skipped with `missing`, as plain-text-memory does."""
    make(desk.server, "A")
    before = head(desk.root)
    for start, end in (("A", "Ghost"), ("Ghost", "A")):
        made = given(desk.server, "create_relations", relations=[relation(start, "r", end)])
        assert made["relations"] == []
        assert made["skipped"] == [{"from": start, "to": end, "relationType": "r", "missing": ["Ghost"]}]
        assert "Ghost" in made["message"]
        assert made["receipt"]["commit"] is None
    assert graph(desk.server)[1] == set()
    assert head(desk.root) == before


def test_GRAPH_04_a_good_relation_beside_a_bad_one_is_saved_and_the_bad_one_is_said(desk: Desk) -> None:
    """The case wants all or nothing; contracts.md §1a saves what has both ends and reports the rest."""
    make(desk.server, "A", "B")
    wanted = [relation("A", "ok", "B"), relation("A", "r", "Ghost")]
    before = count(desk.root)
    made = given(desk.server, "create_relations", relations=wanted)
    assert [(one["from"], one["to"]) for one in made["relations"]] == [("A", "B")]
    assert [one["missing"] for one in made["skipped"]] == [["Ghost"]]
    assert graph(desk.server)[1] == {("A", "ok", "B")}
    assert count(desk.root) == before + 1


def test_GRAPH_05_a_relation_to_itself_goes_with_its_entity(desk: Desk) -> None:
    make(desk.server, "A")
    given(desk.server, "create_relations", relations=[relation("A", "same", "A")])
    assert graph(desk.server) == ({"A": ["a1"]}, {("A", "same", "A")})
    given(desk.server, "delete_entities", entityNames=["A"])
    assert graph(desk.server) == ({}, set())


def test_GRAPH_06_a_deleted_entity_leaves_prose_alone_and_comes_back_as_a_link_only(root: Path) -> None:
    with greeted(root, "--no-watch") as server:
        make(server, "A", "B")
        given(server, "create_relations", relations=[relation("A", "knows", "B")])
        path = root / path_of(server, "A")
        append(path, "\n## Notes\n\nmet [[B]] today\n")
        given(server, "delete_entities", entityNames=["B"])
        assert graph(server) == ({"A": ["a1"]}, set())
        assert path.read_text().endswith("\n## Notes\n\nmet [[B]] today\n")
        given(server, "create_entities", entities=[entity("B", "back")])
        assert graph(server)[1] == set()
        # The prose link is a link again: a rename of B rewrites it.
        given(server, "rename_entity", entityName="B", newName="Bea")
        assert path.read_text().endswith("met [[Bea]] today\n")
    assert clean(root)


def test_GRAPH_09_a_rename_to_a_taken_blank_or_from_an_absent_name_changes_nothing(desk: Desk) -> None:
    make(desk.server, "A", "B")
    before = head(desk.root)
    taken = desk.server.error("rename_entity", entityName="A", newName="B")
    assert "B already exists" in taken
    assert "merge_entities" in taken
    same = given(desk.server, "rename_entity", entityName="A", newName="A")
    assert same["receipt"]["commit"] is None
    assert "Z not found" in desk.server.error("rename_entity", entityName="Z", newName="Y")
    assert "blank" in desk.server.error("rename_entity", entityName="A", newName="  ")
    assert graph(desk.server)[0] == {"A": ["a1"], "B": ["b1"]}
    assert head(desk.root) == before


@pytest.mark.parametrize("name", ["x | y [z] #1", "a]]b", "%%x%%", "x^y", "../up", "a/b|c#d^e", "[[A]]"])
def test_GRAPH_10_a_new_name_of_link_syntax_keeps_its_relations(desk: Desk, name: str) -> None:
    make(desk.server, "A", "B")
    given(desk.server, "create_relations", relations=[relation("B", "r", "A")])
    given(desk.server, "rename_entity", entityName="A", newName=name)
    assert graph(desk.server) == ({name: ["a1"], "B": ["b1"]}, {("B", "r", name)})


def test_GRAPH_11_names_of_regex_characters_are_renamed_as_they_stand(desk: Desk) -> None:
    old = "C++ (core) [v1.*]"
    make(desk.server, old, "C+", "D")
    given(desk.server, "create_relations", relations=[relation("D", "r", old), relation("D", "r", "C+")])
    given(desk.server, "rename_entity", entityName=old, newName="Cpp\\1 $0")
    assert graph(desk.server) == (
        {"Cpp\\1 $0": [f"{old.lower()}1"], "C+": ["c+1"], "D": ["d1"]},
        {("D", "r", "Cpp\\1 $0"), ("D", "r", "C+")},
    )


def test_GRAPH_15_text_that_looks_like_markdown_comes_back_exactly_also_from_the_files(root: Path) -> None:
    with greeted(root, "--no-watch") as server:
        given(server, "create_entities", entities=[entity("A", "o")])
        given(server, "add_observations", observations=[added("A", *MARKDOWN_LIKE)])
        assert facts(server, "A") == ["o", *MARKDOWN_LIKE]
        assert graph(server)[1] == set()
    for file in (root / ".git/vault-mcp").glob("index.sqlite*"):
        file.unlink()
    with greeted(root) as server:
        assert facts(server, "A") == ["o", *MARKDOWN_LIKE]
        assert graph(server)[1] == set()
    assert clean(root)


def test_GRAPH_18_facts_are_deleted_by_their_exact_text(desk: Desk) -> None:
    given(desk.server, "create_entities", entities=[entity("A", "x", "x ", "X", "xx")])
    given(desk.server, "delete_observations", deletions=[{"entityName": "A", "observations": ["x"]}])
    assert facts(desk.server, "A") == ["x ", "X", "xx"]


def test_GRAPH_19_what_is_there_already_is_not_added_again(desk: Desk) -> None:
    given(desk.server, "create_entities", entities=[entity("A", "x")])
    before = head(desk.root)
    again = given(desk.server, "add_observations", observations=[added("A", "x")])
    assert again["results"] == [{"entityName": "A", "addedObservations": []}]
    assert head(desk.root) == before
    twice = given(desk.server, "add_observations", observations=[added("A", "y", "y")])
    assert [fact["text"] for fact in twice["results"][0]["addedObservations"]] == ["y"]
    assert facts(desk.server, "A") == ["x", "y"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("add_observations", {"observations": [added("A", "")]}),
        ("add_observations", {"observations": [added("A", "   ")]}),
        ("create_entities", {"entities": [entity("N", kind="")]}),
        ("create_entities", {"entities": [entity("N", "fine", " ")]}),
        ("create_relations", {"relations": [relation("A", "", "A")]}),
        ("edit_observation", {"entityName": "A", "oldText": "a1", "newText": ""}),
        ("rename_entity", {"entityName": "A", "newName": "\t"}),
    ],
)
def test_GRAPH_20_blank_texts_are_refused(desk: Desk, tool: str, arguments: dict[str, object]) -> None:
    """A policy of ours: docs/policies.md, "Blank names and texts"."""
    make(desk.server, "A")
    before = head(desk.root)
    told = desk.server.error(tool, **arguments)
    assert "blank" in told
    assert "Nothing was saved." in told
    assert head(desk.root) == before
    assert graph(desk.server) == ({"A": ["a1"]}, set())


def test_GRAPH_21_a_graph_too_large_for_a_client_comes_in_bounded_pages(root: Path) -> None:
    """A policy of ours: docs/policies.md, "How much one answer holds"."""
    fact = "- " + "o" * 97 + "%d\n"
    note = "---\nentity: t\n---\n\n## Observations\n\n" + "".join(fact % n for n in range(5))
    write_files(root, {f"entities/t/{n % 50}/E{n}.md": note for n in range(5_000)})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "many")
    with greeted(root, "--no-watch") as server:
        wait_until(lambda: not server.call("read_graph", limit=1)["isError"], 60)
        for tool, arguments in (("read_graph", {}), ("search_nodes", {"query": "o"})):
            asked = len(server.raw)
            page = given(server, tool, **arguments)
            assert len(server.raw[asked]) < 100_000
            assert page["entities"]
            assert page["next_cursor"]
            assert "next_cursor" in page["left_out"]
            assert 5_000 in page["total"].values()
        names, cursor = [], ""
        for _ in range(200):
            page = given(server, "read_graph", limit=1000, cursor=cursor)
            names += [one["name"] for one in page["entities"]]
            cursor = page.get("next_cursor", "")
            if not cursor:
                break
        assert sorted(names) == sorted(f"E{n}" for n in range(5_000))


def test_GRAPH_22_relations_are_shown_whatever_stands_at_the_other_end(desk: Desk) -> None:
    make(desk.server, "A", "B", "C")
    given(desk.server, "create_relations", relations=[relation("A", "r", "B"), relation("B", "r", "C")])
    for shown in (
        given(desk.server, "open_nodes", names=["A"]),
        given(desk.server, "search_nodes", query="a1"),
    ):
        assert [one["name"] for one in shown["entities"]] == ["A"]
        assert [(one["from"], one["to"]) for one in shown["relations"]] == [("A", "B")]


def test_GRAPH_23_notes_without_type_or_facts_break_nothing(root: Path) -> None:
    write_files(root, {"bare.md": "zebra\n", "empty.md": "", "nofield.md": "---\nfoo: 1\n---\n"})
    with greeted(root) as server:
        assert found(server, "zebra") == ["bare.md"]
        assert found(server, "bare") == ["bare.md"]
        assert graph(server) == ({}, set())


def test_GRAPH_24_hand_written_prose_is_not_taken_for_facts_or_typed_relations(
    watched: Server, root: Path
) -> None:
    """A policy of ours: docs/policies.md, "Which lines are facts"."""
    given(watched, "create_entities", entities=[entity("A", "o1"), entity("T", "o")])
    append(
        root / path_of(watched, "A"),
        "\nProse about [[T]] here.\n- Added [[T]] to the list today\n- [ ] call\n"
        "[Site](https://e.example/) is nice\ncode `- part_of [[T]]`\n```\n- relates_to [[T]]\n```\n",
    )
    wait_until(lambda: commits(root)[0].startswith("hand-edit"), 10)
    assert facts(watched, "A")[0] == "o1"
    assert set(facts(watched, "A")) <= {"o1", "Added [[T]] to the list today", "[ ] call"}
    assert graph(watched)[1] == set()
    given(watched, "rename_entity", entityName="T", newName="U")
    text = (root / path_of(watched, "A")).read_text()
    assert "Prose about [[U]] here." in text
    assert "code `- part_of [[T]]`\n```\n- relates_to [[T]]\n```\n" in text


def test_GRAPH_25_a_person_adds_and_removes_lines_and_is_named_for_it(watched: Server, root: Path) -> None:
    given(watched, "create_entities", entities=[entity("A", "o1", "o2")])
    path = root / path_of(watched, "A")
    lines = [line for line in path.read_text().splitlines() if not line.startswith("- o1")]
    path.write_text("\n".join([*lines, "- by hand", ""]))
    wait_until(lambda: facts(watched, "A") == ["o2", "by hand"], 10)
    given(watched, "add_observations", observations=[added("A", "o3")])
    shown = given(watched, "open_nodes", names=["A"])["entities"][0]["observations"]
    assert [fact["text"] for fact in shown] == ["o2", "by hand", "o3"]
    assert [fact["agent"] for fact in shown] == ["raw", PERSON, "raw"]
    assert authors(root)[:3] == ["raw", PERSON, "raw"]
    assert commits(root)[1] == "hand-edit: A.md"
    assert clean(root)


def test_GRAPH_26_a_person_deletes_an_entity_and_nothing_pretends_that_it_is_there(
    watched: Server, root: Path
) -> None:
    make(watched, "A", "B")
    given(watched, "create_relations", relations=[relation("A", "r", "B")])
    (root / path_of(watched, "B")).unlink()
    wait_until(lambda: graph(watched) == ({"A": ["a1"]}, set()), 10)
    skipped = given(watched, "create_relations", relations=[relation("A", "r2", "B")])
    assert skipped["skipped"][0]["missing"] == ["B"]
    assert "B not found" in watched.error("add_observations", observations=[added("B", "x")])
    wait_until(lambda: clean(root), 10)
    assert (authors(root)[0], commits(root)[0]) == (PERSON, "hand-edit: B.md")
