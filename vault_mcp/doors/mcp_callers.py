"""Who is calling, as far as it is told."""

from typing import Any

from mcp.server.mcpserver import Context

from vault_mcp.notes.line import clean_agent
from vault_mcp.tools.tool import Caller


def caller_of(context: Context[Any, Any] | None, agent: str) -> Caller:
    """Name the caller of a request.

    Args:
        context: the request, where there is one.
        agent: the name this server was started with, which wins over the client's own; "" for none.

    A client's name is what it says of itself: in the handshake, or beside each request since 2026-07-28.
    """
    return Caller(agent=clean_agent(agent or _client_name(context)))


def _client_name(context: Context[Any, Any] | None) -> str:
    if context is None:
        return ""
    client = context.request_context.session.client_params
    return client.client_info.name if client else ""
