"""Cases about the protocol: what goes over the wire, in what order, and how the process comes and goes."""

import json
import time
from pathlib import Path
from typing import NoReturn

import pytest

from tests.cases.conftest import Desk
from tests.doors.catalog_checks import result_fault
from tests.doors.frames import HANDSHAKES, Frame, greeting
from tests.serving import (
    answers,
    ask,
    count,
    entity,
    facts,
    faults,
    given,
    graph,
    greeted,
    make,
    relation,
    serve,
    structure,
)
from tests.vaults import git, write_files
from tests.waiting import wait_until
from vault_mcp.tools.families import whole_catalog

GRAPH_TOOLS = whole_catalog().pick(["graph"]).tools

CALLS: list[tuple[str, dict[str, object]]] = [
    ("create_entities", {"entities": [entity("A", "a1"), entity("B", "b1"), entity("C", "c1")]}),
    ("create_relations", {"relations": [relation("A", "knows", "B"), relation("A", "knows", "Ghost")]}),
    ("add_observations", {"observations": [{"entityName": "A", "contents": ["a2"]}]}),
    ("edit_observation", {"entityName": "A", "oldText": "a2", "newText": "a3"}),
    ("supersede_observation", {"entityName": "A", "oldText": "a3", "newText": "a4"}),
    ("rename_entity", {"entityName": "B", "newName": "Bea"}),
    ("merge_entities", {"sourceName": "C", "targetName": "Bea"}),
    ("read_graph", {}),
    ("search_nodes", {"query": "a1"}),
    ("open_nodes", {"names": ["A", "Ghost"]}),
    ("export_taxonomy", {}),
    ("delete_observations", {"deletions": [{"entityName": "A", "observations": ["a1"]}]}),
    ("delete_relations", {"relations": [relation("A", "knows", "Bea")]}),
    ("delete_entities", {"entityNames": ["Bea"]}),
    ("initialize_memory", {"mode": "fresh"}),
]


def refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def hub(spokes: int) -> dict[str, str]:
    """Notes that each have a relation to the entity A."""
    note = "---\nentity: t\n---\n\n## Relations\n\n- near [[A]]\n"
    return {"A.md": "---\nentity: t\n---\n"} | {f"s/S{number}.md": note for number in range(spokes)}


def commit_all(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "notes")


def test_MCP_01_nothing_but_messages_comes_over_standard_output(root: Path) -> None:
    write_files(root, {"bad.md": "---\na: [\n---\n", "dup.md": "---\na: 1\na: 2\n---\n"})
    write_files(root, {".vault-mcp.toml": "hand_edits = 7\n"})
    with greeted(root, PYTHONWARNINGS="always", PYTHONDEVMODE="1") as server:
        for tool, arguments in CALLS:
            given(server, tool, **arguments)
        server.close_input()
        assert server.ended() == 0
        for line in server.raw:
            assert json.loads(line, parse_constant=refused)["jsonrpc"] == "2.0"
        assert any("hand_edits" in line for line in server.log)


def test_MCP_03_a_cancelled_rename_is_answered_by_nothing_and_done_whole_or_not_at_all(root: Path) -> None:
    write_files(root, hub(500))
    commit_all(root)
    with greeted(root, "--no-watch") as server:
        wait_until(lambda: len(graph(server)[1]) == 500, 30)
        before = count(root)
        renamed = ask(server, "rename_entity", entityName="A", newName="Z")
        server.send("notifications/cancelled", {"requestId": renamed})
        # The next reply is that to the next request.
        reply = server.ask("tools/call", {"name": "open_nodes", "arguments": {"names": ["A", "Z"]}})
        assert len(structure(reply["result"])["entities"]) == 1
        given(server, "create_entities", entities=[entity("after")])
        names, relations = graph(server)
        ends = {end for _, _, end in relations}
        assert len(relations) == 500
        assert ends in ({"A"}, {"Z"})
        assert ends < set(names)
        server.close_input()
        assert server.rest() == []
    assert count(root) - before == 1 + (ends == {"Z"})
    assert faults(root) == []


