"""The vault that a command works on: found by the same settings as the server's, opened, and closed."""

import contextlib
import logging
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import click

from vault_mcp.adopt import adopt, is_vault
from vault_mcp.doors.settings import Settings, gather
from vault_mcp.vault import Options, Vault

INDEX_WAIT = 3600.0
"""Seconds that a command waits for a first index; it has nothing else to do."""

Command = TypeVar("Command", bound=Callable[..., Any])


def vault_option(command: Command) -> Command:
    """Give a command the option that names the vault."""
    return click.option(
        "--vault", metavar="DIR", help="The vault's folder. Else VAULT_MCP_DIR, else ~/memory-vault."
    )(command)


def json_option(command: Command) -> Command:
    """Give a command the option to answer a program."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for a program.")(
        command
    )


def settings_of(**flags: object) -> Settings:
    """Gather the settings and say on standard error what of them is not understood."""
    settings = gather(flags, os.environ)
    for complaint in settings.complaints:
        print(f"vault-mcp: {complaint}", file=sys.stderr)
    return settings


def options_of(settings: Settings) -> Options:
    """Give how a vault is to behave by these settings."""
    return Options(
        hand_edits=settings.hand_edits,
        rename_links=settings.rename_links,
        graph_observations=settings.graph_observations,
        protect_person=settings.protect_person,
        undo_others=settings.undo_others,
        embeddings=settings.embeddings,
        embedding_url=settings.embedding_url,
        embedding_model=settings.embedding_model,
        durability=settings.durability,
        trusted=settings.trusted,
    )


@contextlib.contextmanager
def progress(label: str, length: int) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how far something is; the block gets a function that takes how much is done."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield lambda done: bar.update(done - bar.pos)


@contextlib.contextmanager
def opened(
    settings: Settings, *, make: bool = False, anew: bool = False, follow: bool = True
) -> Iterator[Vault]:
    """Open the vault for one command.

    Args:
        settings: as gathered.
        make: make it first where there is none.
        anew: throw its index away first.
        follow: take in what was edited by hand, as a server does at its start.

    Raises:
        RepositoryRefused: there is no vault, or one that cannot be opened.
    """
    logging.basicConfig(level=logging.WARNING, format="vault-mcp: %(message)s", stream=sys.stderr)
    if make and not is_vault(settings.vault):
        adopt(settings.vault, trusted=settings.trusted)
        print(f"vault-mcp: made a new vault in {settings.vault}", file=sys.stderr)
    # Vectors are what a server makes in the background; a command is over before they would be of use.
    options = replace(options_of(settings), index_wait=INDEX_WAIT, embeddings="off")
    vault = Vault.open(settings.vault, options, anew=anew, follow=follow)
    try:
        if follow and not anew:
            vault.wait_until_compared(INDEX_WAIT)
        yield vault
    finally:
        vault.close()
