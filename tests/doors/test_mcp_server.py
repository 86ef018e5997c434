"""The door as the SDK's own client sees it, in both families of revisions, over real processes."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Literal

import jsonschema
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

from tests.doors.catalog_checks import breaches, lint_errors
from tests.doors.dummy_server import CATALOG
from tests.doors.frames import DUMMY, ROOT, Server
from vault_mcp.doors.mcp_server import INSTRUCTIONS
from vault_mcp.doors.mcp_shown import shown

Mode = Literal["auto", "legacy"]


def visit(mode: Mode, talk: Callable[[Client], Awaitable[None]], **env: str) -> None:
    """Connect to a dummy server as the SDK does."""
    command = StdioServerParameters(command=DUMMY[0], args=[*DUMMY[1:]], env={"PYTHONPATH": str(ROOT), **env})

    async def run() -> None:
        async with Client(command, mode=mode) as client:
            await talk(client)

    asyncio.run(run())


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_sdks_client_is_served_whole(mode: Mode, version: str) -> None:
    async def talk(client: Client) -> None:
        assert client.protocol_version == version
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [tool.name for tool in CATALOG.tools]
        noted = await client.call_tool("note", {"text": '{"a": 1}'})
        assert noted.structured_content is not None
        assert noted.structured_content["text"] == '{"a": 1}'
        assert json.loads(text_of(noted)) == noted.structured_content
        plain = await client.call_tool("view", {"dummy": "sent by some clients"})
        assert (text_of(plain), plain.structured_content) == ('{"a": 1}', None)
        failed = await client.call_tool("fail", {"how": "missing"})
        assert failed.is_error
        assert text_of(failed).startswith("There is no note 'x'.")
        assert (await client.list_resources()).resources[0].uri == "memory://dummy"
        assert (await client.list_prompts()).prompts[0].name == "tidy"

    visit(mode, talk)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_many_calls_at_once_are_all_answered(mode: Mode) -> None:
    async def talk(client: Client) -> None:
        calls = [client.call_tool("note", {"text": str(number)}) for number in range(100)]
        replies = await asyncio.gather(*calls)
        counts = [reply.structured_content["count"] for reply in replies if reply.structured_content]
        assert sorted(counts) == list(range(1, 101))

    visit(mode, talk)


def test_tools_show_short_schemas_a_title_and_all_four_hints() -> None:
    for tool in CATALOG.tools:
        wire = shown(tool).model_dump(by_alias=True, exclude_none=True)
        hints = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
        assert set(wire["annotations"]) == hints
        assert wire["annotations"]["openWorldHint"] is False
        assert wire["title"]
        assert "title" not in json.dumps(wire["inputSchema"])
        assert ("outputSchema" in wire) == (tool.result is not None)
        jsonschema.Draft202012Validator.check_schema(wire["inputSchema"])


def test_the_dummy_catalog_keeps_the_rules_for_catalogs() -> None:
    assert breaches(CATALOG) == []
    assert lint_errors(CATALOG) == []


def test_instructions_fit_what_clients_show() -> None:
    assert 200 < len(INSTRUCTIONS) < 2_000


# -- results and errors, over one process


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(cwd="/tmp") as process:
        process.greet()
        yield process


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("missing", "There is no note 'x'. Look for its name with search_nodes. Nothing was saved."),
        ("space", "There is no space left on the disk. Free some and try again. Nothing was saved."),
        (
            "permission",
            "The system gave no permission for people/Ada.md. Check who owns the vault's files. "
            "Nothing was saved.",
        ),
        ("storage", "The disk is full. Nothing was saved."),
        (
            "fault",
            "fail failed by a fault in the server (KeyError); its log has the details. "
            "Look whether the change is there before you try again.",
        ),
    ],
)
def test_every_failure_says_what_happened_and_what_to_do(server: Server, how: str, says: str) -> None:
    assert server.error("fail", how=how) == says


def test_the_details_of_a_fault_go_to_the_log_alone(server: Server) -> None:
    assert server.error("read_fault") == (
        "read_fault failed by a fault in the server (KeyError); its log has the details."
    )
    assert any("KeyError: 'secret'" in line for line in server.log)


def test_a_wrong_call_of_a_writing_tool_says_that_nothing_was_saved(server: Server) -> None:
    assert server.error("note") == "`text` (text) is missing. Nothing was saved."
    assert server.error("note", text=3) == "`text` must be text, not 3. Nothing was saved."
    assert server.error("note", text="a", repo_path="/") == (
        "`repo_path` is no argument of note. It takes `text`. Nothing was saved."
    )
    assert server.error("odd", what="x") == (
        '`what` must be one of: surrogate, numbers, unicode, huge, not the text "x".'
    )
    assert (
        server.error("nowhere") == "There is no tool named 'nowhere' here. Ask for the list of tools again."
    )


def test_a_note_that_changed_under_a_call_is_read_again_up_to_eight_times(server: Server) -> None:
    assert json.loads(server.text("stale", times=3)) == {"tries": 4}
    late = "The note has changed meanwhile. Read it again. Nothing was saved."
    assert server.error("stale", times=13) == late  # 9 tries more, the thirteenth of all among them
    assert json.loads(server.text("stale", times=13)) == {"tries": 14}
    assert server.error("stale", times=99, retry=False) == late
    assert json.loads(server.text("stale", times=0)) == {"tries": 16}


# -- who calls


def test_the_clients_own_name_is_taken_and_made_clean() -> None:
    with Server() as process:
        process.greet(name="evil\n[core]\n\thooksPath = /tmp/h")
        agent = json.loads(process.text("whoami"))["agent"]
        assert "\n" not in agent
        assert agent.startswith("evil")


def test_a_name_the_server_was_started_with_wins() -> None:
    with Server(env={"DUMMY_AGENT": "scribe"}) as process:
        process.greet(name="raw")
        assert json.loads(process.text("whoami")) == {"agent": "scribe"}
