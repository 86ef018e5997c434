"""The SDK's server over Streamable HTTP, for every revision of the protocol.

The SDK speaks it and uvicorn carries it; `mcp_http_gate` says who is let in. Here is how it begins and how it
ends: at SIGTERM, SIGINT and SIGHUP nothing further is let in, what is running is finished and answered, and
the process ends with 0.
"""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import anyio
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from vault_mcp.doors.address import Address, is_loopback, named_hosts
from vault_mcp.doors.mcp_http_gate import PATH, Gate
from vault_mcp.doors.mcp_server import VaultServer
from vault_mcp.doors.tokens import Tokens
from vault_mcp.errors import BadArgument, StorageFailed

logger = logging.getLogger(__name__)

MAX_BODY = 4 * 1024 * 1024
"""Bytes of one request; the SDK answers more with 413."""

MAX_SESSIONS = 1000
"""Sessions of the revisions that have them; one more is answered with 503."""

SESSION_IDLE = 30 * 60.0
"""Seconds after which a session that nobody uses is forgotten."""

MAX_CONNECTIONS = 2000
"""Connections at a time; uvicorn answers one more with 503."""

KEEP_ALIVE = 75
"""Seconds that an idle connection stays open: longer than clients keep theirs, so that it is they who close
it, and no request is sent into a connection that is just being closed."""

STOP_WAIT = 60.0
"""Seconds that running calls have to finish once the end has come; storage survives a cut after that."""

FLUSH_WAIT = 2
"""Seconds that connections have to take their last bytes."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server listens, and who is let in.

    Attributes:
        listener: the socket, bound and listening.
        hosts: what may stand in a Host header.
        token_only: whether nothing is answered without a token.
    """

    listener: socket.socket
    hosts: list[str]
    token_only: bool

    @property
    def url(self) -> str:
        """Where clients of this machine find the server."""
        host, port = self.listener.getsockname()[:2]
        return f"http://{Address(host, port)}{PATH}"


def take_place(address: Address, allowed: tuple[str, ...], tokens: Tokens, *, require_token: bool) -> Place:
    """Bind an address, beyond this machine only where there is a token to ask for.

    Args:
        address: where to listen.
        allowed: host names under which others find the server, as behind a proxy.
        tokens: the tokens of the vault.
        require_token: ask for a token on this machine, too.

    Raises:
        BadArgument: there is no token though one will be needed, or the host is not known.
        StorageFailed: the address cannot be had.
    """
    try:
        family, _, _, _, bound = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise BadArgument(
            f"The host {address.host!r} is not known ({error.strerror}). Give an address of this machine."
        ) from None
    token_only = require_token or not all(map(is_loopback, (str(bound[0]), *allowed)))
    if token_only and not tokens.listed():
        raise BadArgument(
            "Nobody could be let in: the vault has no token, and needs one wherever more than this machine "
            "can ask. Make one for each agent first: vault-mcp token add NAME"
        )
    try:
        listener = socket.create_server((str(bound[0]), int(bound[1])), family=family, backlog=1024)
    except OSError as error:
        raise StorageFailed(
            f"{address} cannot be listened at ({error.strerror}). Choose another port, or end what is there."
        ) from None
    return Place(listener, named_hosts(str(bound[0]).partition("%")[0], allowed), token_only)


def serve_http(server: VaultServer, place: Place, tokens: Tokens, ready: Callable[[str], None]) -> None:
    """Serve every client that is let in until the process is told to end.

    Args:
        server: what is served.
        place: where, from `take_place`.
        tokens: the tokens of the vault.
        ready: told the address, once requests are answered.
    """
    anyio.run(_Doors(server, place, tokens, ready).run)


class _Uvicorn(uvicorn.Server):
    """Uvicorn without its own signal handlers, which would cut off the calls that are running."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Doors:
    """One server, from its first request to its last."""

    def __init__(
        self, server: VaultServer, place: Place, tokens: Tokens, ready: Callable[[str], None]
    ) -> None:
        self._server = server
        self._place = place
        self._ready = ready
        self._told_to_end = asyncio.Event()
        self._sessions = StreamableHTTPSessionManager(
            server.low_level,
            max_request_body_size=MAX_BODY,
            max_sessions=MAX_SESSIONS,
            session_idle_timeout=SESSION_IDLE,
        )
        self._gate = Gate(
            self._sessions.handle_request,
            tokens,
            place.hosts,
            token_only=place.token_only,
            state=lambda: server.opening.state,
        )
        config = uvicorn.Config(
            self._gate,
            http="h11",
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=FLUSH_WAIT,
        )
        self._uvicorn = _Uvicorn(config)

    async def run(self) -> None:
        # Of requests that are none, uvicorn warns; anybody could fill a log with them.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        self._mind_signals()
        async with self._sessions.run(), anyio.create_task_group() as tasks:
            tasks.start_soon(self._end)
            self._server.opening.start()
            self._ready(self._place.url)
            await self._uvicorn.serve(sockets=[self._place.listener])
            self._told_to_end.set()

    def _mind_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is None:
                continue
            try:
                loop.add_signal_handler(number, self._stop)
            except NotImplementedError:  # the loop of Windows knows no signals
                signal.signal(number, lambda *_: loop.call_soon_threadsafe(self._stop))

    def _stop(self) -> None:
        """Begin no further call."""
        self._server.opening.refuse()
        self._gate.close()
        self._told_to_end.set()

    async def _end(self) -> None:
        """Wait for what is running, but not for ever: a call that hangs must not keep the process."""
        await self._told_to_end.wait()
        last_resort = threading.Timer(STOP_WAIT, os._exit, (1,))
        last_resort.daemon = True
        last_resort.start()
        await self._gate.finished()
        self._uvicorn.should_exit = True
