"""Entities: whole notes made, renamed, merged and deleted, with everything that links to them."""

from pathlib import Path
from typing import Any

import pytest

from tests.vaults import CLAUDE, CURSOR, PERSON, clean, commits, git, make_vault, opened, write_files
from vault_mcp.errors import AlreadyThere, BadArgument, NotFound
from vault_mcp.tools.graph import entities, observations, reading, relations
from vault_mcp.vault import Vault


def make(vault: Vault, name: str, *texts: str, kind: str = "t") -> Any:
    wanted = [{"name": name, "entityType": kind, "observations": texts}]
    return entities.create_entities(vault, CLAUDE, wanted)


def relate(vault: Vault, *rows: tuple[str, str, str]) -> Any:
    wanted = [{"from": a, "relationType": kind, "to": b} for a, kind, b in rows]
    return relations.create_relations(vault, CLAUDE, wanted)


def graph(vault: Vault) -> tuple[dict[str, list[str]], set[tuple[str, str, str]]]:
    """The whole graph: facts by name, and relations as triples."""
    result: Any = reading.read_graph(vault, CLAUDE, limit=1000)
    return (
        {e["name"]: [o["text"] for o in e["observations"]] for e in result["entities"]},
        {(r["from"], r["relationType"], r["to"]) for r in result["relations"]},
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


def test_a_new_entity_is_a_note_in_the_format_of_the_house(root: Path) -> None:
    with opened(root) as vault:
        result = make(vault, "Ada Lovelace", "Prefers dark roast", kind="person")
    at = result["entities"][0]["added_at"]

    assert (root / "entities/person/Ada Lovelace.md").read_text() == (
        f"---\nentity: person\ncreated: {at}\nagent: claude-desktop\n---\n\n"
        f"## Observations\n\n- Prefers dark roast %%+{at} claude-desktop%%\n"
    )
    assert commits(root)[0] == "create_entities: Ada Lovelace"
    assert clean(root)


def test_a_taken_name_is_skipped_and_said_and_the_rest_is_made(root: Path) -> None:
    with opened(root) as vault:
        make(vault, "A", "a1")
        result: Any = entities.create_entities(
            vault,
            CLAUDE,
            [
                {"name": "A", "entityType": "t", "observations": ["a2"]},
                {"name": "B", "entityType": "t", "observations": ["b1", "b1"]},
                {"name": "B", "entityType": "t", "observations": ["b2"]},
            ],
        )
        assert [e["name"] for e in result["entities"]] == ["B"]
        assert result["skipped"] == ["A", "B"]
        assert "already exists" in result["message"]
        assert graph(vault)[0] == {"A": ["a1"], "B": ["b1"]}


@pytest.mark.parametrize(("name", "kind"), [("", "t"), ("   ", "t"), ("A", " ")])
def test_blank_names_and_types_are_refused(root: Path, name: str, kind: str) -> None:
    head = git(root, "rev-parse", "HEAD")
    with opened(root) as vault, pytest.raises(BadArgument, match="blank"):
        make(vault, name, kind=kind)
    assert git(root, "rev-parse", "HEAD") == head


def test_names_that_no_file_can_carry_come_back_exactly(root: Path) -> None:
    names = [
        'C# [v2] | a:b "q" <x> 50%? ^y * z',
        "Enable/Disable",
        "Enable-Disable",
        "a\\b",
        "Log",
        "log",
        "NUL",
    ]
    names += ["..", ".", "a\nb", "👨‍👩‍👧 family", "東京メモ", "x" * 300, "-rf", "--output=pwn"]
    with opened(root) as vault:
        for name in names:
            make(vault, name, "o")
        relate(vault, *(("Log", "near", name) for name in names))
        found, triples = graph(vault)
        assert sorted(found) == sorted(names)
        assert triples == {("Log", "near", name) for name in names}
    paths = git(root, "ls-files", "-z").strip("\0").split("\0")
    assert len({path.casefold() for path in paths}) == len(paths)
    assert not any(set(path) & set('#^[]|:*?"<>\\') for path in paths)
    assert all("\n" not in line for line in commits(root))
    assert clean(root)


def test_two_unicode_forms_of_a_name_are_one_entity(root: Path) -> None:
    with opened(root) as vault:
        make(vault, "Café", "o")
        assert make(vault, "Cafe\u0301", "p")["skipped"] == ["Cafe\u0301"]
        assert list(graph(vault)[0]) == ["Café"]


def test_a_persons_plain_note_of_that_name_becomes_the_entity_and_keeps_its_text(root: Path) -> None:
    write_files(root, {"People/Bob.md": "Met Bob in [[Lisbon]].\n"})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "notes")
    with opened(root) as vault:
        make(vault, "Bob", "likes tea", kind="person")
        assert graph(vault)[0] == {"Bob": ["likes tea"]}
    text = (root / "People/Bob.md").read_text()
    assert text.startswith("---\nentity: person\n")
    assert "Met Bob in [[Lisbon]].\n" in text


