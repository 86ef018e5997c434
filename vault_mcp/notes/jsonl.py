"""Memory files of other servers read as a graph, and the form that the official server reads written.

Read are, mixed as they come:

- the records of ``@modelcontextprotocol/server-memory`` (2026.8.31): one JSON object a line, ``entity`` with
  ``name, entityType, observations`` and ``relation`` with ``from, to, relationType``; also several objects
  glued on one line, an object over several lines, one JSON array of them, and what ``read_graph`` returns;
- the logs of ``plain-text-memory-mcp`` (0.2, 0.3): the same with ``added_at`` and ``agent``, observations as
  strings or as objects with stamps of their own, a ``header`` with the repository it belongs to, and
  ``tombstone`` records. In a log, a later record of an entity or relation takes the place of the earlier one.

A record that cannot be read costs that record, and is told by its line.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple

from vault_mcp.notes.line import Source, Stamp, clean_agent


class Remark(NamedTuple):
    """Something to tell about a line of the file, counted from 1; `what` goes on from "Line 7 …"."""

    line: int
    what: str


@dataclass(frozen=True, slots=True)
class ObservationRecord:
    """One fact as the file has it.

    The stamp is None where the file tells nothing. Its `added_at` and `agent` are empty where the file tells
    only what happened later: whoever writes the note puts the import's own time and name there.
    """

    text: str
    stamp: Stamp | None = None

    @property
    def superseded(self) -> bool:
        """Whether something else has taken the fact's place."""
        return self.stamp is not None and self.stamp.superseded_at != ""


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """An entity; no two of its observations have the same text. The type may be empty."""

    name: str
    type: str
    observations: tuple[ObservationRecord, ...] = ()
    stamp: Stamp | None = None


@dataclass(frozen=True, slots=True)
class RelationRecord:
    """A relation from one name to another; neither has to be the name of an entity."""

    source: str
    target: str
    type: str
    stamp: Stamp | None = None


@dataclass(frozen=True, slots=True)
class Graph:
    """What a memory file holds.

    Attributes:
        entities: in the order of the file, no name twice.
        relations: in the order of the file, no two alike.
        problems: what could not be read or kept.
        repeats: what stood there more than once and is here once; nothing is lost by it.
    """

    entities: tuple[EntityRecord, ...] = ()
    relations: tuple[RelationRecord, ...] = ()
    problems: tuple[Remark, ...] = ()
    repeats: tuple[Remark, ...] = ()

    @property
    def dangling(self) -> tuple[RelationRecord, ...]:
        """The relations of which one end, or both, is not among the entities."""
        names = {entity.name for entity in self.entities}
        return tuple(r for r in self.relations if r.source not in names or r.target not in names)


def read_jsonl(content: bytes | str) -> Graph:
    """Read a memory file. Any content gives a graph; what it could not make out is among the problems."""
    text = _text_of(content)
    found = list(_objects(text))
    values = [item for item in found if not isinstance(item, Remark)]
    reading = _Reading(is_log=any(_marks_a_log(value) for _, value in values))
    reading.problems += [item for item in found if isinstance(item, Remark)]
    if not found and not _is_json(text):
        reading.problems.append(Remark(1, "could not be parsed as JSON; nothing of the file was read"))
    for line, value in values:
        reading.take(line, value)
    return Graph(
        tuple(reading.entities.values()),
        tuple(reading.relations.values()),
        _by_line(reading.problems),
        _by_line(reading.repeats),
    )


def write_jsonl(graph: Graph) -> str:
    """Write the file that the official server reads: entities, then relations, without a newline at the end.

    The layout is the server's own, to the byte: compact objects, one a line, keys in its order. Facts that
    have been superseded are left out, because the file has no way to say so.
    """
    records: list[dict[str, object]] = [
        {
            "type": "entity",
            "name": entity.name,
            "entityType": entity.type,
            "observations": [o.text for o in entity.observations if not o.superseded],
        }
        for entity in graph.entities
    ]
    records += (
        {"type": "relation", "from": r.source, "to": r.target, "relationType": r.type}
        for r in graph.relations
    )
    return "\n".join(map(_compact, records))


def _by_line(remarks: list[Remark]) -> tuple[Remark, ...]:
    return tuple(sorted(remarks, key=lambda remark: remark.line))


# --- the text, cut into JSON values ------------------------------------------------------------------

_Value = tuple[int, object]

_BETWEEN: Final = re.compile(r"[ \t\r\n,\[\]\ufeff]*")
"""What may stand between two records: brackets and commas let an array of records read like lines."""

_CONFLICT: Final = re.compile(r"(?:<{7}|={7}|>{7}|\|{7})(?=[ \r\n]|\Z)")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


