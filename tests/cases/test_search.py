"""Cases about search: every character is only a character, and the index says what the files say.

The cases search plain notes with `search_memory`; here `search_nodes` does, which finds notes too.
"""

import json
from pathlib import Path

import pytest

from tests.cases.conftest import Desk
from tests.serving import entity, facts_of, found, given, graph, greeted
from tests.vaults import CLAUDE, commits, git, make_vault, opened, write_files
from tests.waiting import wait_until
from vault_mcp.tools.graph import reading
from vault_mcp.vault import Vault

NOTES = {
    "d1.md": "multi-agent launcher\n",
    "d2.md": "status: done by don't\n",
    "d3.md": "GB/s rate\n",
    "d4.md": "München Straße café\n",
    "d5.md": "東京駅前のメモ\n",
    "d6.md": 'a "quoted" phrase AND more\n',
    "d7.md": "@nova #tag 50% why? C++ C# x=y\n",
    "d8.md": "ISO 9001:2015 node.js snake_case (foo) [br] {b} ^up ~til *st\n",
    "d9.md": "emoji 🚀 here\n",
}
HITS = {
    "multi-agent": ["d1.md"],
    "status: done": ["d2.md"],
    "don't": ["d2.md"],
    "GB/s": ["d3.md"],
    '"quoted"': ["d6.md"],
    '"quoted': ["d6.md"],
    "@nova": ["d7.md"],
    "#tag": ["d7.md"],
    "50%": ["d7.md"],
    "why?": ["d7.md"],
    "C++": ["d7.md"],
    "C#": ["d7.md"],
    "x=y": ["d7.md"],
    "9001:2015": ["d8.md"],
    "node.js": ["d8.md"],
    "snake_case": ["d8.md"],
    "(foo": ["d8.md"],
    "[br]": ["d8.md"],
    "{b}": ["d8.md"],
    "^up": ["d8.md"],
    "~til": ["d8.md"],
    "*st": ["d8.md"],
    "東京": ["d5.md"],
    "🚀": ["d9.md"],
    "a:b": [],
}
"""What a query has to find, and only that."""
ANSWERED = ["AND", "phrase AND", "NEAR(foo", "-done", "OR", "NOT x", '"', '""', "*", "^", "\\", "a*", "x\0y"]
ANSWERED += ["col:a", "{", "+", "'", ";--", "%%", "<b>", "\ud7ff", "a\nb", "x" * 5_000, "(" * 500]
"""Queries that have to be answered, whatever they find."""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_vault(tmp_path_factory.mktemp("notes") / "vault", NOTES)


def search(vault: Vault, query: str) -> list[str]:
    result = reading.search_nodes(vault, CLAUDE, query)
    entities = result["entities"]
    assert isinstance(entities, list)
    return [one["note"] for one in entities]


def test_SRCH_01_no_character_of_a_query_has_another_meaning(many: Path) -> None:
    with greeted(many, "--no-watch") as server:
        assert {query: found(server, query) for query in HITS} == HITS
        for query in ANSWERED:
            found(server, query)
        assert "d6.md" in found(server, "AND")
        assert found(server, "phrase AND")[0] == "d6.md"


@pytest.mark.parametrize("query", ["", "   ", "\t\n", '""', '" "'])
def test_SRCH_02_a_blank_query_gives_everything_page_by_page(many: Path, query: str) -> None:
    """A policy of ours: docs/policies.md, "A blank query"."""
    with opened(many) as vault:
        assert sorted(search(vault, query)) == sorted(NOTES)
        page = reading.search_nodes(vault, CLAUDE, query, limit=4)
        assert page["total"] == {"found": 9, "exact": True}
        rest = reading.search_nodes(vault, CLAUDE, query, limit=9, cursor=str(page["next_cursor"]))
        assert len(list(facts_of(page))) == 4
        assert "next_cursor" not in rest or len(list(facts_of(rest))) == 5


@pytest.mark.parametrize(
    ("query", "hits"),
    [("%", ["p.md"]), ("_", []), ("'; DROP TABLE notes; --", []), ("100%", ["p.md"]), ("1__%", [])],
)
def test_SRCH_05_wildcards_and_sql_are_only_characters(tmp_path: Path, query: str, hits: list[str]) -> None:
    root = make_vault(tmp_path / "v", {"p.md": "100% sure\n", "q.md": "plain\n"})
    with opened(root) as vault:
        assert search(vault, query) == hits
        assert search(vault, "plain") == ["q.md"]


