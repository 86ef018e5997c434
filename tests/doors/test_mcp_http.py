"""The door over HTTP: real processes, the SDK's client, and raw frames of every revision."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client.client import ConnectMode
from mcp_types import TextContent

from tests.doors.commands import Commands
from tests.doors.frames import HANDSHAKES, MODERN
from tests.doors.over_http import DUMMY, REAL, HttpServer, RawSession, client_of, run
from tests.serving import entity, given, greeted, structure
from tests.vaults import authors, clean, commits, make_vault
from tests.waiting import wait_until
from vault_mcp.doors.mcp_http_gate import TOKEN_AGAIN
from vault_mcp.doors.tokens import Tokens

MODES: tuple[ConnectMode, ...] = ("auto", "legacy")


@pytest.fixture(scope="module")
def dummy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    home = tmp_path_factory.mktemp("home")
    environment = {"DUMMY_HTTP": "127.0.0.1:0", "HOME": str(home), "VAULT_MCP_DIR": str(home / "v")}
    with HttpServer(DUMMY, environment) as server:
        yield server


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault")


def real(root: Path, *flags: str, **env: str) -> HttpServer:
    """Serve a vault over HTTP with a settings folder beside it."""
    command = [*REAL, "--vault", str(root), "--http", "127.0.0.1:0", *flags]
    return HttpServer(command, {"XDG_CONFIG_HOME": str(root.parent / "config"), **env})


def tokens_of(root: Path) -> Tokens:
    return Tokens(str(root), {"XDG_CONFIG_HOME": str(root.parent / "config")})


# -- every revision


@pytest.mark.parametrize("mode", MODES)
def test_the_sdks_client_gets_lists_calls_and_errors(dummy: HttpServer, mode: ConnectMode) -> None:
    async def visit() -> None:
        async with client_of(dummy.url, f"sdk {mode}", mode=mode) as client:
            assert "note" in {tool.name for tool in (await client.list_tools()).tools}
            assert (await client.call_tool("whoami", {})).structured_content == {"agent": f"sdk {mode}"}
            failed = await client.call_tool("fail", {"how": "missing"})
            assert failed.is_error
            assert isinstance(failed.content[0], TextContent)
            assert failed.content[0].text.endswith("Nothing was saved.")
            assert (await client.list_resources()).resources[0].uri == "memory://dummy"
            assert (await client.list_prompts()).prompts[0].name == "tidy"

    run(visit)


@pytest.mark.parametrize("version", HANDSHAKES)
def test_raw_frames_of_every_handshake_revision_are_answered(dummy: HttpServer, version: str) -> None:
    session = RawSession(dummy, version, name=f"raw {version}")
    assert session.greeted["protocolVersion"] == version
    assert session.call("whoami")["structuredContent"] == {"agent": f"raw {version}"}
    assert session.ask("ping")["result"] == {}
    assert session.leave() == 200
    status, _, _ = dummy.request("POST", "/mcp", b'{"jsonrpc":"2.0","id":9,"method":"ping"}', session.headers)
    assert status == 404


def test_raw_frames_of_the_stateless_revision_are_answered(dummy: HttpServer) -> None:
    status, headers, body = dummy.modern("server/discover")
    assert status == 200
    assert "mcp-session-id" not in headers
    assert "2026-07-28" in json.loads(body)["result"]["supportedVersions"]
    assert dummy.call("whoami")["structuredContent"] == {"agent": "modern-client"}
    bare = {key: value for key, value in MODERN.items() if not key.endswith("clientInfo")}
    assert dummy.call("whoami", meta=bare)["structuredContent"] == {"agent": "unknown"}


def test_many_sessions_are_kept_apart(dummy: HttpServer) -> None:
    sessions = [RawSession(dummy, HANDSHAKES[n % 4], name=f"client {n}") for n in range(20)]
    for number, session in reversed(list(enumerate(sessions))):
        assert session.call("whoami")["structuredContent"] == {"agent": f"client {number}"}
    for session in sessions:
        assert session.leave() == 200


# -- news


def test_news_reaches_a_subscriber_of_each_era(dummy: HttpServer) -> None:
    session = RawSession(dummy, "2025-11-25")
    with session.listening() as next_frame:
        session.ask("resources/subscribe", {"uri": "memory://dummy"})
        dummy.call("note", text="news")
        assert next_frame()["params"] == {"uri": "memory://dummy"}

    async def listen() -> None:
        async with (
            client_of(dummy.url) as client,
            client.listen(resource_subscriptions=["memory://dummy"]) as news,
        ):
            await client.call_tool("note", {"text": "more"})
            async for event in news:
                assert event.uri == "memory://dummy"  # type: ignore[union-attr]
                break

    run(listen)


def test_a_subscriber_that_does_not_listen_holds_up_nobody(dummy: HttpServer) -> None:
    deaf = [RawSession(dummy, "2025-11-25") for _ in range(3)]
    for session in deaf:
        session.ask("resources/subscribe", {"uri": "memory://dummy"})
    hearing = RawSession(dummy, "2025-06-18")
    with hearing.listening() as next_frame:
        hearing.ask("resources/subscribe", {"uri": "memory://dummy"})
        for turn in range(3):
            dummy.call("note", text=str(turn))
            assert next_frame()["method"] == "notifications/resources/updated"


# -- what is let in


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:80"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "localhost@evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost.evil.example:80"}, 403),
        ({"Authorization": "Bearer vmcp_wrong"}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": "Basic eDp5"}, 401),
        ({"Origin": "http://localhost:6274"}, 200),
        ({"Host": "localhost"}, 200),
    ],
)
def test_host_origin_and_token_are_looked_at_before_anything_else(
    dummy: HttpServer, headers: dict[str, str], status: int
) -> None:
    assert dummy.modern("tools/list", None, **headers)[0] == status
    if "Authorization" not in headers:
        assert (dummy.request("GET", "/health", headers=headers)[0] == 200) == (status == 200)


def test_a_refused_token_is_answered_with_what_to_do(dummy: HttpServer) -> None:
    status, headers, body = dummy.modern("tools/list", Authorization="Bearer x")
    assert status == 401
    assert headers["www-authenticate"] == 'Bearer realm="vault-mcp", error="invalid_token"'
    assert "vault-mcp token add NAME" in json.loads(body)["error"]


def test_a_body_too_large_is_refused_whether_or_not_its_length_is_told(dummy: HttpServer) -> None:
    large = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"x" * 5_000_000 + b'"}}'
    status, _, _ = dummy.request("POST", "/mcp", large, {"Content-Type": "application/json"})
    assert status == 413
    host, port = dummy.at.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as raw:
        raw.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        answer = b""
        try:
            for _ in range(80):
                raw.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
        except OSError:
            pass  # the server has answered and closed
        while block := raw.recv(65536):
            answer += block
            if b"\r\n\r\n" in answer:
                break
        assert answer.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"\xff", b"1", b"null", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', b"[" * 100_000],
)
@pytest.mark.parametrize("version", ["", "2026-07-28", "2025-11-25", "1999-01-01", "\x7f"])
def test_bodies_that_are_no_request_are_answered_and_forgotten(
    dummy: HttpServer, body: bytes, version: str
) -> None:
    headers = {"Content-Type": "application/json", "Accept": "*/*", "Mcp-Method": "ping"}
    headers |= {"MCP-Protocol-Version": version} if version else {}
    status, _, _ = dummy.request("POST", "/mcp", body, headers)
    assert 400 <= status < 500


@pytest.mark.parametrize(
    "path", ["/", "/mcp/x", "/sse", "/.well-known/oauth-protected-resource", "/%2e%2e/mcp"]
)
def test_there_is_nothing_at_other_paths(dummy: HttpServer, path: str) -> None:
    assert dummy.request("GET", path)[0] == 404


def test_the_fault_of_a_tool_or_a_request_leaves_no_traceback_with_the_client(dummy: HttpServer) -> None:
    result = dummy.call("fail", how="fault")
    assert result["isError"]
    assert "secret" not in json.dumps(result)
    long = dummy.call("odd", what="huge")
    assert long["isError"]
    assert "more than one reply may have" in long["content"][0]["text"]


# -- health


def test_health_says_how_far_the_vault_is() -> None:
    with HttpServer([*DUMMY, "1"], {"DUMMY_HTTP": "127.0.0.1:0"}) as server:
        assert server.request("GET", "/health")[2] == b'{"status":"opening"}'
        wait_until(lambda: server.request("GET", "/health")[0] == 200, 30)
        assert server.request("HEAD", "/health")[0] == 200
        assert server.request("POST", "/health")[0] == 405
    with HttpServer(DUMMY, {"DUMMY_HTTP": "127.0.0.1:0", "DUMMY_REFUSES": "No disk."}) as server:
        wait_until(lambda: server.request("GET", "/health")[2] == b'{"status":"failed"}', 30)
        assert server.request("GET", "/health")[0] == 503


# -- beyond this machine, and tokens


def test_beyond_this_machine_nothing_is_served_without_a_token(commands: Commands, root: Path) -> None:
    for flags in (["--http", "0.0.0.0:0"], ["--http", "127.0.0.1:0", "--allow-hosts", "notes.example.org"]):
        said = commands.refused("serve", "--vault", root, *flags)
        assert said.endswith("Make one for each agent first: vault-mcp token add NAME")
    assert "--http must be an address" in commands.refused("serve", "--vault", root, "--http", "a b")
    assert "is not known" in commands.refused("serve", "--vault", root, "--http", "no-such-host.invalid:1")


def test_an_address_in_use_is_told(commands: Commands, root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        at = f"127.0.0.1:{taken.getsockname()[1]}"
        assert f"{at} cannot be listened at" in commands.refused("serve", "--vault", root, "--http", at)


def test_where_tokens_are_needed_every_request_is_its_own_agents(root: Path) -> None:
    ann, bob = tokens_of(root).add("ann-laptop"), tokens_of(root).add("bob-phone")
    with real(root, "--require-token") as server:
        for tool in ("create_entities", "read_graph"):
            status, headers, _ = server.modern("tools/call", {"name": tool, "arguments": {}})
            assert status == 401
            assert headers["www-authenticate"] == 'Bearer realm="vault-mcp"'
        assert server.request("GET", "/mcp", headers={"Accept": "text/event-stream"})[0] == 401
        sessions = [RawSession(server, "2025-06-18", "claude", token) for token in (ann, bob)]
        for turn in range(3):
            for session in sessions:
                structure(session.call("create_entities", entities=[entity(f"E{turn} {id(session)}", "x")]))
            structure(server.call("create_entities", token=bob, entities=[entity(f"M{turn}", "x")]))

        async def visit() -> None:
            for mode in MODES:
                async with client_of(server.url, "bob-phone", ann, mode) as client:
                    made = await client.call_tool("create_entities", {"entities": [entity(f"S {mode}", "x")]})
                    assert not made.is_error

        run(visit)
    assert authors(root)[:-1] == ["ann-laptop"] * 2 + ["bob-phone", "bob-phone", "ann-laptop"] * 3
    assert clean(root)


def test_a_session_is_of_no_use_with_another_token(root: Path) -> None:
    ann, bob = tokens_of(root).add("ann"), tokens_of(root).add("bob")
    with real(root) as server:
        session = RawSession(server, "2025-11-25", "x", ann)
        for authorization in ({"Authorization": f"Bearer {bob}"}, {}):
            headers = {key: value for key, value in session.headers.items() if key != "Authorization"}
            frame = b'{"jsonrpc":"2.0","id":5,"method":"tools/list"}'
            assert server.request("POST", "/mcp", frame, headers | authorization)[0] == 404
            assert server.request("DELETE", "/mcp", headers=headers | authorization)[0] == 404
        assert session.call("read_graph")["isError"] is False


def test_nobody_takes_a_name_that_belongs_to_a_token(root: Path) -> None:
    secret = tokens_of(root).add("claude-code")
    with real(root) as server:
        for name in ("claude-code", "Claude Code"):
            meta = {**MODERN, "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"}}
            structure(server.call("create_entities", meta=meta, entities=[entity(f"by {name}", "x")]))
        structure(server.call("create_entities", token=secret, entities=[entity("theirs", "x")]))
    assert authors(root)[:3] == ["claude-code", "Claude Code (no token)", "claude-code (no token)"]


def test_a_token_allows_what_its_scopes_say_and_shows_no_more(root: Path) -> None:
    reader = tokens_of(root).add("reader", ["read"])
    keeper = tokens_of(root).add("keeper", ["write:keys"])
    with real(root) as server:

        async def visit() -> None:
            for mode in MODES:
                async with client_of(server.url, token=reader, mode=mode) as client:
                    tools = (await client.list_tools()).tools
                    assert {tool.annotations.read_only_hint for tool in tools if tool.annotations} == {True}
                    assert (await client.list_resources()).resources
                async with client_of(server.url, token=keeper, mode=mode) as client:
                    names = {tool.name for tool in (await client.list_tools()).tools}
                    assert {"write_memory", "read_memory"} <= names
                    assert not names & {"read_graph", "history_log", "memory_view"}
                    assert (await client.list_resources()).resources == []
                    assert (await client.list_resource_templates()).resource_templates == []
                    with pytest.raises(Exception, match="does not show the whole vault"):
                        await client.read_resource("memory://knowledge-graph")
                async with client_of(server.url, mode=mode) as client:
                    assert len((await client.list_tools()).tools) > len(tools)

        run(visit)
        refused = server.call("create_entities", token=reader, entities=[entity("A", "x")])
        assert refused["isError"]
        text = refused["content"][0]["text"]
        assert text.startswith("This token does not allow create_entities: it allows read.")
        assert "write:graph" in text
        assert text.endswith("Nothing was saved.")
        assert server.call("read_graph", token=keeper)["isError"]
        assert server.call("write_memory", token=keeper, key="a", value="b")["isError"] is False
    assert authors(root)[:-1] == ["keeper"]


def test_a_token_taken_away_ends_what_it_began(root: Path) -> None:
    tokens = tokens_of(root)
    secret = tokens.add("ann")
    with real(root) as server:
        session = RawSession(server, "2025-11-25", "x", secret)
        with session.listening() as next_frame:
            assert session.call("read_graph")["isError"] is False
            tokens.remove("ann")
            status, _, _ = server.request("POST", "/mcp", b"{}", session.headers)
            assert status == 401
            with pytest.raises(EOFError):
                next_frame()
        assert TOKEN_AGAIN < 30
        again = tokens.add("ann")
        session.headers["Authorization"] = f"Bearer {again}"
        assert server.request("POST", "/mcp", b"{}", session.headers)[0] == 404


def test_a_token_also_names_the_client_of_the_standard_streams(commands: Commands, root: Path) -> None:
    config = str(root.parent / "config")
    secret = tokens_of(root).add("claude-code", ["read", "write:graph"])
    with greeted(root, agent="claude-code", XDG_CONFIG_HOME=config) as server:
        given(server, "create_entities", entities=[entity("A", "x")])
    with greeted(root, agent="x", XDG_CONFIG_HOME=config, VAULT_MCP_TOKEN=secret) as server:
        given(server, "create_entities", entities=[entity("B", "x")])
        assert "does not allow write_memory" in server.error("write_memory", key="a", value="b")
    assert authors(root)[:2] == ["claude-code", "claude-code (no token)"]
    assert len(commits(root)) == 3
    said = commands.refused("serve", "--vault", root, VAULT_MCP_TOKEN="wrong", XDG_CONFIG_HOME=config)
    assert said.startswith("VAULT_MCP_TOKEN is no token of this vault.")
