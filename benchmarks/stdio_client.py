"""A small MCP client over raw frames: as little of its own in the measured time as can be."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any


class StdioClient:
    """One server process; calls are made one after the other and timed from frame to frame."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
        )
        self._asked = 0
        self.request(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "benchmark", "version": "1"},
            },
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    @property
    def pid(self) -> int:
        """The server's process."""
        return self._process.pid

    def _send(self, frame: Mapping[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(frame).encode() + b"\n")
        self._process.stdin.flush()

    def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """Send a request and give its result; what the server says in between is passed over."""
        self._asked += 1
        self._send({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params})
        assert self._process.stdout
        for line in self._process.stdout:
            frame = json.loads(line)
            if frame.get("id") == self._asked:
                if "error" in frame:
                    raise RuntimeError(frame["error"])
                return frame["result"]
        raise RuntimeError("the server is gone")

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool; an error of the tool is one of the benchmark."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return result

    def timed(self, tool: str, arguments: Mapping[str, Any]) -> float:
        """Call a tool and give the milliseconds it took."""
        start = time.perf_counter()
        self.call(tool, arguments)
        return (time.perf_counter() - start) * 1000

    def close(self) -> None:
        """End the server as a client does, and wait for it."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(30)

    def __enter__(self) -> StdioClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
