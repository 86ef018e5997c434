r"""Texts edited as text editors for agents do: by one exact passage, or behind a numbered line.

Lines end in LF or CRLF, whatever other separators Unicode knows; a byte order mark stands before the first
line and is no part of it. What is put in takes the line ends of the place where it goes, so that an edit
never leaves a file with mixed ones. All else keeps every byte.
"""

import bisect
import re
from dataclasses import dataclass

BYTE_ORDER_MARK = "\ufeff"

MOST_LINES = 999_999
"""Lines that a file may have to be viewed: line numbers are six wide."""

OCCURRENCES = 100
"""Places of a repeated text that are counted one by one."""

_BREAK = re.compile(r"\r*\n")


@dataclass(frozen=True, slots=True)
class Edited:
    """A text after an edit, and the numbers, from 1, of the first and last line that the edit left there."""

    text: str
    first: int
    last: int


def split_lines(text: str) -> list[str]:
    """Give a text's lines without their ends and without a byte order mark; an empty text has none."""
    *lines, last = text.removeprefix(BYTE_ORDER_MARK).split("\n")
    return [*(line.removesuffix("\r") for line in lines), *([last] if last else [])]


def places(text: str, sought: str) -> list[tuple[int, int]]:
    """Give where a text stands in another, overlapping places too, at most `OCCURRENCES` of them.

    If it stands nowhere to the letter, line ends count as equal: agents see lines, not what ends them. A
    place never begins or ends inside a CRLF.
    """
    ends = [(start, start + len(sought)) for start in _starts(text, sought)]
    found = [place for place in ends if not _splits_a_line_end(text, *place)]
    if found or "\n" not in sought or "\r\n" not in text + sought:
        return found
    pairs = [match.start() - number for number, match in enumerate(re.finditer("\r\n", text))]
    wanted = sought.replace("\r\n", "\n")
    return [
        (start + bisect.bisect_left(pairs, start), end + bisect.bisect_left(pairs, end))
        for start in _starts(text.replace("\r\n", "\n"), wanted)
        for end in (start + len(wanted),)
    ]


def _starts(text: str, sought: str) -> list[int]:
    found: list[int] = []
    start = text.find(sought)
    while start >= 0 and len(found) < OCCURRENCES:
        found.append(start)
        start = text.find(sought, start + 1)
    return found


def _splits_a_line_end(text: str, start: int, end: int) -> bool:
    return text[start - 1 : start + 1] == "\r\n" or text[end - 1 : end + 1] == "\r\n"


def line_numbers(text: str, found: list[tuple[int, int]]) -> list[int]:
    """Give the numbers, from 1, of the lines in which places begin, each once."""
    breaks = [match.start() for match in re.finditer("\n", text)]
    return list(dict.fromkeys(bisect.bisect_left(breaks, start) + 1 for start, _ in found))


def replace(text: str, place: tuple[int, int], new: str) -> Edited:
    """Put a text in place of what stands at `place`, with the line ends that are used there."""
    start, end = place
    new = with_line_ends(new, _line_end(text, start, end))
    first = text.count("\n", 0, start) + 1
    return Edited(text[:start] + new + text[end:], first, first + new.count("\n"))


def insert(text: str, line: int, inserted: str) -> Edited:
    """Put lines behind line `line` (0: before the first). `line` is at most the number of lines.

    What is inserted ends its line, and it does not run on from a last line that had no end. Only at the very
    end of a text without a final line end may it stay without one.
    """
    start = 0 if not text.startswith(BYTE_ORDER_MARK) else 1
    at = start
    for _ in range(line):
        at = text.find("\n", at) + 1 or len(text)
    end = _line_end(text, max(at - 1, 0), at)
    new = with_line_ends(inserted, end)
    end = end or ("\r\n" if "\r\n" in new else "\n")
    unfinished = at > start and not text.endswith("\n", 0, at)
    finished = new.endswith("\n") or (at == len(text) and (unfinished or at == start))
    new = f"{end if unfinished else ''}{new}{'' if finished else end}"
    lines = new.count("\n") - unfinished + (not new.endswith("\n"))
    return Edited(text[:at] + new + text[at:], line + 1, line + max(lines, 1))


def with_line_ends(text: str, end: str) -> str:
    """Give a text with these line ends; without any given it stays as it is."""
    return _BREAK.sub(lambda _: end, text) if end and "\n" in text else text


def _line_end(text: str, start: int, end: int) -> str:
    """Give the line end that is used at a place: in it, else behind it, else before it, else none."""
    at = text.find("\n", start)
    if at < 0:
        at = text.rfind("\n", 0, end)
    if at < 0:
        return ""
    return "\r\n" if text.endswith("\r", 0, at) else "\n"


def numbered(lines: list[str], first: int, room: int) -> tuple[str, int]:
    """Write lines with their numbers, six wide and a tab, as far as they fit into `room` characters.

    A first line that is longer than that by itself is cut, and says so.

    Returns:
        The text, and how many lines are in it.
    """
    shown: list[str] = []
    for number, line in enumerate(lines, first):
        row = f"{number:6}\t{line}"
        if len(row) + 1 > room:
            if not shown:
                shown.append(f"{row[:room]}… (cut: line {number} has {len(line):,} characters)")
            break
        room -= len(row) + 1
        shown.append(row)
    return "\n".join(shown), len(shown)
