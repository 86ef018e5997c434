"""How a server over HTTP ends: what is running is finished and answered, and nothing further begins."""

import signal
import threading
import time
from pathlib import Path

import pytest

from tests.doors.frames import Frame
from tests.doors.over_http import DUMMY, REAL, HttpServer, RawSession
from tests.serving import entity
from tests.vaults import clean, commits, make_vault
from tests.waiting import HANGS, wait_until

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


def dummy() -> HttpServer:
    return HttpServer(DUMMY, {"DUMMY_HTTP": "127.0.0.1:0"})


class Asking(threading.Thread):
    """A call made in a thread of its own."""

    def __init__(self, server: HttpServer | RawSession, name: str, seconds: float) -> None:
        super().__init__()
        self._server, self._name, self._seconds = server, name, seconds
        self.result: Frame = {}
        self.start()

    def run(self) -> None:
        self.result = self._server.call("slow", name=self._name, seconds=self._seconds)


@pytest.mark.parametrize("how", SIGNALS)
def test_an_idle_server_ends_at_once_and_closes_its_vault(how: signal.Signals) -> None:
    with dummy() as server:
        session = RawSession(server, "2025-11-25")
        with session.listening():
            wait_until(lambda: server.request("GET", "/health")[0] == 200, 30)
            began = time.monotonic()
            server.process.send_signal(how)
            assert server.ended() == 0
            assert time.monotonic() - began < HANGS
        server.wait_for("vault closed")
        assert "Traceback" not in "\n".join(server.log)


@pytest.mark.parametrize("era", ["2025-06-18", "2026-07-28"])
def test_a_running_write_is_finished_and_answered_and_nothing_further_begins(era: str) -> None:
    with dummy() as server:
        visitor = RawSession(server, era) if era < "2026" else server
        asking = Asking(visitor, "a", 2)
        server.wait_for("began a")
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: server.modern("tools/list")[0] == 503, 30)
        assert server.request("GET", "/health")[2] == b'{"status":"stopping"}'
        asking.join(30)
        assert asking.result["structuredContent"] == {"name": "a", "count": 1}
        assert server.ended() == 0
        server.wait_for("vault closed")
        assert server.log.index("finished a") < server.log.index("vault closed")


def test_writes_that_wait_are_told_that_nothing_was_saved() -> None:
    with dummy() as server:
        first = Asking(server, "first", 2)
        server.wait_for("began first")
        others = [Asking(server, f"later {n}", 2) for n in range(3)]
        wait_until(lambda: len([t for t in threading.enumerate() if isinstance(t, Asking)]) == 4, 10)
        server.call("view")  # sent after the others, so that they are inside
        server.process.send_signal(signal.SIGTERM)
        for asking in (first, *others):
            asking.join(30)
        assert first.result["isError"] is False
        for asking in others:
            assert asking.result["isError"] is True
            assert asking.result["content"][0]["text"].endswith("Nothing was saved.")
        assert server.ended() == 0


def test_every_write_that_was_answered_is_in_history(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "vault")
    with HttpServer([*REAL, "--vault", str(root), "--http", "127.0.0.1:0"]) as server:
        server.call("read_graph")
        answered: list[bool] = []

        def write(number: int) -> None:
            try:
                made = server.call("create_entities", entities=[entity(f"n{number}", "x")])
            except (OSError, AssertionError):
                return  # the server had stopped before it took the call
            answered.append(made["isError"])

        threads = [threading.Thread(target=write, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(answered) >= 3, 60)
        server.process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join(60)
        assert server.ended() == 0
    made = [subject for subject in commits(root) if subject.startswith("create_entities")]
    assert len(made) == answered.count(False)
    assert clean(root)
