"""`vault-mcp serve`: the vault over MCP."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from vault_mcp.doors.mcp_wire import Wire, end_at_signals
from vault_mcp.doors.settings import Settings, gather
from vault_mcp.tools.catalog import PROFILES, Catalog

if TYPE_CHECKING:
    from vault_mcp.doors.opening import Opened

Notify = Callable[[Iterable[str]], None]

GRAPH_RESOURCES = ("memory://knowledge-graph", "memory://taxonomy")
"""The resources that may have changed whenever a note has."""


@click.command(epilog="Example: vault-mcp serve --vault ~/notes --tools core")
@click.option("--vault", metavar="DIR", help="The vault's folder. Else VAULT_MCP_DIR, else ~/memory-vault.")
@click.option("--agent", metavar="NAME", help="Name for stamps and commits. Else the client's own name.")
@click.option("--tools", metavar="LIST", help=f"What to offer: {', '.join(PROFILES)}, or names of tools.")
@click.option("--exclude-tools", metavar="LIST", help="What to leave out; wins over --tools.")
@click.option("--read-only", is_flag=True, default=None, help="Offer only tools that change nothing.")
@click.option("--no-watch", "watch", flag_value=False, default=None, help="Do not notice edits made by hand.")
@click.option(
    "--graph-observations",
    type=click.Choice(["objects", "strings"]),
    help="Observations as records with stamps (default), or as bare strings.",
)
@click.option("--embeddings", type=click.Choice(["on", "off"]), help="Recall by meaning too (default on).")
@click.option("--embedding-url", metavar="URL", help="An OpenAI-compatible endpoint of this machine.")
@click.option("--embedding-model", metavar="NAME", help="The model that the endpoint is to use.")
def serve(**flags: object) -> None:
    """Serve a vault over standard input and output.

    The folder is made at first use. Everything but the protocol itself is said on standard error.
    """
    settings = gather(flags, os.environ)
    for complaint in settings.complaints:
        print(f"vault-mcp: {complaint}", file=sys.stderr)
    _refuse_unknown_tools(settings)
    if sys.stdin is not None and sys.stdin.isatty():
        print("vault-mcp: waiting for an MCP client on standard input; end it with Ctrl-D.", file=sys.stderr)
    serve_vault(
        lambda: load_catalog(settings), lambda notify: open_vault(settings, notify), agent=settings.agent
    )


def serve_vault(
    load: Callable[[], Catalog], open_with: Callable[[Notify], Opened], *, agent: str = ""
) -> None:
    """Serve any catalog on any vault over the standard streams, until the client leaves.

    Args:
        load: gives the catalog; called behind the client's first reply.
        open_with: opens the vault, given how to tell of changed resources; called behind the first reply too.
        agent: the name for every call; "" takes the client's own.
    """
    end_at_signals()
    wire = Wire.take()
    logging.basicConfig(level=logging.WARNING, format="vault-mcp: %(message)s", stream=sys.stderr)
    # The SDK makes some hundred thousand objects while it is imported, none of them garbage: not looking
    # for any spares a tenth of the start, and freezing them spares every later collection.
    gc.disable()
    from vault_mcp.doors.mcp_live import Live  # noqa: PLC0415 (after the wire is taken: see mcp_wire)
    from vault_mcp.doors.mcp_server import VaultServer  # noqa: PLC0415
    from vault_mcp.doors.mcp_stdio import serve_stdio  # noqa: PLC0415
    from vault_mcp.doors.opening import Opening  # noqa: PLC0415

    live = Live()
    server = VaultServer(Opening(load, lambda: open_with(live.notify)), live, agent=agent)
    gc.freeze()
    gc.enable()
    serve_stdio(server, wire)


def load_catalog(settings: Settings) -> Catalog:
    """Give the part of the catalog that is to be offered."""
    from vault_mcp.tools.families import whole_catalog  # noqa: PLC0415 (behind the first reply)

    whole = whole_catalog()
    return whole.pick(settings.tools, settings.exclude_tools, read_only=settings.read_only)


def open_vault(settings: Settings, notify: Notify) -> Opened:
    """Open the vault, making it at first use."""
    from vault_mcp.adopt import adopt, is_vault  # noqa: PLC0415 (behind the first reply)
    from vault_mcp.doors.cli_vault import options_of  # noqa: PLC0415
    from vault_mcp.vault import Vault  # noqa: PLC0415

    if not is_vault(settings.vault):
        adopt(settings.vault, trusted=settings.trusted)
    vault = Vault.open(settings.vault, options_of(settings))
    vault.listeners.append(lambda receipt: notify(GRAPH_RESOURCES))
    if settings.watch:
        vault.watch()
    return vault


def _refuse_unknown_tools(settings: Settings) -> None:
    """Stop at a word that names nothing, while whoever wrote it is there to see."""
    if not {*settings.tools, *settings.exclude_tools} <= set(PROFILES):
        load_catalog(settings)
