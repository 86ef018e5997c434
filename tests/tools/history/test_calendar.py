"""Days and authors: what a moment is chosen by."""

import os
import subprocess
from pathlib import Path
from typing import Any

from tests.vaults import CLAUDE, PERSON, make_vault, opened, write_files
from vault_mcp.tools.graph.entities import create_entities
from vault_mcp.tools.history.calendar import history_calendar


def commit(root: Path, name: str, at: str) -> None:
    write_files(root, {name: f"{at}\n"})
    dated = {**os.environ, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    subprocess.run(["git", "commit", "-q", "-m", name], cwd=root, check=True, env=dated)


def test_days_and_authors_are_counted(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    commit(root, "a.md", "2020-01-02T12:00:00")
    commit(root, "b.md", "2020-01-02T13:00:00")
    commit(root, "c.md", "2020-02-29T12:00:00")
    with opened(root) as vault:
        create_entities(vault, CLAUDE, [{"name": "Ada", "entityType": "person", "observations": ["x"]}])
        told: dict[str, Any] = history_calendar(vault, CLAUDE)
    assert told["days"][:2] == [{"day": "2020-01-02", "changes": 2}, {"day": "2020-02-29", "changes": 1}]
    assert {one["by"]: one["changes"] for one in told["authors"]} == {
        PERSON: told["changes"] - 1,
        CLAUDE.agent: 1,
    }
    assert told["total"]["entities"] == 1


def test_a_vault_without_a_past_has_no_days(tmp_path: Path) -> None:
    root = tmp_path / "v"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    with opened(root) as vault:
        told: dict[str, Any] = history_calendar(vault, CLAUDE)
    assert (told["days"], told["authors"], told["changes"]) == ([], [], 0)
