"""The past at the command line, as processes on a real vault."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.doors.frames import ROOT
from tests.vaults import CLAUDE, git, make_vault, opened
from vault_mcp.tools.graph import entities, observations


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault in which Claude made and edited a note, and Ann wrote into it by hand."""
    root = make_vault(tmp_path / "v")
    with opened(root) as vault:
        rows = [{"name": "Ada", "entityType": "person", "observations": ["likes tea"]}]
        entities.create_entities(vault, CLAUDE, rows)
        observations.edit_observation(vault, CLAUDE, "Ada", "likes tea", "likes mate")
        path = root / "entities/person/Ada.md"
        path.write_text(path.read_text("utf-8") + "\nTyped by hand.\n", "utf-8")
        vault.noticed(None)
    return root


def run(root: Path, command: str, *arguments: str, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "vault_mcp", command, "--vault", str(root), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(root.parent), "LANG": "C.UTF-8"},
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def test_log_show_diff_and_blame_tell_who_did_what(root: Path) -> None:
    log = run(root, "log", "Ada")
    assert [line.split("  ")[-1] for line in log.splitlines()] == [
        "hand-edit: Ada.md",
        "edit_observation: Ada",
        "create_entities: Ada",
    ]
    assert "Ann Person (by hand)" in log
    assert run(root, "log", "Ada", "-v", "--limit", "1").splitlines()[1] == "    entities/person/Ada.md"
    assert run(root, "log", "--agent", "nobody") == "No change was found.\n"
    told: Any = json.loads(run(root, "log", "Ada", "--json"))
    made, edited = told["changes"][2]["change"], told["changes"][1]["change"]
    shown = run(root, "show", edited)
    assert "~ entities/person/Ada.md: likes tea => likes mate" in shown
    assert "+- likes mate" in shown
    assert "- likes tea" in run(root, "show", "Ada", "--at", made)
    assert "likes tea => likes mate" in run(root, "diff", made, "--note", "Ada")
    lines = run(root, "blame", "Ada").splitlines()
    assert any("Ann Person" in line and line.endswith("Typed by hand.") for line in lines)
    assert any("edited by claude-desktop" in line and edited in line for line in lines)


def test_the_commands_speak_of_commands_and_say_when_nothing_was_done(root: Path) -> None:
    said = run(root, "restore", "Ada", code=2)
    assert "--at" in said
    assert "`at`" not in said
    assert "say when with --at" in run(root, "show", "Ada", code=2)
    told: Any = json.loads(run(root, "log", "--json"))
    newest, change = told["changes"][0]["change"], told["changes"][1]["change"]
    refused = run(root, "undo", told["changes"][2]["change"], code=2)
    assert "Call again with --skip to leave these and undo the rest." in refused
    assert "on_conflict" not in refused
    assert run(root, "diff", newest) == "Nothing was gained or lost between the two.\n"
    already = run(root, "restore", "Ada", "--at", newest)
    assert already.startswith("as it was then already: entities/person/Ada.md")
    run(root, "undo", change)
    assert run(root, "undo", change).startswith("(Nothing of it is there any more")
    missing = run(root, "log", "Nobody", code=2)
    assert "vault-mcp search" in missing
    assert "search_nodes" not in missing


def test_undo_and_restore_are_the_owners_commits(root: Path) -> None:
    told: Any = json.loads(run(root, "log", "--tool", "edit_observation", "--json"))
    undone = run(root, "undo", told["changes"][0]["change"])
    assert undone.startswith("undone: ")
    assert git(root, "log", "-1", "--format=%an <%ae>").strip() == "Ann Person <ann@example.org>"
    assert "- likes tea" in (root / "entities/person/Ada.md").read_text("utf-8")
    (root / "entities/person/Ada.md").unlink()
    assert "restored entities/person/Ada.md" in run(root, "restore", "Ada")
    assert "Typed by hand." in (root / "entities/person/Ada.md").read_text("utf-8")
    assert git(root, "status", "--porcelain") == ""


def test_since_last_tells_what_others_did_once(root: Path) -> None:
    first = run(root, "log", "--since-last")
    assert "create_entities: Ada" in first
    assert "create_entities" not in run(root, "log", "--since-last")


def test_what_is_no_change_ends_with_one_sentence_and_code_2(root: Path) -> None:
    for word in ("HEAD", "../../x", "--output=pwn"):
        refused = run(root, "show", "--", word, code=2)
        assert refused.startswith("vault-mcp: change ")
        assert len(refused.splitlines()) == 1
    assert "no moment" in run(root, "restore", "Ada", "--at", "some day", code=2)
