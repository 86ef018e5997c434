"""What a client meets on the standard streams, frame by frame, against a real process."""

import json
from collections.abc import Iterator

import pytest

from tests.doors.frames import DUMMY, HANDSHAKES, MODERN, Server
from tests.waiting import wait_until
from vault_mcp.doors.mcp_server import INSTRUCTIONS

URI = "memory://dummy"
OTHER = "memory://other"


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    """A server that has shaken hands; its tests leave no frame unread."""
    with Server() as server:
        server.greet()
        yield server


# -- revisions


@pytest.mark.parametrize("version", HANDSHAKES)
def test_every_handshake_revision_is_served(version: str) -> None:
    with Server() as server:
        result = server.greet(version)
        assert result["protocolVersion"] == version
        assert result["serverInfo"]["name"] == "vault-mcp"
        assert result["instructions"] == INSTRUCTIONS
        assert len(server.ask("tools/list")["result"]["tools"]) > 5
        assert json.loads(server.text("note", text="a"))["agent"] == "raw"
        server.close_input()
        # No request of the server's own, and no news that was not announced.
        assert server.rest() == []
        assert server.ended() == 0


def test_a_revision_from_the_future_is_answered_with_one_that_is_known() -> None:
    with Server() as server:
        assert server.greet("2031-01-01")["protocolVersion"] == "2025-11-25"
        assert server.text("view") == ""


def test_requests_that_carry_their_own_envelope_are_served() -> None:
    with Server() as server:
        found = server.ask("server/discover", {"_meta": MODERN})["result"]
        assert found["supportedVersions"] == ["2026-07-28"]
        listed = server.ask("tools/list", {"_meta": MODERN})["result"]
        assert listed["ttlMs"] > 0
        reply = server.ask("tools/call", {"name": "whoami", "arguments": {}, "_meta": MODERN})["result"]
        assert reply["structuredContent"] == {"agent": "modern-client"}
        nameless = {key: value for key, value in MODERN.items() if not key.endswith("clientInfo")}
        reply = server.ask("tools/call", {"name": "whoami", "arguments": {}, "_meta": nameless})["result"]
        assert reply["structuredContent"] == {"agent": "unknown"}


def test_a_client_may_probe_first_and_shake_hands_after() -> None:
    with Server() as server:
        for _ in range(2):
            assert "supportedVersions" in server.ask("server/discover", {"_meta": MODERN})["result"]
        assert server.greet()["protocolVersion"] == "2025-11-25"
        assert json.loads(server.text("whoami")) == {"agent": "raw"}


def test_a_bare_probe_before_the_handshake_does_no_harm() -> None:
    with Server() as server:
        assert "error" in server.ask("server/discover", {})
        assert server.greet()["protocolVersion"] == "2025-11-25"
        assert server.text("view") == ""


# -- lines


def test_bad_lines_never_stop_the_server(shared: Server) -> None:
    shared.write(b"not json\n")
    shared.write(b"\xff\xfe\n")
    shared.write(b"\n   \n\r\n")
    shared.write(
        json.dumps({"jsonrpc": "2.0", "method": "x", "params": {"a": [1]}}, indent=2).encode() + b"\n"
    )
    shared.write(b"[" * 100_000 + b"\n")
    shared.write(b"x" * 1_000_000 + b"\n")
    shared.write(b'"text"\n17\nnull\n[]\n{"id":1}\n')
    shared.write(b'{"jsonrpc":"2.0","method":7}\n{"jsonrpc":"2.0","id":"theirs","result":1}\n')
    asked = shared.request("tools/call", {"name": "view"})
    told = [shared.next()]
    while told[-1]["id"] != asked:
        told.append(shared.next())
    assert told.pop()["result"]["isError"] is False
    assert {frame["id"] for frame in told} == {None}
    assert [frame["error"]["code"] for frame in told[:2]] == [-32700, -32700]
    assert [frame["error"]["code"] for frame in told[-5:]] == [-32600] * 5
    assert {frame["error"]["code"] for frame in told} == {-32700, -32600}
    assert any("no message of JSON-RPC" in line for line in shared.log)


def test_a_line_may_come_in_pieces_with_a_mark_and_windows_line_ends(shared: Server) -> None:
    frame = json.dumps({"jsonrpc": "2.0", "id": "pieces", "method": "ping"}).encode()
    shared.write(b"\xef\xbb\xbf" + frame[:10])
    shared.write(frame[10:] + b"\r\n")
    assert shared.next() == {"jsonrpc": "2.0", "id": "pieces", "result": {}}


NOTE = b'{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"note","arguments":%s}}'
PING = b'{"jsonrpc":"2.0","id":"x","method":"ping","params":%s}'


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (NOTE % rb'{"text":"\ud800"}', "surrogate"),
        (NOTE % rb'{"text":"\ude00\ud83d"}', "surrogate"),
        (NOTE % rb'{"\udc00":"a"}', "surrogate"),
        (NOTE % b'{"text":"\xff"}', "UTF-8"),
        (PING % b"[1]", "JSON-RPC 2.0"),
        (PING.replace(b'"jsonrpc":"2.0",', b"") % b"{}", "JSON-RPC 2.0"),
        (b"[" + PING % b"{}" + b"]", "Batches"),
        (PING % (b'{"a":' + b"[" * 400 + b"]" * 400 + b"}"), "JSON-RPC 2.0"),
    ],
)
def test_a_request_that_cannot_be_read_is_answered_by_its_id(shared: Server, line: bytes, says: str) -> None:
    shared.write(line + b"\n")
    reply = shared.next()
    assert reply["id"] == "x"
    assert reply["error"]["code"] == -32600
    assert says in reply["error"]["message"]


