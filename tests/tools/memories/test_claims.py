"""Claims: how near two texts are, and what is cited for and against."""

from pathlib import Path
from typing import Any

import pytest

from tests.direct import refused
from tests.vaults import CLAUDE, commits, make_vault, opened
from vault_mcp.tools.graph import entities
from vault_mcp.tools.memories import claims, writing
from vault_mcp.vault import Options, Vault

QUIETLY = Options(embeddings="off")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


def verify(vault: Vault, premise: str, conclusion: str, **more: Any) -> dict[str, Any]:
    told: Any = claims.memory_verify_claim(vault, CLAUDE, premise, conclusion, **more)
    return dict(told)


def test_equal_texts_are_verified_and_others_rejected(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        same = verify(vault, "The deploy is on Friday.", "The deploy is on Friday.")
        other = verify(vault, "The deploy is on Friday.", "Walruses eat clams.")

    assert (same["status"], same["trust_score"], same["total_distance"]) == ("VERIFIED", 1.0, 0.0)
    assert other["status"] == "REJECTED"
    assert other["trust_score"] < other["threshold"] == 0.36
    assert other["cosine_distance"] is None
    assert other["lorentz_distance"] is None


@pytest.mark.parametrize(
    ("conclusion", "reason"),
    [("The deploy is not on Friday.", "denies"), ("The deploy is on Friday at 17:00.", "near")],
)
def test_a_denial_is_rejected(root: Path, conclusion: str, reason: str) -> None:
    with opened(root, QUIETLY) as vault:
        told = verify(vault, "The deploy is on Friday.", conclusion)
    assert reason in told["reason"]
    assert told["status"] == ("REJECTED" if reason == "denies" else "VERIFIED")


def test_another_number_is_rejected(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        told = verify(vault, "The budget is 500 euros.", "The budget is 900 euros.")
    assert told["status"] == "REJECTED"
    assert "says 900" in told["reason"]


def test_what_is_remembered_for_and_against_the_premise_is_cited(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        for text in ("The budget is 500 euros.", "The budget is 900 euros.", "Walruses eat clams."):
            writing.memory_remember(vault, CLAUDE, text, "s")
        entities.create_entities(
            vault,
            CLAUDE,
            [{"name": "Budget", "entityType": "t", "observations": ["is not 500 euros"]}],
        )
        before = len(commits(root))
        told = verify(vault, "The budget is 500 euros.", "There are 500 euros.")

    assert [one["text"] for one in told["supporting"]] == ["The budget is 500 euros."]
    assert {one["text"] for one in told["contradicting"]} == {"The budget is 900 euros.", "is not 500 euros"}
    assert all(one["by"] == "claude-desktop" and one["stored_at"] for one in told["supporting"])
    assert "id" in told["supporting"][0]
    assert len(commits(root)) == before


def test_blank_texts_are_refused(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        assert "blank" in refused(vault, "memory_verify_claim", premise=" ", conclusion="x")
        assert "blank" in refused(vault, "memory_verify_claim", premise="x", conclusion="")
        assert "threshold" in refused(vault, "memory_verify_claim", premise="x", conclusion="x", threshold=2)
