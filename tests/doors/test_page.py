"""The local page over HTTP: what it tells, what it takes back, and its news."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doors.commands import Commands
from tests.doors.pages import Visitor, paged
from tests.vaults import CLAUDE, CURSOR, PERSON, authors, clean, git, make_vault, opened, write_files
from vault_mcp.tools.graph.entities import create_entities
from vault_mcp.tools.graph.observations import add_observations, edit_observation
from vault_mcp.tools.graph.relations import create_relations
from vault_mcp.vault import Vault

NOTES = {"Plan.md": "# Plan\n\nAsk [[Ada]] and [[Nobody yet]].\n"}


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with opened(make_vault(tmp_path / "vault", NOTES)) as vault:
        create_entities(
            vault, CLAUDE, [{"name": "Ada", "entityType": "person", "observations": ["Likes tea"]}]
        )
        create_entities(vault, CLAUDE, [{"name": "Engine", "entityType": "project", "observations": []}])
        create_relations(vault, CURSOR, [{"from": "Ada", "to": "Engine", "relationType": "works on"}])
        edit_observation(vault, CURSOR, "Ada", "Likes tea", "Likes green tea")
        yield vault


@pytest.fixture
def visitor(vault: Vault) -> Iterator[Visitor]:
    with paged(vault) as visitor:
        visitor.enter()
        yield visitor


def _facts(told: dict[str, Any]) -> list[str]:
    return [line["text"] for line in told["lines"] if line["kind"] == "observation"]


def root_of(vault: Vault) -> Path:
    return Path(vault.root)


# -- what it tells


def test_it_tells_which_vault_it_is_and_when_it_changed(visitor: Visitor) -> None:
    about = visitor.get("about")
    assert (about["name"], about["person"], about["read_only"]) == ("vault", PERSON, False)
    assert about["changes"] == sum(one["changes"] for one in about["days"]) == 6
    assert {one["by"]: one["changes"] for one in about["authors"]} == {
        "claude-desktop": 2,
        "cursor": 2,
        PERSON: 2,
    }
    assert about["total"]["entities"] == 2


def test_the_timeline_has_each_change_with_its_facts_in_words(visitor: Visitor) -> None:
    edit, relate, *_ = visitor.get("changes")["changes"]
    assert (edit["by"], edit["tool"]) == ("cursor", "edit_observation")
    assert edit["edited"] == [
        {
            "note": "entities/person/Ada.md",
            "kind": "observation",
            "old": "Likes tea",
            "new": "Likes green tea",
        }
    ]
    assert [one["text"] for one in relate["added"]] == ["works on -> Engine"]


def test_the_timeline_comes_in_pages_and_by_who_and_words(visitor: Visitor) -> None:
    seen, cursor = [], ""
    while True:
        page = visitor.get("changes", limit="2", cursor=cursor)
        seen += [one["change"] for one in page["changes"]]
        cursor = page.get("next_cursor", "")
        if not cursor:
            break
    assert len(seen) == len(set(seen)) == 6
    assert {one["by"] for one in visitor.get("changes", agent="cursor")["changes"]} == {"cursor"}
    assert len(visitor.get("changes", text="green")["changes"]) == 1


def test_a_change_of_many_files_is_told_in_part_and_says_so(vault: Vault, visitor: Visitor) -> None:
    made = [{"name": f"N{n}", "entityType": "t", "observations": [f"fact {n}"]} for n in range(15)]
    create_entities(vault, CLAUDE, made)
    first = visitor.get("changes", limit="1")["changes"][0]
    assert len({one["note"] for one in first["added"]}) == 12
    assert first["more_files"] == 3
    assert len({one["note"] for one in visitor.get("change", change=first["change"])["added"]}) == 15


def test_one_change_has_its_diff(visitor: Visitor) -> None:
    change = visitor.get("changes")["changes"][0]["change"]
    told = visitor.get("change", change=change)
    assert told["change"].startswith(change)
    assert "+- Likes green tea" in told["diff"]


def test_a_note_tells_who_said_each_fact_and_what_it_is_linked_with(visitor: Visitor) -> None:
    told = visitor.get("note", note="Ada")
    assert (told["name"], told["type"], told["note"]) == ("Ada", "person", "entities/person/Ada.md")
    (fact,) = (line for line in told["lines"] if line["kind"] == "observation")
    assert fact["text"] == "Likes green tea"
    assert (fact["added_by"], fact["edited_by"], fact["before"]) == ("claude-desktop", "cursor", "Likes tea")
    assert [(one["name"], one["relation"]) for one in told["links"]] == [("Engine", "works on")]
    assert [(one["name"], one["relation"]) for one in told["backlinks"]] == [("Plan", "links to")]
    plan = visitor.get("note", note="Plan.md")
    assert [one["name"] for one in plan["links"]] == ["Ada"]
    assert [one["name"] for one in plan["missing"]] == ["Nobody yet"]


def test_a_note_that_is_no_note_is_shown_by_its_lines(vault: Vault, visitor: Visitor) -> None:
    write_files(root_of(vault), {"list.csv": "a,b\n1,2\n"})
    git(vault.root, "add", "-A")
    git(vault.root, "commit", "-q", "-m", "a table")
    told = visitor.get("note", note="list.csv")
    assert (told["name"], told["kind"]) == ("list.csv", "file")
    assert [line["text"] for line in told["lines"]] == ["a,b", "1,2"]


def test_search_finds_by_words_now_and_then(vault: Vault, visitor: Visitor) -> None:
    assert visitor.get("search", query="green tea")["results"][0]["name"] == "Ada"
    before = visitor.get("changes")["changes"][1]["change"]
    assert visitor.get("search", query="green", at=before)["results"] == []
    (then,) = visitor.get("search", query="likes tea", at=before)["results"]
    assert (then["name"], then["text"]) == ("Ada", "Likes tea")


def test_the_whole_memory_can_be_seen_as_of_a_moment(visitor: Visitor) -> None:
    changes = visitor.get("changes")["changes"]
    then = visitor.get("note", note="Ada", at=changes[2]["change"])  # before the relation
    assert _facts(then) == ["Likes tea"]
    assert then["links"] == []
    assert [one["name"] for one in then["backlinks"]] == ["Plan"]
    told = visitor.ask("GET", f"/api/note?note=Engine&at={changes[3]['change']}")
    assert (told.status, "error" in told.json) == (404, True)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/note?note=", 400),
        ("/api/note?note=Nobody", 404),
        ("/api/note?note=../../etc/passwd", 400),
        ("/api/note?note=Ada&at=never", 400),
        ("/api/change?change=zz", 400),
        ("/api/change?change=0123456789", 404),
        ("/api/changes?limit=1000", 400),
        ("/api/changes?limit=%C2%B2", 400),
        ("/api/changes?cursor=x", 400),
        ("/api/search?query=%20", 400),
        ("/api/nothing", 404),
        ("/../page_gate.py", 404),
        ("/vendor/../../page_gate.py", 404),
    ],
)
def test_what_cannot_be_told_is_refused_in_words(visitor: Visitor, path: str, status: int) -> None:
    told = visitor.ask("GET", path)
    assert told.status == status
    assert b"Traceback" not in told.raw
    assert b"import" not in told.raw


# -- what it takes back


def test_undo_is_a_commit_of_the_person_and_can_be_undone(vault: Vault, visitor: Visitor) -> None:
    before = git(vault.root, "rev-parse", "HEAD^{tree}")
    change = visitor.get("changes")["changes"][0]["change"]
    told = visitor.post("undo", change=change)
    assert told.status == 200
    assert authors(root_of(vault))[0] == PERSON
    assert "Tool: history_undo" in git(vault.root, "log", "-1", "--format=%B")
    assert _facts(visitor.get("note", note="Ada")) == ["Likes tea"]
    again = visitor.post("undo", change=told.json["receipt"]["commit"])
    assert again.status == 200
    assert git(vault.root, "rev-parse", "HEAD^{tree}") == before
    assert clean(root_of(vault))


def test_an_undo_that_later_edits_stand_in_the_way_of_asks_first(vault: Vault, visitor: Visitor) -> None:
    add_observations(vault, CLAUDE, [{"entityName": "Ada", "contents": ["Swims"]}])
    change = visitor.get("changes")["changes"][0]["change"]
    edit_observation(vault, CURSOR, "Ada", "Swims", "Swims daily")
    head = git(vault.root, "rev-parse", "HEAD")
    refused = visitor.post("undo", change=change)
    assert refused.status == 409
    assert "Swims" in refused.json["error"]
    assert git(vault.root, "rev-parse", "HEAD") == head
    left = visitor.post("undo", change=change, skip=True)
    assert left.status == 200
    assert [one["text"] for one in left.json["skipped"]] == ["Swims daily"]


@pytest.mark.parametrize("given", [{}, {"change": 7}, {"change": "zz"}, {"change": "0" * 12, "skip": "yes"}])
def test_an_undo_of_nothing_is_refused(visitor: Visitor, given: dict[str, object]) -> None:
    assert visitor.post("undo", **given).status == 400


def test_a_page_that_only_reads_undoes_nothing(vault: Vault) -> None:
    head = git(vault.root, "rev-parse", "HEAD")
    with paged(vault, read_only=True) as visitor:
        visitor.enter()
        assert visitor.get("about")["read_only"] is True
        change = visitor.get("changes")["changes"][0]["change"]
        assert visitor.post("undo", change=change).status == 400
    assert git(vault.root, "rev-parse", "HEAD") == head


# -- news


def test_news_come_when_the_vault_changes_and_end_with_the_page(vault: Vault) -> None:
    with paged(vault) as visitor:
        visitor.enter()
        connection = http.client.HTTPConnection("127.0.0.1", visitor.port, timeout=60)
        connection.request("GET", "/api/news", headers={"Cookie": visitor.cookie})
        answer = connection.getresponse()
        assert answer.getheader("content-type", "").startswith("text/event-stream")
        assert _news(answer) == git(vault.root, "rev-parse", "HEAD").strip()
        add_observations(vault, CLAUDE, [{"entityName": "Ada", "contents": ["Plays chess"]}])
        assert _news(answer) == git(vault.root, "rev-parse", "HEAD").strip()
    while answer.readline():
        pass  # the page has ended, and the stream with it
    connection.close()


def _news(answer: http.client.HTTPResponse) -> str:
    while True:
        line = answer.readline().decode()
        assert line, "the stream ended"
        if line.startswith("data: "):
            return line.removeprefix("data: ").strip()


# -- the command


def test_a_folder_that_is_no_vault_is_left_as_it_is_and_a_port_in_use_is_named(
    commands: Commands, tmp_path: Path
) -> None:
    commands.refused("ui", "--no-open", "--vault", tmp_path / "typo")
    assert not (tmp_path / "typo").exists()
    root = make_vault(tmp_path / "vault", NOTES)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        assert f"Port {port} cannot be listened at" in commands.refused(
            "ui", "--no-open", "--port", port, "--vault", root
        )


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no SIGINT to another process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_the_page_until_it_is_told_to_end(
    commands: Commands, tmp_path: Path, number: signal.Signals
) -> None:
    root = make_vault(tmp_path / "vault", NOTES)
    command = [sys.executable, "-m", "vault_mcp", "ui", "--vault", str(root), "--no-open"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=commands.environment()
    ) as process:
        try:
            assert process.stdout
            visitor = Visitor(process.stdout.readline().split()[-1])
            visitor.enter()
            assert visitor.get("about")["name"] == "vault"
            assert b"<!doctype html>" in visitor.ask("GET", "/").raw
            process.send_signal(number)
            said = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 0, said
    assert "Traceback" not in said[1]
