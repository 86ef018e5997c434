"""A process that has everything imported and gives birth to servers, for tests that start a thousand.

What it forks is a real process with the real command in it, on pipes of its own; only the second that imports
take is spared. It is asked over a socket: a JSON line with the arguments, and three ends of pipes beside it.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, Any

from tests.doors.frames import ROOT
from tests.serving import Served
from tests.waiting import wait_until
from vault_mcp import syncing
from vault_mcp.storage.git import upkeep

_MOST = 1 << 16


class Born:
    """A forked process, as far as `Server` uses one."""

    def __init__(self, nursery: "Nursery", pid: int, pipes: Sequence[IO[bytes]]) -> None:
        self._nursery = nursery
        self.pid = pid
        self.stdin, self.stdout, self.stderr = pipes
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Say with which code it ended: the signal's number, negative, if one ended it."""
        if self.returncode is None:
            self.returncode = self._nursery.ask({"wait": self.pid})["code"]
        return self.returncode

    def wait(self, timeout: float) -> int:
        wait_until(lambda: self.poll() is not None, timeout, every=0.001)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Nursery:
    """The process, for a `with` block."""

    def __enter__(self) -> "Nursery":
        self._socket, theirs = socket.socketpair()
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            # A thread of a library would be lost in the fork, and whatever lock it held with it.
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.concurrency.nursery", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=environment,
        )
        theirs.close()
        self._answers = self._socket.makefile("rb")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._answers.close()
        self._socket.close()
        self._process.wait(30)

    def ask(self, question: Mapping[str, object], fds: Sequence[int] = ()) -> dict[str, Any]:
        """Ask for something; the answer comes at once."""
        socket.send_fds(self._socket, [json.dumps(question).encode() + b"\n"], fds)
        answer: dict[str, Any] = json.loads(self._answers.readline())
        return answer

    def start(self, *arguments: str, env: Mapping[str, str], tidy: int = upkeep.EVERY) -> Born:
        """Start `vault-mcp` with these arguments; it has Git tidy after `tidy` commits."""
        pipes = [os.pipe() for _ in range(3)]
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
        ours = [pipes[0][1], pipes[1][0], pipes[2][0]]
        pid = self.ask({"arguments": arguments, "env": dict(env), "tidy": tidy}, theirs)["pid"]
        for fd in theirs:
            os.close(fd)
        return Born(
            self, pid, [os.fdopen(fd, mode, 0) for fd, mode in zip(ours, ("wb", "rb", "rb"), strict=True)]
        )

    def serve(self, *arguments: str, agent: str, tidy: int = upkeep.EVERY) -> "ForkedServer":
        """Start a server and shake hands."""
        server = ForkedServer(self, ["serve", *arguments], tidy)
        server.greet(name=agent)
        return server


class ForkedServer(Served):
    """A server that the nursery gave birth to."""

    def __init__(self, nursery: Nursery, arguments: Sequence[str], tidy: int) -> None:
        self._nursery = nursery
        self._tidy = tidy
        super().__init__(arguments)

    def start(self, command: Sequence[str], env: Mapping[str, str], cwd: str) -> Any:
        return self._nursery.start(*command, env=env, tidy=self._tidy)


def _give_birth(question: Mapping[str, Any], fds: Sequence[int], wire: socket.socket) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        wire.close()
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
            os.close(fd)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(end, how) for end, how in enumerate("rww"))
        os.environ.clear()
        os.environ.update(question["env"])
        os.chdir("/")
        upkeep.EVERY = question["tidy"]
        syncing.LOOK = syncing.QUIET = 0.05  # so that a server syncs before it is killed
        sys.argv = ["vault-mcp", *question["arguments"]]
        code = _run()
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stderr.flush()
        os._exit(code)


def _run() -> int:
    from vault_mcp.doors.cli import main  # noqa: PLC0415 (imported in the nursery by then)

    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def _ended(pid: int) -> int | None:
    with contextlib.suppress(ChildProcessError):
        found, status = os.waitpid(pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if found else None
    return 0


def _import_all() -> None:
    import vault_mcp.doors.cli_erase  # noqa: PLC0415 (in the nursery alone, not where tests are collected)
    import vault_mcp.doors.cli_exchange  # noqa: PLC0415
    import vault_mcp.doors.cli_serve  # noqa: PLC0415
    import vault_mcp.doors.cli_sync  # noqa: PLC0415
    import vault_mcp.doors.mcp_live  # noqa: PLC0415
    import vault_mcp.doors.mcp_server  # noqa: PLC0415
    import vault_mcp.doors.mcp_stdio  # noqa: PLC0415
    import vault_mcp.doors.opening  # noqa: PLC0415
    import vault_mcp.tools.families  # noqa: PLC0415
    import vault_mcp.vault  # noqa: F401, PLC0415


def _nurse(fd: int) -> None:
    _import_all()
    assert len(os.listdir("/proc/self/task")) == 1, "a thread would be lost in a fork"
    with socket.socket(fileno=fd) as wire:
        while True:
            # One question at a time, each answered before the next is sent: a read is a whole one.
            message, fds, _, _ = socket.recv_fds(wire, _MOST, 3)
            if not message:
                return
            question = json.loads(message)
            if "wait" in question:
                answer = {"code": _ended(question["wait"])}
            else:
                answer = {"pid": _give_birth(question, fds, wire)}
                for one in fds:
                    os.close(one)
            wire.sendall(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    _nurse(int(sys.argv[1]))
