"""How far a call has come, sent to the client that asked for it with a progress token."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from mcp.server.mcpserver import Context

from vault_mcp import progress

logger = logging.getLogger(__name__)

EVERY = 0.1
"""Seconds between two reports at least: a client shows no more, and a thousand notes are moved in one."""

Given = TypeVar("Given")


async def run_reported(
    work: Callable[[], Given], context: Context[None, Any] | None, limiter: anyio.CapacityLimiter | None
) -> Given:
    """Run a call in a worker thread; where its client asked for it, with word of how far it has come."""
    if context is None or not _is_asked_for(context):
        return await anyio.to_thread.run_sync(work, limiter=limiter)
    reports = _Reports(context)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reports.carry)
        given = await anyio.to_thread.run_sync(reports.around, work, limiter=limiter)
        tasks.cancel_scope.cancel()
    return given


def _is_asked_for(context: Context[None, Any]) -> bool:
    meta = context.request_context.meta
    return meta is not None and meta.get("progress_token") is not None


class _Reports:
    """What one call says of itself: the latest word counts, and what is reported never falls."""

    def __init__(self, context: Context[None, Any]) -> None:
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._before = 0
        """What earlier parts of the work amounted to, since each counts from nothing."""
        self._done = self._total = 0
        self._what = ""

    def around(self, work: Callable[[], Given]) -> Given:
        """Do the work in this thread, and hear it."""
        with progress.heard(self._hear):
            return work()

    def _hear(self, done: int, total: int, what: str) -> None:
        with suppress(RuntimeError):  # the loop has ended, and the client with it
            self._loop.call_soon_threadsafe(self._note, done, total, what)

    def _note(self, done: int, total: int, what: str) -> None:
        if what != self._what:
            self._before += self._done
            self._done = 0
        self._done, self._total, self._what = max(done, self._done), total, what
        self._news.set()

    async def carry(self) -> None:
        """Report for as long as the call lasts."""
        reported = -1
        while True:
            await self._news.wait()
            self._news.clear()
            done = self._before + self._done
            if done > reported:
                reported = done
                total = self._before + self._total if self._total else None
                try:
                    await self._context.report_progress(done, total, self._what)
                except Exception:  # a client that cannot be told is not worth a call
                    logger.debug("progress could not be told", exc_info=True)
            await anyio.sleep(EVERY)
