"""Who is calling, and what they may do: by a token where there is one, else by what the client says."""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Protocol

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST, ListResourcesResult, ListResourceTemplatesResult

from vault_mcp.doors.tokens import Token
from vault_mcp.notes.line import clean_agent
from vault_mcp.tools.tool import Caller, Tool

UNVERIFIED = " (no token)"
"""Stands behind a name that belongs to somebody else's token."""

TOKEN_IN_SCOPE = "vault_mcp.token"
"""Where the HTTP door leaves the token of a request for us."""

READS_ANYTHING = ("resources/", "completion/", "subscriptions/listen")
"""Requests that may show any part of the vault, whatever family it belongs to."""

EMPTY = {
    "resources/list": ListResourcesResult(resources=[]),
    "resources/templates/list": ListResourceTemplatesResult(resource_templates=[]),
}

_asking: ContextVar[Token | None] = ContextVar("asking", default=None)


class Reserved(Protocol):
    """Tells names that belong to tokens from others."""

    def is_reserved(self, name: str) -> bool:
        """Say whether a name belongs to a token."""


class Callers:
    """Tells who makes a call and whether they may.

    Args:
        agent: the name this server was started with, which wins over the client's own; "" for none.
        reserved: the names that nobody may take without their token.
        own: the token this server was started with, where the client has no way to send one.
        token_only: a request without a token may do nothing at all.
    """

    def __init__(
        self,
        agent: str = "",
        *,
        reserved: Reserved | None = None,
        own: Token | None = None,
        token_only: bool = False,
    ) -> None:
        self._agent = agent
        self._reserved = reserved
        self._own = own
        self._token_only = token_only

    def caller_of(self, context: Context[Any, Any] | None) -> Caller:
        """Name the caller of a request.

        A client's name is what it says of itself: in the handshake, or beside each request since 2026-07-28.
        One that belongs to a token is not believed without it.
        """
        token = self._token(context.request_context if context else None)
        if token is not None:
            return Caller(agent=token.name)
        name = clean_agent(self._agent or _client_name(context))
        if self._reserved is not None and self._reserved.is_reserved(name):
            name = clean_agent(name[: 100 - len(UNVERIFIED)] + UNVERIFIED)
        return Caller(agent=name)

    def may_call(self, tool: Tool) -> bool:
        """Say whether whoever asks may call a tool, or see that it is there."""
        token = _asking.get() or self._own
        if token is None:
            return not self._token_only
        return token.allows(tool.family, writes=not tool.hints.read_only)

    def refusal(self, tool: Tool) -> str:
        """Say in a sentence or two why a tool may not be called."""
        token = _asking.get() or self._own
        allowed = ", ".join(sorted(token.scopes)) if token else "nothing"
        kind = "read" if tool.hints.read_only else "write"
        return (
            f"This token does not allow {tool.name}: it allows {allowed}. "
            f"The vault's owner can give out one with the scope {kind}:{tool.family}."
        )

    async def mind(self, ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
        """Stand before every message: see whose it is, and stop what they may not ask for.

        Raises:
            MCPError: there is no token where one is needed, or it does not allow this.
        """
        token = self._token(ctx)
        _asking.set(token)
        if token is None:
            if self._token_only:
                raise MCPError(
                    code=INVALID_REQUEST, message="This server answers no request without a token."
                )
        elif ctx.method.startswith(READS_ANYTHING) and not token.reads_all:
            if ctx.method in EMPTY:
                return EMPTY[ctx.method]
            raise MCPError(
                code=INVALID_REQUEST,
                message=f"The token of {token.name} does not show the whole vault, as this would.",
            )
        return await call_next(ctx)

    def _token(self, context: ServerRequestContext[Any] | None) -> Token | None:
        request = context.request if context else None
        scope = getattr(request, "scope", None)
        found = scope.get(TOKEN_IN_SCOPE) if isinstance(scope, Mapping) else None
        return found if isinstance(found, Token) else self._own


def _client_name(context: Context[Any, Any] | None) -> str:
    if context is None:
        return ""
    client = context.request_context.session.client_params
    return client.client_info.name if client else ""