@pytest.mark.parametrize(
    "query", ["münchen", "MÜNCHEN", "mu\u0308nchen", "straße", "strasse", "STRASSE", "οδος", "οδοσ", "izmir"]
)
def test_SRCH_06_case_and_spelling_of_a_letter_do_not_matter(tmp_path: Path, query: str) -> None:
    """A policy of ours: docs/policies.md, "Letters that count as the same"."""
    root = make_vault(tmp_path / "v", {"a.md": "München STRASSE Straße İzmir ΟΔΟΣ\n", "b.md": "else\n"})
    with opened(root) as vault:
        assert search(vault, query) == ["a.md"]


def test_SRCH_11_common_words_and_single_letters_are_found(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "to be or not\n"})
    with opened(root) as vault:
        assert search(vault, "to") == ["a.md"]
        assert search(vault, "the") == []
        assert search(vault, "b") == ["a.md"]


def test_SRCH_14_an_edited_fact_is_found_by_its_new_words_alone_and_at_once(desk: Desk) -> None:
    """With an observation in place of a file."""
    given(desk.server, "create_entities", entities=[entity("A", "alpha rises")])
    assert list(facts_of(given(desk.server, "search_nodes", query="alpha"))) == ["A"]
    given(desk.server, "edit_observation", entityName="A", oldText="alpha rises", newText="beta rises")
    assert list(facts_of(given(desk.server, "search_nodes", query="beta"))) == ["A"]
    assert found(desk.server, "alpha") == []


def test_SRCH_15_a_renamed_or_deleted_entity_is_found_where_it_is_or_not_at_all(desk: Desk) -> None:
    """With an entity in place of a file."""
    given(desk.server, "create_entities", entities=[entity("A", "alpha")])
    given(desk.server, "rename_entity", entityName="A", newName="Bea")
    assert found(desk.server, "alpha") == ["entities/t/Bea.md"]
    given(desk.server, "delete_entities", entityNames=["Bea"])
    assert found(desk.server, "alpha") == []


def test_SRCH_16_stamps_and_the_names_of_our_own_properties_are_no_hits(tmp_path: Path) -> None:
    """A policy of ours: docs/policies.md, "What is not searched"."""
    root = make_vault(tmp_path / "v")
    wanted = [entity(f"E{number}", f"likes tea number {number}", kind="person") for number in range(20)]
    own = ["edited_by", "entityType", "observations", "agent", "created", "bot-1", "%%", "2026", "Tool:"]
    with greeted(root, "--no-watch", agent="bot-1") as server:
        given(server, "create_entities", entities=wanted)
        assert {query: found(server, query) for query in own} == {query: [] for query in own}
        assert len(found(server, "person")) == 20


def test_SRCH_17_an_index_that_is_damaged_deleted_or_cut_is_made_again(root: Path) -> None:
    write_files(root, NOTES)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "notes")
    with greeted(root, "--no-watch") as server:
        assert found(server, "quoted") == ["d6.md"]
        server.close_input()
        assert server.ended() == 0
    for index in (root / ".git/vault-mcp").glob("index*"):
        index.write_bytes(b"\0" * 4096)
    with greeted(root, "--no-watch") as server:
        assert found(server, "quoted") == ["d6.md"]
        for index in (root / ".git/vault-mcp").glob("index*"):
            index.unlink()
        wait_until(lambda: not server.call("search_nodes", query="quoted")["isError"], 10)
        assert found(server, "quoted") == ["d6.md"]
        given(server, "create_entities", entities=[entity("New", "quoted twice")])
        assert sorted(found(server, "quoted")) == ["d6.md", "entities/t/New.md"]
    with greeted(root, "--no-watch") as server:
        assert sorted(found(server, "quoted")) == ["d6.md", "entities/t/New.md"]
        assert graph(server)[0] == {"New": ["quoted twice"]}
    assert "index" not in git(root, "ls-files")
    assert commits(root)[0] == "create_entities: New"


def test_SRCH_18_a_common_word_gives_a_bounded_page_the_total_and_a_stable_order(root: Path) -> None:
    """A policy of ours: docs/policies.md, "How much one answer holds"."""
    write_files(root, {f"{number}.md": "user " + "w" * 2000 + "\n" for number in range(1, 2001)})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "notes")
    with greeted(root, "--no-watch") as server:
        wait_until(lambda: not server.call("search_nodes", query="user", limit=1)["isError"], 60)
        first, again = (given(server, "search_nodes", query="user") for _ in range(2))
        names, names_again = ([one["note"] for one in page["entities"]] for page in (first, again))
        assert len(json.dumps(first)) < 100_000
        assert names
        assert first["total"]["found"] == 2000
        assert names == names_again
        following = given(server, "search_nodes", query="user", cursor=first["next_cursor"])
        assert set(names).isdisjoint(one["note"] for one in following["entities"])
