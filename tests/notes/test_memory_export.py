"""JSON exports of other memory programs, in the shapes that they write."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mcp.notes.memory_export import read_export
from vault_mcp.notes.transcript import MemoryRecord

EXPORT = {
    "export_metadata": {
        "source_machine": "lantern",
        "export_timestamp": "2026-09-01T10:00:00Z",
        "total_memories": 3,
        "exporter_version": "5.0.1",
        "include_embeddings": False,
    },
    "memories": [
        {
            "content": "The reading room closes at six.",
            "content_hash": "a1",
            "tags": ["library", "opening hours"],
            "created_at": 1767610353.25,
            "updated_at": 1767610353.25,
            "memory_type": "decision",
            "metadata": {"importance": 8, "session_id": "planning"},
            "export_source": "lantern",
        },
        {
            "content": "Ada moved the harvest to Monday.",
            "content_hash": "a2",
            "tags": "harvest, ada",
            "created_at": None,
            "created_at_iso": "2026-03-05T13:56:00+01:00",
            "memory_type": "episodic",
            "metadata": {},
        },
        {"content": "", "content_hash": "a3", "tags": [], "memory_type": "note"},
    ],
}

MEM0 = {
    "count": 2,
    "results": [
        {
            "id": "b1",
            "memory": "Likes to hike on weekends",
            "hash": "9f",
            "metadata": {"importance": "high"},
            "created_at": "2025-07-26T10:29:36.630547-07:00",
            "updated_at": None,
            "user_id": "alex",
            "categories": ["hobbies"],
        },
        {"id": "b2", "memory": "Works in Graz", "hash": "9e", "run_id": "trip", "created_at": "yesterday"},
    ],
}

CLAUDE = [
    {
        "conversations_memory": "**Work context**\n\nAda runs the harvest.\n\n**Home life**\n\nHas a dog.",
        "project_memories": {"0b-7": "Plans the tide clock.", "0b-8": None},
        "account_uuid": "u",
    }
]


def read(value: object) -> tuple[MemoryRecord, ...]:
    found = read_export(json.dumps(value).encode())
    assert found is not None
    assert found.unit == "Entry"
    return found.memories


def test_mcp_memory_service() -> None:
    assert read(EXPORT) == (
        MemoryRecord(
            1,
            "The reading room closes at six.",
            "planning",
            "2026-01-05T10:52:33Z",
            importance=8,
            tags=("library", "opening-hours", "decision"),
            type="semantic",
        ),
        MemoryRecord(
            2,
            "Ada moved the harvest to Monday.",
            "mcp-memory-service",
            "2026-03-05T12:56:00Z",
            tags=("harvest", "ada"),
            type="episodic",
        ),
    )
    found = read_export(json.dumps(EXPORT).encode())
    assert found is not None
    assert found.problems == ((3, "has no text"),)


@pytest.mark.parametrize("value", [MEM0, MEM0["results"]])
def test_mem0(value: object) -> None:
    assert read(value) == (
        MemoryRecord(
            1, "Likes to hike on weekends", "mem0", "2025-07-26T17:29:36Z", tags=("hobbies",), type="semantic"
        ),
        MemoryRecord(2, "Works in Graz", "trip", type="semantic"),
    )


def test_the_memories_of_claudes_data_export() -> None:
    assert [(record.text, record.session, record.tags) for record in read(CLAUDE)] == [
        ("Ada runs the harvest.", "Claude", ("work-context",)),
        ("Has a dog.", "Claude", ("home-life",)),
        ("Plans the tide clock.", "Claude project 0b-7", ()),
    ]
    assert read(CLAUDE[0])[0].session == "Claude"


@pytest.mark.parametrize(
    "value",
    [
        {"entities": [], "relations": []},
        [{"type": "entity", "name": "Ada", "entityType": "person", "observations": []}],
        {"memories": []},
        {"memories": "none"},
        {"results": [{"title": "a page", "content": "words"}]},
        {"text": "a line of a transcript"},
        [],
        "text",
        3,
    ],
)
def test_what_is_no_export_is_left_to_others(value: object) -> None:
    assert read_export(json.dumps(value).encode()) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["memories", "results", "memory", "content", "id", "tags", "metadata", "created_at"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(JSON, JSON)
def test_any_value_is_read_without_a_fault(value: object, other: object) -> None:
    entry = {"content": "x", "content_hash": "y", "tags": value, "metadata": other, "created_at": value}
    (record,) = read([entry])
    assert record.text == "x"
    read_export(json.dumps([entry, value]).encode())
    read_export(json.dumps(value).encode())
    read_export(json.dumps([{"conversations_memory": value, "project_memories": other}]).encode())


@given(st.binary(max_size=60))
def test_any_bytes_are_read_without_a_fault(content: bytes) -> None:
    read_export(content)
