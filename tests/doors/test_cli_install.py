"""`vault-mcp install`, as a process: a client's settings changed, shown and put back."""

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest

from tests.doors.commands import COMMAND, Commands
from tests.doors.frames import Server
from tests.ordinary import being_ordinary, folder_of_an_ordinary_user
from vault_mcp.doors.cli_install import install
from vault_mcp.doors.clients import CLIENTS, config_file, this_platform
from vault_mcp.errors import StorageFailed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "my notes"


def settings_of(commands: Commands, client: str) -> Path:
    return Path(config_file(client, this_platform(), str(commands.home), {}))


def backups(file: Path) -> list[Path]:
    return sorted(file.parent.glob(f"{file.name}.*.bak"))


@pytest.mark.parametrize("client", ["claude-code", "cursor", "codex"])
def test_a_client_gets_the_server_and_loses_it_again(commands: Commands, root: Path, client: str) -> None:
    title, file = CLIENTS[client].title, settings_of(commands, client)
    said = commands.good("install", client, "--vault", root)
    assert said.startswith(f"{title} will start this server, as 'vault'.\n  made     {file}\n")
    text = file.read_text()
    settings = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    arguments = settings[CLIENTS[client].key]["vault"]["args"]
    tools = ["--tools", "core"] if client == "cursor" else []
    assert arguments[arguments.index("serve") :] == ["serve", "--vault", str(root), *tools]
    again = commands.good("install", client, "--vault", root)
    assert again == f"{title} has this server already. {file} was not changed.\n"
    assert (file.read_text(), backups(file)) == (text, [])
    assert commands.good("install", client, "--remove").startswith(f"{title} starts this server no longer.")
    assert "vault-mcp" not in file.read_text()
    assert [backup.read_text() for backup in backups(file)] == [text]
    assert not root.exists()


def test_what_is_written_starts_a_server_on_the_vault(commands: Commands, root: Path) -> None:
    commands.good("install", "claude-desktop", "--vault", root)
    server = json.loads(settings_of(commands, "claude-desktop").read_text())["mcpServers"]["vault"]
    with Server([server["command"], *server["args"]], env=commands.environment()) as process:
        process.greet()
        assert json.loads(process.text("read_graph"))["entities"] == []
        process.close_input()
        assert process.ended() == 0


SETTINGS = """\
{
  // Ada's own
  "mcpServers": {
    "github": {"command": "gh-mcp"}, // for work
  },
  "theme": "dark",
}
"""


def test_other_servers_comments_and_rights_stay_and_the_file_as_it_was_lies_beside(
    commands: Commands, root: Path
) -> None:
    file = settings_of(commands, "gemini")
    file.parent.mkdir()
    file.write_text(SETTINGS)
    file.chmod(0o640)
    said = commands.good("install", "gemini", "--vault", root, "--tools", "graph,history", "--agent", "gem")
    after = file.read_text()
    assert after.replace(after[after.index('    "vault"') : after.index('  },\n  "theme')], "") == SETTINGS
    assert '"args": ["-P", "-m", "vault_mcp", "serve", "--vault"' in after
    assert '"--tools", "graph,history", "--agent", "gem"]' in after
    (backup,) = backups(file)
    assert f"  before   {backup}\n" in said
    assert backup.read_text() == SETTINGS
    assert {stat.S_IMODE(path.stat().st_mode) for path in (file, backup)} == {0o640}
    commands.good("install", "gemini", "--remove")
    assert file.read_text() == SETTINGS
    assert len(backups(file)) == 2


def test_a_dry_run_shows_the_difference_and_print_the_lines(commands: Commands, root: Path) -> None:
    file = settings_of(commands, "gemini")
    file.parent.mkdir()
    file.write_text(SETTINGS)
    said = commands.good("install", "gemini", "--vault", root, "--dry-run")
    assert '+    "vault": {' in said
    assert not [line for line in said.splitlines()[2:] if line.startswith("-")]
    printed = json.loads(commands.good("install", "gemini", "--vault", root, "--print"))
    assert printed["mcpServers"]["vault"]["args"][-1] == str(root)
    assert commands.good("install", "gemini", "--remove", "--dry-run").startswith("Nothing would be changed")
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert file.read_text() == SETTINGS


