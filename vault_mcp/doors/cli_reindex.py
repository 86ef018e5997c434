"""`vault-mcp reindex`: the index thrown away and made anew."""

import json
import time

import click

from vault_mcp.doors.cli_vault import json_option, opened, progress, settings_of, vault_option
from vault_mcp.storage import files
from vault_mcp.vault import Vault

LOOK_EVERY = 0.1
"""Seconds between two looks at how far it is."""


@click.command(epilog="Example: vault-mcp reindex --vault ~/notes")
@vault_option
@json_option
def reindex(vault: str | None, as_json: bool) -> None:
    """Make the index anew from the notes and their history.

    The index is derived: nothing is lost with it. A server that runs on the vault takes up the new one.
    """
    began = time.monotonic()
    with opened(settings_of(vault=vault), anew=True) as open_vault:
        _show_progress(open_vault)
        with open_vault.reading() as reader:
            totals = reader.totals()
        troubles = list(open_vault.troubles)
    seconds = round(time.monotonic() - began, 1)
    if as_json:
        told = {
            "files": totals.files,
            "entities": totals.entities,
            "observations": totals.observations,
            "relations": totals.relations,
            "seconds": seconds,
            "troubles": troubles,
        }
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        click.echo(
            f"{totals.files} files indexed in {seconds} s: {totals.entities} entities with "
            f"{totals.observations} observations and {totals.relations} relations."
        )
    if troubles:
        raise SystemExit(1)  # each was told on standard error as it came


def _show_progress(vault: Vault) -> None:
    total = sum(1 for _ in files.walk(vault.root, unreadable=[]))
    with progress("Notes  ", total) as show:
        while not vault.wait_until_compared(LOOK_EVERY):
            with vault.snapshot() as reader:
                show(reader.totals().files)
        show(total)
    behind = left = vault.commits_behind()
    with progress("History", behind) as show:
        while left and not vault.troubles:
            time.sleep(LOOK_EVERY)
            left = vault.commits_behind()
            show(behind - left)
