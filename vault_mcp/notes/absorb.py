"""One entity note taken into another: its facts, its relations, its prose."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vault_mcp.notes import frontmatter
from vault_mcp.notes.entity import add_observations, add_relations
from vault_mcp.notes.line import Stamp, encode_shown
from vault_mcp.notes.note import Relation, read_note, relation_text
from vault_mcp.notes.sections import TITLES, fact_lines, scan


def absorb(
    target: str,
    source: str,
    *,
    source_name: str,
    stamps: Mapping[tuple[str, str], Stamp],
    unknown: Stamp,
    keep: Callable[[Relation], bool],
) -> str:
    """Return the target's text with what the source holds added to it.

    Args:
        target: text of the note that stays.
        source: text of the note that goes.
        source_name: name of the entity that goes; its prose comes under a heading that says so.
        stamps: for facts of the source without a stamp, by kind and text, what Git tells of them.
        unknown: for lines of which Git knows nothing yet.
        keep: which relations of the source are worth keeping.
    """
    note = read_note("source.md", source)
    items = [(o.text, o.stamp or stamps.get(("observation", o.text), unknown)) for o in note.observations]
    text = add_observations(target, items, imported=True)
    relations = [
        (r.type, written(r), r.stamp or stamps.get(("relation", relation_text(r)), unknown))
        for r in note.relations
        if keep(r)
    ]
    if relations:
        text = add_relations(text, relations)
    prose = prose_of(source)
    if prose:
        newline = "\r\n" if "\r\n" in text else "\n"
        joint = "" if text.endswith("\n") else newline
        heading = " ".join(source_name.split())
        text = f"{text}{joint}{newline}## Merged from {heading}{newline}{newline}{prose}{newline}"
    return text


def written(relation: Relation) -> str:
    """Write a relation's wikilink as it stands in its note."""
    if relation.shown is None:
        return f"[[{relation.target}]]"
    return f"[[{relation.target}|{encode_shown(relation.shown)}]]"


def prose_of(text: str) -> str:
    """Return the lines of an entity note that are neither front matter nor facts nor their headings."""
    front = frontmatter.split(text)
    layout = scan(text, front.body_start)
    skipped = {fact.line for fact in fact_lines(layout, entity=True)}
    skipped |= {h.line for h in layout.headings if h.level == 2 and h.title.casefold() in TITLES}
    lines = [
        line for number, line in enumerate(layout.lines) if number >= layout.first and number not in skipped
    ]
    return "\n".join(lines).strip("\r\n")
