"""The standard streams as a wire: whole lines in and out, and nobody else's words on it.

No part of the SDK is imported here, so that the wire is taken before anything heavy can print on it. From
then on file descriptor 0 reads nothing and 1 goes where 2 goes: a stray print, a warning or a child process
can neither eat a request nor spoil a reply.
"""

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

READ_SIZE = 1 << 16
FLUSH_WAIT = 5.0
"""Seconds that `close` gives a client to take the last replies."""


class Wire:
    """Lines of bytes from the client and to it, each carried by a thread of its own.

    Threads, because a read from a pipe cannot be cancelled and a write to a client that has stopped reading
    blocks: neither may hold up the event loop, a signal, or the end of the process.
    """

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._carry_out, name="wire out", daemon=True)
        self._gone: Callable[[], None] = lambda: None

    @classmethod
    def take(cls) -> "Wire":
        """Take the process's standard streams for the protocol."""
        sys.stdout.flush()
        incoming, outgoing = _duplicate(0), _duplicate(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # started without a standard error
            os.dup2(nothing, 1)
        os.close(nothing)
        return cls(incoming, outgoing)

    def start(self, line: Callable[[bytes], None], end: Callable[[], None], gone: Callable[[], None]) -> None:
        """Begin to carry lines.

        Args:
            line: given each line that comes in, in the reader's thread.
            end: told when no more lines will come.
            gone: told when the client no longer takes what is sent, in the writer's thread.
        """
        self._gone = gone
        threading.Thread(target=self._carry_in, args=(line, end), name="wire in", daemon=True).start()
        self._writer.start()

    def send(self, line: bytes) -> None:
        """Send one line, which must not hold a line break; returns at once."""
        self._lines.put(line + b"\n")

    def close(self) -> None:
        """Send what is waiting, as long as the client takes it."""
        self._lines.put(None)
        if self._writer.is_alive():
            self._writer.join(FLUSH_WAIT)

    def _carry_in(self, line: Callable[[bytes], None], end: Callable[[], None]) -> None:
        rest = bytearray()
        try:
            while block := os.read(self._incoming, READ_SIZE):
                *whole, last = block.split(b"\n")
                for part in whole:
                    line(bytes(rest + part))
                    rest.clear()
                rest += last
        except OSError:
            pass  # the terminal or the other end is gone, which is an end as well
        if rest:
            line(bytes(rest))
        end()

    def _carry_out(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                _write_all(self._outgoing, line)
            except OSError:
                self._gone()
                return


def end_at_signals() -> None:
    """Until the server listens, let SIGTERM and SIGINT end the process at once: nothing has begun yet."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))


def _write_all(descriptor: int, line: bytes) -> None:
    left = memoryview(line)
    while left:
        left = left[os.write(descriptor, left) :]


def _duplicate(descriptor: int) -> int:
    """Duplicate a descriptor above the standard three, not inherited by children."""
    if sys.platform == "win32":
        double = os.dup(descriptor)
        msvcrt.setmode(double, os.O_BINARY)
    else:
        double = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    return double