def test_a_rename_moves_the_file_and_every_link_follows(root: Path) -> None:
    with opened(root) as vault:
        make(vault, "Ada", "o")
        make(vault, "Bob")
        relate(vault, ("Bob", "knows", "Ada"))
        write_files(
            root,
            {
                "note.md": '---\nabout: "[[Ada]]"\n---\n'
                "Met [[Ada]], [[Ada|her]], [[Ada#Notes]] and `[[Ada]]`.\n",
                "board.canvas": '{"nodes":[{"id":"1","type":"file","file":"entities/t/Ada.md"}]}',
            },
        )
        vault.noticed(None)
        before = len(commits(root))
        result: Any = entities.rename_entity(vault, CURSOR, "Ada", "Ada Lovelace")
        assert result["entity"]["name"] == "Ada Lovelace"
        assert result["entity"]["observations"][0]["agent"] == "claude-desktop"
        assert graph(vault) == ({"Ada Lovelace": ["o"], "Bob": []}, {("Bob", "knows", "Ada Lovelace")})

    assert len(commits(root)) == before + 1
    assert (root / "note.md").read_text() == (
        '---\nabout: "[[Ada Lovelace]]"\n---\n'
        "Met [[Ada Lovelace]], [[Ada Lovelace|her]], [[Ada Lovelace#Notes]] and `[[Ada]]`.\n"
    )
    assert "entities/t/Ada Lovelace.md" in (root / "board.canvas").read_text()
    assert not (root / "entities/t/Ada.md").exists()
    assert clean(root)


def test_a_rename_to_link_syntax_keeps_relations(root: Path) -> None:
    with opened(root) as vault:
        make(vault, "A", "o")
        make(vault, "B", "o")
        relate(vault, ("B", "r", "A"))
        entities.rename_entity(vault, CLAUDE, "A", "x | y [z] #1")
        assert graph(vault)[1] == {("B", "r", "x | y [z] #1")}
        entities.rename_entity(vault, CLAUDE, "x | y [z] #1", "Cpp\\1 $0")
        assert graph(vault)[1] == {("B", "r", "Cpp\\1 $0")}


def test_a_rename_of_case_only_keeps_one_file(root: Path) -> None:
    with opened(root) as vault:
        make(vault, "log", "a")
        entities.rename_entity(vault, CLAUDE, "log", "Log")
        assert graph(vault)[0] == {"Log": ["a"]}
    assert [p.name for p in (root / "entities/t").iterdir()] == ["Log.md"]
    assert clean(root)


def test_a_rename_that_cannot_be_changes_nothing(root: Path) -> None:
    with opened(root) as vault:
        make(vault, "A", "a1")
        make(vault, "B", "b1")
        head = git(root, "rev-parse", "HEAD")
        with pytest.raises(AlreadyThere, match="merge_entities"):
            entities.rename_entity(vault, CLAUDE, "A", "B")
        with pytest.raises(NotFound):
            entities.rename_entity(vault, CLAUDE, "Z", "Y")
        with pytest.raises(BadArgument):
            entities.rename_entity(vault, CLAUDE, "A", "  ")
        same: Any = entities.rename_entity(vault, CLAUDE, "A", "A")
        assert same["receipt"]["commit"] is None
    assert git(root, "rev-parse", "HEAD") == head


