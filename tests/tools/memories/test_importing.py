"""Memories come in from JSON lines, in one commit, as often as one likes."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.vaults import CLAUDE, authors, clean, commits, make_vault, opened
from vault_mcp.notes.transcript import read_transcript
from vault_mcp.tools.memories import recalling, writing
from vault_mcp.tools.memories.importing import MemoryImportReport, import_memories
from vault_mcp.vault import Options, Vault

QUIETLY = Options(embeddings="off")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


def bring_in(vault: Vault, *records: dict[str, Any], **more: Any) -> MemoryImportReport:
    content = "\n".join(map(json.dumps, records)).encode()
    return import_memories(vault, read_transcript(content), by="importer", source="talk.jsonl", **more)


def recall(vault: Vault, query: str, **more: Any) -> list[dict[str, Any]]:
    told: Any = recalling.memory_recall(vault, CLAUDE, query, **more)
    return list(told["results"])


TALK = (
    {"text": "Hello walrus.", "session_id": "s1", "created": "2023-05-08T13:56:00Z", "speaker": "Ada"},
    {"text": "Hello walrus.", "session_id": "s1", "created": "2023-05-08T13:56:00Z", "speaker": "Ada"},
    {"text": "Good bye walrus.", "session_id": "s1", "created": "2023-05-08T13:56:00Z", "speaker": "Ben"},
)


def test_a_conversation_comes_in_as_one_commit_with_times_and_speakers(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        before = len(commits(root))
        report = bring_in(vault, *TALK)
        found = sorted(recall(vault, "walrus"), key=lambda one: one["id"])

    assert (report.memories, report.present, report.sessions, report.problems) == (3, 0, 1, [])
    assert len(commits(root)) == before + 1
    assert authors(root)[0] == "importer"
    assert [one["text"] for one in found] == [one["text"] for one in TALK]
    assert [one["id"] for one in found] == [2023050813560001, 2023050813560002, 2023050813560003]
    assert {one["stored_at"] for one in found} == {"2023-05-08T13:56:00Z"}
    assert [one["metadata"]["speaker"] for one in found] == ["Ada", "Ada", "Ben"]
    note = (root / found[2]["note"]).read_text()
    assert "speaker: Ben\n" in note
    assert "agent: importer\n" in note
    assert found[0]["note"].startswith("memories/2023/05/")
    assert clean(root)


def test_an_import_can_be_repeated_and_goes_on_where_it_ended(root: Path) -> None:
    more = {"text": "One more walrus.", "session_id": "s1"}
    with opened(root, QUIETLY) as vault:
        bring_in(vault, *TALK, more)
        again = bring_in(vault, *TALK, more)
        on = bring_in(vault, *TALK, more, {**TALK[0], "text": "New walrus."})
        found = recall(vault, "walrus", limit=20)

    assert (again.commit, again.memories, again.present) == (None, 0, 4)
    assert (on.memories, on.present) == (1, 4)
    assert len(found) == 5


def test_a_dry_run_saves_nothing(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        before = len(commits(root))
        report = bring_in(vault, *TALK, dry_run=True)
        assert recall(vault, "walrus") == []
    assert (report.commit, report.memories) == (None, 3)
    assert len(commits(root)) == before


def test_the_number_of_a_forgotten_memory_does_not_come_back(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        bring_in(vault, TALK[0])
        writing.memory_forget(vault, CLAUDE, 2023050813560001)
        vault.reindex()
        bring_in(vault, TALK[2])
        (one,) = recall(vault, "walrus")
    assert one["id"] == 2023050813560002


def test_more_memories_of_one_second_than_it_has_numbers_go_on(root: Path) -> None:
    records = [{"text": f"walrus {n}", "created": "2023-05-08T13:56:59Z"} for n in range(150)]
    with opened(root, QUIETLY) as vault:
        bring_in(vault, *records)
        with vault.reading() as reader:
            paths = reader.session_paths("")
            numbers = [row.id for path in paths if (row := reader.memory_of(_at(reader, path)))]
    assert len(set(numbers)) == 150
    assert min(numbers) == 2023050813565901
    assert max(numbers) == 2023050813565901 + 149


def _at(reader: Any, path: str) -> Any:
    return reader.note_at(path)


def test_a_text_that_no_note_can_hold_costs_that_memory(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        report = bring_in(vault, {"text": "half \ud800"}, TALK[0], {"text": "nul \0 walrus"})
        found = recall(vault, "walrus")
    assert report.memories == 2
    assert len(report.problems) == 1
    assert report.problems[0].startswith("Line 1: ")
    assert {one["text"] for one in found} == {"Hello walrus.", "nul \0 walrus"}


def test_the_command_sees_by_itself_what_a_file_is(root: Path, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text("\n".join([*map(json.dumps, TALK), "oops"]))
    command = [sys.executable, "-m", "vault_mcp", "import", str(talk), "--vault", str(root)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    again = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)

    assert told.returncode == 1
    assert "3 memories new, 0 there already, in 1 session" in told.stdout
    assert "Line 4 is no JSON." in told.stdout
    assert json.loads(again.stdout)["present"] == 3


def test_thousands_of_memories_come_in_within_seconds(root: Path) -> None:
    records = [
        {"text": f"Turn {n} of a talk.", "session_id": f"s{n // 100}", "created": f"2023-05-{n % 28 + 1:02}"}
        for n in range(3_000)
    ]
    with opened(root, QUIETLY) as vault:
        began = time.process_time()
        report = bring_in(vault, *records)
        spent = time.process_time() - began
    assert report.memories == 3_000
    assert spent < 30  # about 4 s of CPU on a quiet machine; what is worse than linear takes longer
