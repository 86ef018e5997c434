"""Front matter as tests write and compare it."""

import json
from difflib import ndiff

from hypothesis import strategies as st

NO_YAML = "front matter is not valid YAML"

PIECES = ["a", "b", "tags", "- ", "  ", "\n", "\n", "\n", ": ", ":", " ", "[", "]", "{", "}", ","]
PIECES += [
    "'",
    '"',
    "|",
    ">",
    "+",
    "# c",
    "&x",
    "*x",
    "!t ",
    "<<",
    "?",
    "---",
    "...",
    "1",
    "1.10",
    "no",
    "~",
    "\t",
    "\r\n",
    "é",
]
YAML_PIECES = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)


def note(front: str, body: str = "BODY\n") -> str:
    return f"---\n{front}---\n{body}"


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that went and lines that came, byte by byte."""
    marks = list(ndiff(before.splitlines(keepends=True), after.splitlines(keepends=True)))
    return [m[2:] for m in marks if m[0] == "-"], [m[2:] for m in marks if m[0] == "+"]


def strict(properties: object) -> str:
    return json.dumps(properties, allow_nan=False, ensure_ascii=False)
