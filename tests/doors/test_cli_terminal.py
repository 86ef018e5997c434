import io
import os
import pty
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from vault_mcp.doors.cli_terminal import careful


@contextmanager
def terminal(*, draws: bool = False) -> Iterator[tuple[io.TextIOBase, int]]:
    """A stream to a terminal, and the end from which can be read what it gets."""
    ours, theirs = pty.openpty()
    stream = careful(os.fdopen(theirs, "w", encoding="utf-8"), draws=draws)
    try:
        yield stream, ours  # type: ignore[misc]  # a text stream is one
    finally:
        stream.close()
        os.close(ours)


def sent(text: str, *, draws: bool = False) -> str:
    with terminal(draws=draws) as (stream, end):
        assert stream.write(text) == len(text)
        stream.flush()
        return os.read(end, 4096).decode().replace("\r\n", "\n") if text else ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 日本 😀👩‍🚀\tx\n", "plain é 日本 😀👩‍🚀\tx\n"),
        ("\x1b[1mbold\x1b[0m \x1b[2mfaint\x1b[22m \x1b[36mcyan\x1b[39m", None),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x1b[2J\x1b[1;1H", "\\x1b[2J\\x1b[1;1H"),
        ("\x1b[8mhidden", "\\x1b[8mhidden"),
        ("\x9b2J \x90q", "\\x9b2J \\x90q"),
        ("a\rb\x08c\x7f\x00", "a\\rb\\x08c\\x7f\\x00"),
        ("\u202egnp.exe \u2066x\u2069", "\\u202egnp.exe \\u2066x\\u2069"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_a_text_steers_no_terminal(text: str, shown: str | None) -> None:
    assert sent(text) == (text if shown is None else shown)


def test_a_progress_bar_is_drawn_where_one_may_be() -> None:
    bar = "\r\x1b[?25l[##--]\x1b[K\x1b[?25h"
    assert sent(bar, draws=True) == bar
    assert "\x1b" not in sent(bar)


def test_what_goes_to_another_program_is_left_as_it_is() -> None:
    raw = io.BytesIO()
    stream = careful(io.TextIOWrapper(raw, encoding="ascii"))
    stream.write("\x1b[2J é\n")
    stream.flush()
    assert raw.getvalue() == b"\x1b[2J \\xe9\n"
