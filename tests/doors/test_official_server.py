"""The official memory server reads what we export as it read the file we imported.

It runs on Node, so these tests are marked long; .ci/full installs the server and names its file.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doors.commands import Commands
from tests.doors.frames import Server
from tests.tools.test_exchange import HOSTILE, entity, jsonl, relation
from tests.vaults import make_vault

VARIABLE = "SERVER_MEMORY"
"""Names dist/index.js of @modelcontextprotocol/server-memory."""

pytestmark = pytest.mark.long

GRAPHS = {
    "hostile": HOSTILE,
    "small": jsonl(entity("Ada", "likes tea"), entity("Bob"), relation("Ada", "Bob")),
    "large": jsonl(
        *(entity(f"E{i}", f"fact {i}", f"another {i}", kind=f"type {i % 7}") for i in range(1500)),
        *(relation(f"E{i}", f"E{i * 7 % 1500}") for i in range(1500)),
    ),
}


@contextlib.contextmanager
def official_server(file: Path) -> Iterator[Server]:
    """Run the official server on a file."""
    program = os.environ.get(VARIABLE, "")
    if not Path(program).is_file():
        pytest.fail(f"{VARIABLE} has to name the official server's dist/index.js; .ci/full sets it.")
    with Server(["node", program], env={"MEMORY_FILE_PATH": str(file)}) as server:
        server.greet()
        yield server
        server.close_input()
        server.ended()


def told(server: Server, tool: str, /, **arguments: object) -> str:
    """Call a tool and give its text; the official server says only of failures whether they are one."""
    result = server.call(tool, **arguments)
    assert not result.get("isError"), result
    return str(result["content"][0]["text"])


def read_graph(file: Path) -> tuple[set[Any], set[Any]]:
    """Ask the official server what is in a file."""
    with official_server(file) as server:
        graph = json.loads(told(server, "read_graph"))
    return (
        {(e["name"], e["entityType"], frozenset(e["observations"])) for e in graph["entities"]},
        {(r["from"], r["to"], r["relationType"]) for r in graph["relations"]},
    )


@pytest.mark.parametrize("name", GRAPHS)
def test_read_graph_says_the_same_of_a_file_and_of_its_import_exported(
    commands: Commands, tmp_path: Path, name: str
) -> None:
    before, after = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    before.write_text(GRAPHS[name], encoding="utf-8")
    root = make_vault(tmp_path / "vault")
    commands.good("import", before, "--vault", root)
    commands.good("export", after, "--vault", root)

    assert read_graph(after) == read_graph(before)


def test_what_the_official_server_wrote_itself_comes_back(commands: Commands, tmp_path: Path) -> None:
    before, after = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    records = [json.loads(line) for line in HOSTILE.split("\n")]
    with official_server(before) as server:
        told(server, "create_entities", entities=[r for r in records if r["type"] == "entity"])
        told(server, "create_relations", relations=[r for r in records if r["type"] == "relation"])
    root = make_vault(tmp_path / "vault")
    commands.good("import", before, "--vault", root)
    commands.good("export", after, "--vault", root)

    assert read_graph(after) == read_graph(before)
