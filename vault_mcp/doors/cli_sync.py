"""`vault-mcp sync`: the vault brought in step with another machine's, over any Git remote."""

import json
import os

import click

from vault_mcp.doors.cli_vault import json_option, opened, settings_of, vault_option
from vault_mcp.doors.clients import driver_command
from vault_mcp.storage.paths import shown
from vault_mcp.sync import Synced
from vault_mcp.sync import sync as bring_in_step


@click.command(epilog="Example: vault-mcp sync git@example.org:notes.git --vault ~/notes")
@click.argument("remote", required=False, default="", metavar="[REMOTE]")
@vault_option
@json_option
def sync(remote: str, vault: str | None, as_json: bool) -> None:
    """Fetch what another machine wrote, merge it fact by fact, and push what was written here.

    REMOTE is a remote's name, an address (ssh, https) or the folder of a bare repository; without it, the
    remote that the branch follows. What only you can decide stops nothing: the note stays as it is here, and
    the other version is kept in a conflict note beside it. A remote that cannot be reached is no error: sync
    again later.
    """
    folder = os.path.abspath(os.path.expanduser(remote))
    if remote and not remote.startswith("-") and os.path.isdir(folder):
        remote = folder
    with opened(settings_of(vault=vault)) as open_vault:
        done = bring_in_step(open_vault, remote, driver=driver_command())
    if as_json:
        click.echo(json.dumps(_record(done), ensure_ascii=False, indent=2))
        return
    for line in _said(done):
        click.echo(line)


def _record(done: Synced) -> dict[str, object]:
    return {
        "remote": done.remote,
        "branch": done.branch,
        "state": done.state,
        "received": done.received,
        "sent": done.sent,
        "commit": done.commit,
        "both_changed": [{"path": shown(t.path), "what": t.what, "text": t.text} for t in done.told],
        "conflicts": [shown(path) for path in done.conflicts],
        "why": done.why,
    }


def _said(done: Synced) -> list[str]:
    if done.state == "offline":
        lines = [f"{done.remote} cannot be reached now ({done.why}). Nothing is lost: sync again later."]
    elif not done.received and not done.sent:
        lines = [f"In step with {done.remote}; there was nothing to do."]
    else:
        lines = [f"In step with {done.remote}: {_changes(done.received)} came, {_changes(done.sent)} went."]
    lines += [f"  {told.text}" for told in done.told]
    if done.conflicts:
        lines.append("Look at the conflict notes, take over what is missing, then delete them.")
    return lines


def _changes(count: int) -> str:
    return f"{count} change{'' if count == 1 else 's'}"