def _whole_number(digits: str) -> int | float:
    """Read a number; one with more digits than Python reads (4,300) costs no more than itself."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)


_DECODER: Final = json.JSONDecoder(parse_int=_whole_number)
_DECODE: Final = _DECODER.raw_decode


def _text_of(content: bytes | str) -> str:
    """Decode a file; bytes that are not UTF-8 become lone surrogates, by which a record is known later."""
    if isinstance(content, str):
        return content
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):  # what a redirection in Windows PowerShell leaves
        return content.decode("utf-16", "replace")
    return content.decode("utf-8", "surrogateescape")


def _objects(text: str) -> Iterator[_Value | Remark]:
    """Give each JSON value with the line it begins on; where there is none, go on with the next line."""
    line, counted, at = 1, 0, 0
    while True:
        at = _match_end(_BETWEEN, text, at)
        if at == len(text):
            return
        line, counted = line + text.count("\n", counted, at), at
        start, problem = at, ""
        try:
            value, at = _DECODE(text, at)
        except (ValueError, RecursionError):
            column = start - text.rfind("\n", 0, start)
            problem = f"is not a JSON record from column {column} on; the rest of the line is left out"
            if _CONFLICT.match(text, start):
                problem = "is a conflict marker that Git left behind; it is left out"
            at = text.find("\n", start)
            at = at if at >= 0 else len(text)
        if not problem and _SURROGATE.search(text, start, at):
            problem = "is not UTF-8 text; the record is left out"
        if problem:
            yield Remark(line, problem)
        else:
            yield line, value


def _is_json(text: str) -> bool:
    """Say whether a text without a record is empty or an empty list, and no mere run of brackets."""
    text = text.strip(" \t\r\n\ufeff")
    try:
        return not text or bool(_DECODER.decode(text) == [])
    except (ValueError, RecursionError):
        return False


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _compact(record: Mapping[str, object]) -> str:
    line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    # As JSON.stringify does: half a surrogate pair is no character, and no UTF-8.
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", line)


# --- the values, read as records ----------------------------------------------------------------------


def _marks_a_log(value: object) -> bool:
    return isinstance(value, dict) and (value.get("type") in ("header", "tombstone") or "added_at" in value)


class _RecordError(Exception):
    """A record, or a part of one, that is not what it has to be; its text says what is wrong."""


class _Reading:
    """A file as far as it has been read."""

    def __init__(self, *, is_log: bool) -> None:
        self.is_log = is_log
        self.entities: dict[str, EntityRecord] = {}
        self.relations: dict[tuple[str, str, str], RelationRecord] = {}
        self.problems: list[Remark] = []
        self.repeats: list[Remark] = []
        self.line = 0

    def take(self, line: int, value: object) -> None:
        """Read one value of the file; what is wrong with it becomes a problem of its line."""
        self.line = line
        try:
            self._take(value)
        except _RecordError as problem:
            self._problem(str(problem))

    def _take(self, value: object) -> None:
        if not isinstance(value, dict):
            raise _RecordError("is not a JSON object; it is left out")
        kind = value.get("type")
        if kind == "entity":
            self._keep_entity(self._entity(value))
        elif kind == "relation":
            self._keep_relation(self._relation(value))
        elif kind == "tombstone":
            self._bury(value)
        elif kind is None and ("entities" in value or "relations" in value):
            self._take_all(value)
        elif kind != "header":  # which names the folder of the repository, and nothing to remember
            raise _RecordError(f"has the unknown record type {_short(kind)}; it is left out")

    def _take_all(self, graph: Mapping[str, object]) -> None:
        """Read the object that `read_graph` gives, whose records may go without their type."""
        for kind, key in (("entity", "entities"), ("relation", "relations")):
            records = graph.get(key, [])
            if not isinstance(records, list):
                raise _RecordError(f"has {key} that are not a list; they are left out")
            for record in records:
                self.take(self.line, {"type": kind, **record} if isinstance(record, dict) else record)

    def _problem(self, what: str) -> None:
        self.problems.append(Remark(self.line, what))

    def _repeat(self, what: str) -> None:
        self.repeats.append(Remark(self.line, what))

    # entities

    def _entity(self, record: Mapping[str, object]) -> EntityRecord:
        name = self._text(record, "name")
        type_ = record.get("entityType")
        if not isinstance(type_, str):
            self._problem(f"has no entityType for {_short(name)}; the entity is kept without one")
            type_ = ""
        stamp = self._stamp(record)
        return EntityRecord(name, self._whole(type_), self._observations(name, record), stamp)

    def _observations(self, name: str, record: Mapping[str, object]) -> tuple[ObservationRecord, ...]:
        listed = record.get("observations")
        if listed is not None and not isinstance(listed, list):
            self._problem(f"has observations of {_short(name)} that are not a list; they are left out")
        kept: dict[str, ObservationRecord] = {}
        for number, value in enumerate(listed if isinstance(listed, list) else (), start=1):
            try:
                observation = self._observation(value)
            except _RecordError as problem:
                self._problem(f"holds observation {number} of {_short(name)}, which {problem}")
                continue
            if kept.setdefault(observation.text, observation) is not observation:
                self._repeat(f"says {_short(observation.text)} of {_short(name)} more than once")
        return tuple(kept.values())

    def _observation(self, value: object) -> ObservationRecord:
        if isinstance(value, str):
            return ObservationRecord(self._whole(value))
        if isinstance(value, dict):
            return ObservationRecord(self._text(value, "text"), self._stamp(value))
        raise _RecordError("is neither a string nor an object; it is left out")

    def _keep_entity(self, entity: EntityRecord) -> None:
        first = self.entities.setdefault(entity.name, entity)
        if first is entity:
            return
        if self.is_log:
            self.entities[entity.name] = entity
            return
        self._repeat(f"has the entity {_short(entity.name)} again; its observations are added to the first")
        if entity.type != first.type:
            self._problem(
                f"gives {_short(entity.name)} the type {_short(entity.type)}; {_short(first.type)} stays"
            )
        known = {o.text for o in first.observations}
        more = tuple(o for o in entity.observations if o.text not in known)
        self.entities[entity.name] = replace(first, observations=first.observations + more)

    # relations and tombstones

    def _relation(self, record: Mapping[str, object]) -> RelationRecord:
        return RelationRecord(*self._ends(record), self._stamp(record))

    def _ends(self, record: Mapping[str, object]) -> tuple[str, str, str]:
        return self._text(record, "from"), self._text(record, "to"), self._text(record, "relationType")

    def _keep_relation(self, relation: RelationRecord) -> None:
        key = (relation.source, relation.target, relation.type)
        first = self.relations.setdefault(key, relation)
        if self.is_log:
            self.relations[key] = relation
        elif first is not relation:
            source, target, type_ = map(_short, key)
            self._repeat(f"has the relation {source} {type_} {target} again")

    def _bury(self, record: Mapping[str, object]) -> None:
        if "entity" in record:
            self.entities.pop(self._text(record, "entity"), None)
        else:
            self.relations.pop(self._ends(record), None)

    # the parts of a record

    def _text(self, record: Mapping[str, object], key: str) -> str:
        value = record.get(key)
        if not isinstance(value, str):
            raise _RecordError(f"has no text as {key!r}; it is left out")
        return self._whole(value)

    def _whole(self, text: str) -> str:
        """Return a text of whole characters: JSON can escape half a surrogate pair, a note cannot hold it."""
        if text.isascii() or not _SURROGATE.search(text):
            return text
        whole = _SURROGATE.sub("\ufffd", text)
        self._problem(f"has half a character in {_short(whole)}; \ufffd stands in its place")
        return whole

    def _stamp(self, record: Mapping[str, object]) -> Stamp | None:
        replacement = record.get("replaced_by")
        stamp = Stamp(
            self._time(record, "added_at"),
            self._agent(record, "agent"),
            self._time(record, "edited_at"),
            self._agent(record, "edited_by"),
            self._time(record, "superseded_at"),
            self._agent(record, "superseded_by"),
            self._whole(replacement) if isinstance(replacement, str) else None,
            tuple(self._sources(record.get("sources"))),
        )
        return None if stamp == Stamp("", "") else stamp

    def _agent(self, record: Mapping[str, object], key: str) -> str:
        value = record.get(key)
        return clean_agent(value) if isinstance(value, str) and value.strip() else ""

    def _time(self, record: Mapping[str, object], key: str) -> str:
        """Return a time as a stamp can hold it: as it is written, if it is ISO 8601 without a blank."""
        value = record.get(key)
        if value is None:
            return ""
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self._problem(f"has {_short(value)} as {key}, which is not a time; it is left out")
            return ""
        return str(value) if _STAMP_TIME.fullmatch(str(value)) else moment.isoformat()

    def _sources(self, listed: object) -> Iterator[Source]:
        if listed is None:
            return
        for value in listed if isinstance(listed, list) else [listed]:
            entity, text = (
                (value.get("entityName"), value.get("text")) if isinstance(value, dict) else (None, None)
            )
            if isinstance(entity, str) and isinstance(text, str):
                yield Source(self._whole(entity), self._whole(text))
            else:
                self._problem(
                    "names a source that is not an observation of an entity; the source is left out"
                )


_STAMP_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+(?:Z|[+-][0-9:]+)?)?")


def _short(value: object, most: int = 60) -> str:
    shown = repr(value)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
