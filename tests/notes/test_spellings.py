"""Every form in which a text may stand in a vault is one of its spellings."""

import json

from hypothesis import given
from hypothesis import strategies as st

from vault_mcp.notes.line import Stamp, observation_line
from vault_mcp.notes.names import memory_stem
from vault_mcp.notes.spellings import spellings

WORDS = st.text(min_size=4, max_size=60).filter(lambda text: len(" ".join(text.split())) >= 4)


@given(WORDS)
def test_a_fact_and_a_json_string_hold_one_of_the_spellings(text: str) -> None:
    forms = spellings(text)
    line = observation_line(text, Stamp("2026-10-05T09:12:33Z", "a"))
    assert any(form in line for form in forms)
    assert any(form in json.dumps({"x": text}, ensure_ascii=False) for form in forms)
    assert any(form in " ".join(text.split()) for form in forms)


def test_the_name_of_a_memory_that_was_cut_is_one() -> None:
    text = "The password of the staging server is hunter2 and nobody may know that it is, not even you or me"
    stem = memory_stem(text, "2026-10-05")
    assert text not in stem
    assert any(form in stem for form in spellings(text))


def test_no_spelling_is_shorter_than_the_text_where_that_is_short() -> None:
    assert all(len(form) >= 6 for form in spellings("a#b^c|"))
    assert spellings("plain")[0] == "plain"
