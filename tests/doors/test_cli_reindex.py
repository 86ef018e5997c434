"""`vault-mcp reindex`, as a process."""

from pathlib import Path

import pytest

from tests.doors.commands import COMMAND, Commands, example_of
from tests.doors.frames import Server
from tests.vaults import commits, git, make_vault, write_files

FILES = {
    "Ada.md": "---\nentity: person\n---\n\n- likes tea\n\n## Relations\n\n- knows [[Bob]]\n",
    "Bob.md": "---\nentity: person\n---\n",
    "plain.md": "no entity\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault", FILES)


def indexes(root: Path) -> list[Path]:
    return sorted((root / ".git/vault-mcp").glob("index*.sqlite"))


def test_help_has_an_example(commands: Commands) -> None:
    assert example_of(commands.good("reindex", "--help"))[:2] == ["vault-mcp", "reindex"]


def test_the_index_is_made_anew_and_counted(commands: Commands, root: Path) -> None:
    said = commands.good("reindex", "--vault", root)
    assert said.startswith("3 files indexed in ")
    assert said.endswith(": 2 entities with 1 observations and 1 relations.\n")
    told = commands.json("reindex", "--vault", root)
    assert told | {"seconds": 0} == {
        "files": 3,
        "entities": 2,
        "observations": 1,
        "relations": 1,
        "seconds": 0,
        "troubles": [],
    }


def test_a_damaged_index_is_made_good(commands: Commands, root: Path) -> None:
    commands.good("reindex", "--vault", root)
    (index,) = indexes(root)
    index.write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)
    assert commands.json("reindex", "--vault", root)["entities"] == 2


def test_a_server_that_runs_takes_up_the_new_index(commands: Commands, root: Path) -> None:
    with Server((*COMMAND, "serve", "--vault", str(root)), env=commands.environment()) as server:
        server.greet()
        assert "likes tea" in server.text("search_nodes", query="tea")
        commands.good("reindex", "--vault", root)
        assert "likes tea" in server.text("search_nodes", query="tea")
        made = {"entityName": "Ada", "contents": ["likes coffee"]}
        server.text("add_observations", observations=[made])
        assert "likes coffee" in server.text("search_nodes", query="coffee")


def test_hand_edits_that_wait_are_committed_as_at_every_start(commands: Commands, root: Path) -> None:
    write_files(root, {"plain.md": "edited\n"})
    commands.good("reindex", "--vault", root)
    assert commits(root)[0] == "hand-edit: plain.md"


def test_where_nothing_may_be_written_it_indexes_and_says_so(commands: Commands, root: Path) -> None:
    git(root, "checkout", "-q", "--detach")
    done = commands.run("reindex", "--vault", root)
    assert done.returncode == 1
    assert "3 files indexed" in done.stdout
    assert "HEAD" in done.stderr


def test_without_a_vault_it_says_how_to_make_one(commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert "vault-mcp init DIR" in commands.refused("reindex", "--vault", tmp_path / "plain")
    assert "vault-mcp init DIR" in commands.refused("reindex", "--vault", tmp_path / "nowhere")
