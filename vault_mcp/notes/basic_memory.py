r"""Notes of basic-memory read as entities of the vault.

Its syntax (read from notes that its 0.24.1 wrote): a note has ``title``, ``type`` and ``permalink`` in its
front matter; a list item ``[category] text #tag (context)`` is an observation wherever it stands, and
``relation_type [[Target]] (context)`` a relation. A target is a title or a permalink.

Here a list is facts only where its heading says so. So what has that syntax beyond doubt moves below
``## Observations`` and ``## Relations``, word for word; a context behind a relation's link is kept with it as
an observation, because a relation is a type and a link. Callouts, tasks (``[ ]``, ``[/]``, ``[>]``), time
marks (``[00:01:11]``), Markdown links, code, nested lists and sentences with a link in them stay as they are,
as does every property.
"""

import re
from dataclasses import dataclass

from vault_mcp.notes import frontmatter
from vault_mcp.notes.draft import Draft
from vault_mcp.notes.line import parse_bullet, parse_relation
from vault_mcp.notes.note import kind_of
from vault_mcp.notes.sections import Layout, Section, item_end, read_lists

TYPE = "note"
"""The type of a note that does not say."""

_CATEGORY = re.compile(r"\[([^\W\d_][\w /&-]+)\][ \t]+\S")
_RELATION = re.compile(r"([a-z][a-z0-9]*(?:_[a-z0-9]+)+)[ \t]+\[\[[^\[\]]+\]\]")
_WITH_CONTEXT = re.compile(r"(.*?\[\[[^\[\]]+\]\])((?:[ \t]*\([^\n]*\)|[ \t]+\#[^\s\#]+)+)[ \t]*")


@dataclass(frozen=True, slots=True)
class Heading:
    """What the front matter says of a note; each is empty where it does not."""

    title: str = ""
    permalink: str = ""
    type: str = ""


def heading_of(text: str) -> Heading | None:
    """Give what tells a note of basic-memory from others; None for a note that is not one of its own."""
    properties, problem = frontmatter.read(text)
    if problem or kind_of(properties) != "note":
        return None
    title, permalink, type_ = (_text(properties.get(key)) for key in ("title", "permalink", "type"))
    return Heading(title, permalink, type_) if permalink or (title and type_) else None


def as_entity(text: str) -> str:
    """Give the note of an entity that says what the note of basic-memory said.

    Raises:
        NoteUnreadable: its front matter cannot be edited safely.
    """
    found = heading_of(text) or Heading()
    text = frontmatter.set_property(text, "entity", found.type or TYPE)
    layout, facts = read_lists(text, frontmatter.outline(text).body_start, entity=True)
    draft = Draft(layout)
    shortened: set[int] = set()
    new: dict[Section, list[str]] = {"observations": [], "relations": []}
    for number, section in layout.bullets:
        line = layout.lines[number].removesuffix("\r")
        words = line[2:].strip()
        if section == "relations":
            context = _WITH_CONTEXT.fullmatch(words)
            if context and parse_relation(parse_bullet(context[1])):
                draft.replace(number, line[:2] + context[1])
                shortened.add(number)
                new["observations"].append(f"- {words}")
        elif section == "other" and not _has_more(layout, number):
            relation = _RELATION.match(words)
            rest = words[relation.end() :] if relation else ""
            if _CATEGORY.match(words):
                new["observations"].append(f"- {words}")
                draft.remove(number)
            elif relation and (not rest or _WITH_CONTEXT.fullmatch(words)):
                new["relations"].append(f"- {relation[0]}")
                new["observations"] += [f"- {words}"] if rest else []
                draft.remove(number)
    for section, lines in new.items():
        related = section == "relations"
        follows = [
            fact
            for fact in facts
            if fact.section == section and (fact.pair is not None or fact.line in shortened) == related
        ]
        if lines:
            draft.add_facts(section, lines, follows)
    return draft.text()


def _has_more(layout: Layout, number: int) -> bool:
    """Say whether something is indented below a list item, so that taking it away would leave that alone."""
    below = layout.lines[number + 1 : item_end(layout, number) + 1]
    return any(line.startswith(("  ", "\t")) and line.strip() for line in below)


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, str | int | float) else ""
