"""The graph as it is drawn: every note once, every link between two of them once."""

from pathlib import Path
from typing import Any

from tests.vaults import CLAUDE, make_vault, opened
from vault_mcp.tools.graph.drawing import draw_graph

FILES = {
    "entities/person/Ada.md": (
        "---\nentity: person\n---\n\nSee [[Plan]].\n\n## Relations\n\n"
        "- knows [[Bob]]\n- likes [[Bob]]\n- seeks [[Grail]]\n"
    ),
    "entities/person/Bob.md": "---\nentity: person\n---\n\n## Relations\n\n- knows [[Ada]]\n",
    "Plan.md": "Ask [[Ada]], or [[Twin]]. [[Plan]] is this note.\n",
    "a/Twin.md": "one\n",
    "b/Twin.md": "two\n",
    "Alone.md": "nothing\n",
    "picture.png": "no note",
}


def edges(told: dict[str, Any]) -> set[tuple[str, str, str]]:
    name = [node["name"] for node in told["nodes"]]
    return {(name[start], kind, name[end]) for start, end, kind in told["edges"]}


def test_every_note_and_every_clear_link_is_drawn_once(tmp_path: Path) -> None:
    with opened(make_vault(tmp_path / "v", FILES)) as vault:
        told: dict[str, Any] = draw_graph(vault, CLAUDE)
    assert sorted(node["name"] for node in told["nodes"]) == ["Ada", "Alone", "Bob", "Plan", "Twin", "Twin"]
    assert len(told["edges"]) == 4
    assert edges(told) == {
        ("Ada", "knows, likes", "Bob"),
        ("Bob", "knows", "Ada"),
        ("Ada", "links to", "Plan"),
        ("Plan", "links to", "Ada"),
    }
    ada = next(node for node in told["nodes"] if node["name"] == "Ada")
    assert ada == {
        "name": "Ada",
        "type": "person",
        "kind": "entity",
        "note": "entities/person/Ada.md",
        "links": 4,
    }
    assert "left_out" not in told


def test_of_too_many_notes_those_with_links_are_drawn(tmp_path: Path) -> None:
    with opened(make_vault(tmp_path / "v", FILES)) as vault:
        told: dict[str, Any] = draw_graph(vault, CLAUDE, limit=2)
    assert {node["name"] for node in told["nodes"]} <= {"Ada", "Bob", "Plan"}
    assert all(start < 2 and end < 2 for start, end, _ in told["edges"])
    assert told["left_out"].startswith("4 notes")


def test_the_graph_of_a_day_is_drawn_as_it_was(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", FILES)
    with opened(root) as vault:
        head = vault.repository.head()
        assert head
    (root / "Alone.md").write_text("with [[Bob]]\n", encoding="utf-8")
    (root / "New.md").write_text("new\n", encoding="utf-8")
    with opened(root) as vault:
        assert vault.wait_until_compared(60)
        now: dict[str, Any] = draw_graph(vault, CLAUDE)
        then: dict[str, Any] = draw_graph(vault, CLAUDE, as_of=head)
    assert ("Alone", "links to", "Bob") in edges(now)
    assert {node["name"] for node in now["nodes"]} - {node["name"] for node in then["nodes"]} == {"New"}
    assert ("Alone", "links to", "Bob") not in edges(then)
    assert ("Ada", "knows, likes", "Bob") in edges(then)
