"""Every command's help, as a process."""

import pytest

from tests.doors.commands import Commands, example_of
from vault_mcp.doors.cli import COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_help_with_an_example_of_itself(commands: Commands, command: str) -> None:
    text = commands.good(command, "--help")
    assert text.startswith(f"Usage: vault-mcp {command}")
    assert example_of(text)[:2] == ["vault-mcp", command]


def test_help_lists_every_command_in_our_order(commands: Commands) -> None:
    listed = commands.good("--help").partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in listed if line.startswith("  ") and line[2] != " "] == list(COMMANDS)


def test_help_says_of_every_command_in_a_whole_sentence_what_it_does(commands: Commands) -> None:
    text = commands.good("--help")
    assert "..." not in text.partition("Commands:\n")[2]
    assert "To begin:\n    vault-mcp init ~/notes\n" in text


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("in", ["init", "install"]),
        ("install c", ["claude-desktop", "claude-code", "cursor", "codex"]),
        ("export --f", ["--format", "--force"]),
    ],
)
def test_a_shell_can_complete_commands_words_and_options(
    commands: Commands, typed: str, offered: list[str]
) -> None:
    words = f"vault-mcp {typed}"
    said = commands.good(
        _VAULT_MCP_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1)
    )
    assert [line.removeprefix("plain,") for line in said.splitlines()] == offered
