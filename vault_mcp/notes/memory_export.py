"""Memories from the JSON that other memory programs export, each file one JSON value.

- ``mcp-memory-service`` (12.4): ``{"export_metadata": {…}, "memories": [{"content", "tags", "created_at",
  "memory_type", "metadata"}, …]}``, times in seconds.
- ``mem0``: what `get_all` returns and its exports hold: ``{"results": [{"memory", "created_at",
  "categories", "metadata", "user_id", "run_id"}, …]}``, or that list alone.
- Claude's data export, ``memories.json``: ``[{"conversations_memory": text, "project_memories": {id:
  text}}]``.

A kind or category that is none of ours becomes a tag. An entry that cannot be read costs that entry, and is
told by its number, counted from 1.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from vault_mcp.notes.jsonl import Remark
from vault_mcp.notes.memory_text import read_memory_text
from vault_mcp.notes.transcript import IMPORTANCE, TYPES, MemoryRecord, Transcript

UNIT = "Entry"
"""What the numbers of such a file count."""


def read_export(content: bytes) -> Transcript | None:
    """Read an export; None for a file that is none of these."""
    try:
        said = json.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return None
    entries = said if isinstance(said, list) else [said]
    if any(isinstance(entry, dict) and "conversations_memory" in entry for entry in entries):
        return _of_claude(entries)
    if isinstance(said, dict):
        listed = next((said[key] for key in ("memories", "results") if isinstance(said.get(key), list)), None)
        if listed is None:
            return None
        entries = listed
    if not any(isinstance(entry, dict) and (_has_content(entry) or _is_mem0(entry)) for entry in entries):
        return None
    memories, problems = [], []
    for number, entry in enumerate(entries, 1):
        try:
            memories.append(_record(number, entry))
        except _Unreadable as problem:
            problems.append(Remark(number, str(problem)))
    return Transcript(tuple(memories), tuple(problems), UNIT)


class _Unreadable(Exception):
    """Why an entry is no memory, going on from "Entry 7 …"."""


def _has_content(entry: Mapping[str, object]) -> bool:
    return isinstance(entry.get("content"), str) and ("content_hash" in entry or "memory_type" in entry)


def _is_mem0(entry: Mapping[str, object]) -> bool:
    return isinstance(entry.get("memory"), str) and ("id" in entry or "hash" in entry or "user_id" in entry)


def _record(number: int, entry: object) -> MemoryRecord:
    if not isinstance(entry, dict):
        raise _Unreadable("is no object")
    text = entry.get("content") if _has_content(entry) else entry.get("memory")
    if not isinstance(text, str) or not text.strip():
        raise _Unreadable("has no text")
    metadata = entry.get("metadata")
    more = metadata if isinstance(metadata, dict) else {}
    kind = entry.get("memory_type") or more.get("memory_type")
    tags = [*_words(entry.get("tags")), *_words(entry.get("categories"))]
    if isinstance(kind, str) and kind and kind not in TYPES:
        tags.append(kind)
    source = "mcp-memory-service" if _has_content(entry) else "mem0"
    session = next((v for v in map(_name, _sessions(entry, more)) if v), source)
    return MemoryRecord(
        number,
        text,
        session,
        _moment(entry.get("created_at"), entry.get("created_at_iso")),
        importance=_importance(more.get("importance")),
        tags=tuple(dict.fromkeys(tag.replace(" ", "-") for tag in tags)),
        type=kind if isinstance(kind, str) and kind in TYPES else "semantic",
    )


def _sessions(entry: Mapping[str, object], more: Mapping[str, object]) -> list[object]:
    return [more.get("session_id"), more.get("conversation_id"), entry.get("run_id"), entry.get("session_id")]


def _of_claude(entries: list[object]) -> Transcript:
    memories: list[MemoryRecord] = []
    problems: list[Remark] = []
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            problems.append(Remark(number, "is no object"))
            continue
        texts = {"Claude": entry.get("conversations_memory")}
        projects = entry.get("project_memories")
        for name, text in (projects if isinstance(projects, dict) else {}).items():
            texts[f"Claude project {name}"] = text
        for session, text in texts.items():
            if isinstance(text, str):
                found = read_memory_text(text.encode("utf-8", "replace"), session)
                memories += [replace(record, line=number) for record in found.memories]
            elif text is not None:
                problems.append(Remark(number, f"has a memory of {session} that is no text"))
    return Transcript(tuple(memories), tuple(problems), UNIT)


def _words(value: object) -> list[str]:
    if isinstance(value, str):
        value = value.split(",")
    listed = value if isinstance(value, list) else []
    return [word.strip() for word in listed if isinstance(word, str) and word.strip()]


def _name(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _importance(value: object) -> int:
    """Give a number from 1 to 10; any other scale is not ours to guess."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and isinstance(value, int) and 1 <= value <= 10 else IMPORTANCE


def _moment(*values: object) -> str:
    """Give the first of some times that can be read, as stamps have it: seconds since 1970, or ISO 8601."""
    for value in values:
        try:
            if isinstance(value, int | float) and not isinstance(value, bool):
                moment = datetime.fromtimestamp(value, UTC)
            elif isinstance(value, str):
                moment = datetime.fromisoformat(value.strip())
                moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
            else:
                continue
        except (ValueError, OverflowError, OSError):
            continue
        if moment.year >= 1000:
            return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return ""
