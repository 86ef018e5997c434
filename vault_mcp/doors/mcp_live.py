"""Word of changed resources, from any thread to every client that asked for it.

The vault only says that something has changed: a tool, a hand, a pull, another server. What that means for
the addresses that clients follow is found by looking at these alone, so that nothing is told twice, nothing
that did not change is told, and it does not matter by which road the change came.
"""

import asyncio
import itertools
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

import anyio
import anyio.to_thread
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated

logger = logging.getLogger(__name__)

TELL_WAIT = 1.0
"""Seconds that one client has to take its news; who takes longer hears no more, so that the others do."""

GATHER = 0.05
"""Seconds in which changes are told once: a burst of writes is one piece of news."""

LIST_EVERY = 2.0
"""Seconds between two looks at the list of resources: who lists again after each of a hundred writes reads
nothing else."""

States = dict[str, str | None]
"""What stands at each address, in a word that differs when it differs; None where every change counts."""

Look = Callable[[Sequence[str]], States]
Listing = Callable[[], frozenset[str]]


@dataclass
class _Followed:
    """One address that somebody follows, and what stood there when they last heard of it."""

    state: str | None = None
    sessions: dict[int, ServerSession] = field(default_factory=dict)
    """Clients of the handshake revisions, each by its connection."""
    listeners: int = 0
    """How many streams of 2026-07-28 name it."""


class Live:
    """Tells clients that a resource, or the list of resources, has changed.

    Clients of 2026-07-28 listen on the SDK's bus; clients of the handshake revisions subscribe address by
    address, which the SDK leaves to the server. `look` and `listing` say what there is; the server sets them.
    """

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self.look: Look = lambda uris: dict.fromkeys(uris)
        self.listing: Listing = frozenset
        self._followed: dict[str, _Followed] = {}
        self._listers: dict[int, ServerSession] = {}
        self._listed: frozenset[str] | None = None
        self._listed_at = 0.0
        self._counted = itertools.count(1)
        self._heard = 0
        """How many pieces of news there were: the state of what every one of them concerns."""
        self._news: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def hear(self) -> None:
        """Take note that something has changed; may be called from any thread, and never waits."""
        self._heard = next(self._counted)
        loop, news = self._loop, self._news
        if loop is not None and news is not None:
            with suppress(RuntimeError):  # the loop has ended, and every client with it
                loop.call_soon_threadsafe(news.set)

    # -- who follows what

    async def subscribe(self, uri: str, session: ServerSession) -> None:
        """Remember that the client of this session wants to know about `uri` from now on."""
        await self._follow([uri])
        self._followed.setdefault(uri, _Followed()).sessions[_connection(session)] = session

    def unsubscribe(self, uri: str, session: ServerSession) -> None:
        """Forget it."""
        followed = self._followed.get(uri)
        if followed is not None:
            followed.sessions.pop(_connection(session), None)
            self._drop(uri)

    @asynccontextmanager
    async def listening(self, uris: Iterable[str], *, to_list: bool) -> AsyncIterator[None]:
        """Follow addresses, and the list where asked, for a stream that listens while the block lasts."""
        named = list(dict.fromkeys(uris))
        await self._follow(named)
        if to_list and self._listed is None:
            await self.list_again()
        for uri in named:
            self._followed.setdefault(uri, _Followed()).listeners += 1
        try:
            yield
        finally:
            for uri in named:
                self._followed[uri].listeners -= 1
                self._drop(uri)

    def told_list(self, uris: Iterable[str], session: ServerSession | None) -> None:
        """Remember what a client was told the list is; a client of a session hears when it differs."""
        self._listed = frozenset(uris)
        if session is not None:
            self._listers[_connection(session)] = session

    async def list_again(self) -> None:
        """Remember what the list is now."""
        self._listed = await anyio.to_thread.run_sync(self.listing)

    async def _follow(self, uris: list[str]) -> None:
        """Remember what stands at addresses that nobody followed before, so that a change is seen as one."""
        fresh = [uri for uri in uris if uri not in self._followed]
        if fresh:
            states = await self._states(fresh)
            for uri in fresh:
                self._followed.setdefault(uri, _Followed(states.get(uri)))

    async def _states(self, uris: list[str]) -> dict[str, str]:
        heard = f"after {self._heard}"  # what is heard while we look is told once more, rather than missed
        states = await anyio.to_thread.run_sync(self.look, uris)
        return {uri: heard if state is None else state for uri, state in states.items()}

    def _drop(self, uri: str) -> None:
        followed = self._followed[uri]
        if not followed.sessions and followed.listeners <= 0:
            del self._followed[uri]

    # -- news

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

    async def _carry(self, news: asyncio.Event) -> None:
        while True:
            await news.wait()
            await anyio.sleep(GATHER)
            news.clear()
            try:
                await self._tell_of_resources()
                await self._tell_of_the_list(news)
            except Exception:  # one look that fails must not end all news
                logger.exception("news could not be told")

    async def _tell_of_resources(self) -> None:
        uris = sorted(self._followed)
        if not uris:
            return
        states = await self._states(uris)
        for uri in uris:
            followed = self._followed.get(uri)
            if followed is not None and uri in states and states[uri] != followed.state:
                followed.state = states[uri]
                await self.bus.publish(ResourceUpdated(uri=uri))
                await _tell(followed.sessions, partial(_updated, uri))

    async def _tell_of_the_list(self, news: asyncio.Event) -> None:
        if self._listed is None:
            return  # nobody has asked
        wait = self._listed_at + LIST_EVERY - time.monotonic()
        if wait > 0:
            asyncio.get_running_loop().call_later(wait, news.set)
            return
        self._listed_at = time.monotonic()
        before = self._listed
        await self.list_again()
        if self._listed != before:
            await self.bus.publish(ResourcesListChanged())
            await _tell(self._listers, _list_changed)


async def _tell(sessions: dict[int, ServerSession], send: Callable[[ServerSession], Awaitable[None]]) -> None:
    for connection, session in list(sessions.items()):
        try:
            with anyio.fail_after(TELL_WAIT):
                await send(session)
        except Exception:  # whatever ails one client, the others are told
            logger.debug("a client that asked for news is gone", exc_info=True)
            sessions.pop(connection, None)


async def _updated(uri: str, session: ServerSession) -> None:
    await session.send_resource_updated(uri)


async def _list_changed(session: ServerSession) -> None:
    await session.send_resource_list_changed()


def _connection(session: ServerSession) -> int:
    # A session object lives for one request; what it belongs to is known only privately.
    return id(session._connection)
