"""Facts that one side gave an entity which the other joined to another one: they follow it there.

Known by the files alone: an entity is joined to another where a side that has no note of it any more has all
that the note held in one other note.
"""

from __future__ import annotations

from collections.abc import Iterable

from vault_mcp.errors import BadArgument, NoteUnreadable
from vault_mcp.notes import frontmatter
from vault_mcp.notes.absorb import prose_of, written
from vault_mcp.notes.entity import add_observations, add_relations, remove_observations, remove_relations
from vault_mcp.notes.note import Note, Relation, read_note

Versions = tuple[str, Note | None, Note | None]
"""A note that a side changed: its path, as the side has it, and as it was before."""


def joined_into(gone: Note, changed: Iterable[Versions]) -> str | None:
    """Give the note that took over what an entity held when a side joined the two; None where none did."""
    held = {fact.text for fact in gone.observations}
    found = [
        path
        for path, after, before in changed
        if after is not None
        and after.kind == "entity"
        and path != gone.path
        and held <= _texts(after)
        and not held <= _texts(before)
    ]
    return found[0] if len(found) == 1 else None


def _texts(note: Note | None) -> set[str]:
    return {fact.text for fact in note.observations} if note is not None else set()


def carried(before: Note, now: Note, changed: Iterable[Versions]) -> list[str]:
    """Give the facts of a note that a side which deleted it has in other notes since."""
    found: set[tuple[str, object]] = set()
    for _, after, earlier in changed:
        known = {(fact.text, fact.stamp) for fact in earlier.observations} if earlier else set()
        found |= {(fact.text, fact.stamp) for fact in after.observations} - known if after else set()
    found &= {(fact.text, fact.stamp) for fact in before.observations}
    return [fact.text for fact in now.observations if (fact.text, fact.stamp) in found]


def carry(before: str, after: str, target: str, target_name: str) -> str | None:
    """Give the text of the note that took an entity over, with what the other side changed in the entity.

    None where that was more than facts with stamps and relations: prose, properties, a line typed by hand.

    Args:
        before: The entity's note as both sides had it.
        after: As the other side has it.
        target: The note that took it over.
        target_name: Its file name without the ending; a relation to it would lead to itself.
    """
    if prose_of(before) != prose_of(after) or _front(before) != _front(after):
        return None
    old, new = read_note("old.md", before), read_note("new.md", after)
    known = {(fact.text, fact.stamp) for fact in old.observations}
    come = [fact for fact in new.observations if (fact.text, fact.stamp) not in known]
    there = {(fact.text, fact.stamp) for fact in new.observations}
    gone = [fact.text for fact in old.observations if (fact.text, fact.stamp) not in there]
    links = {_key(relation) for relation in old.relations}
    fresh = [one for one in new.relations if _key(one) not in links and one.target != target_name]
    lost = links - {_key(relation) for relation in new.relations}
    if any(fact.stamp is None for fact in come) or any(one.stamp is None for one in fresh):
        return None
    try:
        text = remove_observations(target, gone) if gone else target
        text = add_observations(text, [(f.text, f.stamp) for f in come if f.stamp], imported=True)
        if lost:
            text = remove_relations(text, lambda relation: _key(relation) in lost)
        return (
            add_relations(text, [(r.type, written(r), r.stamp) for r in fresh if r.stamp]) if fresh else text
        )
    except (NoteUnreadable, BadArgument):
        return None


def _key(relation: Relation) -> tuple[str, str, str | None]:
    return relation.type, relation.target, relation.shown


def _front(text: str) -> str:
    return text[: frontmatter.split(text).body_start]
