import time

import pytest
from hypothesis import given, settings

from tests.notes.texts import TEXTS
from vault_mcp.notes.verbatim import EDGES, decode, encode, newline_of, trimmed


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("plain **text**\n\n    indented\n- [[link]] #tag %% it's &amp; &#8217;", None),
        ("\tindented\n", "&#9;indented&#10;"),
        ("  two", "&#32; two"),
        (" ", "&#32;"),
        ("\n\n", "&#10;&#10;"),
        ("a\r\nb\rc", "a&#13;\nb&#13;c"),
        ("a\x00\x1b\x85\u2028b", "a&#0;&#27;&#133;&#8232;b"),
        ("a literal &#13; and \\&#13;", "a literal \\&#13; and \\\\\\&#13;"),
        ("back\\\r", "back\\\\&#13;"),
        ("\\\\ \\n stay", None),
        ("&#013; &#55296; &#1114112; &#256;", None),
        ("\u00a0not an edge\u3000", None),
    ],
)
def test_only_what_a_body_cannot_hold_is_escaped(text: str, body: str | None) -> None:
    assert encode(text) == (text if body is None else body)
    assert decode(encode(text)) == text


def test_white_space_that_is_held_by_other_means_stays() -> None:
    assert encode(" a\r\n", edges=False) == " a&#13;\n"


@settings(max_examples=500)
@given(TEXTS)
def test_every_text_survives_editors_that_trim_and_mend_line_ends(text: str) -> None:
    body = encode(text)

    assert decode(body) == text
    assert body.strip(EDGES) == body
    assert not any(c in body for c in "\r\x00\x85\u2028")
    assert decode(trimmed("\n" + body.replace("\n", "\r\n") + "\r\n\r\n")) == text
    assert decode(encode(text, edges=False)) == text


def test_long_runs_of_backslashes_cost_no_more_than_their_length() -> None:
    text = ("\\" * 200_000 + "x\r") * 3
    start = time.process_time()

    assert decode(encode(text)) == text
    assert time.process_time() - start < 3


def test_the_line_end_of_a_note_is_that_of_its_first_line() -> None:
    assert [newline_of(text) for text in ("a\r\nb\n", "a\nb\r\n", "", "a\r")] == ["\r\n", "\n", "\n", "\n"]
