"""Memories written out as text: the forms that Claude and ChatGPT give, and any other text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mcp.notes.memory_text import read_memory_text


def read(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    found = read_memory_text(text.encode(), "Claude")
    assert {record.session for record in found.memories} <= {"Claude"}
    return [(record.text, record.created, record.tags) for record in found.memories]


def test_the_answer_to_claudes_own_question_is_read_and_the_talk_around_it_told() -> None:
    text = (
        "Here is everything I have stored about you:\n\n"
        "```\n"
        "[2025-11-03] - Ada lives in Graz and keeps a dog called Moss.\n"
        "[unknown] - Always answer in metric units.\n"
        "[March 2026] - Is building a tide clock.\n"
        "[Date unknown] - Dislikes [[brackets]].\n"
        "```\n\n"
        "That is the complete set.\n"
    )
    found = read_memory_text(text.encode(), "Claude")
    assert [(record.line, record.text, record.created) for record in found.memories] == [
        (4, "Ada lives in Graz and keeps a dog called Moss.", "2025-11-03T00:00:00Z"),
        (5, "Always answer in metric units.", ""),
        (6, "Is building a tide clock.", "2026-03-01T00:00:00Z"),
        (7, "Dislikes [[brackets]].", ""),
    ]
    assert [line for line, _ in found.problems] == [1, 10]


def test_the_memory_that_claude_shows_in_its_settings_is_paragraphs_under_headings() -> None:
    text = (
        "**Work context**\n\nAda runs the harvest at Lantern. She writes Rust.\n\n"
        "**Top of mind**\n\nThe tide clock\nhas to be ready in May.\n\nMoss is ill.\n"
    )
    assert read(text) == [
        ("Ada runs the harvest at Lantern. She writes Rust.", "", ("work-context",)),
        ("The tide clock\nhas to be ready in May.", "", ("top-of-mind",)),
        ("Moss is ill.", "", ("top-of-mind",)),
    ]


def test_the_list_that_chatgpt_shows_is_a_memory_a_line() -> None:
    assert read("Lives in Graz.\nHas a dog called Moss.\nPrefers short answers.\n") == [
        ("Lives in Graz.", "", ()),
        ("Has a dog called Moss.", "", ()),
        ("Prefers short answers.", "", ()),
    ]


def test_lists_with_headings_and_lines_below_an_item() -> None:
    text = (
        "# Preferences #\n\n- Tea, not coffee\n  but never after six\n* Short answers\n\n"
        "Projects:\n1. Lantern\n2) Tide clock\n\n   with a case of oak\n"
    )
    assert read(text) == [
        ("Tea, not coffee\n  but never after six", "", ("preferences",)),
        ("Short answers", "", ("preferences",)),
        ("Lantern", "", ("projects",)),
        ("Tide clock\n\n   with a case of oak", "", ("projects",)),
    ]


@pytest.mark.parametrize(
    ("said", "created"),
    [
        ("2026-03-05", "2026-03-05T00:00:00Z"),
        ("2026-03-05T10:00:00+02:00", "2026-03-05T08:00:00Z"),
        ("2026/03/05", "2026-03-05T00:00:00Z"),
        ("March 5, 2026", "2026-03-05T00:00:00Z"),
        ("5 Mar 2026", "2026-03-05T00:00:00Z"),
        ("2026-03", "2026-03-01T00:00:00Z"),
        ("no date available", ""),
        ("N/A", ""),
    ],
)
def test_dates_in_the_forms_that_models_write(said: str, created: str) -> None:
    assert read(f"[{said}] - Likes tea.\n") == [("Likes tea.", created, ())]


def test_a_bracket_that_is_no_date_and_a_colon_in_a_sentence_are_words() -> None:
    assert read("- [work] Likes tea: green\n- 2026-13-45 - no day\n") == [
        ("[work] Likes tea: green", "", ()),
        ("2026-13-45 - no day", "", ()),
    ]


def test_bytes_that_are_no_text_and_an_empty_text_hold_nothing() -> None:
    assert read_memory_text(b"\xff\xfe", "x").memories == ()
    assert read_memory_text(b"\xff\xfe", "x").problems[0].line == 1
    assert read("") == []
    assert read("\ufeffLikes tea.\r\n\r\n") == [("Likes tea.", "", ())]


@given(st.text(st.sampled_from("ab \t\n-*#`[]():1.2026•é"), max_size=60))
def test_any_text_keeps_its_words_in_their_order(text: str) -> None:
    found = read_memory_text(text.encode(), "x")
    words = [word for record in found.memories for word in record.text.split()]
    rest = iter(text.split())
    for word in words:
        assert any(word in other for other in rest)


@given(st.binary(max_size=80))
def test_any_bytes_are_read_without_a_fault(content: bytes) -> None:
    read_memory_text(content, "x")
