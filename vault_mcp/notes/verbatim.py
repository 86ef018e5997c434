r"""Any text as the body of a note, exactly: what a Markdown file cannot hold is escaped, all else stays.

A body loses white space at its edges to editors and to whoever reads it, a carriage return to the next
program that mends line ends, and a control character on a screen or in Git. Those alone are written as
``&#N;`` (N decimal), which Obsidian shows as the white space it stands for, or as nothing:

    text                          body
    "\tindented\n"                &#9;indented&#10;
    "a\r\nb"                      a&#13;
                                  b
    a literal &#13;               \&#13;      (backslashes just before it are doubled)

A number that stands for none of those characters, such as ``&#8217;``, means itself and is never touched.
"""

import re
from typing import Final

EDGES: Final = " \t\n\r"
"""The white space that a body does not hold at either end."""

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"
_CODES = [*range(33), *range(127, 160), 0x2028, 0x2029]
_TOKEN = f"&#(?:{'|'.join(map(str, _CODES))});"
# A run of backslashes is taken whole or not at all, so that a long one costs no more than its length.
_SLASHES = r"(?<!\\)(\\*+)"
_ESCAPE = re.compile(rf"{_SLASHES}({_TOKEN}|[{_CONTROLS}])")
_ESCAPE_EDGES = re.compile(rf"{_SLASHES}({_TOKEN}|[{_CONTROLS}]|(?<![\s\S])[ \t\n]|[ \t\n](?![\s\S]))")
_DECODE = re.compile(rf"{_SLASHES}({_TOKEN})")
_CONTROL = re.compile(f"[{_CONTROLS}]")


def encode(text: str, *, edges: bool = True) -> str:
    """Return a text as lines of a body; without `edges` the white space at its ends stays as it is."""
    clean = "&#" not in text and not _CONTROL.search(text)
    if clean and (not edges or text.strip(EDGES) == text):
        return text
    return (_ESCAPE_EDGES if edges else _ESCAPE).sub(_encoded, text)


def decode(body: str) -> str:
    """Return the text that lines of a body stand for, white space at the ends as it is in `body`."""
    return _DECODE.sub(_decoded, body) if "&#" in body else body


def trimmed(body: str) -> str:
    """Return a body with LF for its line ends, and without the white space around it."""
    return body.replace("\r\n", "\n").strip(EDGES)


def newline_of(note_text: str) -> str:
    """Return the line end of a note, CRLF or LF, as its first line has it."""
    return "\r\n" if note_text[: note_text.find("\n") + 1].endswith("\r\n") else "\n"


def _encoded(match: re.Match[str]) -> str:
    slashes, unsafe = match[1] * 2, match[2]
    return f"{slashes}\\{unsafe}" if len(unsafe) > 1 else f"{slashes}&#{ord(unsafe)};"


def _decoded(match: re.Match[str]) -> str:
    slashes, token = match[1], match[2]
    kept = "\\" * (len(slashes) // 2)
    return kept + (token if len(slashes) % 2 else chr(int(token[2:-1])))
