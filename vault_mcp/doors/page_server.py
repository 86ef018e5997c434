"""The local page as a small web server: files of our own, answers as JSON, and news as they happen."""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from vault_mcp.doors.page_answers import Answers, status_of
from vault_mcp.doors.page_files import static_files
from vault_mcp.doors.page_gate import BODY_MOST, Gate
from vault_mcp.errors import StorageFailed, VaultError

logger = logging.getLogger(__name__)

LOOK = 0.5
"""Seconds between two looks for news."""

HEARTBEAT = 15.0
"""Seconds after which a quiet connection is said to be alive."""

LAST_WORDS = 3
"""Seconds that an answer under way may take at the end."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page that is ready to run: `url` opens it, once."""

    url: str
    _server: uvicorn.Server
    _socket: socket.socket

    def run(self) -> None:
        """Serve until SIGINT or SIGTERM."""
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """End `run`, from any thread."""
        self._server.should_exit = True


def make_page(answers: Answers, port: int = 0) -> Page:
    """Let a page listen on the loopback address; port 0 takes any that is free.

    Raises:
        StorageFailed: the port cannot be had.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # elsewhere this would let another program take the port over
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen()  # from now on a browser waits for an answer rather than being refused
    except OSError as error:
        listening.close()
        raise StorageFailed(
            f"Port {port} cannot be listened at ({error.strerror}). Choose another with --port, "
            "or end what is there."
        ) from None
    except BaseException:
        listening.close()
        raise
    port = listening.getsockname()[1]
    server: uvicorn.Server | None = None

    def ending() -> bool:
        return server is not None and server.should_exit

    gate = Gate(Starlette(routes=_routes(answers, ending)), port)
    config = uvicorn.Config(
        gate,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=LAST_WORDS,
    )
    server = uvicorn.Server(config)
    return Page(f"http://127.0.0.1:{port}/open/{gate.token}", server, listening)


def _routes(answers: Answers, ending: Callable[[], bool]) -> list[Route]:
    asked = {
        "about": answers.about,
        "changes": answers.changes,
        "change": answers.change,
        "note": answers.note,
        "search": answers.search,
        "graph": answers.graph,
    }
    routes = [Route(f"/api/{name}", _reading(answer)) for name, answer in asked.items()]
    routes.append(Route("/api/undo", _writing(answers.undo), methods=["POST"]))
    routes.append(Route("/api/news", _news(answers, ending)))
    for path, (kind, raw) in static_files().items():
        routes.append(Route("/" if path == "index.html" else f"/{path}", _file(kind, raw)))
    return routes


def _file(kind: str, raw: bytes) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        return Response(raw, media_type=kind)

    return answer


def _reading(ask: Callable[[Mapping[str, str]], dict[str, Any]]) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        return await _told(ask, dict(request.query_params))

    return answer


def _writing(ask: Callable[[Mapping[str, object]], dict[str, Any]]) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        raw = b""
        async for part in request.stream():
            raw += part
            if len(raw) > BODY_MOST:
                return _json({"error": "The request is too long."}, 413)
        try:
            given = json.loads(raw)
        except ValueError:
            given = None
        if not isinstance(given, dict):
            return _json({"error": "The request is no JSON object."}, 400)
        return await _told(ask, given)

    return answer


def _json(told: Mapping[str, Any], status: int = 200) -> Response:
    # In ASCII: a file name may hold bytes that are no text, and no encoding takes those.
    return Response(json.dumps(told), status, media_type="application/json")


async def _told(ask: Callable[[Any], dict[str, Any]], given: object) -> Response:
    try:
        return _json(await anyio.to_thread.run_sync(ask, given))
    except VaultError as error:
        return _json({"error": str(error)}, status_of(error))
    except Exception:
        logger.exception("the page could not be answered")
        return _json({"error": "A fault in the program; its terminal has the details."}, 500)


def _news(answers: Answers, ending: Callable[[], bool]) -> Callable[[Request], Any]:
    async def tell() -> AsyncIterator[str]:
        known = await anyio.to_thread.run_sync(answers.signature)
        yield f"retry: 2000\ndata: {known}\n\n"
        quiet = 0.0
        while not ending():
            await anyio.sleep(LOOK)
            quiet += LOOK
            now = await anyio.to_thread.run_sync(answers.signature)
            if now != known:
                known, quiet = now, 0.0
                yield f"data: {known}\n\n"
            elif quiet >= HEARTBEAT:
                quiet = 0.0
                yield ": still here\n\n"

    async def answer(request: Request) -> Response:
        return StreamingResponse(tell(), media_type="text/event-stream")

    return answer
