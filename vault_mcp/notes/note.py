"""The parsed view of one note, whatever its kind: what the index keeps and the tools show.

What a note is, one property says: ``entity``, ``memory`` or ``key``, sought in this order. It may be empty,
but for a key's; a list or mapping says nothing. A note without is a plain note: it has relations and prose,
but no observations. A note whose properties cannot be read is a plain note with a problem.

A fact that stands in several lines, as after a merge that kept both sides, counts once: in the first of its
places, with the oldest of its stamps. One that stands both among the facts that hold and the superseded ones
holds.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from vault_mcp.notes import frontmatter, keyed, memory
from vault_mcp.notes.line import Pair, Stamp, older
from vault_mcp.notes.links import Link, find_links
from vault_mcp.notes.names import is_stem_of
from vault_mcp.notes.passages import Passage, cut
from vault_mcp.notes.sections import FactLine, Layout, read_lists

__all__ = [
    "Fact",
    "FactKind",
    "Kind",
    "Note",
    "Observation",
    "Passage",
    "Relation",
    "facts",
    "kind_of",
    "read_note",
]

Kind = Literal["entity", "memory", "key", "note"]
FactKind = Literal["observation", "superseded", "relation", "text", "value", "type"]

_KINDS: Final[tuple[Kind, ...]] = ("entity", "memory", "key")


@dataclass(frozen=True, slots=True)
class Observation:
    """One fact of an entity; `line` is the 0-based number of its line in the file."""

    text: str
    stamp: Stamp | None
    line: int
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation from the note it stands in; `target` and `shown` as in its wikilink, escapes undone."""

    type: str
    target: str
    shown: str | None
    stamp: Stamp | None
    line: int


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing whose coming and going history tells; a relation's text is ``type -> name``."""

    kind: FactKind
    text: str
    stamp: Stamp | None


@dataclass(frozen=True, slots=True)
class Note:
    """One note as read.

    Attributes:
        path: Where it lies in the vault.
        kind: What it is: the property ``entity``, ``memory`` or ``key`` says so, else it is a plain note.
        name: The entity's name: the property ``name``, else the file name without ``.md``; a key note's key.
        type: An entity's or memory's type; empty otherwise.
        created: The property of that name, empty without one.
        agent: The property of that name, empty without one.
        tags: Tags of the front matter, as written.
        aliases: Aliases of the front matter.
        properties: The whole front matter.
        observations: Current and superseded facts, each text once. Only entities have them.
        relations: Lines under ``## Relations``, each once. Keys have none.
        links: Every link to another file, those of properties and relation lines among them. Keys have none.
        passages: The prose: what is neither observation nor relation. A memory's text, a key's value.
        value: A memory's text or a key's value, exactly; None for the other kinds.
        id: A memory's number.
        importance: A memory's importance.
        session: A memory's session, empty without one.
        inline_tags: Tags written in the body (``#tag``), without ``#``.
        problems: What is wrong with this note, in words; the rest of the note is read all the same.
    """

    path: str
    kind: Kind
    name: str
    type: str = ""
    created: str = ""
    agent: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    properties: dict[str, object] = field(default_factory=dict)
    observations: tuple[Observation, ...] = ()
    relations: tuple[Relation, ...] = ()
    links: tuple[Link, ...] = ()
    passages: tuple[Passage, ...] = ()
    value: str | None = None
    id: int | None = None
    importance: int | None = None
    session: str = ""
    inline_tags: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def read_note(path: str, text: str) -> Note:
    """Return the note that a text holds. Nothing in the text makes this raise: see `Note.problems`."""
    front = frontmatter.split(text)
    properties, kind = front.properties, kind_of(front.properties)
    layout, lines = read_lists(text, front.body_start, entity=kind == "entity")
    lists = layout
    if kind == "memory":
        lists, lines = read_lists(text, lists_start(text, front, kind), entity=False)
        # Marks of a conflict in the text of a memory, or the value of a key, are words like any other.
        layout.conflicts.clear()
    elif kind == "key":
        lines = ()
        layout.conflicts.clear()
    return Note(
        path=path,
        kind=kind,
        name=_name(path, kind, properties),
        type=_text(properties[kind]) if kind in ("entity", "memory") else "",
        created=_text(properties.get("created")),
        agent=_text(properties.get("agent")),
        tags=_tags(properties.get("tags")),
        aliases=_texts(properties.get("aliases")),
        properties=properties,
        observations=_observations(lines),
        relations=_relations(lines),
        links=() if kind == "key" else tuple(find_links(text)),
        passages=_passages(kind, layout, lists, lines),
        value=_value(text, front, kind),
        id=_number(properties.get("id")) if kind == "memory" else None,
        importance=_number(properties.get("importance")) if kind == "memory" else None,
        session=_text(properties.get("session")) if kind == "memory" else "",
        inline_tags=() if kind == "key" else _inline_tags(text, layout),
        problems=_problems(front, kind, lists),
    )


