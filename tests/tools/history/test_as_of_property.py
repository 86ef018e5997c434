"""The graph as it was: for any moment exactly what was told then."""

import contextlib
import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import graph_model
from tests.serving import facts_of, relations_of
from tests.tools.history.stories import Story, graph_of
from tests.vaults import CLAUDE, CURSOR, git, make_vault, opened
from vault_mcp.notes.note import read_note
from vault_mcp.tools.families import whole_catalog
from vault_mcp.tools.graph import reading

CATALOG = whole_catalog()


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


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**9))
def test_the_graph_of_any_moment_is_that_of_a_model_kept_beside_it(seed: int) -> None:
    random = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        root = make_vault(Path(folder) / "v")
        with opened(root) as vault:
            caller = graph_model.Caller(graph_model.Model(), random)
            kept = {}
            for _ in range(25):
                tools = graph_model.TOOLS if len(caller.model.entities) > 3 else ("create_entities",)
                with contextlib.suppress(IndexError):  # nobody has a fact that it could be about
                    name, arguments = caller.call(random.choice(tools))
                    tool = CATALOG.tool(name)
                    assert tool is not None
                    tool.run(vault, random.choice((CLAUDE, CURSOR)), **arguments)
                if random.random() < 0.3:
                    move_by_hand(root, random)
                    vault.noticed(None)
                kept[git(root, "rev-parse", "HEAD").strip()] = caller.model.shown()
            for moment in random.sample(sorted(kept), 8):
                told: Any = reading.read_graph(vault, CLAUDE, limit=1000, as_of=moment)
                assert (facts_of(told), relations_of(told)) == kept[moment], moment


def move_by_hand(root: Path, random: Random) -> None:
    """Put a note into another folder under its own name, which changes nothing of the graph."""
    notes = sorted(path for path in root.rglob("*.md") if ".git" not in path.parts)
    if notes:
        path = random.choice(notes)
        target = root / random.choice(("one", "two")) / path.name
        target.parent.mkdir(exist_ok=True)
        if not target.exists():
            path.rename(target)