def test_MCP_04_every_read_during_renames_sees_all_of_one_or_all_of_the_other(root: Path) -> None:
    write_files(root, hub(300))
    commit_all(root)
    with greeted(root, "--no-watch") as server:
        wait_until(lambda: len(graph(server)[1]) == 300, 30)
        asked, renames = [], []
        for turn in range(8):
            old, new = ("A", "B") if turn % 2 == 0 else ("B", "A")
            renames.append(ask(server, "rename_entity", entityName=old, newName=new))
            asked += [ask(server, "read_graph", limit=1000) for _ in range(12)]
        told = answers(server, asked + renames)
        for number in asked:
            shown = structure(told[number])
            names = {one["name"] for one in shown["entities"]} & {"A", "B"}
            assert len(names) == 1
            assert {one["to"] for one in shown["relations"]} == names
            assert len(shown["relations"]) == 300
    assert faults(root) == []


def test_MCP_07_lists_and_objects_may_come_as_json_text(desk: Desk) -> None:
    """A policy of ours: docs/policies.md, "Arguments in another shape"."""
    given(desk.server, "create_entities", entities=json.dumps([entity("A", "o")]))
    given(desk.server, "create_entities", entities=[json.dumps(entity("B", "o"))])
    assert list(graph(desk.server)[0]) == ["A", "B"]
    assert facts(desk.server, "A") == ["o"]
    (shown,) = given(desk.server, "open_nodes", names='["A"]')["entities"]
    assert shown["name"] == "A"
    told = desk.server.error("open_nodes", names="A")
    assert '`names` must be a list of text, such as ["A"]' in told


@pytest.mark.parametrize("limit", [True, 1.5, "abc", [1], {}, 0, -1, 10**40])
def test_MCP_09_a_number_is_not_made_of_something_else(desk: Desk, limit: object) -> None:
    """With the limit of a page in place of a line of a file."""
    make(desk.server, "A", "B")
    assert "`limit` must be" in desk.server.error("read_graph", limit=limit)
    assert len(given(desk.server, "read_graph", limit="1")["entities"]) == 1


def test_MCP_10_every_result_fits_its_schema_and_every_error_is_one_with_text(root: Path) -> None:
    assert {tool for tool, _ in CALLS} == {tool.name for tool in GRAPH_TOOLS}
    catalog = whole_catalog()
    with greeted(root) as server:
        for name, arguments in CALLS:
            tool = catalog.tool(name)
            assert tool is not None
            result = server.call(name, **arguments)
            assert result["isError"] is False, result
            assert result_fault(tool, result) == ""
        for tool in GRAPH_TOOLS:
            if tool.inputs.fields:
                assert server.error(tool.name, nonsense=1).startswith("`nonsense` is no argument of")


def test_MCP_11_every_tool_declares_what_it_documents(desk: Desk) -> None:
    listed = {tool["name"]: tool for tool in desk.server.ask("tools/list")["result"]["tools"]}
    wanted = {
        "edit_observation": {"message", "entityName", "observation"},
        "supersede_observation": {"message", "entityName", "superseded", "replacement"},
        "rename_entity": {"message", "entity"},
        "merge_entities": {"message", "entity", "movedRelations"},
        "create_entities": {"entities", "skipped"},
        "create_relations": {"relations", "skipped"},
        "add_observations": {"results"},
        "delete_entities": {"success", "message", "deletedEntities", "deletedRelations"},
        "initialize_memory": {"status", "header", "backup"},
        "export_taxonomy": {"path", "taxonomy_version", "counts"},
        "search_nodes": {"entities", "relations", "hits"},
    }
    for tool in GRAPH_TOOLS:
        schema = listed[tool.name]["outputSchema"]
        assert schema["type"] == "object"
        assert wanted.get(tool.name, set()) <= set(schema["properties"])


@pytest.mark.parametrize("version", HANDSHAKES)
def test_MCP_13_an_old_client_without_capabilities_is_served_and_asked_nothing(
    root: Path, version: str
) -> None:
    with serve(root) as server:
        result = server.ask("initialize", greeting(version))["result"]
        assert result["protocolVersion"] == version
        offers = result["capabilities"]["tools"].get("listChanged", False)
        server.send("notifications/initialized")
        tools = server.ask("tools/list")["result"]["tools"]
        assert {tool.name for tool in GRAPH_TOOLS} <= {tool["name"] for tool in tools}
        make(server, "A")
        server.close_input()
        assert [frame for frame in server.rest() if "method" in frame] == []
        told = [frame.get("method") for frame in map(json.loads, server.raw)]
        assert offers or "notifications/tools/list_changed" not in told


