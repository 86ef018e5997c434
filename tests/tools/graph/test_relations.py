"""Relations: typed lines between notes that exist."""

from pathlib import Path
from typing import Any

import pytest

from tests.vaults import CLAUDE, clean, git, make_vault, opened
from vault_mcp.errors import BadArgument
from vault_mcp.tools.graph import entities, reading, relations


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_vault(tmp_path / "v")
    with opened(root) as vault:
        rows: list[dict[str, object]] = [
            {"name": name, "entityType": "t", "observations": []} for name in ("A", "B")
        ]
        entities.create_entities(vault, CLAUDE, rows)
    return root


def row(source: str, kind: str, target: str) -> dict[str, object]:
    return {"from": source, "relationType": kind, "to": target}


def test_a_relation_is_one_stamped_line(root: Path) -> None:
    with opened(root) as vault:
        result: Any = relations.create_relations(vault, CLAUDE, [row("A", "works at", "B")])
        at = result["relations"][0]["added_at"]
    assert (
        (root / "entities/t/A.md")
        .read_text()
        .endswith(f"## Relations\n\n- works at [[B]] %%+{at} claude-desktop%%\n")
    )
    assert clean(root)


def test_a_missing_end_is_skipped_and_named_and_the_others_are_made(root: Path) -> None:
    with opened(root) as vault:
        result: Any = relations.create_relations(
            vault, CLAUDE, [row("A", "r", "B"), row("A", "r", "Ghost"), row("Ghost", "r", "Ghost")]
        )
    assert len(result["relations"]) == 1
    assert [skipped["missing"] for skipped in result["skipped"]] == [["Ghost"], ["Ghost"]]
    assert "Ghost" in result["message"]


def test_only_missing_ends_make_no_commit(root: Path) -> None:
    head = git(root, "rev-parse", "HEAD")
    with opened(root) as vault:
        result: Any = relations.create_relations(vault, CLAUDE, [row("A", "r", "Ghost")])
    assert result["receipt"]["commit"] is None
    assert git(root, "rev-parse", "HEAD") == head


def test_repeats_change_nothing_and_self_relations_are_fine(root: Path) -> None:
    with opened(root) as vault:
        relations.create_relations(vault, CLAUDE, [row("A", "same", "A"), row("A", "same", "A")])
        again: Any = relations.create_relations(vault, CLAUDE, [row("A", "same", "A")])
        assert (again["relations"], again["skipped"]) == ([], [])
        whole: Any = reading.read_graph(vault, CLAUDE)
        assert len(whole["relations"]) == 1
        with pytest.raises(BadArgument, match="blank"):
            relations.create_relations(vault, CLAUDE, [row("A", "", "B")])


def test_deleting_takes_exactly_the_named_relations(root: Path) -> None:
    with opened(root) as vault:
        relations.create_relations(
            vault, CLAUDE, [row("A", "r", "B"), row("A", "s", "B"), row("B", "r", "A")]
        )
        result: Any = relations.delete_relations(
            vault, CLAUDE, [row("A", "r", "B"), row("A", "zzz", "B"), row("Ghost", "r", "B")]
        )
        assert [(r["from"], r["relationType"], r["to"]) for r in result["deletedRelations"]] == [
            ("A", "r", "B")
        ]
        whole: Any = reading.read_graph(vault, CLAUDE)
        assert {(r["from"], r["relationType"]) for r in whole["relations"]} == {("A", "s"), ("B", "r")}


@pytest.mark.parametrize("kind", ["[[x]]", "a [[b|c]] d", "-", "## x", "a\nb", "%%c%%", "type::"])
def test_any_relation_type_comes_back_exactly(root: Path, kind: str) -> None:
    with opened(root) as vault:
        relations.create_relations(vault, CLAUDE, [row("A", kind, "B")])
        whole: Any = reading.read_graph(vault, CLAUDE)
    assert [(r["from"], r["relationType"], r["to"]) for r in whole["relations"]] == [("A", kind, "B")]
