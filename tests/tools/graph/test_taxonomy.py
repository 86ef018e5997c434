"""The memory as a whole: begun afresh, adopted, and told of by its kinds of things."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.direct import done
from tests.vaults import CLAUDE, clean, commits, git, make_vault, opened, write_files
from vault_mcp.tools.graph import entities, reading, relations, taxonomy
from vault_mcp.vault import Vault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v", {"note.md": "a person's note about [[Ada]] #tea\n"})


def fill(vault: Vault) -> None:
    entities.create_entities(
        vault,
        CLAUDE,
        [
            {"name": "Ada", "entityType": "person", "observations": ["likes zebras", "likes tea"]},
            {"name": "Bob: B", "entityType": "person", "observations": []},
            {"name": "Apollo", "entityType": "project", "observations": ["flies"]},
        ],
    )
    relations.create_relations(
        vault,
        CLAUDE,
        [
            {"from": "Ada", "to": "Apollo", "relationType": "leads"},
            {"from": "Bob: B", "to": "Ada", "relationType": "knows"},
        ],
    )


def test_a_fresh_start_moves_every_entity_to_the_archive_in_one_commit(root: Path) -> None:
    with opened(root) as vault:
        fill(vault)
        before = git(root, "ls-tree", "-r", "HEAD", "--", "entities").replace("\t", " ").splitlines()
        count = len(commits(root))
        told: Any = taxonomy.initialize_memory(vault, CLAUDE, "fresh")
        assert told["status"] == "fresh"
        assert reading.read_graph(vault, CLAUDE)["entities"] == []
        assert reading.search_nodes(vault, CLAUDE, "zebras")["entities"] == []
        assert "zebras" in done(vault, "memory_recall", query="zebras")
        # A name is free again, and what a person wrote elsewhere is where it was.
        fill(vault)
        names: Any = reading.read_graph(vault, CLAUDE)
        assert [one["name"] for one in names["entities"]] == ["Ada", "Apollo", "Bob: B"]
        ends = {(one["from"], one["to"]) for one in names["relations"]}
        assert ends == {("Ada", "Apollo"), ("Bob: B", "Ada")}
        assert names["entities"][0]["note"] == "entities/person/Ada.md"
    assert len(commits(root)) == count + 3
    assert commits(root)[2] == "initialize_memory: fresh"
    moved = git(root, "ls-tree", "-r", "HEAD~2", "--", str(told["backup"])).replace("\t", " ").splitlines()
    assert [row.split()[2] for row in moved] == [row.split()[2] for row in before]
    assert (root / "note.md").read_text() == "a person's note about [[Ada]] #tea\n"
    assert clean(root)


def test_after_a_fresh_start_links_mean_the_new_note_of_a_name(root: Path) -> None:
    with opened(root) as vault:
        fill(vault)
        taxonomy.initialize_memory(vault, CLAUDE, "fresh")
        fill(vault)
        entities.rename_entity(vault, CLAUDE, "Ada", "Eve")
        graph: Any = reading.read_graph(vault, CLAUDE)
        assert {(one["from"], one["to"]) for one in graph["relations"]} == {
            ("Eve", "Apollo"),
            ("Bob: B", "Eve"),
        }
    assert (root / "note.md").read_text() == "a person's note about [[Eve]] #tea\n"
    assert "[[Ada]]" in git(root, "grep", "-h", "Ada", "--", "archive")
    assert clean(root)


def test_an_empty_graph_is_fresh_already_and_adopting_changes_nothing(root: Path) -> None:
    head = git(root, "rev-parse", "HEAD")
    with opened(root) as vault:
        for mode, status in (("fresh", "unchanged"), ("adopt", "adopted")):
            told: Any = taxonomy.initialize_memory(vault, CLAUDE, mode)
            assert (told["status"], told["backup"], told["receipt"]["commit"]) == (status, None, None)
    assert git(root, "rev-parse", "HEAD") == head


def test_the_taxonomy_counts_the_kinds_of_things_and_the_same_again_is_no_commit(root: Path) -> None:
    write_files(root, {"tagged.md": "---\ntags: [tea, team/core]\n---\n"})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "tags")
    with opened(root) as vault:
        fill(vault)
        told: Any = taxonomy.export_taxonomy(vault, CLAUDE)
        again: Any = taxonomy.export_taxonomy(vault, CLAUDE)
        resource = taxonomy.taxonomy_text(vault)
    assert told["counts"] == {"entities": 3, "observations": 3, "relations": 2}
    assert again["receipt"]["commit"] is None
    written = json.loads((root / told["path"]).read_text())
    assert json.loads(resource) == written
    assert written["entity_types"] == {"person": 2, "project": 1}
    assert written["relation_types"] == {"knows": 1, "leads": 1}
    assert written["tags"] == {"tea": 2, "team/core": 1}
    assert commits(root)[0] == "export_taxonomy: taxonomy.json"
    assert clean(root)