def test_MCP_16_a_line_that_is_no_request_costs_only_itself(desk: Desk) -> None:
    server = desk.server
    server.write(b"not json\n")
    server.write(b"\xff\xfe\n")
    server.write(b"\n  \n")
    server.write(b'{\n  "jsonrpc": "2.0",\n  "id": "pretty",\n  "method": "tools/list"\n}\n')
    server.write(b'{"jsonrpc":"2.0","id":"bare","method":"tools/call","params":{"name":"read_graph"}}\n')
    seen: dict[object, Frame] = {}
    while "bare" not in seen:
        frame = server.next()
        seen[frame.get("id")] = frame
    assert seen["bare"]["result"]["isError"] is False
    assert given(server, "open_nodes", names=["x"])["missing"] == ["x"]


def test_MCP_17_tools_that_say_they_only_read_write_nothing(root: Path) -> None:
    write_files(root, hub(3))
    commit_all(root)

    def state() -> dict[str, bytes]:
        files = [path for path in root.rglob("*") if path.is_file() and "vault-mcp" not in path.parts]
        return {str(path): path.read_bytes() for path in files}

    odd = {"query": "\0'\"%_[[A]]", "names": ["../A", "-h", "", "A"], "since": "2020-01-01", "agent": "x"}
    with greeted(root, "--no-watch") as server:
        wait_until(lambda: len(graph(server)[1]) == 3)
        before = state()
        for tool in GRAPH_TOOLS:
            if tool.hints.read_only:
                for values in ({}, {k: v for k, v in odd.items() if k in tool.inputs.fields}):
                    server.call(tool.name, **values)
            elif tool.name.startswith(("delete", "edit", "rename", "merge", "initialize")):
                assert tool.hints.destructive, tool.name
        for uri in ("memory://knowledge-graph", "memory://taxonomy"):
            server.ask("resources/read", {"uri": uri})
        assert state() == before
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.long
def test_MCP_18_a_large_vault_without_an_index_is_greeted_at_once_and_soon_searched(root: Path) -> None:
    """A policy of ours: docs/policies.md, "While the first index is made"."""
    note = "---\nentity: t\n---\n\n## Observations\n\n- fact number %d\n- zebra %d\n"
    write_files(root, {f"n/{n % 50}/N{n}.md": note % (n, n) for n in range(10_000)})
    commit_all(root)
    began = time.monotonic()
    with serve(root, "--no-watch") as server:
        server.greet()
        assert time.monotonic() - began < 5
        waited = []

        def answered() -> bool:
            result = server.call("search_nodes", query="zebra 9999")
            if result["isError"]:
                waited.append(result["content"][0]["text"])
                return False
            return bool(structure(result)["entities"][0]["name"] == "N9999")

        wait_until(answered, 60)
        assert all("indexed for the first time" in text for text in waited)


def test_MCP_20_clients_come_and_go_and_leave_nothing_behind(root: Path) -> None:
    before = count(root)
    for number in range(3):
        with serve(root) as server:
            server.send("initialize", greeting(), id="hello")
            server.send("notifications/initialized")
            ask(server, "create_entities", entities=[entity(f"N{number}", "o")])
            server.close_input()
            assert [frame["result"].get("isError") for frame in server.rest()] == [None, False]
            assert server.ended() == 0
    with greeted(root) as one, greeted(root) as two:
        first = ask(one, "create_entities", entities=[entity("One")])
        second = ask(two, "create_entities", entities=[entity("Two")])
        answers(one, [first])
        answers(two, [second])
        for server in (one, two):
            server.close_input()
            assert server.ended() == 0
        assert {p.name for p in (root / "entities/t").iterdir()} >= {"N0.md", "N2.md", "One.md", "Two.md"}
    assert count(root) == before + 5
    assert faults(root) == []
