"""What a client is told when a call cannot be done: a clear sentence, nothing saved, and the server stays."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.frames import Server
from tests.serving import added, entity, facts, given, greeted, head, make, relation
from tests.vaults import commits, git, make_vault, write_files
from tests.waiting import wait_until

OPEN = "---\nentity: t\n\n## Observations\n\n- one\n"
FENCE = "---\nentity: t\n---\n\n```\nnever closed\n\n## Observations\n\n- one\n"
MERGE = "---\nentity: t\n---\n\n## Observations\n\n<<<<<<< a\n- one\n=======\n- two\n>>>>>>> b\n"
TWICE = "---\nentity: t\ntags: [a]\ntags: [b]\n---\n\n## Observations\n\n- one\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {"Open.md": OPEN, "Fence.md": FENCE, "Merge.md": MERGE, "Twice.md": TWICE, "latin.md": ""}
    root = make_vault(tmp_path_factory.mktemp("bad") / "vault", files)
    (root / "latin.md").write_bytes(b"---\nentity: t\n---\n\n- caf\xe9\n")
    git(root, "commit", "-qam", "not UTF-8")
    return root


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Server]:
    with greeted(root, "--no-watch") as process:
        make(process, "A", "B")
        yield process


def sentences(text: str) -> int:
    return len(re.findall(r"[.!?](?:\s|$)", text))


BAD: list[tuple[str, dict[str, object], str]] = [
    ("create_entities", {}, "`entities` (a list of objects) is missing"),
    ("create_entities", {"entity": []}, "`entity` is no argument of create_entities"),
    ("create_entities", {"entities": [{"name": "X"}]}, "`entities[0].entityType`"),
    ("create_entities", {"entities": [entity("X") | {"tags": []}]}, "`entities[0]` has no field `tags`"),
    ("create_entities", {"entities": "X"}, "`entities` must be a list"),
    (
        "create_entities",
        {"entities": [{"name": 1, "entityType": "t", "observations": []}]},
        "`entities[0].name`",
    ),
    (
        "create_entities",
        {"entities": [{"name": "X", "entityType": "t", "observations": [1]}]},
        "observations[0]",
    ),
    ("add_observations", {"observations": [added("Ghost", "x")]}, "Entity with name Ghost not found"),
    ("add_observations", {"observations": [added("A", "x") | {"sources": [{"entityName": "A"}]}]}, "text"),
    ("edit_observation", {"entityName": "Ghost", "oldText": "a", "newText": "b"}, "Ghost not found"),
    (
        "edit_observation",
        {"entityName": "A", "oldText": "none", "newText": "b"},
        "A has no observation 'none'",
    ),
    (
        "edit_observation",
        {"entityName": "A", "oldText": "a1", "newText": "a1"},
        "already has observation 'a1'",
    ),
    (
        "edit_observation",
        {"entityName": "A", "oldText": "a1", "newText": "b", "if_version": "0" * 12},
        "has changed since version",
    ),
    ("supersede_observation", {"entityName": "A", "oldText": "a1", "newText": "a1"}, "same as the old one"),
    ("rename_entity", {"entityName": "A", "newName": "B"}, "B already exists"),
    ("merge_entities", {"sourceName": "A", "targetName": "A"}, "Cannot merge entity A into itself"),
    ("merge_entities", {"sourceName": "A", "targetName": "Ghost"}, "Ghost not found"),
    ("delete_entities", {"entityNames": "A"}, '`entityNames` must be a list of text, such as ["A"]'),
    ("read_graph", {"since": "yesterday"}, "'yesterday' is not a date"),
    ("read_graph", {"before": "2026-02-30"}, "'2026-02-30' is not a date"),
    ("search_nodes", {"query": "a", "since": "12:00"}, "'12:00' is not a date"),
    ("read_graph", {"cursor": "nonsense"}, "cursor"),
    ("open_nodes", {"names": ["A"], "cursor": "x.y"}, "cursor"),
    ("initialize_memory", {"mode": "wipe"}, "`mode` must be"),
    # Notes that a person has to repair first are named.
    ("add_observations", {"observations": [added("A", "x"), added("Merge", "y")]}, "Merge.md"),
    ("add_observations", {"observations": [added("Fence", "x")]}, "Fence.md"),
    ("add_observations", {"observations": [added("Twice", "x")]}, "Twice.md"),
    ("add_observations", {"observations": [added("Open", "x")]}, "Open.md cannot be read as an entity"),
    (
        "edit_observation",
        {"entityName": "Open", "oldText": "one", "newText": "b"},
        "front matter is not closed",
    ),
    ("create_relations", {"relations": [relation("Open", "r", "A")]}, "Open.md"),
    ("rename_entity", {"entityName": "Twice", "newName": "Once"}, "duplicate key tags"),
    ("delete_observations", {"deletions": [{"entityName": "Merge", "observations": ["one"]}]}, "Merge.md"),
    ("merge_entities", {"sourceName": "Merge", "targetName": "A"}, "Merge.md"),
    ("create_relations", {"relations": [relation("Twice", "r", "A")]}, "Twice.md"),
]


@pytest.mark.parametrize(("tool", "arguments", "told"), BAD)
def test_a_call_that_cannot_be_done_says_why_and_saves_nothing(
    server: Server, root: Path, tool: str, arguments: dict[str, object], told: str
) -> None:
    before = head(root)
    text = server.error(tool, **arguments)
    assert told in text
    reads = tool in ("read_graph", "search_nodes", "open_nodes")
    assert text.endswith("Nothing was saved.") != reads
    assert sentences(text) <= (2 if reads else 3)
    assert len(text) < 500
    assert str(root) not in text
    assert "Traceback" not in text
    assert head(root) == before
    assert git(root, "status", "--porcelain") == ""
    assert facts(server, "A") == ["a1"]


def test_a_name_whose_note_cannot_be_read_is_taken_and_gets_no_twin(server: Server, root: Path) -> None:
    made = given(
        server, "create_entities", entities=[entity(name, "x") for name in ("Open", "New", "A", "B")]
    )
    assert [one["name"] for one in made["entities"]] == ["New"]
    assert made["skipped"] == ["Open", "A", "B"]
    assert "Open: its note Open.md cannot be read (front matter is not closed)." in made["message"]
    assert "A, B: already exists" in made["message"]
    assert (root / "Open.md").read_text() == OPEN
    given(server, "delete_entities", entityNames=["New"])


def test_a_broken_note_costs_that_note_alone_and_is_whole_once_it_is_repaired(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"Twice.md": TWICE, "Good.md": "---\nentity: t\n---\n\n- fine\n"})
    with greeted(root) as server:
        assert facts(server, "Good") == ["fine"]
        assert "Twice.md" in server.error("add_observations", observations=[added("Twice", "x")])
        write_files(root, {"Twice.md": TWICE.replace("tags: [b]\n", "")})
        given(server, "add_observations", observations=[added("Twice", "x")])
        assert facts(server, "Twice") == ["one", "x"]
        wait_until(lambda: git(root, "status", "--porcelain") == "")
    assert commits(root)[:2] == ["add_observations: Twice", "hand-edit: Twice.md"]


def test_an_unknown_tool_is_named_and_the_server_stays(server: Server) -> None:
    assert "'nonsense'" in server.error("nonsense")
    assert given(server, "open_nodes", names=["B"])["entities"]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--tools", "nonsense"], "nonsense"),
        (["--vault", "/"], "cannot be a vault"),
        (["--no-such-flag"], "no-such-flag"),
    ],
)
def test_a_wrong_flag_stops_the_start_with_a_sentence(tmp_path: Path, flags: list[str], words: str) -> None:
    command = [sys.executable, "-m", "vault_mcp", "serve", "--vault", str(tmp_path / "v"), *flags]
    with Server(command) as server:
        assert server.ended() == 2
        assert server.rest() == []
        wait_until(lambda: any(words in line for line in server.log))
        assert not any("Traceback" in line for line in server.log)
