"""Links between memories, entities and notes, and walks along them."""

from pathlib import Path
from typing import Any

import pytest

from tests.direct import done, refused
from tests.vaults import CLAUDE, clean, commits, make_vault, opened, write_files
from vault_mcp.errors import NotFound
from vault_mcp.tools.graph import entities, relations
from vault_mcp.tools.memories import walking, web, writing
from vault_mcp.vault import Options, Vault

QUIETLY = Options(embeddings="off")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v", {"Garden.md": "Beds and trees.\n"})


def remember(vault: Vault, text: str) -> int:
    told: Any = writing.memory_remember(vault, CLAUDE, text, "s")
    return int(told["memory_id"])


def make(vault: Vault, *names: str) -> None:
    entities.create_entities(
        vault, CLAUDE, [{"name": name, "entityType": "t", "observations": []} for name in names]
    )


def link(vault: Vault, source: object, target: object, **more: Any) -> dict[str, Any]:
    told: Any = web.memory_link(vault, CLAUDE, str(source), str(target), **more)
    return dict(told)


def walk(vault: Vault, start: int | str, direction: str, **more: Any) -> dict[str, Any]:
    told: Any = walking.memory_explore_hierarchy(vault, CLAUDE, start, direction, **more)
    return dict(told)


def names(tree: Any) -> Any:
    return {one["name"]: names(one["children"]) for one in tree}


