"""What one note links to and what links to it, now and then."""

from pathlib import Path
from typing import Any

from tests.vaults import make_vault, opened
from vault_mcp.tools.graph.neighbours import neighbours
from vault_mcp.tools.history.asof import reading_at
from vault_mcp.vault import Vault

ADA = "---\nentity: person\n---\n\nSee [[Plan]] and [[Plan#Later]], [[#Here]] and [[Lost]].\n"
RELATED = "\n## Relations\n\n- wrote [[Plan]]\n- knows [[Bob]]\n- seeks [[Grail]]\n"
FILES = {
    "entities/person/Ada.md": ADA + RELATED,
    "entities/person/Bob.md": "---\nentity: person\n---\n\n## Relations\n\n- knows [[Ada]]\n",
    "Plan.md": "Ask [[Ada]]. [[Plan]] is this very note.\n",
    "a/Twin.md": "one\n",
    "b/Twin.md": "two\n",
    "Reads twins.md": "[[a/Twin]]\n",
}


def told(vault: Vault, path: str, at: str = "") -> dict[str, Any]:
    with reading_at(vault, at) as reader:
        row = reader.note_at(path)
        assert row
        return neighbours(vault, reader, row, then=bool(at))


def names(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["name"], row["relation"]) for row in rows]


def test_relations_come_first_and_a_link_beside_one_is_not_repeated(tmp_path: Path) -> None:
    with opened(make_vault(tmp_path / "v", FILES)) as vault:
        ada = told(vault, "entities/person/Ada.md")
    assert names(ada["links"]) == [("Plan", "wrote"), ("Bob", "knows")]
    assert names(ada["missing"]) == [("Grail", "seeks"), ("Lost", "links to")]
    assert names(ada["backlinks"]) == [("Bob", "knows"), ("Plan", "links to")]
    assert [row["note"] for row in ada["backlinks"]] == ["entities/person/Bob.md", "Plan.md"]


def test_a_note_is_no_neighbour_of_itself(tmp_path: Path) -> None:
    with opened(make_vault(tmp_path / "v", FILES)) as vault:
        plan = told(vault, "Plan.md")
    assert names(plan["links"]) == [("Ada", "links to")]
    assert names(plan["backlinks"]) == [("Ada", "wrote")]


def test_a_link_leads_to_the_one_of_two_namesakes_that_it_means(tmp_path: Path) -> None:
    with opened(make_vault(tmp_path / "v", FILES)) as vault:
        assert names(told(vault, "a/Twin.md")["backlinks"]) == [("Reads twins", "links to")]
        assert told(vault, "b/Twin.md")["backlinks"] == []


def test_of_the_past_the_links_of_then_are_told(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", FILES)
    with opened(root) as vault:
        head = vault.repository.head()
        assert head
    (root / "Plan.md").write_text("Ask nobody.\n", encoding="utf-8")
    (root / "Reads twins.md").write_text("[[b/Twin]]\n", encoding="utf-8")
    with opened(root) as vault:
        assert vault.wait_until_compared(60)
        assert names(told(vault, "entities/person/Ada.md")["backlinks"]) == [("Bob", "knows")]
        assert told(vault, "a/Twin.md")["backlinks"] == []
        assert names(told(vault, "Plan.md", head)["links"]) == [("Ada", "links to")]
        assert names(told(vault, "a/Twin.md", head)["backlinks"]) == [("Reads twins", "links to")]
