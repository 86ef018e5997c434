import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mcp.notes.fold import fold
from vault_mcp.tools.keys.excerpt import PART, WHOLE, excerpt


def test_a_short_value_is_shown_whole() -> None:
    assert excerpt("x" * WHOLE, "y") == "x" * WHOLE


def test_a_long_value_without_the_text_is_shown_from_its_start() -> None:
    shown = excerpt("word " * 1000, "nothing")
    assert shown == ("word " * 1000)[:PART] + "…"


@pytest.mark.parametrize(
    ("written", "query"),
    [
        ("Straße", "STRASSE"),
        ("ca\u0301fe\u0301", "café"),
        ("two\n\n  words", "two words"),
        ("東京", "東京"),
        ("ﬁne", "fine"),
    ],
)
@pytest.mark.parametrize("before", [0, 17, 395, 400, 2999, 100_000])
def test_the_place_is_shown_wherever_it_is_and_however_it_is_written(
    written: str, query: str, before: int
) -> None:
    value = "- " * (before // 2) + written + " -" * 2000
    assert written in excerpt(value, query)


@given(st.text("ab é\u0301ß\n", max_size=3000), st.integers(0, 3000), st.integers(1, 40))
def test_what_a_text_contains_is_in_its_excerpt(text: str, start: int, length: int) -> None:
    query = text[start : start + length].strip()
    shown = excerpt(text, query)
    wanted = " ".join(fold(query).split())
    assert wanted in " ".join(fold(shown.strip("…")).split())
    assert len(shown) <= WHOLE + 2
