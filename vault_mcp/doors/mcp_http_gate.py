"""What a request over HTTP must pass before the protocol sees it, and how many are inside.

In this order: the server is not about to end; Host and Origin are ours; the path is one of ours; the token,
where one is sent or needed, holds. All of it before a byte of the body is read. Nothing here knows tools.
"""

import logging
from collections.abc import Callable, Mapping

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp.shared.inbound import MCP_METHOD_HEADER
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vault_mcp.doors.mcp_callers import TOKEN_IN_SCOPE
from vault_mcp.doors.tokens import Token, Tokens

logger = logging.getLogger(__name__)

PATH = "/mcp"
HEALTH = "/health"
ENDLESS = "subscriptions/listen"
"""The one request that lasts as long as its client, beside a GET; the end does not wait for it."""

TOKEN_AGAIN = 5.0
"""Seconds after which the token of an endless answer is looked up again."""


class Gate:
    """The ASGI application that stands before the protocol's own.

    Args:
        app: the protocol's application.
        tokens: the tokens of the vault.
        hosts: what may stand in a Host header, each with a port, without one, or as `name:*`.
        token_only: let nothing in without a token.
        state: tells how far the vault is, "open" when it can be used.
    """

    def __init__(
        self, app: ASGIApp, tokens: Tokens, hosts: list[str], *, token_only: bool, state: Callable[[], str]
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._token_only = token_only
        self._state = state
        origins = [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
        self._security = TransportSecurityMiddleware(
            TransportSecuritySettings(
                enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=origins
            )
        )
        self._running = 0
        self._quiet = anyio.Event()
        self._endless: set[anyio.CancelScope] = set()
        self._closing = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            return
        answer = await self._answered(scope)
        if answer is not None:
            await answer(scope, receive, send)
        elif scope["method"] == "GET" or Headers(scope=scope).get(MCP_METHOD_HEADER) == ENDLESS:
            await self._last(scope, receive, send)
        else:
            await self._run(scope, receive, send)

    # -- the end

    def close(self) -> None:
        """Let nothing further in."""
        self._closing = True
        if not self._running:
            self._quiet.set()

    async def finished(self) -> None:
        """Wait until every request that will ever be answered has been; then end the endless ones."""
        await self._quiet.wait()
        for endless in list(self._endless):
            endless.cancel()

    # -- who is let in

    async def _answered(self, scope: Scope) -> Response | None:
        """Give the answer to a request that goes no further, else None."""
        refusal = await self._security.validate_request(Request(scope))
        if refusal is not None:
            return refusal
        path = scope["path"].rstrip("/")
        if path == HEALTH:
            return self._health(scope["method"])
        if path != PATH:
            return JSONResponse({"error": f"There is nothing here. MCP is spoken at {PATH}."}, 404)
        if self._closing:
            return JSONResponse({"error": "The server is stopping."}, 503, {"Retry-After": "2"})
        secret = _bearer(scope)
        if secret is None:
            return _no_token("This server needs a token.", "") if self._token_only else None
        token = self._tokens.verified(secret)
        if token is None:
            return _no_token("This token does not hold here.", ', error="invalid_token"')
        scope[TOKEN_IN_SCOPE] = token
        # What the SDK goes by, so that a session can be used only by who began it.
        scope["user"] = AuthenticatedUser(_as_the_sdk_has_it(token))
        return None

    def _health(self, method: str) -> Response:
        if method not in ("GET", "HEAD"):
            return Response(status_code=405, headers={"Allow": "GET, HEAD"})
        state = "stopping" if self._closing else self._state()
        return JSONResponse({"status": state}, 200 if state == "open" else 503, {"Cache-Control": "no-store"})

    # -- who is inside

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._running += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._running -= 1
            if self._closing and not self._running:
                self._quiet.set()

    async def _last(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve what ends with its client, with its token, or with us."""
        began = ended = False

        async def sending(message: Message) -> None:
            nonlocal began, ended
            began = True
            ended = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        async with anyio.create_task_group() as tasks:
            self._endless.add(tasks.cancel_scope)
            tasks.start_soon(self._look_again, scope, tasks.cancel_scope)
            try:
                await self._app(scope, receive, sending)
            finally:
                self._endless.discard(tasks.cancel_scope)
                tasks.cancel_scope.cancel()
        if began and not ended:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _look_again(self, scope: Scope, cancel: anyio.CancelScope) -> None:
        secret = _bearer(scope)
        while secret is not None:
            await anyio.sleep(TOKEN_AGAIN)
            if self._tokens.verified(secret) is None:
                cancel.cancel()
                return


def _bearer(scope: Scope) -> str | None:
    """Give the token a request was sent with; "" for an Authorization that is no token."""
    given = Headers(scope=scope).get("authorization")
    if given is None:
        return None
    kind, _, secret = given.partition(" ")
    return secret.strip() if kind.lower() == "bearer" else ""


def _no_token(told: str, error: str) -> Response:
    more = "Its owner makes one with: vault-mcp token add NAME. Send it as: Authorization: Bearer TOKEN."
    headers: Mapping[str, str] = {"WWW-Authenticate": f'Bearer realm="vault-mcp"{error}'}
    return JSONResponse({"error": f"{told} {more}"}, 401, headers)


def _as_the_sdk_has_it(token: Token) -> AccessToken:
    # The digest, not the name: a token made anew under an old name does not inherit its sessions.
    return AccessToken(
        token=token.digest, client_id=token.name, subject=token.digest, scopes=sorted(token.scopes)
    )
