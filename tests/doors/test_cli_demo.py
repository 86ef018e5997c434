"""`vault-mcp demo`, as a process: the story is told, and it is true."""

import re
from pathlib import Path

import pytest

from tests.doors.commands import Commands, example_of
from tests.vaults import git
from vault_mcp.doors.cli_story import BOOK, FOUND, NOTE, ROOM
from vault_mcp.doors.sample import sample_vault


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where temporary folders are made."""
    (tmp_path / "tmp").mkdir()
    return tmp_path / "tmp"


def test_help_has_an_example(commands: Commands) -> None:
    assert example_of(commands.good("demo", "--help"))[:2] == ["vault-mcp", "demo"]


def test_the_story_is_told_and_leaves_nothing_behind(commands: Commands, place: Path) -> None:
    done = commands.run("demo", TMPDIR=str(place))
    assert (done.returncode, done.stderr) == (0, "")
    assert list(place.iterdir()) == []
    assert "\x1b" not in done.stdout
    for tool in ("create_entities", "create_relations", "edit_observation", "search_nodes", "rename_entity"):
        assert f" calls {tool}\n" in done.stdout
    assert re.search(r"\n +Tool: hand-edit\n +Edited-By: human\n +Edited-At: 20\S+Z\n", done.stdout)
    assert f"{BOOK}: {FOUND}\n" in done.stdout
    assert re.search(r"\nEverything was as it should be, in [0-9.]+ s\.\n$", done.stdout)


def test_the_vault_can_be_kept_and_is_as_the_story_left_it(commands: Commands, place: Path) -> None:
    said = commands.good("demo", "--keep", TMPDIR=str(place))
    root = Path(said.splitlines()[-1].strip())
    assert root.is_relative_to(place)
    text = (root / NOTE).read_text(encoding="utf-8")
    assert f"- {FOUND}\n" in text
    assert re.search(r"red cloth.* %%\+20\S+ claude-desktop ~20\S+ cursor%%\n", text)
    assert (root / f"entities/organisation/{ROOM}.md").is_file()
    authors = git(root, "log", "--format=%an").split("\n")[:-1]
    assert authors == [
        "cursor",
        "claude-desktop",
        "human",
        "cursor",
        "claude-desktop",
        "claude-desktop",
        "human",
    ]
    assert git(root, "status", "--porcelain", "*.md") == ""


def test_a_story_that_is_not_true_ends_with_a_sentence_and_a_code(commands: Commands, place: Path) -> None:
    (commands.home / ".gitconfig").write_text("[user]\n\tname = cursor\n\temail = cursor@example.org\n")
    done = commands.run("demo", TMPDIR=str(place))
    assert done.returncode == 2
    assert (
        done.stderr == "vault-mcp: This is not as it should be: and no agent's. See the folder with --keep.\n"
    )
    assert "Everything was as it should be" not in done.stdout
    assert list(place.iterdir()) == []


def test_without_git_it_says_what_to_install(commands: Commands, place: Path) -> None:
    said = commands.refused("demo", PATH="/nonexistent", TMPDIR=str(place))
    assert "No git program was found" in said
    assert list(place.iterdir()) == []


def test_the_sample_vault_is_found_beside_the_package_in_a_checkout() -> None:
    assert Path(sample_vault()) == Path(__file__).resolve().parents[2] / "sample_vault"
