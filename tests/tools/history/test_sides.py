"""Changes of another machine that came with a merge: listed, shown and told once, and no moments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clones import remote_and_clones
from tests.upheaval import told
from tests.vaults import CLAUDE, CURSOR, git, opened
from vault_mcp.errors import BadArgument
from vault_mcp.sync import sync
from vault_mcp.tools.graph.entities import create_entities
from vault_mcp.tools.graph.observations import add_observations
from vault_mcp.tools.history import looking, restoring, since
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Options, Vault

NOTE = "entities/thing/Bob.md"


@pytest.fixture
def merged(tmp_path: Path) -> Iterator[Vault]:
    """Give the vault that merged three changes of another one, two of them about Bob."""
    a, b = remote_and_clones(tmp_path, files={"Plan.md": "# Plan\n"})
    with opened(a, Options(embeddings="off")) as here, opened(b, Options(embeddings="off")) as there:
        since.history_since(here, CLAUDE)
        for name in ("Bob", "Eve"):
            create_entities(
                there, CURSOR, [{"name": name, "entityType": "thing", "observations": ["likes tea"]}]
            )
        add_observations(there, CURSOR, [{"entityName": "Bob", "contents": ["plays zither"]}])
        create_entities(here, CLAUDE, [{"name": "Ada", "entityType": "thing", "observations": ["counts"]}])
        sync(there)
        sync(here)
        yield here


def log(vault: Vault, **wanted: Any) -> list[dict[str, Any]]:
    """Give every page of a log, two changes a page."""
    rows: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page: Any = looking.history_log(vault, CLAUDE, limit=2, cursor=cursor, **wanted)
        rows += page["changes"]
        cursor = page.get("next_cursor", "")
        if not cursor:
            return rows


def behind(vault: Vault) -> list[str]:
    root = Path(vault.root)
    return [sha[:12] for sha in git(root, "rev-list", "--topo-order", "HEAD^1..HEAD^2").split()]


def test_what_a_merge_brought_is_listed_after_it_and_found_by_every_filter(merged: Vault) -> None:
    head = git(Path(merged.root), "rev-parse", "HEAD").strip()[:12]
    along = [sha[:12] for sha in git(Path(merged.root), "rev-list", "--first-parent", "HEAD").split()]
    sides = behind(merged)
    assert len(sides) == 3
    assert [row["change"] for row in log(merged)] == [head, *sides, *along[1:]]
    assert [row["change"] for row in log(merged, agent=CURSOR.agent)] == sides
    assert {row["came_with"] for row in log(merged, tool="create_entities", agent=CURSOR.agent)} == {head}
    assert [row["change"] for row in log(merged, text="ZITHER") if "came_with" in row] == sides[:1]
    assert [row["change"] for row in log(merged, note="Bob") if "came_with" in row] == [sides[0], sides[2]]
    assert log(merged, agent=CURSOR.agent, before="2001-01-01") == []
    assert all(row["paths"] for row in log(merged) if "came_with" in row)


def test_such_a_change_is_shown_and_is_no_moment(merged: Vault) -> None:
    newest = behind(merged)[0]
    shown: Any = looking.history_show(merged, CLAUDE, newest)
    assert [fact["text"] for fact in shown["added"]] == ["plays zither"]
    assert (shown["by"], "zither" in shown["diff"]) == (CURSOR.agent, True)
    with pytest.raises(BadArgument, match="Name the merge"):
        looking.history_diff(merged, CLAUDE, newest)


def test_it_is_new_once(merged: Vault) -> None:
    first: Any = since.history_since(merged, CLAUDE)
    assert [row["change"] for row in first["by_agents"] if "came_with" in row] == behind(merged)
    again: Any = since.history_since(merged, CLAUDE)
    assert again["by_agents"] == []


def test_what_a_person_undid_on_another_machine_under_another_name_is_theirs(tmp_path: Path) -> None:
    a, b = remote_and_clones(tmp_path, files={"Plan.md": "# Plan\n"})
    options = Options(embeddings="off")
    with opened(a, options) as here, opened(b, options) as there:
        since.history_since(here, CLAUDE)
        (b / "Typed.md").write_text("by hand\n")
        there.noticed(None)
        name = there.person.name
        undone = []
        for undoer in (Caller(name, person=True), CURSOR):
            create_entities(there, CURSOR, [{"name": "Bob", "entityType": "thing", "observations": ["x"]}])
            made = git(b, "rev-parse", "HEAD").strip()
            told: Any = restoring.history_undo(there, undoer, change=made)
            undone.append(told["receipt"]["commit"][:12])
        sync(there)
        sync(here)
        assert here.person.name != name
        new: Any = since.history_since(here, CLAUDE)
    by_person = {row["change"]: row["by"] for row in new["by_hand"] if row["tool"] == "history_undo"}
    by_agent = {row["change"]: row["by"] for row in new["by_agents"] if row["tool"] == "history_undo"}
    assert by_person == {undone[0]: name}
    assert by_agent == {undone[1]: CURSOR.agent}


def test_an_index_made_anew_says_the_same(merged: Vault) -> None:
    followed = told(merged)
    with merged.index.writing() as writer:
        writer.reset_history()
    merged.history_behind()
    merged.read_past()
    assert told(merged) == followed
