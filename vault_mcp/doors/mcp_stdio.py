"""The SDK's server on the standard streams, with the manners that clients need and the SDK leaves out.

- A client may ask `server/discover` first and then shake hands all the same. The SDK settles on one family of
  revisions at the first request; here the opening questions are answered aside, and the first other request
  decides.
- A line that cannot be read is answered under the id that it names, else under null, as JSON-RPC 2.0 has it
  (section 5.1), so that no client waits for ever. Notifications and replies are never answered.
- At the end of input, at SIGTERM and at SIGINT no further line is read, what is running is finished and
  answered, and the process ends with 0.
- A reply that cannot be written costs that reply, not the server.
"""

import asyncio
import json
import logging
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    PROTOCOL_VERSION_META_KEY,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)

from vault_mcp.doors.mcp_server import VaultServer
from vault_mcp.doors.mcp_wire import Wire

logger = logging.getLogger(__name__)

Incoming = SessionMessage | Exception

ENDLESS = "subscriptions/listen"
"""The one request that lasts as long as its client; the end does not wait for it."""

STOP_WAIT = 60.0
"""Seconds that running calls have to finish once the end has come; storage survives a cut after that."""

OPEN_AFTER = 0.01
"""Seconds between the first reply and the work of opening the vault, so that the reply is on its way."""

LINE_SEPARATORS = tuple((mark.encode("utf-8"), b"\\u%04x" % ord(mark)) for mark in "\u0085\u2028\u2029")

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def serve_stdio(server: VaultServer, wire: Wire) -> None:
    """Serve one client on `wire` until it leaves or the process is told to end."""
    anyio.run(_Visit(server, wire).run)


