"""What the real server offers at addresses, on a real vault, to the SDK's client and to raw frames."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import (
    BlobResourceContents,
    PromptReference,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
)

from tests.doors.frames import MODERN, ROOT, Frame, Server
from tests.serving import entity, given, serve
from tests.vaults import git, make_vault, write_files
from tests.waiting import wait_until

UPDATED = "notifications/resources/updated"
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault")


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on a vault that has something of each kind."""
    root = make_vault(tmp_path_factory.mktemp("stocked") / "vault")
    write_files(root, {"Straße & Co.md": "# Weg\n", "board.canvas": "{}", "big.txt": "x" * 1_000_001})
    (root / "shot.png").write_bytes(PNG)
    with serve(root) as server:
        server.greet()
        given(server, "create_entities", entities=[entity("Ada Lovelace", "likes tea"), entity("a/b", "odd")])
        given(server, "create_entities", entities=[entity("Äda", "has dots")])
        given(
            server,
            "memory_remember",
            text="We chose Git.",
            session_id="talk 1",
            tags=["choice"],
            importance=5,
        )
        server.text("write_memory", key="user/theme", value="dark\n")
        yield server


def answer(server: Server, method: str, news: list[str] | None = None, **params: object) -> Frame:
    """Ask, and give the answer, whatever news comes meanwhile; who wants to know of it gives a list."""
    asked = server.request(method, params)
    while (frame := server.next()).get("id") != asked:
        if news is not None:
            news.append(frame["method"])
    return frame


def read(server: Server, uri: str) -> Frame:
    (content,) = answer(server, "resources/read", uri=uri)["result"]["contents"]
    assert content["uri"] == uri
    return dict(content)


def refusal(server: Server, uri: str) -> str:
    error = answer(server, "resources/read", uri=uri)["error"]
    assert error["code"] == -32602
    assert error["data"] == {"uri": uri}
    return str(error["message"])


def listed_by(server: Server, news: list[str] | None = None) -> list[Frame]:
    listed: list[Frame] = answer(server, "resources/list", news)["result"]["resources"]
    return listed


# -- reading


@pytest.mark.parametrize(
    ("uri", "mime"),
    [
        ("vault://note/Stra%C3%9Fe%20%26%20Co.md", "text/markdown"),
        ("vault://note/Straße & Co.md", "text/markdown"),
        ("vault://note/entities/t/Ada%20Lovelace.md", "text/markdown"),
        ("vault://note/board.canvas", "application/json"),
        ("vault://note/shot.png", "image/png"),
        ("vault://entity/Ada%20Lovelace", "application/json"),
        ("vault://entity/a%2Fb", "application/json"),
        ("vault://key/user/theme", "text/plain"),
        ("vault://changes", "application/json"),
        ("memory://taxonomy", "application/json"),
        ("memory://knowledge-graph", "application/json"),
    ],
)
def test_each_kind_of_address_gives_what_stands_there(stocked: Server, uri: str, mime: str) -> None:
    assert read(stocked, uri)["mimeType"] == mime


def test_what_is_read_is_what_is_there(stocked: Server) -> None:
    assert read(stocked, "vault://note/Straße & Co.md")["text"] == "# Weg\n"
    assert read(stocked, "vault://key/user/theme")["text"] == "dark\n"
    ada = json.loads(read(stocked, "vault://entity/Ada%20Lovelace")["text"])
    assert [fact["text"] for fact in ada["entities"][0]["observations"]] == ["likes tea"]
    newest = json.loads(read(stocked, "vault://changes")["text"])["changes"][0]
    assert newest["tool"] == "write_memory"


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("vault://note/nothing.md", "There is no file nothing.md in the vault."),
        (
            "vault://note/old/board.canvas",
            "There is no file old/board.canvas in the vault. There is: board.canvas.",
        ),
        ("vault://note/entities", "entities is a folder. memory_view lists what is in it."),
        ("vault://note/big.txt", "big.txt has 1,000,001 characters; an address gives at most 1,000,000."),
        ("vault://note/.git/config", ".git/config"),
        ("vault://note/../secret.md", "../secret.md"),
        ("vault://note/%2e%2e/secret.md", "../secret.md"),
        ("vault://entity/Ada", "There is no entity 'Ada'. There is: Ada Lovelace, Äda."),
        ("vault://memory/12", "Memory 12 not found. Look for its number with memory_recall."),
        ("vault://memory/x", "memory_id 'x' is not the number of a memory."),
        ("vault://key/User/Theme", "There is no key “User/Theme”. There is: “user/theme”."),
        (
            "vault://other/x",
            "There is no resource vault://other/x. Addresses are those of",
        ),
    ],
)
def test_an_address_where_nothing_can_be_read_says_what_to_do(stocked: Server, uri: str, says: str) -> None:
    assert says in refusal(stocked, uri)


