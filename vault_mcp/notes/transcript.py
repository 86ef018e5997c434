"""Memories as JSON lines, the form in which conversations and notes of other programs are brought in.

One JSON object a line, in UTF-8:

    {"text": "I moved to Graz.", "session_id": "2026-03 visit", "created": "2026-03-05T13:56:00Z",
     "speaker": "Ada", "importance": 7, "tags": ["home"], "memory_type": "episodic"}

Only `text` is needed. `created` is any ISO 8601 time, UTC where it has no offset; without it the memory is of
now. `speaker` is who said it. What is left out is as `memory_remember` has it; other fields are passed over.
A line that cannot be read costs that line, and is told by its number.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from vault_mcp.notes.jsonl import Remark

TYPES = ("semantic", "episodic", "procedural")
"""The kinds of memories."""

IMPORTANCE = 5
"""Of a memory that does not say."""


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One memory as the file has it; `created` is "YYYY-MM-DDTHH:MM:SSZ", or "" where nothing is said."""

    line: int
    text: str
    session: str = ""
    created: str = ""
    speaker: str = ""
    importance: int = IMPORTANCE
    tags: tuple[str, ...] = ()
    type: str = "episodic"


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a file holds: memories in its order, what could not be read, and what their numbers count."""

    memories: tuple[MemoryRecord, ...] = ()
    problems: tuple[Remark, ...] = ()
    unit: str = "Line"


def is_transcript(content: bytes) -> bool:
    """Say whether a file looks like one: its first line is an object with a text, and is no graph record."""
    for line in content.removeprefix(b"\xef\xbb\xbf").splitlines():
        if line.strip():
            try:
                first = json.loads(line)
            except (ValueError, RecursionError):
                return False
            return isinstance(first, dict) and isinstance(first.get("text"), str) and "type" not in first
    return False


def read_transcript(content: bytes) -> Transcript:
    """Read a file of memories. Any content gives one; what it could not make out is among the problems."""
    memories: list[MemoryRecord] = []
    problems: list[Remark] = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            memories.append(_record(number, json.loads(line.decode())))
        except UnicodeDecodeError:
            problems.append(Remark(number, "is not UTF-8"))
        except RecursionError:
            problems.append(Remark(number, "is nested too deeply"))
        except _Unreadable as error:
            problems.append(Remark(number, str(error)))
        except ValueError:
            problems.append(Remark(number, "is no JSON"))
    return Transcript(tuple(memories), tuple(problems))


class _Unreadable(Exception):
    """Why a line is no memory, going on from "Line 7 …"."""


def _record(line: int, said: object) -> MemoryRecord:
    if not isinstance(said, dict):
        raise _Unreadable("is no object")
    text = said.get("text")
    if not isinstance(text, str) or not text.strip():
        raise _Unreadable("has no text")
    importance = IMPORTANCE if said.get("importance") is None else said["importance"]
    if not isinstance(importance, int) or isinstance(importance, bool) or not 1 <= importance <= 10:
        raise _Unreadable("has an importance that is not 1 to 10")
    kind = said.get("memory_type") or "episodic"
    if kind not in TYPES:
        raise _Unreadable(f"has a memory_type that is none of {', '.join(TYPES)}")
    tags = said.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise _Unreadable("has tags that are no list of texts")
    return MemoryRecord(
        line,
        text,
        _name(said, "session_id"),
        _moment(said.get("created")),
        _name(said, "speaker"),
        importance,
        tuple(tags),
        kind,
    )


def _name(said: dict[str, object], key: str) -> str:
    value = said.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise _Unreadable(f"has a {key} that is no text")
    return str(value)


def _moment(value: object) -> str:
    if value is None or value == "":
        return ""
    try:
        if not isinstance(value, str):
            raise ValueError
        moment = datetime.fromisoformat(value.strip())
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise _Unreadable("has a created that is no ISO 8601 time") from None
    if moment.year < 1000:
        raise _Unreadable("has a created before the year 1000")
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
