"""A client of raw frames: a real server process, spoken to byte by byte."""

import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DUMMY = (sys.executable, str(Path(__file__).with_name("dummy_server.py")))
WAIT = 120.0
"""Seconds for anything to happen: far more than it takes, as other programs may be busy too."""

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "modern-client", "version": "1"},
}
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

Frame = dict[str, Any]


def greeting(version: str = "2025-11-25", name: str = "raw") -> Frame:
    """The parameters of `initialize`."""
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": name, "version": "1"}}


class Server:
    """One server process; every wait has a bound, and the process never outlives its test."""

    def __init__(
        self, command: Sequence[str] = DUMMY, env: Mapping[str, str] | None = None, cwd: str = "/"
    ) -> None:
        paths = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
        self.process = self.start(command, {**paths, **(env or {})}, cwd)
        self.raw: list[bytes] = []
        """Every line the server wrote to its standard output."""
        self.log: list[str] = []
        """Every line it wrote to standard error."""
        self._frames: queue.Queue[Frame | None] = queue.Queue()
        self._killed = False
        self._leave = os.pipe()
        self._readers = [threading.Thread(target=reader) for reader in (self._read_out, self._read_log)]
        for reader in self._readers:
            reader.start()
        self._asked = 0

    def start(self, command: Sequence[str], env: Mapping[str, str], cwd: str) -> "subprocess.Popen[bytes]":
        """Start the process, with a pipe at each end."""
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd=cwd,
        )

    def __enter__(self) -> "Server":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WAIT)
        for reader in self._readers:
            reader.join(WAIT)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()
        for end in self._leave:
            os.close(end)

    def _read_out(self) -> None:
        assert self.process.stdout is not None
        out, rest = self.process.stdout.fileno(), b""
        while out in select.select([out, self._leave[0]], [], [])[0] and (block := os.read(out, 1 << 16)):
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                self.raw.append(line)
                self._frames.put(json.loads(line))
        assert not rest or self._killed
        self._frames.put(None)

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line.decode("utf-8", "replace").rstrip("\n"))

    # -- sending

    def write(self, raw: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def send(self, method: str, params: Frame | None = None, **more: object) -> None:
        """Send a frame, a notification unless an `id` is given."""
        frame = {"jsonrpc": "2.0", "method": method, **more}
        if params is not None:
            frame["params"] = params
        self.write(json.dumps(frame).encode() + b"\n")

    def request(self, method: str, params: Frame | None = None) -> int:
        """Send a request and give its id."""
        self._asked += 1
        self.send(method, params, id=self._asked)
        return self._asked

    # -- receiving

    def next(self) -> Frame:
        """The next frame from the server."""
        frame = self._frames.get(timeout=WAIT)
        assert frame is not None, "\n".join(["the server has ended", *self.log])
        return frame

    def ask(self, method: str, params: Frame | None = None) -> Frame:
        """Send a request and give the frame that answers it; nothing else may come between."""
        asked = self.request(method, params)
        frame = self.next()
        assert frame.get("id") == asked, frame
        return frame

    def greet(self, version: str = "2025-11-25", name: str = "raw") -> Frame:
        """Shake hands."""
        result: Frame = self.ask("initialize", greeting(version, name))["result"]
        self.send("notifications/initialized")
        return result

    def call(self, tool: str, /, **arguments: object) -> Frame:
        """Call a tool and give its result."""
        reply = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert "result" in reply, reply
        result: Frame = reply["result"]
        return result

    def text(self, tool: str, /, **arguments: object) -> str:
        """Call a tool and give its text, which must not be an error."""
        result = self.call(tool, **arguments)
        assert result["isError"] is False, result
        return str(result["content"][0]["text"])

    def error(self, tool: str, /, **arguments: object) -> str:
        """Call a tool and give the text of its error."""
        result = self.call(tool, **arguments)
        assert result["isError"] is True, result
        assert "structuredContent" not in result
        return str(result["content"][0]["text"])

    # -- the end

    def close_input(self) -> None:
        """Say that nothing more will come."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def stop_reading(self) -> None:
        """Close our end of the server's output, as a client that crashes does."""
        os.write(self._leave[1], b"x")
        assert self._frames.get(timeout=WAIT) is None
        assert self.process.stdout is not None
        self.process.stdout.close()

    def signal(self, number: signal.Signals) -> None:
        """Send the process a signal."""
        self.process.send_signal(number)

    def kill(self) -> list[Frame]:
        """End the process in the middle of whatever it does, and give the frames that still came."""
        self._killed = True
        self.process.kill()
        return self.rest()

    def rest(self) -> list[Frame]:
        """Wait for the end of the output and give every frame that was not taken yet."""
        frames = []
        while (frame := self._frames.get(timeout=WAIT)) is not None:
            frames.append(frame)
        return frames

    def ended(self) -> int:
        """Wait for the end of the process and give its exit code."""
        return self.process.wait(WAIT)