class _Visit:
    """One client, from its first line to its last reply."""

    def __init__(self, server: VaultServer, wire: Wire) -> None:
        self._server = server
        self._wire = wire
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._waiting: set[str] = set()
        self._all_answered = asyncio.Event()
        self._settled = False
        """Whether the family of revisions is decided."""
        self._greeted = False

    async def run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._mind_signals()
        low = self._server.low_level
        to_server, incoming = anyio.create_memory_object_stream[Incoming](0)
        outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
        self._wire.start(self._post, lambda: self._post(None), self._client_gone)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read, to_server)
            tasks.start_soon(self._write, from_server)
            await low.run(incoming, outgoing, low.create_initialization_options())
        self._wire.close()

    # -- the end

    def _mind_signals(self) -> None:
        assert self._loop is not None
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is None:
                continue
            try:
                self._loop.add_signal_handler(number, self._stop)
            except NotImplementedError:  # the loop of Windows knows no signals
                signal.signal(number, lambda *_: self._in_loop(self._stop))

    def _stop(self) -> None:
        """Begin no further call, and read no line that comes after this moment."""
        self._server.opening.refuse()
        self._lines.put_nowait(None)

    def _client_gone(self) -> None:
        self._in_loop(self._stop)

    def _post(self, line: bytes | None) -> None:
        self._in_loop(lambda: self._lines.put_nowait(line))

    def _in_loop(self, step: Callable[[], None]) -> None:
        assert self._loop is not None
        with suppress(RuntimeError):  # the loop has ended, and the visit with it
            self._loop.call_soon_threadsafe(step)

    async def _finish(self) -> None:
        """Wait for what is running, but not for ever: a call that hangs must not keep the process."""
        last_resort = threading.Timer(STOP_WAIT, os._exit, (1,))
        last_resort.daemon = True
        last_resort.start()
        while self._waiting:
            self._all_answered.clear()
            await self._all_answered.wait()

    # -- what comes in

    async def _read(self, to_server: MemoryObjectSendStream[Incoming]) -> None:
        async with to_server:
            while (line := await self._lines.get()) is not None:
                message = self._message(line)
                if message is not None and not await self._answered_aside(message):
                    self._note(message)
                    await to_server.send(SessionMessage(message))
            await self._finish()

    def _message(self, line: bytes) -> JSONRPCMessage | None:
        """Read a line; one that cannot be read is refused and gives None."""
        line = line.strip().removeprefix(BYTE_ORDER_MARK)
        if not line:
            return None
        try:
            return jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            self._refuse(line)
            return None

    def _refuse(self, line: bytes) -> None:
        """Answer the requests of a line the SDK cannot read, as far as they can be made out."""
        try:
            frames = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            self._send(_nobodys(PARSE_ERROR, "This line is no JSON. Send each message whole, on one line."))
            logger.warning("A line of %d bytes was left out: it is no JSON.", len(line))
            return
        reason = _fault(line, frames)
        requests = [
            frame for frame in (frames if isinstance(frames, list) else [frames]) if _is_request(frame)
        ]
        for frame in requests:
            error = ErrorData(code=INVALID_REQUEST, message=reason)
            self._send(JSONRPCError(jsonrpc="2.0", id=frame["id"], error=error))
        if not requests:
            if not _wants_no_reply(frames):
                self._send(_nobodys(INVALID_REQUEST, reason))
            logger.warning("A line of %d bytes was left out: it is no message of JSON-RPC.", len(line))

    async def _answered_aside(self, message: JSONRPCMessage) -> bool:
        """Answer an opening `server/discover` without letting it decide the family of revisions."""
        if self._settled or not isinstance(message, JSONRPCRequest):
            return False
        meta = (message.params or {}).get("_meta")
        probing = isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta
        if message.method == "server/discover" and probing:
            self._send(await _asked_aside(self._server, message))
            return True
        self._settled = True
        return False

    def _note(self, message: JSONRPCMessage) -> None:
        """Keep count of what is still to be answered."""
        if isinstance(message, JSONRPCRequest) and message.method != ENDLESS:
            self._waiting.add(str(message.id))
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            # What the client has given up is not answered. If it writes, it is waited for all the same: the
            # SDK joins its thread.
            self._settle((message.params or {}).get("requestId"))

    def _settle(self, identity: RequestId | None) -> None:
        self._waiting.discard(str(identity))
        if not self._waiting:
            self._all_answered.set()

    # -- what goes out

    async def _write(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with from_server:
            async for item in from_server:
                self._send(item.message)

    def _send(self, message: JSONRPCMessage) -> None:
        try:
            line = _line(message)
        except ValueError:
            logger.exception("A message could not be written.")
            if not isinstance(message, JSONRPCResponse):
                return
            error = ErrorData(code=INTERNAL_ERROR, message="The reply holds something that cannot be sent.")
            line = _line(JSONRPCError(jsonrpc="2.0", id=message.id, error=error))
        self._wire.send(line)
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            if message.id is not None:
                self._settle(message.id)
            self._greet()

    def _greet(self) -> None:
        """Begin to open the vault, once the client has had its first reply."""
        if not self._greeted and self._loop is not None:
            self._greeted = True
            self._loop.call_later(OPEN_AFTER, self._server.opening.start)


def _line(message: JSONRPCMessage) -> bytes:
    line = message.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8")
    # Some clients cut lines where Unicode does; within JSON these three can only stand in text.
    for separator, escape in LINE_SEPARATORS:
        line = line.replace(separator, escape)
    return line


def _nobodys(code: int, message: str) -> JSONRPCError:
    """Give the answer to a line of which the id is not known."""
    return JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=message))


def _wants_no_reply(frame: object) -> bool:
    """Say whether what was sent is a notification, or a reply to us, however odd."""
    return isinstance(frame, dict) and any(word in frame for word in ("method", "result", "error"))


def _is_request(frame: object) -> bool:
    if not isinstance(frame, dict) or "method" not in frame:
        return False
    identity = frame.get("id")
    return isinstance(identity, str | int) and not isinstance(identity, bool)


def _fault(line: bytes, frames: object) -> str:
    try:
        line.decode("utf-8")
        json.dumps(frames, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError:
        return "The request is not valid UTF-8. Send it again in UTF-8."
    except UnicodeEncodeError:
        return (
            "The request holds half of a surrogate pair, which is no character. "
            "Send the whole character, or leave it out."
        )
    except (ValueError, RecursionError):
        pass
    if isinstance(frames, list):
        return "Batches are not taken. Send each request on a line of its own."
    return "This is not a request of JSON-RPC 2.0."


async def _asked_aside(server: VaultServer, request: JSONRPCRequest) -> JSONRPCMessage:
    """Let the SDK answer one request on a connection made for it alone."""
    ask, asked = anyio.create_memory_object_stream[Incoming](1)
    reply, replied = anyio.create_memory_object_stream[SessionMessage](1)
    async with anyio.create_task_group() as tasks, ask, replied:

        async def answer() -> None:
            await serve_dual_era_loop(server.low_level, asked, reply, lifespan_state=None)

        tasks.start_soon(answer)
        await ask.send(SessionMessage(request))
        answered = await replied.receive()
        tasks.cancel_scope.cancel()
    return answered.message