def test_a_project_can_have_a_file_of_its_own_and_the_server_another_name(
    commands: Commands, root: Path, tmp_path: Path
) -> None:
    file = tmp_path / "project" / ".cursor" / "mcp.json"
    commands.good("install", "cursor", "--vault", root, "--file", file, "--name", "notes", "--tools", "all")
    assert json.loads(file.read_text())["mcpServers"]["notes"]["args"][-2:] == ["--tools", "all"]
    assert list(commands.home.iterdir()) == []


@pytest.mark.parametrize(
    ("client", "text", "more"),
    [
        ("cursor", '{"mcpServers": {', []),
        ("cursor", '{"mcpServers": {"vault": {"command": "other"}}}', []),
        ("cursor", '{"mcpServers": {"vault": {"command": "other"}}}', ["--remove"]),
        ("codex", 'mcp_servers = { vault = { command = "vault-mcp" } }', []),
        ("zed", '\ud8ff{"context_servers": 1', []),
    ],
)
def test_a_file_that_cannot_be_edited_safely_is_left_as_it_is(
    commands: Commands, root: Path, client: str, text: str, more: list[str]
) -> None:
    file = settings_of(commands, client)
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert "Nothing was changed." in commands.refused("install", client, "--vault", root, *more)
    assert file.read_bytes() == text.encode("utf-8", "surrogatepass")
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_pipe_in_the_place_of_the_settings_is_no_file(commands: Commands, root: Path) -> None:
    file = settings_of(commands, "cursor")
    file.parent.mkdir(parents=True)
    os.mkfifo(file)
    said = commands.refused("install", "cursor", "--vault", root)
    assert f"{file} is no file. Nothing was changed." in said
    assert stat.S_ISFIFO(file.stat().st_mode)


def test_a_link_to_a_file_elsewhere_stays_a_link(commands: Commands, root: Path, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles" / "mcp.json"
    kept.parent.mkdir()
    kept.write_text("{}\n")
    file = settings_of(commands, "cursor")
    file.parent.mkdir()
    file.symlink_to(kept)
    commands.good("install", "cursor", "--vault", root)
    assert file.is_symlink()
    assert "vault" in json.loads(kept.read_text())["mcpServers"]


def test_tools_that_are_not_there_are_refused(commands: Commands, root: Path) -> None:
    assert "no tool or family 'grph'" in commands.refused(
        "install", "zed", "--vault", root, "--tools", "grph"
    )
    assert list(commands.home.iterdir()) == []


def test_without_a_client_it_says_which_are_here(commands: Commands, root: Path) -> None:
    settings_of(commands, "zed").parent.mkdir(parents=True)
    commands.good("install", "codex", "--vault", root)
    said = {line.split()[0]: line for line in commands.good("install").splitlines()}
    assert list(said) == list(CLIENTS)
    assert "has this server" in said["codex"]
    assert "does not have it" in said["zed"]
    assert "not found here" in said["windsurf"]


def test_a_folder_that_may_not_be_written_is_told() -> None:
    with folder_of_an_ordinary_user() as home:
        file = Path(config_file("cursor", this_platform(), str(home), {}))
        file.parent.mkdir()
        file.write_text("{}\n")
        with being_ordinary(home):
            file.parent.chmod(0o500)
            with pytest.raises(StorageFailed, match=r"cannot be written \(Permission denied\)\. Nothing was"):
                install.main(["cursor", "--vault", str(home / "notes")], standalone_mode=False)
        assert [path.read_text() for path in file.parent.iterdir()] == ["{}\n"]


def test_a_word_that_is_no_client_is_told_which_there_are(commands: Commands) -> None:
    done = commands.run("install", "emacs", command=COMMAND)
    assert done.returncode == 2
    assert all(client in done.stderr for client in CLIENTS)
