"""How a server ends: whatever ends it, what is running is finished and nothing is left behind."""

import os
import signal
import time

import pytest

from tests.doors.frames import DUMMY, MODERN, Server, greeting
from tests.waiting import HANGS, wait_until

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


def slow(server: Server, name: str, seconds: float = 0.3) -> int:
    """Begin a write that takes a while."""
    return server.request("tools/call", {"name": "slow", "arguments": {"name": name, "seconds": seconds}})


@pytest.mark.parametrize("how", [None, *SIGNALS])
def test_an_idle_server_ends_at_once_and_closes_its_vault(how: signal.Signals | None) -> None:
    with Server() as server:
        server.greet()
        server.text("view")
        began = time.monotonic()
        server.close_input() if how is None else server.signal(how)
        assert server.ended() == 0
        assert time.monotonic() - began < HANGS
        wait_until(lambda: "vault closed" in server.log)
        assert server.rest() == []


@pytest.mark.parametrize("how", [None, *SIGNALS])
def test_a_running_write_is_finished_and_answered_before_the_end(how: signal.Signals | None) -> None:
    with Server() as server:
        server.greet()
        asked = slow(server, "a")
        wait_until(lambda: "began a" in server.log, 20)
        server.close_input() if how is None else server.signal(how)
        assert server.ended() == 0
        assert [frame["id"] for frame in server.rest()] == [asked]
        wait_until(lambda: "vault closed" in server.log)
        assert server.log.index("finished a") < server.log.index("vault closed")


def test_everything_sent_before_the_end_of_input_is_answered() -> None:
    with Server() as server:
        server.send("initialize", greeting(), id="hello")
        server.send("notifications/initialized")
        asked = [slow(server, str(number)) for number in range(3)]
        server.close_input()
        assert [frame["id"] for frame in server.rest()] == ["hello", *asked]
        assert server.ended() == 0


def test_at_a_signal_no_further_call_begins_and_each_says_so() -> None:
    with Server() as server:
        server.greet()
        first, second = slow(server, "first", 3), slow(server, "second")
        wait_until(lambda: "began first" in server.log, 20)
        server.signal(signal.SIGTERM)
        replies = {frame["id"]: frame["result"] for frame in server.rest()}
        assert replies[first]["isError"] is False
        assert replies[second]["isError"] is True
        assert replies[second]["content"][0]["text"].endswith("Nothing was saved.")
        assert server.ended() == 0
        assert "began second" not in server.log


def test_a_listener_does_not_hold_up_the_end() -> None:
    with Server() as server:
        server.request("subscriptions/listen", {"notifications": {"toolsListChanged": True}, "_meta": MODERN})
        assert server.next()["method"] == "notifications/subscriptions/acknowledged"
        server.signal(signal.SIGTERM)
        assert server.ended() == 0


def test_a_client_that_no_longer_reads_its_replies_ends_the_server() -> None:
    with Server() as server:
        server.greet()
        server.text("view")
        server.stop_reading()
        for number in range(5):
            slow(server, str(number))
        # Input stays open: the first reply that fails tells that the client is gone.
        assert server.ended() == 0
        wait_until(lambda: "vault closed" in server.log)
        assert "finished 0" in server.log
        assert "began 4" not in server.log


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_the_server_is_still_loading_ends_it_cleanly(how: signal.Signals) -> None:
    with Server() as server:
        # Its standard input is put aside long before it can listen.
        wait_until(lambda: os.readlink(f"/proc/{server.process.pid}/fd/0") == os.devnull, 20, every=0.001)
        server.signal(how)
        assert server.ended() == 0


def test_a_vault_that_is_still_being_opened_does_not_hold_up_the_end() -> None:
    with Server([*DUMMY, str(4 * HANGS)]) as server:
        server.greet()
        asked = server.request("tools/list")
        assert server.next()["id"] == asked
        server.close_input()
        began = time.monotonic()
        assert server.ended() == 0
        assert time.monotonic() - began < HANGS
