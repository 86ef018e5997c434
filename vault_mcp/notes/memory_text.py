"""Memories written out as plain text, as Claude and ChatGPT do when they are asked for them.

There is no format but habit. What is understood:

- a list item (``- ``, ``* ``, ``• ``, ``1. ``) or a line that begins with a date (``[2026-03-05] - text``,
  the form that Claude's own import asks for) is a memory, with the lines below it;
- elsewhere a paragraph is one; in a text without blank lines, each line;
- a heading (``# Work``, ``**Work context**``, ``Work:`` above a list) is a tag of what follows;
- where the memories stand in a code block, as they do in an answer that was copied whole, what stands
  around it is talk and is left out.
"""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from vault_mcp.notes.jsonl import Remark
from vault_mcp.notes.transcript import MemoryRecord, Transcript

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_HEADING = re.compile(
    r"#{1,6}[ \t]+(?P<hash>.+?)[ \t#]*|\*\*(?P<bold>[^*\n]+?):?\*\*:?|(?P<colon>[^.!?\n]{1,60}):"
)
_ITEM = re.compile(r"(?:[-*+•][ \t]+|[0-9]{1,3}[.)][ \t]+)(?=\S)")
_DATED = re.compile(
    r"\[(?P<date>[^\[\]\n]{2,40})\][ \t]*(?:[-–—:][ \t]*)?(?=\S)"
    r"|(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})[ \t]*[-–—:][ \t]+(?=\S)"
)
_DAYS = ("%Y-%m", "%Y/%m/%d", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%B %Y", "%b %Y")
_UNKNOWN = re.compile(
    r"(?:no |date )*(?:unknown|unavailable|(?:not )?available|not saved|date|n/?a)", re.IGNORECASE
)


def read_memory_text(content: bytes, session: str) -> Transcript:
    """Read memories from a text. Any text gives some, or a problem.

    Args:
        content: the text, in UTF-8.
        session: the session of every memory, since the text names none.
    """
    try:
        text = content.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError:
        return Transcript(problems=(Remark(1, "is not UTF-8, nor is what follows"),))
    lines = textwrap.dedent(text.replace("\r\n", "\n")).split("\n")
    inside, problems = _inside(lines)
    found = (replace(record, session=session, type="semantic") for record in _entries(inside))
    memories = [record for record in found if record.text.strip()]
    return Transcript(tuple(memories), tuple(problems))


def _inside(lines: list[str]) -> tuple[list[tuple[int, str]], list[Remark]]:
    """Give the lines that hold memories, each with its number, and what is told of the others."""
    numbered = list(enumerate(lines, 1))
    fences = [n for n, line in numbered if _FENCE.match(line)]
    if not fences:
        return numbered, []
    kept: list[tuple[int, str]] = []
    problems = []
    opening = 0
    for number, line in numbered:
        if number in fences:
            opening = 0 if opening else number
        elif opening:
            kept.append((number, line))
        elif line.strip():
            problems.append(Remark(number, "stands outside the code block; it is left out"))
    return kept, problems


def _entries(lines: list[tuple[int, str]]) -> Iterator[MemoryRecord]:
    spaced = any(not line.strip() for _, line in _trimmed(lines))
    tag, listed, blank = "", False, False
    entry: MemoryRecord | None = None
    for position, (number, line) in enumerate(lines):
        if not line.strip():
            blank = True
            continue
        indented = line[:1] in (" ", "\t")
        following = lines[position + 1][1] if position + 1 < len(lines) else ""
        heading = _heading(line, following)
        start = None if indented and entry is not None else _start(line.strip())
        apart = not (indented and listed) if blank else not spaced and not listed
        if entry is not None and (heading or start or apart):
            yield entry
            entry = None
        if heading:
            tag, listed = heading, False
        elif entry is None:
            text, created = start or (line.strip(), "")
            entry = MemoryRecord(number, text, created=created, tags=(tag,) if tag else ())
            listed = start is not None
        else:
            gap = "\n\n" if blank else "\n"
            entry = replace(entry, text=f"{entry.text}{gap}{line.rstrip()}")
        blank = False
    if entry is not None:
        yield entry


def _start(words: str) -> tuple[str, str] | None:
    """Give text and time of a line that begins a memory by a list sign or a date; None for any other."""
    item = _ITEM.match(words)
    body = words[item.end() :] if item else words
    dated = _DATED.match(body)
    created = _moment(dated) if dated else None
    if dated and created is not None:
        return body[dated.end() :], created
    return (body, "") if item else None


def _trimmed(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    full = [n for n, (_, line) in enumerate(lines) if line.strip()]
    return lines[full[0] : full[-1] + 1] if full else []


def _heading(line: str, following: str) -> str:
    """Give the words of a heading as a tag; nothing for another line."""
    match = _HEADING.fullmatch(line.rstrip())
    if match is None or (match["colon"] and not _ITEM.match(following)):
        return ""
    words = match["hash"] or match["bold"] or match["colon"]
    return re.sub(r"[^\w/]+", "-", words.strip().lower()).strip("-/")


def _moment(match: re.Match[str]) -> str | None:
    """Give the time that a line begins with, as stamps have it; "" where it says unknown, None for none."""
    said = (match["date"] or match["day"]).strip()
    if _UNKNOWN.fullmatch(said):
        return ""
    try:
        moment = datetime.fromisoformat(said)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        for form in _DAYS:
            try:
                moment = datetime.strptime(said, form).replace(tzinfo=UTC)
                break
            except ValueError:
                continue
        else:
            return None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment.year >= 1000 else None
