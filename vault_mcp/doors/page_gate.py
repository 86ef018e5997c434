"""Who may talk to the page: this machine's browser, by a link that opens it once, and nobody through it.

A page on the web can make a browser send requests to this machine, and can have a name of its own point here.
So each request has to name this machine as its host, bring the cookie that the one-time link was exchanged
for, and come from the page itself; what is changed, is changed by POST with an `Origin`.
"""

import hmac
import secrets
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types page",
    )
)
"""What the browser may do with the page: nothing from elsewhere, and no text that turns into markup."""

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

BODY_MOST = 64 * 1024
"""Bytes that a request may bring."""

USED = (
    "This link to the page has been used, or is not the one of the program that runs now.\n\n"
    "Start `vault-mcp ui` again: it opens the page with a fresh link."
)


class Gate:
    """Lets requests through to the page; an ASGI application around another.

    Attributes:
        token: what the link that opens the page carries; it opens it once.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self.token = secrets.token_urlsafe(32)
        self._used = False
        self._session = secrets.token_urlsafe(32)
        # A cookie belongs to a host whatever the port: two pages of two vaults must not share one.
        self._cookie = f"vault-mcp-{port}"
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return  # no websockets here, and the server's own start and end need nothing
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                told = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    told[name] = value
            await send(message)

        answer: ASGIApp = self._app if refusal is None else refusal
        await answer(scope, receive, send_guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Give the answer to a request that goes no further; None for one that may."""
        host = headers.get("host", "")
        if host not in self._hosts:
            return PlainTextResponse("This server answers only as 127.0.0.1 or localhost.", 421)
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("Only GET and POST are known here.", 405)
        if scope["path"].startswith("/open/"):
            return self._exchange(scope["path"].removeprefix("/open/"), headers)
        if not self._knows(headers):
            return PlainTextResponse(USED, 403)
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return PlainTextResponse("Another page may not ask for this.", 403)
        return self._refuse_post(headers, host) if scope["method"] == "POST" else None

    def _refuse_post(self, headers: Headers, host: str) -> Response | None:
        if headers.get("origin", "") != f"http://{host}":
            return PlainTextResponse("A change has to come from the page itself.", 403)
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return PlainTextResponse("Send JSON.", 415)
        length = headers.get("content-length", "")
        if not (length.isascii() and length.isdecimal()):
            return PlainTextResponse("Say how long the request is.", 411)
        if len(length) > 9 or int(length) > BODY_MOST:
            return PlainTextResponse(f"A request may have at most {BODY_MOST} bytes.", 413)
        return None

    def _exchange(self, token: str, headers: Headers) -> Response:
        """Take a one-time link for a cookie; whoever has the cookie may follow the link again."""
        if not self._knows(headers):
            if self._used or not _same(token, self.token):
                return PlainTextResponse(USED, 403)
            self._used = True
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self._cookie, self._session, path="/", httponly=True, samesite="strict")
        return answer

    def _knows(self, headers: Headers) -> bool:
        return any(_same(value, self._session) for value in _cookies(headers.getlist("cookie"), self._cookie))


def _cookies(lines: Iterable[str], name: str) -> list[str]:
    """Give the values of one cookie in `Cookie` headers."""
    values = []
    for line in lines:
        for pair in line.split(";"):
            try:
                found = SimpleCookie(pair.strip())
            except CookieError:
                continue
            if name in found:
                values.append(found[name].value)
    return values


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())
