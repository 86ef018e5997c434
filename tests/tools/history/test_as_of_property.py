"""The graph as it was: for any moment exactly what was told then."""

import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools.history.stories import Story, graph_of
from tests.vaults import CLAUDE, git, make_vault, opened
from vault_mcp.notes.note import read_note
from vault_mcp.tools.graph import reading


def in_order(graph: Any) -> Any:
    """Relations of one answer have an order within their note alone."""
    return {**graph, "relations": sorted(graph["relations"], key=json.dumps)}


def in_files(root: Path, moment: str) -> dict[str, list[str]]:
    """Give the facts of each entity as the files of a commit have them, in the order of their lines."""
    found = {}
    for path in git(root, "ls-tree", "-r", "--name-only", "-z", moment).split("\0"):
        if path.endswith(".md"):
            note = read_note(path, git(root, "show", f"{moment}:{path}"))
            if note.kind == "entity" and not path.startswith("archive/"):
                found[path] = [fact.text for fact in note.observations if not fact.superseded]
    return found


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**9))
def test_the_graph_of_any_moment_is_the_one_that_was_told_then(seed: int) -> None:
    random = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        root = make_vault(Path(folder) / "v")
        with opened(root) as vault:
            story = Story(root, vault, random)
            story.run(25)
            moments = random.sample(sorted(story.graphs), min(6, len(story.graphs)))
            for moment in moments:
                told: Any = graph_of(vault, moment[:12])
                assert in_order(told) == in_order(story.graphs[moment]), moment
                shown = {
                    one["note"]: [f["text"] for f in one["observations"] if "superseded_at" not in f]
                    for one in told["entities"]
                }
                assert shown == in_files(root, moment)
            names = [entity["name"] for entity in story.graphs[moments[0]]["entities"]]
            told = reading.open_nodes(vault, CLAUDE, names, as_of=moments[0])
            assert sorted(one["name"] for one in told["entities"]) == sorted(names)
            found: Any = reading.search_nodes(vault, CLAUDE, "tea", as_of=moments[0], limit=200)
            facts = {
                fact["text"]
                for one in story.graphs[moments[0]]["entities"]
                for fact in one["observations"]
                if "superseded_at" not in fact and "tea" in fact["text"]
            }
            assert facts <= {hit["observation"] for hit in found["hits"]}