def read_facts(path: str, text: str) -> tuple[Fact, ...]:
    """Return the `facts` of the note that a text holds, reading no more of it than they need."""
    front = frontmatter.split(text)
    kind = kind_of(front.properties)
    lines: tuple[FactLine, ...] = ()
    start = lists_start(text, front, kind)
    if kind != "key" and start < len(text):
        _, lines = read_lists(text, start, entity=kind == "entity")
    return facts(
        Note(
            path=path,
            kind=kind,
            name="",
            type=_text(front.properties[kind]) if kind == "entity" else "",
            observations=_observations(lines),
            relations=_relations(lines),
            value=_value(text, front, kind),
        )
    )


def facts(note: Note) -> tuple[Fact, ...]:
    """Return what history tracks of a note: its type, its facts, its relations, its text or value."""
    found: list[Fact] = []
    if note.kind == "entity":
        found.append(Fact("type", note.type, None))
        found += [
            Fact("superseded" if fact.superseded else "observation", fact.text, fact.stamp)
            for fact in note.observations
        ]
    elif note.value is not None:
        found.append(Fact("text" if note.kind == "memory" else "value", note.value, None))
    found += [Fact("relation", relation_text(relation), relation.stamp) for relation in note.relations]
    return tuple(found)


def relation_text(relation: Relation) -> str:
    """Return the words by which history knows a relation."""
    return f"{relation.type} -> {relation.shown or relation.target}"


# --- properties ------------------------------------------------------------------------------------


def kind_of(properties: Mapping[str, object]) -> Kind:
    """Return what a note with these properties is."""
    for kind in _KINDS:
        said = properties.get(kind, ())
        if not isinstance(said, list | dict | tuple) and (kind != "key" or _text(said)):
            return kind
    return "note"


def _name(path: str, kind: Kind, properties: Mapping[str, object]) -> str:
    if kind == "key":
        return _text(properties[kind])
    said = properties.get("name")
    stem = path.rsplit("/", 1)[-1].removesuffix(".md")
    # An empty name is meant where the file is called like one; elsewhere a person has cleared the property.
    return said if isinstance(said, str) and (said or is_stem_of(stem, said)) else stem


def _text(value: object) -> str:
    """A property as the one text it says; empty for a list, a mapping or nothing."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else ""


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(text for text in map(_text, value) if text)
    return (_text(value),) if _text(value) else ()


def _tags(value: object) -> tuple[str, ...]:
    """Tags of a list or, as before Obsidian 1.9, of one text with commas; without the ``#`` some write."""
    said = (tag for text in _texts(value) for tag in text.split(","))
    return tuple(dict.fromkeys(tag for tag in (tag.strip().removeprefix("#") for tag in said) if tag))