def test_memories_entities_and_notes_are_linked_by_number_name_and_path(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        vault.noticed(None)
        first, second = remember(vault, "One."), remember(vault, "Two.")
        make(vault, "Ada")
        before = len(commits(root))
        made = [
            link(vault, first, second),
            link(vault, "Ada", first, relation="says"),
            link(vault, second, "Garden.md", relation="about"),
            link(vault, "Garden.md", "Ada", relation="belongs to"),
        ]
        (path,) = [one["from"] for one in made[:1]]

    assert [one["status"] for one in made] == ["linked"] * 4
    assert len(commits(root)) == before + 4
    assert "\n## Relations\n\n- OWNS [[" in (root / path).read_text()
    assert "- belongs to [[Ada]]" in (root / "Garden.md").read_text()
    assert clean(root)


def test_the_same_link_again_changes_nothing(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        make(vault, "Ada", "Ben")
        link(vault, "Ada", "Ben", relation="knows")
        again = link(vault, "Ada", "Ben", relation="knows")
    assert (again["status"], again["receipt"]["commit"]) == ("present", None)


def test_a_link_between_entities_is_a_relation_of_the_graph(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        make(vault, "Ada", "Ben")
        link(vault, "Ada", "Ben", relation="knows")
        told: Any = relations.create_relations(
            vault, CLAUDE, [{"from": "Ada", "to": "Ben", "relationType": "knows"}]
        )
    assert told["relations"] == []


def test_a_weight_stands_behind_the_relation(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        make(vault, "Ada", "Ben")
        told = link(vault, "Ada", "Ben", weight=0.4)
    assert told["relation"] == "OWNS (0.4)"
    assert "- OWNS (0.4) [[Ben]]" in (root / told["from"]).read_text()


def test_a_missing_end_is_an_error_and_nothing_is_saved(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        make(vault, "Ada")
        before = len(commits(root))
        with pytest.raises(NotFound, match="Nobody"):
            link(vault, "Ada", "Nobody")
        told = refused(vault, "memory_link", source_id="Ada", target_id="../x.md")
        assert "blank" in refused(vault, "memory_link", source_id="Ada", target_id="Ada", relation=" ")
    assert "Nothing was saved." in told
    assert len(commits(root)) == before


def test_a_batch_is_one_commit_and_all_or_nothing(root: Path) -> None:
    edges: list[dict[str, object]] = [
        {"source_id": "Ada", "target_id": "Ben"},
        {"source_id": "Ben", "target_id": "Cai", "relation": "knows", "weight": 2},
        {"source_id": "Ada", "target_id": "Nobody"},
    ]
    with opened(root, QUIETLY) as vault:
        make(vault, "Ada", "Ben", "Cai")
        before = len(commits(root))
        refused(vault, "memory_link_batch", edges=edges)
        assert len(commits(root)) == before
        told: Any = web.memory_link_batch(vault, CLAUDE, edges, atomic=False)

    assert len(commits(root)) == before + 1
    assert (told["status"], told["linked"]) == ("linked", 2)
    assert [one["missing"] for one in told["skipped"]] == [["Nobody"]]


def test_edges_of_one_batch_that_repeat_are_made_once(root: Path) -> None:
    edge = {"source_id": "Ada", "target_id": "Ben"}
    with opened(root, QUIETLY) as vault:
        make(vault, "Ada", "Ben")
        told: Any = web.memory_link_batch(vault, CLAUDE, [edge, edge])
    assert [one["status"] for one in told["edges"]] == ["linked", "present"]


def test_numbers_may_come_as_numbers_or_texts(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        number = remember(vault, "One.")
        make(vault, "Ada")
        done(vault, "memory_link", source_id=number, target_id="Ada")
        assert "present" in done(vault, "memory_link", source_id=str(number), target_id="Ada")
        assert "Ada" in done(vault, "memory_explore_hierarchy", concept_id=number, direction="down")


def test_a_walk_down_is_a_tree_three_steps_deep(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        make(vault, *"ABCDEF")
        for start, end in ("AB", "BC", "CD", "DE", "AF"):
            link(vault, start, end)
        found = walk(vault, "A", "down")

    assert names([found["concept"]]) == {"A": {"B": {"C": {"D": {}}}, "F": {}}}
    assert found["count"] == 4


def test_a_walk_up_gives_what_points_here_nearest_first(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        make(vault, *"ABCD")
        for start, end in ("AB", "BC", "DC"):
            link(vault, start, end)
        found = walk(vault, "C", "up")
    assert [(one["name"], one["distance"]) for one in found["parents"]] == [("B", 1), ("D", 1), ("A", 2)]


@pytest.mark.parametrize("direction", ["up", "down"])
def test_circles_end(root: Path, direction: str) -> None:
    with opened(root, QUIETLY) as vault:
        make(vault, *"ABC")
        for start, end in ("AB", "BC", "CA", "AA"):
            link(vault, start, end)
        found = walk(vault, "A", direction)
    assert found["count"] == 2


@pytest.mark.parametrize("direction", ["up", "down"])
def test_a_walk_meets_no_more_than_its_limit_and_counts_the_rest(root: Path, direction: str) -> None:
    with opened(root, QUIETLY) as vault:
        make(vault, "Hub", *(f"n{n}" for n in range(6)))
        pairs = [("Hub", f"n{n}") if direction == "down" else (f"n{n}", "Hub") for n in range(6)]
        web.memory_link_batch(vault, CLAUDE, [{"source_id": a, "target_id": b} for a, b in pairs])
        found = walk(vault, "Hub", direction, limit=4)
    assert found["count"] == 4
    assert found["left_out"].startswith("2 more")


def test_a_walk_from_nowhere_is_refused(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        for unknown in (2026100509123301, "Nobody", "no/such.md"):
            with pytest.raises(NotFound, match="no memory, entity or note"):
                walk(vault, unknown, "up")
        assert "direction" in refused(
            vault, "memory_explore_hierarchy", concept_id="Garden.md", direction="sideways"
        )


def test_a_link_that_a_person_wrote_is_walked_too(root: Path) -> None:
    write_files(
        root, {"Garden.md": "Water comes from the [[Lake]], [[nowhere]] else.\n", "Lake.md": "[[b/Hill]]\n"}
    )
    write_files(root, {"a/Hill.md": "A.\n", "b/Hill.md": "B.\n"})
    with opened(root, QUIETLY) as vault:
        vault.noticed(None)
        down = walk(vault, "Garden.md", "down")
        up = walk(vault, "b/Hill.md", "up")
        other = walk(vault, "a/Hill.md", "up")
    assert names([down["concept"]]) == {"Garden": {"Lake": {"Hill": {}}}}
    assert down["concept"]["children"][0]["children"][0]["note"] == "b/Hill.md"
    assert [(one["name"], one["relation"]) for one in up["parents"]] == [
        ("Lake", "links to"),
        ("Garden", "links to"),
    ]
    assert other["parents"] == []