def test_a_merge_moves_facts_relations_links_and_prose(root: Path) -> None:
    with opened(root) as vault:
        make(vault, "Ada", "both", "only source")
        make(vault, "Ada Lovelace", "both", "only target")
        make(vault, "Bob")
        relate(
            vault,
            ("Ada", "wrote", "Bob"),
            ("Ada Lovelace", "wrote", "Bob"),
            ("Bob", "knows", "Ada"),
            ("Bob", "knows", "Ada Lovelace"),
            ("Ada", "same as", "Ada Lovelace"),
            ("Bob", "likes", "Ada"),
        )
        path = root / "entities/t/Ada.md"
        path.write_text(path.read_text() + "\n## Meeting notes\n\nA person's prose.\n")
        write_files(root, {"note.md": "See [[Ada]].\n"})
        vault.noticed(None)
        result: Any = entities.merge_entities(vault, CURSOR, "Ada", "Ada Lovelace")
        assert graph(vault) == (
            {"Ada Lovelace": ["both", "only target", "only source"], "Bob": []},
            {
                ("Ada Lovelace", "wrote", "Bob"),
                ("Bob", "knows", "Ada Lovelace"),
                ("Bob", "likes", "Ada Lovelace"),
            },
        )
        assert {(r["from"], r["relationType"], r["to"]) for r in result["movedRelations"]} == {
            ("Ada Lovelace", "wrote", "Bob"),
            ("Bob", "knows", "Ada Lovelace"),
            ("Bob", "likes", "Ada Lovelace"),
        }
    merged = (root / "entities/t/Ada Lovelace.md").read_text()
    assert "## Merged from Ada\n\n## Meeting notes\n\nA person's prose.\n" in merged
    assert (root / "note.md").read_text() == "See [[Ada Lovelace]].\n"
    assert not path.exists()
    assert clean(root)


def test_a_merge_of_one_with_itself_or_a_missing_one_is_refused(root: Path) -> None:
    with opened(root) as vault:
        make(vault, "A")
        with pytest.raises(BadArgument, match="Cannot merge entity A into itself"):
            entities.merge_entities(vault, CLAUDE, "A", "A")
        with pytest.raises(NotFound, match="ghost"):
            entities.merge_entities(vault, CLAUDE, "A", "ghost")


def test_a_deletion_takes_relations_but_leaves_a_persons_prose(root: Path) -> None:
    with opened(root) as vault:
        make(vault, "A", "a1")
        make(vault, "B", "b1")
        relate(vault, ("A", "knows", "B"), ("B", "knows", "A"), ("A", "is", "A"))
        path = root / "entities/t/A.md"
        path.write_text(path.read_text() + "\n## Notes\n\nmet [[B]] today\n")
        result: Any = entities.delete_entities(vault, CLAUDE, ["B", "ghost"])
        assert [e["name"] for e in result["deletedEntities"]] == ["B"]
        assert {(r["from"], r["to"]) for r in result["deletedRelations"]} == {("A", "B"), ("B", "A")}
        assert graph(vault) == ({"A": ["a1"]}, {("A", "is", "A")})
        assert "met [[B]] today" in path.read_text()
        make(vault, "B", "back")
        assert graph(vault)[1] == {("A", "is", "A")}
        with vault.reading() as reader:
            assert reader.linking_to_stem("b") == ["entities/t/A.md"]
    assert "B" in commits(root)[1]
    assert clean(root)


def test_names_and_types_that_look_like_links_stay_when_what_they_seem_to_mean_is_renamed(root: Path) -> None:
    with opened(root) as vault:
        make(vault, "B", "see [[B]]", kind="[[B]]")
        make(vault, "[[B]]", "o")
        make(vault, "C", kind="[[B]]")
        relate(vault, ("C", "[[B]]", "B"), ("C", "near", "[[B]]"))
        entities.rename_entity(vault, CLAUDE, "B", "Bee")
        assert graph(vault) == (
            {"Bee": ["see [[Bee]]"], "[[B]]": ["o"], "C": []},
            {("C", "[[B]]", "Bee"), ("C", "near", "[[B]]")},
        )
        result: Any = reading.open_nodes(vault, CLAUDE, ["Bee", "C"])
        assert {one["entityType"] for one in result["entities"]} == {"[[B]]"}
        entities.merge_entities(vault, CLAUDE, "Bee", "[[B]]")
        assert graph(vault)[0] == {"[[B]]": ["o", "see [[B (2)|[[B]]]]"], "C": []}
        assert graph(vault)[1] == {("C", "[[B]]", "[[B]]"), ("C", "near", "[[B]]")}