def test_no_reply_can_wedge_the_server(shared: Server) -> None:
    assert json.loads(shared.text("odd", what="surrogate")) == {"value": {"name \ufffd": ["file \ufffd.md"]}}
    assert json.loads(shared.text("odd", what="numbers"))["value"] == {
        "nan": None,
        "list": [None],
        "fine": 1.5,
    }
    assert "Ask for less" in shared.error("odd", what="huge")
    unicode = shared.call("odd", what="unicode")
    assert unicode["structuredContent"] == {"value": {"text": "Zürich 東京 👩‍🚀 \u2028 \x00"}}
    assert json.loads(unicode["content"][0]["text"]) == unicode["structuredContent"]
    assert "\u2028".encode() not in shared.raw[-1]
    assert shared.ask("ping") == {"jsonrpc": "2.0", "id": shared._asked, "result": {}}


def test_prints_and_children_stay_off_the_wire(shared: Server) -> None:
    shared.error("fail", how="missing")
    assert json.loads(shared.text("child")) == {"status": 0}
    wait_until(lambda: "spoiled" in shared.log)
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in shared.raw)


def test_a_print_before_the_first_reply_stays_off_the_wire() -> None:
    with Server(env={"PYTHONWARNINGS": "always", "PYTHONUNBUFFERED": "1"}) as server:
        server.greet()
        server.text("view")
        assert "print while the catalog loads" in server.log


# -- calls


def slow(server: Server, name: str) -> int:
    """Begin a write that lasts until `read_gate` is called."""
    return server.request("tools/call", {"name": "slow", "arguments": {"name": name, "seconds": 60}})


def test_a_cancelled_call_is_not_answered_and_its_write_is_whole() -> None:
    with Server() as server:
        server.greet()
        asked = slow(server, "cancelled")
        wait_until(lambda: "began cancelled" in server.log, 20)
        server.send("notifications/cancelled", {"requestId": asked, "reason": "too slow"})
        assert json.loads(server.text("read_gate")) == {"notes": []}
        wait_until(lambda: "finished cancelled" in server.log, 20)
        assert json.loads(server.text("read_gate")) == {"notes": ["cancelled"]}
        server.close_input()
        assert server.rest() == []


def test_a_write_that_was_cancelled_before_it_began_never_begins() -> None:
    with Server() as server:
        server.greet()
        first, second = slow(server, "first"), slow(server, "second")
        wait_until(lambda: "began first" in server.log, 20)
        server.send("notifications/cancelled", {"requestId": second})
        gate = server.request("tools/call", {"name": "read_gate", "arguments": {}})
        assert {server.next()["id"], server.next()["id"]} == {gate, first}
        assert json.loads(server.text("read_gate")) == {"notes": ["first"]}


def test_writes_happen_in_the_order_they_were_sent_and_reads_need_not_wait() -> None:
    with Server() as server:
        server.greet()
        server.text("view")
        writes = [slow(server, str(number)) for number in range(50)]
        wait_until(lambda: "began 0" in server.log, 20)
        gate = server.request("tools/call", {"name": "read_gate", "arguments": {}})
        replies = [server.next() for _ in range(51)]
        counts = {reply["id"]: reply["result"]["structuredContent"].get("count") for reply in replies}
        assert [identity for identity in counts if identity != gate] == writes
        assert [counts[identity] for identity in writes] == list(range(1, 51))


def test_the_greeting_does_not_wait_for_the_vault_but_calls_do() -> None:
    with Server([*DUMMY, "1.0"]) as server:
        server.greet()
        server.ask("tools/list")
        assert json.loads(server.text("note", text="a"))["count"] == 1


def test_a_vault_that_does_not_open_is_told_at_each_call_and_the_server_stays() -> None:
    with Server(env={"DUMMY_REFUSES": "The folder is no vault. Run vault-mcp init."}) as server:
        server.greet()
        assert len(server.ask("tools/list")["result"]["tools"]) > 5
        assert server.error("view") == "The folder is no vault. Run vault-mcp init."
        assert (
            server.error("note", text="a") == "The folder is no vault. Run vault-mcp init. Nothing was saved."
        )
        assert server.ask("resources/read", {"uri": URI})["error"]["message"].startswith(
            "The folder is no vault."
        )


def test_params_that_the_revision_does_not_allow_are_refused(shared: Server) -> None:
    assert shared.ask("tools/call", {"arguments": {}})["error"]["code"] == -32602
    assert shared.ask("tools/call", {"name": "view", "arguments": []})["error"]["code"] == -32602
    assert shared.ask("no/such/method")["error"]["code"] == -32601
