"""`vault-mcp demo`: the real thing on a copy of the sample vault, played as a short story."""

from __future__ import annotations

import os
import shutil
import tempfile
import time

import click

from vault_mcp.adopt import adopt
from vault_mcp.doors.cli_story import Story
from vault_mcp.doors.sample import sample_vault


@click.command(epilog="Example: vault-mcp demo --keep")
@click.option("--keep", is_flag=True, help="Keep the folder, to look around in it.")
def demo(keep: bool) -> None:
    """Show everything at work, on a copy of a small vault: two agents, one person, one memory.

    Real servers run on a temporary folder and real MCP clients talk to them. Each call is shown with the
    note it changed and the commit it made. The exit code is 0 when everything was as the story says.
    """
    began = time.monotonic()
    folder = tempfile.mkdtemp(prefix="vault-mcp-demo-")
    root = os.path.join(os.path.realpath(folder), "Lantern")
    try:
        shutil.copytree(sample_vault(), root)
        adopted = adopt(root)
        click.secho("A small workshop makes old tide books searchable. This is its memory:", bold=True)
        click.echo(f"  {root}\n  {adopted.files} files in a Git repository of their own")
        Story(root).play()
        click.echo(f"\nEverything was as it should be, in {time.monotonic() - began:.1f} s.")
    finally:
        if keep:
            click.echo(f"\nThe vault is kept. Open it in Obsidian, or look with git log:\n  {root}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