def test_the_notes_that_changed_last_are_listed_and_can_be_read(stocked: Server) -> None:
    wait_until(lambda: listed_by(stocked)[3:4] and listed_by(stocked)[3]["name"] == "user/theme", 60)
    listed = listed_by(stocked)
    fixed = ["memory://knowledge-graph", "memory://taxonomy", "vault://changes"]
    assert [one["uri"] for one in listed][:3] == fixed
    first = listed[3]
    assert (first["name"], first["mimeType"]) == ("user/theme", "text/markdown")
    assert first["annotations"]["lastModified"].endswith("Z")
    for one in listed[3:]:
        if one["title"] != "big.txt":
            assert read(stocked, one["uri"])["mimeType"] == one["mimeType"]


# -- the SDK's client, of both families


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_sdks_client_reads_completes_and_is_asked(root: Path, mode: Literal["auto", "legacy"]) -> None:
    async def talk(client: Client) -> None:
        await client.call_tool("create_entities", {"entities": [entity("Ada Lovelace", "likes tea")]})
        await client.call_tool("write_memory", {"key": "user/theme", "value": "dark"})
        made = await client.call_tool("memory_remember", {"text": "We chose Git.", "session_id": "talk 1"})
        assert made.structured_content is not None
        number = str(made.structured_content["memory_id"])
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == [
            "vault://note/{+path}",
            "vault://entity/{name}",
            "vault://memory/{id}",
            "vault://key/{+key}",
        ]
        typed = {"path": "ada", "name": "LOVE", "id": number[:3], "key": "THEME"}
        wanted = {
            "path": "entities/t/Ada Lovelace.md",
            "name": "Ada Lovelace",
            "id": number,
            "key": "user/theme",
        }
        for template in templates:
            variable = template.uri_template.partition("{")[2].strip("+}")
            reference = ResourceTemplateReference(uri=template.uri_template)
            found = (
                await client.complete(reference, {"name": variable, "value": typed[variable]})
            ).completion
            assert wanted[variable] in found.values
        (content,) = (await client.read_resource(f"vault://memory/{number}")).contents
        assert isinstance(content, TextResourceContents)
        assert content.text.endswith("We chose Git.\n")
        about = PromptReference(name="what_do_you_know")
        assert (await client.complete(about, {"name": "topic", "value": "ad"})).completion.values == [
            "Ada Lovelace"
        ]
        keep = PromptReference(name="remember_conversation")
        assert (await client.complete(keep, {"name": "session", "value": "t"})).completion.values == [
            "talk 1"
        ]
        prompt = await client.get_prompt("what_do_you_know", {"topic": "Ada Lovelace"})
        assert isinstance(prompt.messages[0].content, TextContent)
        assert prompt.messages[0].content.text.startswith("What do you know about Ada Lovelace?")
        (root / "shot.png").write_bytes(PNG)
        (picture,) = (await client.read_resource("vault://note/shot.png")).contents
        assert isinstance(picture, BlobResourceContents)

    visit(root, mode, talk)


