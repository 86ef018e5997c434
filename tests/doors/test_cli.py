"""The command line, as a process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doors.frames import ROOT, Server
from vault_mcp import __version__


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def run(home: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command with nothing on its standard input, so that a server ends at once."""
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(home), **env}
    return subprocess.run(
        [sys.executable, "-m", "vault_mcp", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        cwd="/",
        timeout=60,
        check=False,
    )


def test_help_names_the_commands_and_each_has_an_example(home: Path) -> None:
    general = run(home, "--help")
    assert general.returncode == 0
    assert "serve" in general.stdout
    serve = run(home, "serve", "--help")
    assert "Example: vault-mcp serve" in serve.stdout
    for flag in ("--vault", "--agent", "--tools", "--exclude-tools", "--read-only", "--no-watch"):
        assert flag in serve.stdout


def test_the_version_is_told(home: Path) -> None:
    assert run(home, "--version").stdout == f"vault-mcp, version {__version__}\n"


def test_a_command_that_is_none_is_refused(home: Path) -> None:
    wrong = run(home, "sevre")
    assert wrong.returncode == 2
    assert "No such command 'sevre'" in wrong.stderr


@pytest.mark.parametrize("folder", ["/", "~"])
def test_a_folder_that_cannot_be_a_vault_is_refused_in_one_sentence(home: Path, folder: str) -> None:
    refused = run(home, "--vault", folder)
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert refused.stderr.startswith("vault-mcp: ")
    assert "cannot be a vault" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert list(home.iterdir()) == []


def test_a_tool_that_is_none_is_refused_before_anything_is_served(home: Path) -> None:
    refused = run(home, "serve", "--tools", "grahp")
    assert refused.returncode == 2
    assert "There is no tool or family 'grahp'." in refused.stderr
    assert list(home.iterdir()) == []


def test_what_is_not_understood_is_told_on_standard_error_and_the_server_serves(home: Path) -> None:
    served = run(home, MEMORY_FILE_PATH="/m.jsonl")
    assert served.returncode == 0
    assert served.stdout == ""
    assert "MEMORY_FILE_PATH is not used here." in served.stderr


def test_without_a_command_the_vault_in_the_home_is_made_and_served(home: Path) -> None:
    with Server([sys.executable, "-m", "vault_mcp"], env={"HOME": str(home)}) as server:
        server.greet(name="someone")
        names = [tool["name"] for tool in server.ask("tools/list")["result"]["tools"]]
        assert "create_entities" in names
        assert json.loads(server.text("read_graph"))["entities"] == []
        assert (home / "memory-vault" / ".git").is_dir()
        assert list(home.iterdir()) == [home / "memory-vault"]
        server.close_input()
        assert server.ended() == 0


def test_a_person_at_a_terminal_is_told_what_it_waits_for(home: Path) -> None:
    keyboard, terminal = os.openpty()
    command = [sys.executable, "-m", "vault_mcp"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(home)}
    with subprocess.Popen(
        command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        os.close(terminal)
        assert process.stderr is not None
        assert "waiting for an MCP client" in process.stderr.readline()
        os.write(keyboard, b"\x04")
        assert process.communicate(timeout=30)[0] == ""
        assert process.returncode == 0
    os.close(keyboard)


def test_read_only_and_picked_tools_are_all_that_is_offered(home: Path) -> None:
    command = [sys.executable, "-m", "vault_mcp", "serve", "--read-only", "--tools", "graph"]
    with Server(command, env={"HOME": str(home)}) as server:
        server.greet()
        tools = server.ask("tools/list")["result"]["tools"]
        assert tools
        assert all(tool["annotations"]["readOnlyHint"] for tool in tools)
        assert "no tool named 'create_entities'" in server.error("create_entities", entities=[])
