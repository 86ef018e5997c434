"""`vault-mcp init`: a folder made a vault, and what to do next."""

import json
import os
from collections.abc import Iterator

import click

from vault_mcp.adopt import Adopted, adopt
from vault_mcp.doors.cli_vault import json_option, opened, settings_of
from vault_mcp.doors.clients import CLIENTS, driver_command, own_command, serve_arguments
from vault_mcp.doors.obsidian import TABLE, lay_down, sample_file
from vault_mcp.doors.sample import sample_vault
from vault_mcp.doors.settings import Settings
from vault_mcp.storage.git.repository import NOBODY
from vault_mcp.storage.paths import shown


@click.command(epilog="Example: vault-mcp init ~/notes")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--obsidian", is_flag=True, help="Add a table of entities and a style that hides stamps.")
@json_option
def init(folder: str | None, obsidian: bool, as_json: bool) -> None:
    """Make a folder a vault: an empty or missing one, or the notes you have.

    A folder of notes is adopted as it is. It gets a Git repository of its own if it has none, its files go
    into a first commit marked as an import, and a few lines are added to .gitignore and .gitattributes.
    Nothing else is touched. DIR is VAULT_MCP_DIR when it is not given, else ~/memory-vault.

    With --obsidian, also Memory.base (a table of what the vault knows), and in .obsidian a style that hides
    the stamps and the settings by which links follow a renamed note. What is there already stays.
    """
    settings = settings_of(vault=folder)
    done = adopt(settings.vault, trusted=settings.trusted, nested=True, driver=driver_command())
    extras = list(_extras(settings)) if obsidian else []
    if as_json:
        record = {**_record(settings.vault, done), "obsidian": extras}
        click.echo(json.dumps(record, ensure_ascii=False, indent=2))
        return
    did = [*_did(settings.vault, done), *(f"  {line}" for line in extras)]
    for line in (*did, "", *_next(settings.vault, done, offer=not obsidian)):
        click.echo(line)


def client_config(root: str) -> dict[str, object]:
    """Give the entry that a client's configuration needs to start a server on this vault."""
    command, *arguments = [*own_command(), *serve_arguments(root)]
    server = {"command": command, "args": arguments}
    return {"mcpServers": {"vault": server}}


def _extras(settings: Settings) -> Iterator[str]:
    """Lay down what Obsidian shows; the table is a file of the vault, and a commit in the person's name."""
    sample = sample_vault()
    with opened(settings) as vault:
        with vault.change("init", by=vault.person.name, subject=TABLE, person=True) as change:
            fresh = change.read_bytes(TABLE) is None
            if fresh:
                change.write(TABLE, sample_file(sample, TABLE))
        if fresh:
            commit = (change.receipt.commit or "")[:7]
            yield f"added {TABLE}: a table of what the vault knows (commit {commit})"
    yield from lay_down(settings.vault, sample)


def _record(root: str, done: Adopted) -> dict[str, object]:
    return {
        "vault": root,
        "made_repository": done.made_repository,
        "added": done.added,
        "commit": done.commit,
        "files": done.files,
        "left_out": [shown(path) for path in done.left_out],
        "around": done.around,
        "driver": done.driver,
        "client": client_config(root),
    }


def _did(root: str, done: Adopted) -> list[str]:
    if done.commit is None:
        merges = " but that Git merges notes by facts in this clone now" if done.driver else ""
        return [f"{root} is a vault already. Nothing was changed{merges}."]
    lines = [f"{root} is a vault now."]
    if done.made_repository:
        lines.append("  made a Git repository of its own")
    for name, added in done.added.items():
        lines.append(f"  added to {name}: {', '.join(added)}")
    if done.driver:
        lines.append("  told Git to merge notes by facts in this clone (merge.vault.driver)")
    if done.files:
        lines.append(f"  took {_counted(done.files, 'file')} into its history (commit {done.commit[:7]})")
    for path in done.left_out:
        lines.append(f"  left out {shown(path)}: too large, not readable, or with a name that is not UTF-8")
    if done.around:
        lines.append(
            f"  It lies inside another repository, {done.around}. Keep it out of that one: "
            f"add the line {os.path.relpath(root, done.around)}/ to its .gitignore."
        )
    return lines


def _next(root: str, done: Adopted, *, offer: bool) -> list[str]:
    ours, there = " ".join(map(_quoted, own_command())), _quoted(root)
    config = json.dumps(client_config(root), ensure_ascii=False, indent=2).splitlines()
    lines = [
        "Next",
        f"  Put it into your client's settings: {ours} install CLIENT --vault {there}",
        f"  (CLIENT is one of {', '.join(CLIENTS)})",
        "  or do it by hand. Most clients read a file of this form:",
        *(f"    {line}" for line in config),
        "  Open the folder in Obsidian, or in any editor, and write: your edits become commits in your name.",
    ]
    if done.person == NOBODY:
        lines.append(
            f"  Git knows no name of yours, so they bear the name {NOBODY!r} until you give it one: "
            'git config --global user.name "Your Name"'
        )
    if offer:
        lines.append(f"  A table of entities and a style that hides stamps: {ours} init {there} --obsidian")
    return [*lines, f"  Bring in a memory that you have elsewhere: {ours} import FILE --vault {there}"]


def _quoted(path: str) -> str:
    return f'"{path}"' if " " in path else path


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
