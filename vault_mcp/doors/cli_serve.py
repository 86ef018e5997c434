"""`vault-mcp serve`: the vault over MCP."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from vault_mcp.doors.address import DEFAULT_HOST, DEFAULT_PORT, read_address
from vault_mcp.doors.mcp_wire import Wire, end_at_signals
from vault_mcp.doors.settings import Settings, gather, refuse_no_folder
from vault_mcp.doors.tokens import Token, Tokens
from vault_mcp.errors import BadArgument
from vault_mcp.tools.catalog import PROFILES, Catalog

if TYPE_CHECKING:
    from vault_mcp.doors.opening import Opened

Hear = Callable[[], None]


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
@click.option("--every", metavar="TIME", help="Sync with the branch's remote so often, as 5m or 1h.")
@click.option(
    "--sync", type=click.Choice(["off", "on-change"]), help="Sync after each change, once it is quiet."
)
@click.option("--embeddings", type=click.Choice(["on", "off"]), help="Recall by meaning too (default on).")
@click.option("--embedding-url", metavar="URL", help="An OpenAI-compatible endpoint of this machine.")
@click.option("--embedding-model", metavar="NAME", help="The model that the endpoint is to use.")
@click.option(
    "--http",
    is_flag=False,
    flag_value="",
    metavar="[HOST:PORT]",
    help=f"Serve many clients over HTTP, at {DEFAULT_HOST}:{DEFAULT_PORT} unless said otherwise.",
)
@click.option("--allow-hosts", metavar="LIST", help="Host names by which others find it, as behind a proxy.")
@click.option("--require-token", is_flag=True, default=None, help="Ask programs of this machine too.")
def serve(**flags: object) -> None:
    """Serve a vault over standard input and output, or over HTTP.

    The folder is made at first use. Everything but the protocol itself is said on standard error. Over HTTP
    whoever can reach more than this machine's own addresses needs a token: see `vault-mcp token`.
    """
    settings = gather(flags, os.environ)
    for complaint in settings.complaints:
        print(f"vault-mcp: {complaint}", file=sys.stderr)
    _refuse_unknown_tools(settings)
    refuse_no_folder(settings)
    tokens = Tokens(settings.vault, os.environ)
    own = _own_token(settings, tokens)

    def load() -> Catalog:
        return load_catalog(settings)

    def open_with(hear: Hear) -> Opened:
        return open_vault(settings, hear)

    if settings.http:
        serve_vault_over_http(load, open_with, settings, tokens)
        return
    if sys.stdin is not None and sys.stdin.isatty():
        print("vault-mcp: waiting for an MCP client on standard input; end it with Ctrl-D.", file=sys.stderr)
    serve_vault(load, open_with, agent=settings.agent, reserved=tokens, own=own)


def serve_vault(
    load: Callable[[], Catalog],
    open_with: Callable[[Hear], Opened],
    *,
    agent: str = "",
    reserved: Tokens | None = None,
    own: Token | None = None,
) -> None:
    """Serve any catalog on any vault over the standard streams, until the client leaves.

    Args:
        load: gives the catalog; called behind the client's first reply.
        open_with: opens the vault, given what is to hear of every change; called behind the first reply too.
        agent: the name for every call; "" takes the client's own.
        reserved: the tokens whose names nobody may take without them.
        own: the client's token, where it has one.
    """
    end_at_signals()
    wire = Wire.take()
    _log_to_standard_error()
    # The SDK makes some hundred thousand objects while it is imported, none of them garbage: not looking
    # for any spares a tenth of the start, and freezing them spares every later collection.
    gc.disable()
    from vault_mcp.doors.mcp_callers import Callers  # noqa: PLC0415 (after the wire is taken: see mcp_wire)
    from vault_mcp.doors.mcp_live import Live  # noqa: PLC0415
    from vault_mcp.doors.mcp_server import VaultServer  # noqa: PLC0415
    from vault_mcp.doors.mcp_stdio import serve_stdio  # noqa: PLC0415
    from vault_mcp.doors.opening import Opening  # noqa: PLC0415

    live = Live()
    callers = Callers(agent, reserved=reserved, own=own)
    server = VaultServer(Opening(load, lambda: open_with(live.hear)), live, callers)
    gc.freeze()
    gc.enable()
    serve_stdio(server, wire)


def serve_vault_over_http(
    load: Callable[[], Catalog], open_with: Callable[[Hear], Opened], settings: Settings, tokens: Tokens
) -> None:
    """Serve any catalog on any vault over HTTP, until the process is told to end.

    Args:
        load: gives the catalog.
        open_with: opens the vault, given what is to hear of every change.
        settings: where to listen, and whom to let in.
        tokens: the tokens of the vault.
    """
    end_at_signals()
    _log_to_standard_error()
    gc.disable()  # as above
    # A second of imports that a server on the standard streams does without.
    from vault_mcp.doors.mcp_callers import Callers  # noqa: PLC0415
    from vault_mcp.doors.mcp_http import serve_http, take_place  # noqa: PLC0415
    from vault_mcp.doors.mcp_live import Live  # noqa: PLC0415
    from vault_mcp.doors.mcp_server import VaultServer  # noqa: PLC0415
    from vault_mcp.doors.opening import Opening  # noqa: PLC0415

    address = read_address(settings.http)
    assert address is not None  # the settings hold none that cannot be read
    place = take_place(address, settings.allow_hosts, tokens, require_token=settings.require_token)
    live = Live()
    callers = Callers(settings.agent, reserved=tokens, token_only=place.token_only)
    server = VaultServer(Opening(load, lambda: open_with(live.hear)), live, callers)
    gc.freeze()
    gc.enable()
    who = "each with its token" if place.token_only else "of this machine"
    said = f"vault-mcp: serving {settings.vault} to clients {who} at %s"
    serve_http(server, place, tokens, lambda url: print(said % url, file=sys.stderr, flush=True))


def load_catalog(settings: Settings) -> Catalog:
    """Give the part of the catalog that is to be offered."""
    from vault_mcp.tools.families import whole_catalog  # noqa: PLC0415 (behind the first reply)

    whole = whole_catalog()
    return whole.pick(settings.tools, settings.exclude_tools, read_only=settings.read_only)


def open_vault(settings: Settings, hear: Hear) -> Opened:
    """Open the vault, making it at first use."""
    from vault_mcp.adopt import adopt, is_vault  # noqa: PLC0415 (behind the first reply)
    from vault_mcp.doors.cli_vault import options_of  # noqa: PLC0415
    from vault_mcp.vault import Vault  # noqa: PLC0415

    if not is_vault(settings.vault):
        adopt(settings.vault, trusted=settings.trusted)
    vault = Vault.open(settings.vault, options_of(settings))
    vault.listeners.append(hear)
    if settings.watch:
        vault.watch()
    if (settings.every or settings.sync == "on-change") and not settings.read_only:
        from vault_mcp.doors.clients import driver_command  # noqa: PLC0415 (only where it is asked for)
        from vault_mcp.syncing import Syncing  # noqa: PLC0415

        on_change = settings.sync == "on-change"
        vault.run_beside(Syncing(vault, every=settings.every, on_change=on_change, driver=driver_command()))
    return vault


def _own_token(settings: Settings, tokens: Tokens) -> Token | None:
    """Give the token that the client of the standard streams was configured with.

    Raises:
        BadArgument: it does not hold for this vault.
    """
    if not settings.token:
        return None
    if settings.http:
        print("vault-mcp: VAULT_MCP_TOKEN is left out: over HTTP each client sends its own.", file=sys.stderr)
        return None
    own = tokens.verified(settings.token)
    if own is None:
        raise BadArgument(
            "VAULT_MCP_TOKEN is no token of this vault. Make one with: vault-mcp token add NAME"
        )
    return own


def _log_to_standard_error() -> None:
    logging.basicConfig(level=logging.WARNING, format="vault-mcp: %(message)s", stream=sys.stderr)


def _refuse_unknown_tools(settings: Settings) -> None:
    """Stop at a word that names nothing, while whoever wrote it is there to see."""
    if not {*settings.tools, *settings.exclude_tools} <= set(PROFILES):
        load_catalog(settings)
