"""`vault-mcp ui`: the vault as a local page in the browser."""

from __future__ import annotations

import logging
import os
import signal
import sys
import webbrowser
from types import FrameType

import click

from vault_mcp.doors.cli_history import owner
from vault_mcp.doors.cli_vault import options_of, settings_of, vault_option
from vault_mcp.vault import Vault


@click.command(epilog="Example: vault-mcp ui --vault ~/notes")
@vault_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port; any free one unless set.")
@click.option("--no-open", "open_browser", flag_value=False, default=True, help="Only print the address.")
@click.option("--read-only", is_flag=True, default=None, help="Nothing can be undone on the page.")
def ui(vault: str | None, port: int, open_browser: bool, read_only: bool | None) -> None:
    """Open the memory as a page in your browser: timeline, notes, search, graph, any day of the past.

    The page is served to this machine alone. The address that is printed opens it once; keep the program
    running while you look, and end it with Ctrl-C.
    """
    # Half a second to import, which no other command needs.
    from vault_mcp.doors.page_answers import Answers  # noqa: PLC0415
    from vault_mcp.doors.page_server import make_page  # noqa: PLC0415

    logging.basicConfig(level=logging.WARNING, format="vault-mcp: %(message)s", stream=sys.stderr)
    settings = settings_of(vault=vault, read_only=read_only)
    opened = Vault.open(settings.vault, options_of(settings))
    try:
        opened.watch()
        page = make_page(Answers(opened, owner(opened), read_only=settings.read_only), port)
        click.echo(f"The page is at {page.url}")
        click.echo("The address works once, on this machine. End with Ctrl-C.")
        sys.stdout.flush()
        if open_browser and _has_screen():
            webbrowser.open(page.url)
        signal.signal(signal.SIGTERM, _end)
        page.run()
    except KeyboardInterrupt:
        pass
    finally:
        opened.close()


def _end(number: int, frame: FrameType | None) -> None:
    """End as Ctrl-C does, so that the vault is let go of."""
    raise KeyboardInterrupt


def _has_screen() -> bool:
    """Say whether a window can open: without one, a text browser would take over the terminal."""
    return sys.platform in ("win32", "darwin") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
