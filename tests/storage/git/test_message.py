import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mcp.storage.git.message import Ident, Message, one_line, subject_line


def test_a_message_is_a_subject_a_body_and_trailers() -> None:
    message = Message("add: Ada", "- likes tea\n- lives in Lisbon", (("Tool", "add"), ("Session", "")))

    assert message.render() == b"add: Ada\n\n- likes tea\n- lives in Lisbon\n\nTool: add\n"
    assert Message("x").render() == b"x\n"
    assert message.trailer("Tool") == "add"
    assert message.trailer("Nothing") == ""


def test_a_subject_is_one_line_of_at_most_a_hundred_characters() -> None:
    assert subject_line("a\n\nb\tc\u2028d\x00e") == "a b c d e"
    assert subject_line("x" * 101) == "x" * 99 + "…"
    assert subject_line("x" * 100) == "x" * 100
    assert subject_line(" \n ") == "change"


def test_a_name_loses_what_would_end_it_and_is_never_empty() -> None:
    assert Ident("Eve\ncommitter <r@x> 0", "a b@<c>").header(7) == b"Eve committer r@x 0 <ab@c> 7 +0000"
    assert Ident("", "").header(-5) == b"unknown <> 0 +0000"
    assert Ident("\ud800", "x").header(0) == "\ufffd <x> 0 +0000".encode()


@pytest.mark.parametrize("key", ["", "a b", "a:b", "ü", "-x", "a\nb"])
def test_a_trailer_with_a_bad_name_is_a_mistake_of_the_program(key: str) -> None:
    with pytest.raises(ValueError, match="trailer"):
        Message("x", "", ((key, "y"),)).render()


@pytest.mark.parametrize(
    "line",
    [
        "Edited-By: mallory",
        "edited-by : mallory",
        "  Edited-By: mallory",
        "Signed-off-by: x",
        "(cherry picked from commit 1234)",
        "---",
        "Reviewed_by: x",
    ],
)
def test_a_line_that_looks_like_a_trailer_is_quoted(line: str) -> None:
    assert Message("s", f"text\n\n{line}").render() == f"s\n\ntext\n\n> {line}\n".encode()


lines = st.lists(
    st.sampled_from(
        ["Edited-By: eve", "Tool: forged", "", "text", " more", "---", "Signed-off-by: e", "\u2028", "\r"]
    )
    | st.text(max_size=12),
    max_size=8,
)


@given(subject=lines, body=lines)
def test_git_finds_exactly_the_trailers_that_were_meant(subject: list[str], body: list[str]) -> None:
    text = Message("\n".join(subject), "\n".join(body), (("Tool", "t"), ("Edited-By", "claude"))).render()

    done = subprocess.run(
        ["git", "interpret-trailers", "--parse"], input=text, capture_output=True, check=True
    )

    assert done.stdout == b"Tool: t\nEdited-By: claude\n"


@given(st.text())
def test_one_line_is_one_line_and_can_be_stored(text: str) -> None:
    line = one_line(text)
    assert len(line.encode().splitlines()) <= 1
    assert len(line.splitlines()) <= 1
    assert one_line(line) == line
