"""`vault-mcp token`: keys for the agents that come over HTTP, each with its own name."""

import json
import os

import click

from vault_mcp.doors.cli_vault import json_option, settings_of, vault_option
from vault_mcp.doors.tokens import KINDS, SCOPES, Tokens
from vault_mcp.errors import NotFound


@click.group(epilog="Example: vault-mcp token add claude-laptop --scope read --scope write:memories")
def token() -> None:
    """Give agents tokens: a name that is theirs alone, and what they may do.

    A token's name is what stands in stamps and commits; nobody can take that name without the token. Only a
    hash of it is kept, in your settings folder, outside the vault. It holds for one vault at its path.
    """


@token.command(epilog="Example: vault-mcp token add claude-laptop --scope read")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    metavar="SCOPE",
    help=f"What it allows, again for more: {', '.join(SCOPES)}. Else everything.",
)
@vault_option
@json_option
def add(name: str, scopes: tuple[str, ...], vault: str | None, as_json: bool) -> None:
    """Make a token for an agent and print it, once.

    To write includes to read what is written. A server that is running takes the token at once.
    """
    root = settings_of(vault=vault).vault
    if not os.path.isdir(root):
        raise NotFound(f"There is no folder {root}, so no vault. Make one first with: vault-mcp init {root}")
    secret = _tokens(vault).add(name, scopes or KINDS)
    if as_json:
        click.echo(json.dumps({"name": name, "scopes": sorted(set(scopes or KINDS)), "token": secret}))
        return
    click.echo(secret)
    click.echo(f"Give this to {name} alone; it is not shown again.", err=True)


@token.command("list", epilog="Example: vault-mcp token list")
@vault_option
@json_option
def list_(vault: str | None, as_json: bool) -> None:
    """List whose tokens there are, what they allow and when they were made."""
    rows = [
        {"name": found.name, "scopes": sorted(found.scopes), "created": found.created}
        for found in _tokens(vault).listed()
    ]
    if as_json:
        click.echo(json.dumps({"tokens": rows}))
        return
    for row in rows:
        click.echo(f"{row['name']:<24} {', '.join(row['scopes']):<24} {row['created']}")
    if not rows:
        click.echo("This vault has no token.", err=True)


@token.command(epilog="Example: vault-mcp token remove claude-laptop")
@click.argument("name")
@vault_option
def remove(name: str, vault: str | None) -> None:
    """Take a token away; a running server refuses it from the next request on."""
    if not _tokens(vault).remove(name):
        raise NotFound(f"This vault has no token named {name!r}. See: vault-mcp token list")
    click.echo(f"The token of {name} is gone.")


def _tokens(vault: str | None) -> Tokens:
    return Tokens(settings_of(vault=vault).vault, os.environ)
