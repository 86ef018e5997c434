"""Reading the graph: pages, filters, names and words, always bounded and never a surprise."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.vaults import CLAUDE, CURSOR, make_vault, opened, write_files
from vault_mcp.errors import BadArgument
from vault_mcp.tools.graph import entities, observations, reading, relations
from vault_mcp.vault import Vault


def make(vault: Vault, *wanted: tuple[str, list[str]]) -> None:
    rows = [{"name": name, "entityType": "t", "observations": texts} for name, texts in wanted]
    entities.create_entities(vault, CLAUDE, rows)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


def test_pages_hold_everything_once(root: Path) -> None:
    with opened(root) as vault:
        make(vault, *((f"E{i:03}", [f"o{i}"]) for i in range(25)))
        relations.create_relations(
            vault, CLAUDE, [{"from": f"E{i:03}", "to": "E000", "relationType": "r"} for i in range(1, 25)]
        )
        seen: list[str] = []
        links: list[str] = []
        cursor = ""
        while True:
            page: Any = reading.read_graph(vault, CLAUDE, limit=10, cursor=cursor)
            seen += [e["name"] for e in page["entities"]]
            links += [r["from"] for r in page["relations"]]
            assert page["total"] == {"entities": 25, "relations": 24}
            cursor = page.get("next_cursor", "")
            if not cursor:
                break
    assert seen == sorted(seen)
    assert len(seen) == len(set(seen)) == 25
    assert len(links) == len(set(links)) == 24


def test_a_big_graph_answers_in_bounded_pages_and_says_how_to_go_on(root: Path) -> None:
    with opened(root) as vault:
        make(vault, *((f"E{i:04}", ["x" * 100 + str(n) for n in range(5)]) for i in range(400)))
        page: Any = reading.read_graph(vault, CLAUDE, limit=1000)
        assert len(json.dumps(page)) < 100_000
        assert page["total"]["entities"] == 400
        assert "cursor" in page["left_out"]
        found: Any = reading.search_nodes(vault, CLAUDE, "x")
        assert len(json.dumps(found)) < 100_000
        assert found["next_cursor"]


def test_one_entity_too_large_for_an_answer_is_read_in_parts(root: Path) -> None:
    texts = [f"{i:05} " + "y" * 60 for i in range(1500)]
    with opened(root) as vault:
        make(vault, ("Big", texts))
        got: list[str] = []
        cursor = ""
        while True:
            page: Any = reading.open_nodes(vault, CLAUDE, ["Big"], cursor=cursor)
            assert len(json.dumps(page, ensure_ascii=False)) < 60_000
            got += [o["text"] for o in page["entities"][0]["observations"]]
            cursor = page.get("next_cursor", "")
            if not cursor:
                break
    assert got == texts


def test_filters_by_author_and_time_leave_only_what_matches(root: Path) -> None:
    with opened(root) as vault:
        make(vault, ("A", ["by claude"]), ("B", ["other"]))
        observations.add_observations(vault, CURSOR, [{"entityName": "A", "contents": ["by cursor"]}])
        mine: Any = reading.read_graph(vault, CLAUDE, agent="cursor")
        assert [(e["name"], [o["text"] for o in e["observations"]]) for e in mine["entities"]] == [
            ("A", ["by cursor"])
        ]
        none: Any = reading.read_graph(vault, CLAUDE, since="2999-01-01")
        assert none["entities"] == []
        every: Any = reading.read_graph(vault, CLAUDE, since="2000-01-01", before="2999-01-01T00:00:00Z")
        assert len(every["entities"]) == 2
        with pytest.raises(BadArgument, match="since 'yesterday' is not a date"):
            reading.read_graph(vault, CLAUDE, since="yesterday")
        with pytest.raises(BadArgument, match="cursor"):
            reading.read_graph(vault, CLAUDE, cursor="nonsense")


def test_opening_shows_relations_to_notes_that_were_not_asked_for(root: Path) -> None:
    with opened(root) as vault:
        make(vault, ("A", ["a1"]), ("B", ["b1"]), ("C", ["c1"]))
        relations.create_relations(
            vault,
            CLAUDE,
            [{"from": "A", "to": "B", "relationType": "r"}, {"from": "B", "to": "C", "relationType": "r"}],
        )
        for found in (
            reading.open_nodes(vault, CLAUDE, ["A", "ghost"]),
            reading.search_nodes(vault, CLAUDE, "a1"),
        ):
            result: Any = found
            assert [e["name"] for e in result["entities"]] == ["A"]
            assert [(r["from"], r["to"]) for r in result["relations"]] == [("A", "B")]
        opened_now: Any = reading.open_nodes(vault, CLAUDE, ["ghost"])
        assert opened_now["missing"] == ["ghost"]


def test_search_finds_parts_of_words_in_any_order_best_first(root: Path) -> None:
    with opened(root) as vault:
        make(
            vault,
            ("A", ["the fast train", "slow food"]),
            ("B", ["a train to Lisbon"]),
            ("C", ["München Straße café", "東京駅前のメモ", "emoji 🚀 here"]),
        )

        def names(query: str) -> list[str]:
            result: Any = reading.search_nodes(vault, CLAUDE, query)
            return [e["name"] for e in result["entities"]]

        assert names("fas") == ["A"]
        assert names("lisbon TRAIN") == ["B", "A"]
        assert names('"slow food"') == ["A"]
        assert names('"food slow"') == []
        assert names("strasse") == names("MÜNCHEN") == names("駅前") == names("🚀") == names("駅") == ["C"]
        assert names("zzz") == []
        assert sorted(names("  ")) == ["A", "B", "C"]
        assert names('AND ( " * NEAR(x -y ^z "') is not None


def test_hits_say_where_the_words_were_found(root: Path) -> None:
    with opened(root) as vault:
        make(vault, ("A", ["alpha one", "beta"]), ("Alpha", []))
        result: Any = reading.search_nodes(vault, CLAUDE, "alpha")
    assert [hit["rank"] for hit in result["hits"]] == [1, 2]
    assert {(hit["entityName"], hit["observation"]) for hit in result["hits"]} == {
        ("A", "alpha one"),
        ("Alpha", "Alpha"),
    }
    assert result["total"] == {"found": 2, "exact": True}


def test_expanding_adds_what_is_closely_related(root: Path) -> None:
    with opened(root) as vault:
        make(vault, ("A", ["alpha"]), ("B", ["b"]), ("C", ["c"]), ("D", ["d"]))
        relations.create_relations(
            vault,
            CLAUDE,
            [{"from": "A", "to": "B", "relationType": "r"}, {"from": "B", "to": "C", "relationType": "r"}],
        )
        result: Any = reading.search_nodes(vault, CLAUDE, "alpha", expand=True)
    assert [e["name"] for e in result["entities"]] == ["A", "B", "C"]


def test_plain_notes_are_found_and_opened_but_are_no_part_of_the_graph(root: Path) -> None:
    with opened(root) as vault:
        write_files(root, {"bare.md": "zebra\n", "empty.md": "", "nofield.md": "---\nfoo: 1\n---\n"})
        vault.noticed(None)
        found: Any = reading.search_nodes(vault, CLAUDE, "zebra")
        assert [(e["name"], e["entityType"], e["observations"]) for e in found["entities"]] == [
            ("bare", "note", [])
        ]
        plain: Any = reading.open_nodes(vault, CLAUDE, ["empty"])
        assert plain["entities"][0]["entityType"] == "note"
        whole: Any = reading.read_graph(vault, CLAUDE)
        assert whole["entities"] == []


def test_a_relation_to_a_note_that_is_gone_is_counted_not_shown(root: Path) -> None:
    with opened(root) as vault:
        make(vault, ("A", []), ("B", []))
        relations.create_relations(vault, CLAUDE, [{"from": "A", "to": "B", "relationType": "r"}])
        (root / "entities/t/B.md").unlink()
        vault.noticed(None)
        result: Any = reading.read_graph(vault, CLAUDE)
    assert (result["relations"], result["dangling"]) == ([], 1)
