"""The command `vault-mcp`: one group, its commands by family in the modules beside this one.

A command's module is imported when that command is called: `serve` must greet its client before anything it
does not need has been loaded.
"""

import importlib
import keyword
import sys
from collections.abc import Mapping

import click

from vault_mcp import __version__
from vault_mcp.doors.cli_terminal import careful, for_shell
from vault_mcp.errors import VaultError

COMMANDS: Mapping[str, str] = {
    "serve": "cli_serve",
    "init": "cli_init",
    "install": "cli_install",
    "demo": "cli_demo",
    "ui": "cli_ui",
    "search": "cli_search",
    "import": "cli_exchange",
    "export": "cli_exchange",
    "log": "cli_history",
    "show": "cli_history",
    "diff": "cli_history",
    "blame": "cli_history",
    "restore": "cli_history",
    "undo": "cli_history",
    "sync": "cli_sync",
    "merge-driver": "cli_merge",
    "erase": "cli_erase",
    "doctor": "cli_doctor",
    "reindex": "cli_reindex",
    "trust": "cli_trust",
    "token": "cli_token",
}
"""Each command with the module that holds it, in the order in which help shows them.

There it is a function of the command's name; `import`, which no function can be called, is `import_`.
"""

DEFAULT = "serve"

LONGEST = 200
"""Letters of the sentence that help has for a command."""


class Commands(click.Group):
    """Commands that are imported when they are needed; without one, `serve` is meant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in our order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command and give the command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"vault_mcp.doors.{COMMANDS[cmd_name]}")
        name = cmd_name.replace("-", "_")
        command = getattr(module, f"{name}_" if keyword.iskeyword(name) else name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List every command with its whole first sentence."""
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            assert command is not None
            rows.append((name, command.get_short_help_str(limit=LONGEST)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put in the command that is meant when none is named."""
        named = args and (args[0] in COMMANDS or args[0] in ("--help", "--version"))
        # A bare word that is no command is left to click, which says so. What a shell asks about a line
        # that is being typed is no call.
        if not ctx.resilient_parsing and not named and (not args or args[0].startswith("-")):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


EPILOG = """\b
To begin:
  vault-mcp init ~/notes
  vault-mcp install claude-code --vault ~/notes
  vault-mcp doctor --vault ~/notes

The vault is what --vault names, else VAULT_MCP_DIR, else ~/memory-vault. Every command ends with 0 when all
was well, with 2 when it was refused, which is then said in one sentence on standard error, and with 1 as its
own help says."""


@click.command(cls=Commands, context_settings={"help_option_names": ["--help"]}, epilog=EPILOG)
@click.version_option(__version__, prog_name="vault-mcp")
def vault_mcp() -> None:
    """Memory that people and their AI agents share: Markdown notes in Git, served over MCP.

    Without a command, serves the vault over standard input and output, as `serve` does.
    """


def main() -> None:
    """Run the command line; what was foreseen is told in one sentence, with exit code 2."""
    sys.stdout = careful(sys.stdout)
    sys.stderr = careful(sys.stderr, draws=True)
    try:
        vault_mcp(prog_name="vault-mcp")
    except VaultError as error:
        print(f"vault-mcp: {for_shell(str(error))}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:  # what the disk says to a person at their own terminal, path and all
        print(f"vault-mcp: {error.strerror or error}: {error.filename or 'the disk'}", file=sys.stderr)
        sys.exit(2)