def visit(root: Path, mode: Literal["auto", "legacy"], talk: Callable[[Client], Awaitable[None]]) -> None:
    """Connect to the real server as the SDK does."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "vault_mcp", "serve", "--vault", str(root)],
        env={"PYTHONPATH": str(ROOT)},
    )

    async def run() -> None:
        async with Client(command, mode=mode) as client:
            await talk(client)

    asyncio.run(run())


# -- news: by a tool, by hand, by Git, by another server


def next_news(server: Server, wanted: str) -> None:
    """Wait for word of one address; nothing but news may come meanwhile."""
    while True:
        frame = server.next()
        assert frame["method"] in (UPDATED, "notifications/resources/list_changed"), frame
        if frame["method"] == UPDATED and frame["params"]["uri"] == wanted:
            return


def follow(server: Server, era: str, *uris: str) -> None:
    """Ask for news of addresses as a client of that era does, of a vault that is at rest."""
    if era == "modern":
        listen = {"notifications": {"resourceSubscriptions": list(uris)}, "_meta": MODERN}
        server.request("subscriptions/listen", listen)
        assert server.next()["method"] == "notifications/subscriptions/acknowledged"
    else:
        for uri in uris:
            server.ask("resources/subscribe", {"uri": uri})


def opened(root: Path, era: str, *flags: str) -> Server:
    server = serve(root, *flags)
    if era == "legacy":
        server.greet()
    meta = {"_meta": MODERN} if era == "modern" else {}
    answer = server.ask("tools/call", {"name": "memory_stats", "arguments": {}, **meta})
    assert answer["result"]["isError"] is False
    return server


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_news_comes_whoever_changed_a_note(root: Path, tmp_path: Path, era: str) -> None:
    write_files(root, {"entities/Ada.md": "---\nentity: person\n---\n\n## Observations\n\n- likes tea\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Ada")
    subprocess.run(["git", "clone", "-q", str(root), str(tmp_path / "twin")], check=True)
    ada, note = "vault://entity/Ada", "vault://note/entities/Ada.md"
    with opened(root, era) as server:
        follow(server, era, ada, note)
        # another server on the same vault
        with serve(root) as other:
            other.greet()
            given(other, "add_observations", observations=[{"entityName": "Ada", "contents": ["by a tool"]}])
        next_news(server, ada)
        # a hand
        path = root / "entities" / "Ada.md"
        path.write_text(path.read_text() + "- by hand\n")
        next_news(server, ada)
        # a pull
        twin = tmp_path / "twin"
        git(twin, "pull", "-q", str(root))
        (twin / "entities" / "Ada.md").write_text(
            (twin / "entities" / "Ada.md").read_text() + "- by a pull\n"
        )
        git(twin, "commit", "-q", "-am", "pulled")
        git(root, "pull", "-q", str(twin))
        next_news(server, ada)
        # a file that goes
        git(root, "rm", "-q", "entities/Ada.md")
        git(root, "commit", "-q", "-m", "gone")
        next_news(server, note)


def test_a_list_that_was_given_is_told_of_when_a_note_comes_by_hand(root: Path) -> None:
    with opened(root, "legacy") as server:
        news: list[str] = []
        assert "Plan.md" not in [one["title"] for one in listed_by(server)]
        write_files(root, {"Plan.md": "A plan.\n"})
        wait_until(lambda: "Plan.md" in [one["title"] for one in listed_by(server, news)], 60, every=0.5)
        wait_until(
            lambda: listed_by(server, news) and "notifications/resources/list_changed" in news, 60, every=0.5
        )


# -- progress


def reported(server: Server, tool: str, **arguments: object) -> tuple[list[Frame], Frame]:
    """Call a tool with a progress token; give what was reported meanwhile, and the result."""
    params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": 7}}
    asked = server.request("tools/call", params)
    steps = []
    while (frame := server.next()).get("id") != asked:
        assert frame["method"] == "notifications/progress"
        steps.append(frame["params"])
    return steps, frame["result"]


def test_a_call_that_waits_for_the_first_index_tells_how_far_it_is(root: Path) -> None:
    write_files(root, {f"notes/{n}.md": f"# Note {n}\n\nabout {n}\n" * 20 for n in range(3_000)})
    with serve(root, "--no-watch") as server:
        server.greet()
        steps, result = reported(server, "memory_stats")
    assert result["isError"] is False
    assert steps
    assert {step["message"] for step in steps} == {"files indexed for the first time"}


def test_long_work_on_many_notes_tells_how_far_it_is(root: Path) -> None:
    hub = "---\nentity: thing\n---\n\n## Observations\n\n- in the middle\n"
    spoke = "---\nentity: thing\n---\n\n## Relations\n\n- points to [[Hub]]\n"
    write_files(root, {"entities/Hub.md": hub, **{f"entities/Spoke {n}.md": spoke for n in range(400)}})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "spokes")
    with serve(root, "--no-watch") as server:
        server.greet()
        given(server, "memory_stats")
        for tool, arguments, message in (
            ("rename_entity", {"entityName": "Hub", "newName": "Nave"}, "notes looked through for links"),
            (
                "memory_rename",
                {"old_path": "entities/Nave.md", "new_path": "Nave, moved.md"},
                "notes looked through for links",
            ),
            ("initialize_memory", {"mode": "fresh"}, "entities archived"),
        ):
            steps, result = reported(server, tool, **arguments)
            assert result["isError"] is False
            assert steps, tool
            assert {step["message"] for step in steps} == {message}
            assert all(step["progress"] <= step["total"] for step in steps)


# -- profiles


def test_prompts_ask_only_for_tools_that_are_offered(root: Path) -> None:
    with serve(root, "--read-only") as server:
        server.greet()
        prompts = [prompt["name"] for prompt in server.ask("prompts/list")["result"]["prompts"]]
    assert prompts == ["what_do_you_know", "weekly_review"]
