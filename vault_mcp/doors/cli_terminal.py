"""What a person's terminal is sent: the text of a vault moves no cursor, sets no title and hides nothing.

Names, facts and authors may come from anybody, and hold whatever they like. Toward a terminal each character
that would steer it is written out, as Git writes such names; colours and bold are let through. What goes into
a file or to another program is left as it is.
"""

import io
import re
from typing import TextIO

# Bold, faint, the eight colours and back; nothing that conceals.
_STYLES = r"\x1b\[(?:0|1|2|22|3[0-7]|39)m"
# What click draws a progress bar with: the cursor hidden and shown, and back to the start of the line.
_DRAWING = r"\x1b\[\?25[lh]|\x1b\[K|\r"
# All of C0 and C1 but tab and newline, and what turns the direction of writing (UAX #9).
_STEERS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"

_SPOKEN = {
    'on_conflict "skip"': "--skip",
    "cursor set to next_cursor": "--cursor",
    "`at`": "--at",
    "history_since": "vault-mcp log --since-last",
    "history_log": "vault-mcp log",
    "history_show": "vault-mcp show",
    "history_diff": "vault-mcp diff",
    "history_blame": "vault-mcp blame",
    "history_read": "vault-mcp show --at",
    "history_restore": "vault-mcp restore",
    "history_undo": "vault-mcp undo",
    "search_nodes": "vault-mcp search",
    "memory_recall": "vault-mcp search",
}
_SPOKEN_WORDS = re.compile("|".join(map(re.escape, _SPOKEN)))


def for_shell(text: str) -> str:
    """Give a sentence that names tools and arguments with the commands and flags that do the same."""
    return _SPOKEN_WORDS.sub(lambda found: _SPOKEN[found[0]], text)


def counted(number: int, thing: str) -> str:
    """Give a number of things in words: "1 key", "2 keys", "0 entities"."""
    if number == 1:
        return f"1 {thing}"
    return (
        f"{number} {thing[:-1]}ies" if thing[-1] == "y" and thing[-2] not in "aeiou" else f"{number} {thing}s"
    )


class Terminal(io.TextIOWrapper):
    """A stream to a terminal. `draws` says that a progress bar may be drawn there."""

    def __init__(self, stream: io.TextIOWrapper, *, draws: bool) -> None:
        encoding, buffered = stream.encoding, stream.line_buffering
        super().__init__(
            stream.detach(), encoding=encoding, errors="backslashreplace", line_buffering=buffered
        )
        kept = f"{_STYLES}|{_DRAWING}" if draws else _STYLES
        self._steering = re.compile(f"({kept})|{_STEERS}")

    def write(self, text: str, /) -> int:
        """Write text, with what would steer the terminal written out."""
        super().write(self._steering.sub(_written_out, text))
        return len(text)


def careful(stream: TextIO, *, draws: bool = False) -> TextIO:
    """Give the stream to write to in place of one of the standard streams."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    if stream.isatty():
        return Terminal(stream, draws=draws)
    stream.reconfigure(errors="backslashreplace")  # names of notes where there are fewer letters
    return stream


def _written_out(match: re.Match[str]) -> str:
    return match[1] or ascii(match[0])[1:-1]
