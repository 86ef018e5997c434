"""News to clients: one that does not take it holds up nobody."""

import asyncio
from typing import Any, cast

import anyio
import pytest

from vault_mcp.doors import mcp_live
from vault_mcp.doors.mcp_live import Live


class Listener:
    """What `Live` knows of a client's session; a stuck one takes nothing, as when nobody reads its stream."""

    def __init__(self, *, stuck: bool = False) -> None:
        self._connection = object()
        self.stuck = stuck
        self.told = 0
        self.heard = asyncio.Event()

    async def send_resource_updated(self, uri: str) -> None:
        self.told += 1
        if self.stuck:
            await asyncio.Event().wait()
        self.heard.set()


def test_a_client_that_takes_no_news_is_told_no_more_and_the_others_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mcp_live, "TELL_WAIT", 0.05)

    async def visit() -> None:
        live, stuck, fine = Live(), Listener(stuck=True), Listener()
        async with live.running():
            for listener in (stuck, fine):
                await live.subscribe("memory://a", cast(Any, listener))
            for _ in range(3):
                fine.heard.clear()
                live.hear()
                with anyio.fail_after(30):
                    await fine.heard.wait()
        assert (stuck.told, fine.told) == (1, 3)

    asyncio.run(visit())
