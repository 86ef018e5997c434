"""Memories as JSON lines: what a line may say, and what a bad one costs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mcp.notes.transcript import MemoryRecord, is_transcript, read_transcript


def read(*lines: str) -> tuple[MemoryRecord, ...]:
    found = read_transcript("\n".join(lines).encode())
    assert found.problems == ()
    return found.memories


def test_a_text_alone_is_enough() -> None:
    assert read('{"text": "x"}') == (MemoryRecord(1, "x", "", "", "", 5, (), "episodic"),)


def test_every_field_is_read_and_others_are_passed_over() -> None:
    (one,) = read(
        '{"text": "x", "session_id": 7, "created": "2023-05-08T13:56:00+02:00", "speaker": "Ada",'
        ' "importance": 9, "tags": ["a", "b"], "memory_type": "semantic", "mood": "calm"}'
    )
    assert one == MemoryRecord(1, "x", "7", "2023-05-08T11:56:00Z", "Ada", 9, ("a", "b"), "semantic")


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("2023-05-08", "2023-05-08T00:00:00Z"),
        ("2023-05-08T13:56", "2023-05-08T13:56:00Z"),
        ("2023-05-08T13:56:00.250Z", "2023-05-08T13:56:00Z"),
        ("", ""),
        (None, ""),
    ],
)
def test_any_iso_time_is_taken_as_utc(said: str | None, written: str) -> None:
    assert read(json.dumps({"text": "x", "created": said}))[0].created == written


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "is no JSON"),
        ("[1]", "is no object"),
        ('{"text": " "}', "has no text"),
        ('{"content": "x"}', "has no text"),
        ('{"text": "x", "importance": 11}', "importance"),
        ('{"text": "x", "importance": true}', "importance"),
        ('{"text": "x", "created": "yesterday"}', "created"),
        ('{"text": "x", "created": 1683554160}', "created"),
        ('{"text": "x", "created": "0001-01-01"}', "year 1000"),
        ('{"text": "x", "memory_type": "eidetic"}', "memory_type"),
        ('{"text": "x", "tags": "a"}', "tags"),
        ('{"text": "x", "speaker": ["a"]}', "speaker"),
        ("[" * 100_000, ""),
    ],
)
def test_a_line_that_cannot_be_read_costs_that_line(line: str, problem: str) -> None:
    found = read_transcript(f'{{"text": "a"}}\n{line}\n\n{{"text": "b"}}'.encode())
    assert [one.text for one in found.memories] == ["a", "b"]
    ((number, what),) = found.problems
    assert number == 2
    assert problem in what


def test_bytes_that_are_no_text_cost_their_line() -> None:
    found = read_transcript(b'\xef\xbb\xbf{"text": "a"}\r\n{"text": "\xff"}')
    assert [one.text for one in found.memories] == ["a"]
    assert found.problems == ((2, "is not UTF-8"),)


@given(st.lists(st.text().filter(lambda text: bool(text.strip()))))
def test_any_texts_are_read_as_they_are(texts: list[str]) -> None:
    lines = [json.dumps({"text": text}) for text in texts]
    assert [one.text for one in read(*lines)] == texts


@given(st.binary())
def test_any_bytes_are_read_without_a_fault(content: bytes) -> None:
    read_transcript(content)
    is_transcript(content)


@pytest.mark.parametrize(
    ("content", "is_one"),
    [
        ('\n{"text": "x"}\n', True),
        ('\ufeff{"text": "x", "session_id": "s"}', True),
        ('{"type": "entity", "name": "x", "entityType": "t", "observations": []}', False),
        ('{"type": "x", "text": "y"}', False),
        ('{\n"text": "x"}', False),
        ("[]", False),
        ("", False),
    ],
)
def test_a_file_of_memories_is_told_from_a_graph(content: str, is_one: bool) -> None:
    assert is_transcript(content.encode()) is is_one