def test_facts_drawn_from_an_entity_name_it_as_it_is_called_now(root: Path) -> None:
    def sources(name: str) -> Any:
        shown: Any = reading.open_nodes(vault, CLAUDE, [name])
        return [fact.get("sources") for fact in shown["entities"][0]["observations"]]

    with opened(root) as vault:
        make(vault, "Café", "met Bob")
        make(vault, "Bob", "o")
        drawn = [{"entityName": "Cafe\u0301", "text": "met Bob"}]
        for name in ("Bob", "Café"):
            observations.add_observations(
                vault, CLAUDE, [{"entityName": name, "contents": ["knows"], "sources": drawn}]
            )
        before = len(commits(root))
        entities.rename_entity(vault, CURSOR, "Café", "Tea room")
        cited = [{"entityName": "Tea room", "text": "met Bob"}]
        assert sources("Bob") == [None, cited]
        assert sources("Tea room") == [None, cited]
        make(vault, "Pub", "p")
        entities.merge_entities(vault, CURSOR, "Tea room", "Pub")
        assert sources("Bob") == [None, [{"entityName": "Pub", "text": "met Bob"}]]
        assert sources("Pub") == [None, None, [{"entityName": "Pub", "text": "met Bob"}]]
        assert "claude-desktop" in (root / "entities/t/Bob.md").read_text()
    assert len(commits(root)) == before + 3
    assert clean(root)


def test_one_entity_named_in_two_unicode_forms_is_deleted_once(root: Path) -> None:
    with opened(root) as vault:
        make(vault, "Café", "o")
        result: Any = entities.delete_entities(vault, CLAUDE, ["Café", "Cafe\u0301", "Café"])
        assert [one["name"] for one in result["deletedEntities"]] == ["Café"]
        assert graph(vault) == ({}, set())
    assert clean(root)


def test_new_notes_go_to_sub_folders_once_a_folder_is_full(root: Path) -> None:
    write_files(root, {f"entities/t/n{i}.md": "x\n" for i in range(500)})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "many")
    with opened(root) as vault:
        make(vault, "Late")
    (path,) = [line for line in git(root, "ls-files").splitlines() if line.endswith("/Late.md")]
    assert len(path.split("/")) == 4


def test_lines_that_a_person_typed_stay_theirs_when_their_note_becomes_an_entity(root: Path) -> None:
    write_files(root, {"Marta.md": "Roofer.\n\n- likes strong tea\n"})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "notes")
    with opened(root) as vault:
        make(vault, "Marta", "from the agent", kind="person")
        vault.read_past()
        result: Any = reading.open_nodes(vault, CLAUDE, ["Marta"])
        by = {o["text"]: o["agent"] for o in result["entities"][0]["observations"]}
        assert by == {"likes strong tea": PERSON, "from the agent": "claude-desktop"}
        gone: Any = entities.delete_entities(vault, CURSOR, ["Marta"])
        whose = {row["text"]: (row["by"], row["kind"]) for row in gone["receipt"]["replaced"]}
    assert whose["likes strong tea"] == (PERSON, "person")


def test_what_no_answer_could_show_is_refused(root: Path) -> None:
    with opened(root) as vault:
        with pytest.raises(BadArgument, match="more than the 100,000"):
            make(vault, "A", "x" * 100_001)
        make(vault, "A", "y" * 100_000)
        result: Any = reading.read_graph(vault, CLAUDE)
        (shown,) = result["entities"][0]["observations"]
    assert (len(shown["text"]), shown["cut_from"]) == (20_000, 100_000)
