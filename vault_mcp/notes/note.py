"""The parsed view of one note, whatever its kind: what the index keeps and the tools show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from vault_mcp.notes.line import Stamp
from vault_mcp.notes.passages import Passage

if TYPE_CHECKING:
    from vault_mcp.notes.links import Link

__all__ = ["Fact", "FactKind", "Kind", "Note", "Observation", "Passage", "Relation", "facts", "read_note"]

Kind = Literal["entity", "memory", "key", "note"]
FactKind = Literal["observation", "superseded", "relation", "text", "value", "type"]


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
        links: Every wikilink of the note, those of its properties and relation lines among them.
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
    return Note(path, "note", path.rsplit("/", 1)[-1].removesuffix(".md"))


def facts(note: Note) -> tuple[Fact, ...]:
    """Return what history tracks of a note."""
    return ()
