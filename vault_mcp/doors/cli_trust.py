"""`vault-mcp trust`: whose repository may run the programs that it names."""

import os

import click

from vault_mcp.doors.settings import vault_folder
from vault_mcp.doors.trusted import distrust, trusted_vaults
from vault_mcp.doors.trusted import trust as put_on_list
from vault_mcp.errors import BadArgument
from vault_mcp.storage.git.config import ConfigFiles
from vault_mcp.storage.git.discovery import find_repository
from vault_mcp.storage.git.environment import GitProgram


@click.command(epilog="Example: vault-mcp trust ~/notes")
@click.argument("folder", metavar="DIR", required=False)
@click.option("--remove", is_flag=True, help="Trust it no longer.")
@click.option("--list", "listed", is_flag=True, help="Show which vaults are trusted.")
def trust(folder: str | None, remove: bool, listed: bool) -> None:
    """Allow a vault to run the programs that its own Git configuration names.

    Those are filters, signing, ssh and credential programs and the like; hooks never run. What your own
    global Git configuration names needs no trust. The list is kept in your settings folder, outside every
    vault, and goes by the folder's path. A server that is running asks it at its next start.
    """
    if listed:
        for path in trusted_vaults(os.environ):
            click.echo(path)
        return
    if folder is None:
        raise BadArgument("Which vault? Name its folder: vault-mcp trust DIR, or see --list.")
    root = vault_folder(folder)
    if remove:
        was = distrust(root, os.environ)
        click.echo(f"{root} {'is trusted no longer' if was else 'was not trusted'}.")
        return
    programs = programs_named_in(root)
    was_news = put_on_list(root, os.environ)
    click.echo(f"{root} {'is trusted now' if was_news else 'is trusted already'}.")
    for key, value in programs:
        click.echo(f"  may run  {key} = {value}")
    if not programs:
        click.echo("  Its configuration names no program so far.")


def programs_named_in(root: str) -> list[tuple[str, str]]:
    """Give the programs that a repository's own configuration names, as (key, value).

    Raises:
        RepositoryRefused: the folder is not a repository of its own.
    """
    git_dir, common_dir = find_repository(root)
    found = ConfigFiles(GitProgram(root), git_dir, common_dir)
    found.look()
    return [(key, found.config.text(key, own=True)) for key, _ in found.config.own_programs()]
