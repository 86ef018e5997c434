"""Word of changed resources, from any thread to every client that asked for it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress

import anyio
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated

logger = logging.getLogger(__name__)

TELL_WAIT = 1.0
"""Seconds that one client has to take its news; who takes longer hears no more, so that the others do."""

GATHER = 0.05
"""Seconds in which changes of one resource are told once: a burst of writes is one piece of news."""


class Live:
    """Tells subscribers that a resource has changed.

    Clients of 2026-07-28 listen on the SDK's bus; clients of the handshake revisions subscribe address by
    address, which the SDK leaves to the server.
    """

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._subscribers: dict[str, dict[int, ServerSession]] = {}
        self._changed: set[str] = set()
        self._news: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def notify(self, uris: Iterable[str]) -> None:
        """Say that these resources have changed; may be called from any thread, and never waits."""
        loop = self._loop
        if loop is None:
            return
        with suppress(RuntimeError):  # the loop has ended, and every client with it
            loop.call_soon_threadsafe(self._note, tuple(uris))

    def subscribe(self, uri: str, session: ServerSession) -> None:
        """Remember that the client of this session wants to know about `uri`."""
        self._subscribers.setdefault(uri, {})[_connection(session)] = session

    def unsubscribe(self, uri: str, session: ServerSession) -> None:
        """Forget it."""
        self._subscribers.get(uri, {}).pop(_connection(session), None)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Carry news for as long as the block lasts."""
        self._news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._carry, self._news)
            try:
                yield
            finally:
                self._loop = None
                tasks.cancel_scope.cancel()

    def _note(self, uris: tuple[str, ...]) -> None:
        self._changed.update(uris)
        if self._news is not None:
            self._news.set()

    async def _carry(self, news: asyncio.Event) -> None:
        while True:
            await news.wait()
            await anyio.sleep(GATHER)
            news.clear()
            changed, self._changed = sorted(self._changed), set()
            for uri in changed:
                await self.bus.publish(ResourceUpdated(uri=uri))
                await self._tell(uri)

    async def _tell(self, uri: str) -> None:
        told = self._subscribers.get(uri, {})
        for connection, session in list(told.items()):
            try:
                with anyio.fail_after(TELL_WAIT):
                    await session.send_resource_updated(uri)
            except Exception:  # whatever ails one client, the others are told
                logger.debug("a subscriber of %s is gone", uri, exc_info=True)
                told.pop(connection, None)


def _connection(session: ServerSession) -> int:
    # A session object lives for one request; what it belongs to is known only privately.
    return id(session._connection)
