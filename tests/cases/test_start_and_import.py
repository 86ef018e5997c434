"""Cases about what a server is started on, and about what is brought in."""

import json
from pathlib import Path

import pytest

from tests.doors.commands import COMMAND, Commands
from tests.doors.frames import Server
from tests.vaults import commits, make_vault

A = {"type": "entity", "name": "A", "entityType": "t", "observations": []}
B = {**A, "name": "B"}


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    (tmp_path / "home").mkdir()
    return Commands(tmp_path / "home")


@pytest.mark.parametrize(
    ("text", "names"),
    [(json.dumps([A]), ["A"]), (json.dumps(A) + json.dumps(B), ["A", "B"])],
    ids=["array", "glued"],
)
def test_CON_07_old_exports_come_in_whole_whatever_their_shape(
    commands: Commands, tmp_path: Path, text: str, names: list[str]
) -> None:
    root = make_vault(tmp_path / "vault")
    (tmp_path / "old.json").write_text(text)
    told = commands.json("import", tmp_path / "old.json", "--vault", root)
    assert (told["entities"], told["problems"]) == (len(names), [])
    assert sorted(path.stem for path in root.glob("entities/t/*.md")) == names
    assert commits(root)[0] == "import: old.json"


def test_SEC_03_without_a_vault_the_one_in_the_home_is_served_and_never_the_current_folder(
    commands: Commands,
) -> None:
    with Server(COMMAND, env=commands.environment(), cwd="/") as server:
        server.greet()
        server.text("read_graph")
        server.close_input()
        assert server.ended() == 0
    assert [path.name for path in commands.home.iterdir()] == ["memory-vault"]


@pytest.mark.parametrize("folder", ["/", "~", "/usr/.."])
def test_SEC_03_the_whole_disk_and_the_home_are_refused_with_a_sentence(
    commands: Commands, folder: str
) -> None:
    assert "cannot be a vault" in commands.refused("serve", "--vault", folder)
    assert list(commands.home.iterdir()) == []
