"""A server over HTTP as a real process, and clients of it: the SDK's own, and raw frames of any revision."""

import asyncio
import contextlib
import http.client
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
from mcp import Client
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from tests.doors.frames import MODERN, ROOT, WAIT, Frame, greeting
from tests.waiting import wait_until

DUMMY = (sys.executable, str(Path(__file__).with_name("dummy_server.py")))
REAL = (sys.executable, "-m", "vault_mcp", "serve")

T = TypeVar("T")

Answer = tuple[int, dict[str, str], bytes]
"""Status, headers by their names in small letters, and body."""


class HttpServer:
    """One server process over HTTP; every wait has a bound, and the process never outlives its test."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        paths = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**paths, **(env or {})},
            cwd="/",
        )
        self.log: list[str] = []
        self._reader = threading.Thread(target=self._read_log)
        self._reader.start()

    def __enter__(self) -> "HttpServer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and self.process.poll() is None:
                self.process.terminate()
                assert self.ended() == 0, "\n".join(self.log)
        finally:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait(WAIT)
            self._reader.join(WAIT)
            assert self.process.stderr is not None
            self.process.stderr.close()

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line.decode("utf-8", "replace").rstrip("\n"))

    @property
    def url(self) -> str:
        """Where the server listens, as it said itself."""
        found: list[str] = []

        def said() -> bool:
            found[:] = re.findall(r" at (http://\S+)$", "\n".join(self.log), re.MULTILINE)
            return bool(found) or self.process.poll() is not None

        wait_until(said, WAIT)
        assert found, "\n".join(self.log)
        return found[0]

    @property
    def at(self) -> str:
        """The same without a path."""
        return urlsplit(self.url).netloc

    def ended(self) -> int:
        """Wait for the end of the process and give its exit code."""
        return self.process.wait(WAIT)

    def wait_for(self, line: str) -> None:
        """Wait until the server has said this on standard error."""
        wait_until(lambda: line in self.log, WAIT)

    # -- raw requests

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send one request and give its whole answer."""
        connection = http.client.HTTPConnection(self.at, timeout=WAIT)
        with contextlib.closing(connection):
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()

    def modern(self, method: str, params: Frame | None = None, **headers: str) -> Answer:
        """Send one request as a client of 2026-07-28 does."""
        params = {**(params or {}), "_meta": (params or {}).get("_meta", MODERN)}
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
            **({"Mcp-Name": params["name"]} if "name" in params else {}),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        frame = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.request("POST", "/mcp", json.dumps(frame).encode(), sent)

    def call(self, tool: str, /, *, token: str = "", meta: Frame | None = None, **arguments: object) -> Frame:
        """Call a tool as a client of 2026-07-28 and give its result."""
        params: Frame = {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
        more = {"Authorization": f"Bearer {token}"} if token else {}
        status, headers, body = self.modern("tools/call", params, **more)
        assert status == 200, (status, body)
        result: Frame = frames_of(headers, body)[-1]["result"]
        return result


class RawSession:
    """A client of a handshake revision, frame by frame."""

    def __init__(self, server: HttpServer, version: str, name: str = "raw", token: str = "") -> None:
        self.server = server
        self.headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **({"Authorization": f"Bearer {token}"} if token else {}),
        }
        self._asked = 0
        status, headers, frame = self._post("initialize", greeting(version, name))
        assert status == 200, frame
        self.greeted: Frame = frame["result"]
        self.headers["Mcp-Session-Id"] = headers["mcp-session-id"]
        if version >= "2025-06-18":
            self.headers["MCP-Protocol-Version"] = version
        status, _, _ = server.request(
            "POST", "/mcp", b'{"jsonrpc":"2.0","method":"notifications/initialized"}', self.headers
        )
        assert status == 202

    def _post(self, method: str, params: Frame | None = None) -> tuple[int, dict[str, str], Frame]:
        self._asked += 1
        frame = {
            "jsonrpc": "2.0",
            "id": self._asked,
            "method": method,
            **({"params": params} if params else {}),
        }
        status, headers, body = self.server.request("POST", "/mcp", json.dumps(frame).encode(), self.headers)
        return status, headers, frames_of(headers, body)[-1]

    def ask(self, method: str, params: Frame | None = None) -> Frame:
        """Send a request and give the frame that answers it."""
        status, _, frame = self._post(method, params)
        assert status == 200, frame
        assert frame["id"] == self._asked
        return frame

    def call(self, tool: str, /, **arguments: object) -> Frame:
        """Call a tool and give its result."""
        result: Frame = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    @contextlib.contextmanager
    def listening(self) -> Iterator[Callable[[], Frame]]:
        """Open the session's stream of news; the block gets a function that waits for the next frame."""
        connection = http.client.HTTPConnection(self.server.at, timeout=WAIT)
        with contextlib.closing(connection):
            connection.request("GET", "/mcp", headers=self.headers)
            answer = connection.getresponse()
            assert answer.status == 200

            def next_frame() -> Frame:
                while line := answer.readline():
                    if line.startswith(b"data:"):
                        frame: Frame = json.loads(line[5:])
                        return frame
                raise EOFError

            yield next_frame

    def leave(self) -> int:
        """End the session and give the status of the answer."""
        return self.server.request("DELETE", "/mcp", headers=self.headers)[0]


def frames_of(headers: Mapping[str, str], body: bytes) -> list[Frame]:
    """Give the frames of an answer, whichever way it came."""
    if headers.get("content-type", "").startswith("text/event-stream"):
        return [json.loads(line[5:]) for line in body.splitlines() if line.startswith(b"data:")]
    return [json.loads(body)]


@contextlib.asynccontextmanager
async def client_of(
    url: str, name: str = "sdk", token: str = "", mode: ConnectMode = "auto", **more: Any
) -> AsyncIterator[Client]:
    """Connect the SDK's own client."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=WAIT) as http_client:
        transport = streamable_http_client(url, http_client=http_client)
        info = Implementation(name=name, version="1")
        async with Client(transport, mode=mode, client_info=info, **more) as client:
            yield client


def run(work: Callable[[], Awaitable[T]]) -> T:
    """Run a client's work to its end, within a bound."""

    async def bounded() -> T:
        return await asyncio.wait_for(work(), 2 * WAIT)

    return asyncio.run(bounded())
