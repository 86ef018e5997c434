"""The timeline says of any moment what an index made of that moment says."""

import functools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools.history.stories import NAMES, Story, graph_of, unreached
from tests.vaults import CLAUDE, git, make_vault, opened
from vault_mcp.errors import VaultError
from vault_mcp.timekeeping import Timekeeping
from vault_mcp.tools.files import viewing
from vault_mcp.tools.graph import drawing, reading
from vault_mcp.tools.keys import reading as keys
from vault_mcp.tools.memories import recalling
from vault_mcp.vault import Vault


def everything(vault: Vault, moment: str) -> Any:
    """Ask all that can be asked of a moment; what has no order, in one order."""
    told: dict[str, Any] = {"graph": graph_of(vault, moment)}
    told["agents"] = reading.read_graph(vault, CLAUDE, agent="cursor", limit=500, as_of=moment)
    told["by hand"] = reading.read_graph(vault, CLAUDE, agent="Ann Person", limit=500, as_of=moment)
    told["recent"] = reading.read_graph(vault, CLAUDE, since="2020-01-01", limit=500, as_of=moment)
    for query in ("tea", "walks 1", "a", "日本", "zurich mate", ""):
        told[f"search {query}"] = reading.search_nodes(
            vault, CLAUDE, query, limit=500, include_superseded=True, as_of=moment
        )
    told["open"] = reading.open_nodes(vault, CLAUDE, NAMES, as_of=moment)
    told["drawn"] = drawn(drawing.draw_graph(vault, CLAUDE, as_of=moment))
    told["listing"] = viewing.memory_view(vault, CLAUDE, "", (), moment)
    for key in ("a", "b/c"):
        told[key] = refused(functools.partial(keys.read_memory, vault, CLAUDE, key, moment))
    for query in ("tea walks", "of Ada", "who sings"):
        found: Any = recalling.memory_recall(vault, CLAUDE, query, limit=50, as_of=moment)
        told[f"recall {query}"] = sorted(one["note"] for one in found["results"]), found["total_found"]
    told["file"] = refused(
        functools.partial(viewing.memory_view, vault, CLAUDE, "/memories/notes/x.txt", (), moment)
    )
    for part in told.values():
        if isinstance(part, dict) and "relations" in part:
            part["relations"] = sorted(part["relations"], key=json.dumps)
        if isinstance(part, dict) and "hits" in part:  # hits that weigh the same have no order in a note
            part["hits"] = sorted(json.dumps({**hit, "rank": 0}) for hit in part["hits"])
    return told


def drawn(graph: Any) -> Any:
    """Give a drawing by the names of its nodes alone: their numbers are nobody's business."""
    names = [node["note"] for node in graph["nodes"]]
    edges = sorted(
        [names[start], names[end], sorted(kind.split(", "))] for start, end, kind in graph["edges"]
    )
    return sorted(graph["nodes"], key=json.dumps), edges


def refused(ask: Callable[[], str]) -> Any:
    try:
        return ask()
    except VaultError as error:
        return str(error)


def rewrite(story: Story, random: Random) -> None:
    """Do as a person who resets the branch, or changes the last commit."""
    if random.random() < 0.5:
        back = random.randint(1, 4)
        if int(git(story.root, "rev-list", "--count", "--first-parent", "HEAD")) > back + 1:
            git(story.root, "reset", "-q", "--hard", f"HEAD~{back}")
    else:
        git(story.root, "commit", "-q", "--amend", "-m", f"amended {random.random()}")
    story.vault.noticed(None)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**9))
def test_the_timeline_says_what_an_index_of_the_moment_says(seed: int) -> None:
    random = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        root = make_vault(Path(folder) / "v")
        with opened(root) as vault:
            story = Story(root, vault, random)
            for _ in range(3):
                story.run(10)
                reading.read_graph(vault, CLAUDE, as_of="now")  # the timeline begins, or goes on, in between
                rewrite(story, random)
            story.run(3)
            chain = git(root, "rev-list", "--first-parent", "HEAD").split()
            for moment in [chain[-1], *random.sample(chain, min(6, len(chain)))]:
                told = everything(vault, moment)
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(Timekeeping, "reading", unreached)
                    assert told == everything(vault, moment), moment
