"""What one plain YAML value means, and how a value is written so that every reader takes it for the same.

Obsidian reads front matter by the YAML 1.2 core schema (yaml.org/spec/1.2.2, 10.3), many other programs by
YAML 1.1 (yaml.org/type), for which `no`, `12:30`, `1_000` and `2026-10-05` are no text. Here text stays text
whenever a reader could lose by the guess, and is written in quotes whenever one of the two would guess.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

# --- reading ------------------------------------------------------------------------------------------------

_CONSTANTS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"-?[0-9]+")
_FLOAT = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[-+][0-9]+)?")
_LONGEST_NUMBER = 1000  # digits; Python refuses to write integers of more than 4,300


def plain_value(written: str) -> str | bool | int | float | None:
    """Return what an unquoted scalar means: a constant, a number, or its text.

    A number counts as one only if it would be written back with the same signs. `1.10`, `007`, `0x1F` and
    `1e3` stay text, for they may be a version, a post code or a name; `.nan` and `.inf` have no place in
    JSON.
    """
    if written in _CONSTANTS:
        return _CONSTANTS[written]
    if written[:1] not in "-0123456789" or len(written) > _LONGEST_NUMBER:
        return written
    number: int | float
    if _INTEGER.fullmatch(written):
        number = int(written)
        return number if str(number) == written else written
    if _FLOAT.fullmatch(written):
        number = float(written)
        return number if repr(number) == written else written
    return written


# --- writing ------------------------------------------------------------------------------------------------

TIMES: Final = frozenset({"created"})
"""Properties whose value is a time, written without quotes so that Obsidian offers a date for it."""

_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
# Where a YAML 1.2 writer needs quotes, in block context: the rule of npm `yaml` 2.7.0, which Obsidian ships
# (src/stringify/stringifyString.ts, plainString), so that its own rewriting changes nothing. Besides, a key
# must not look like the marker of a merge conflict.
_NEEDS_QUOTES = re.compile(r"^[ ,\[\]{}#&*!|>'\"%@`]|^[?-]$|^[?-] |: | #|[ :]$|^<{7}")
_NEEDS_QUOTES_IN_FLOW = re.compile(r"[\[\]{},?:]|^-")  # PyYAML takes ? and : for signs wherever they stand
# yaml.org/type: bool, null, merge, value; then all that may be an int, float or timestamp in either version.
_WORDS = re.compile(r"(?i)(?:y|yes|n|no|on|off|true|false|null|~|<<|=)")
_NUMBERLIKE = re.compile(
    r"[-+]?(?:0b[01_]+|0o[0-7]+|0x[0-9a-f_]+|[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
    r"|[0-9_]+(?:e[-+]?[0-9]+)?|(?:[0-9][0-9_]*)?\.[0-9_]*(?:e[-+]?[0-9]+)?|\.(?:inf|nan))"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:t|[ \t]+)[0-9:.]+(?:[ \t]*(?:z|[-+][0-9:]+))?)?",
    re.IGNORECASE,
)
# Not printable in YAML 1.1 (5.1), or a line break there; and the lone halves of surrogate pairs.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_SHORT_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", '"': '\\"', "\\": "\\\\"}


def written_scalar(value: object, *, flow: bool = False, key: str = "") -> str:
    """Return a value on one line: text as `written_text`, None as nothing, a nested value as JSON."""
    if value is None:
        return "null" if flow else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f'"{value}"'
    if isinstance(value, str):
        return value if key in TIMES and _TIME.fullmatch(value) else written_text(value, flow=flow)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{quoted(str(k))}: {written_scalar(v, flow=True)}" for k, v in value.items())
        return f"{{{inner}}}"
    if isinstance(value, Sequence):
        return f"[{', '.join(written_scalar(item, flow=True) for item in value)}]"
    raise TypeError(f"no property can hold a {type(value).__name__}")


def written_text(text: str, *, flow: bool = False) -> str:
    """Return a text as Obsidian would write it, quoted wherever YAML 1.1 or 1.2 would read something else."""
    needs = not text or _NEEDS_QUOTES.search(text) or _WORDS.fullmatch(text) or _NUMBERLIKE.fullmatch(text)
    if needs or _UNPRINTABLE.search(text) or (flow and _NEEDS_QUOTES_IN_FLOW.search(text)):
        return quoted(text)
    return text


def quoted(text: str, sign: str = "") -> str:
    """Return a text in double quotes; in single ones if it holds double ones only or `sign` asks for them."""
    single = sign == "'" or (not sign and '"' in text and "'" not in text)
    if single and not _UNPRINTABLE.search(text):
        return "'" + text.replace("'", "''") + "'"
    return '"' + re.sub(rf'["\\]|{_UNPRINTABLE.pattern}', _escaped, text) + '"'


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if "\ud800" <= character <= "\udfff":  # half a pair is no character, and no file can hold it
        return "\ufffd"
    return _SHORT_ESCAPES.get(character) or f"\\u{ord(character):04x}"