def _problems(front: frontmatter.FrontMatter, kind: Kind, layout: Layout) -> tuple[str, ...]:
    found = [front.problem] if front.problem else []
    said = [name for name in _KINDS if name in front.properties]
    if len(said) > 1:
        found.append(f"more than one of {', '.join(said)}")
    elif said and kind == "note":
        found.append(f"{said[0]} is not a text")
    if layout.conflicts:
        found.append("conflict markers")
    if layout.open_fence is not None and kind == "entity":
        found.append(f"code fence in line {layout.open_fence + 1} is never closed")
    return tuple(dict.fromkeys(found))


# --- the body --------------------------------------------------------------------------------------


def lists_start(text: str, front: frontmatter.FrontMatter, kind: Kind) -> int:
    """Return the offset from which lines are read as facts: none are in a memory's text."""
    if kind != "memory":
        return front.body_start
    start = memory.relations_start(_bare(text, front))
    return len(text) if start is None else front.body_start + start - 1


def _bare(text: str, front: frontmatter.FrontMatter) -> str:
    # A blank line in its place keeps a rule at the start of the body from being read as front matter, and
    # spares the memory and key readers the YAML that has been read already.
    return "\n" + text[front.body_start :]


def _value(text: str, front: frontmatter.FrontMatter, kind: Kind) -> str | None:
    if kind == "memory":
        return memory.memory_text(_bare(text, front))
    return keyed.read_value(_bare(text, front)) if kind == "key" else None


def _passages(kind: Kind, layout: Layout, lists: Layout, facts: Iterable[FactLine]) -> tuple[Passage, ...]:
    skipped = {*layout.conflicts, *lists.conflicts, *(fact.line for fact in facts)}
    if kind == "key":
        skipped.update(number for start, end in layout.fences for number in (start, end - 1))
        return tuple(cut(layout.lines, layout.first, (), skipped))
    if lists is layout:
        return tuple(cut(layout.lines, layout.first, layout.headings, skipped))
    above = [heading for heading in layout.headings if heading.line < lists.first]
    text = cut(layout.lines[: lists.first], layout.first, above, skipped)
    return (*text, *cut(lists.lines, lists.first, lists.headings, skipped))


def _observations(lines: Iterable[FactLine]) -> tuple[Observation, ...]:
    found: dict[str, Observation] = {}
    for fact in lines:
        if fact.pair is None:
            text, stamp = fact.bullet.text, fact.bullet.stamp
            known = found.get(text)
            if known is None:
                found[text] = Observation(text, stamp, fact.line, fact.superseded)
            elif known.superseded == fact.superseded:
                found[text] = replace(known, stamp=older(known.stamp, stamp))
            elif known.superseded:
                found[text] = Observation(text, stamp, fact.line)
    return tuple(found.values())


def _relations(lines: Iterable[FactLine]) -> tuple[Relation, ...]:
    found: dict[Pair, Relation] = {}
    for fact in lines:
        if fact.pair is not None:
            pair, stamp = fact.pair, fact.bullet.stamp
            known = found.get(pair)
            found[pair] = (
                replace(known, stamp=older(known.stamp, stamp))
                if known
                else Relation(pair.type, pair.target, pair.shown, stamp, fact.line)
            )
    return tuple(found.values())


# Obsidian help, "Tags": letters, digits, _ - / and other signs, not digits alone; behind white space.
_TAG = re.compile("#(?<!\\S#)([\\w/\\-\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff]+)")
_UNTAGGED = re.compile(r"`+[^`]*`+|%%.{0,999}?%%|<!--.{0,999}?-->|\[\[.{0,299}?\]\]|\]\(\S{0,999}\)")


def _inline_tags(text: str, layout: Layout) -> tuple[str, ...]:
    if not _TAG.search(text):
        return ()
    found = {}
    code = {number for opening, end in layout.fences for number in range(opening, end)}
    for number in range(layout.first, len(layout.lines)):
        if "#" in layout.lines[number] and number not in code:
            found.update(dict.fromkeys(_TAG.findall(_UNTAGGED.sub("", layout.lines[number]))))
    return tuple(tag for tag in found if not tag.isdecimal())
