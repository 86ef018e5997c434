"""An entity's note edited: text in, text out, and only the lines that are meant.

Each edit is read back before it is returned. Where it would not say what was asked, or would change what was
not, as in a note whose code fence is never closed, it is refused with `NoteUnreadable`: a note is rather left
alone than guessed at. The same goes for a note with broken front matter or with marks of an unsettled merge.

Adding what is there and removing what is not there changes nothing and is no error: who asks decides that.
Relations are added to and removed from every kind of note but keys; the rest is for entities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from vault_mcp.errors import AlreadyThere, BadArgument, NoteUnreadable, NotFound
from vault_mcp.notes import frontmatter, memory
from vault_mcp.notes.draft import Draft
from vault_mcp.notes.line import (
    Pair,
    Stamp,
    observation_line,
    older,
    parse_bullet,
    parse_relation,
    relation_line,
)
from vault_mcp.notes.note import Kind, Relation, kind_of, lists_start
from vault_mcp.notes.sections import FactLine, Section, read_lists

SHOWN_LENGTH = 80
"""Characters of a text that an error message repeats."""


def new_entity(
    name: str,
    stem: str,
    type: str,
    *,
    at: str,
    agent: str,
    observations: Sequence[tuple[str, Stamp]] = (),
    relations: Sequence[tuple[str, str, Stamp]] = (),
    tags: Sequence[str] = (),
    imported: bool = False,
) -> str:
    """Return the note of a new entity.

    Args:
        name: The entity's name.
        stem: Name of its file without ``.md``; where it is not the name, the note says the name itself.
        type: The entity's type.
        at: When it was added.
        agent: By whom it was added.
        observations: Its facts; a repeated one counts once.
        relations: Its relations, each (type, wikilink, stamp).
        tags: Tags without ``#``.
        imported: Whether the stamps are older than the commit that will bring them.
    """
    properties: dict[str, object] = {"entity": type}
    if name != stem:
        properties["name"] = name
        if _can_be_alias(name):
            properties["aliases"] = [name]
    if tags:
        properties["tags"] = list(tags)
    properties |= {"created": at, "agent": agent}
    edit = _Edit(f"{frontmatter.block(properties)}\n## Observations\n", of_entity=True)
    _add_observations(edit, observations, imported=imported)
    _add_relations(edit, relations)
    return edit.text()


# --- observations ----------------------------------------------------------------------------------


def add_observations(text: str, items: Sequence[tuple[str, Stamp]], *, imported: bool = False) -> str:
    """Add facts to the end of the list, without those that hold already; superseded ones under their heading.

    `imported` stamps are older than the commit that will bring them: they are kept on tasks too.
    """
    edit = _Edit(text, of_entity=True)
    _add_observations(edit, items, imported=imported)
    return edit.text()


def _add_observations(edit: _Edit, items: Sequence[tuple[str, Stamp]], *, imported: bool) -> None:
    holding = {fact.bullet.text for fact in edit.observations(superseded=False)}
    ended = {fact.bullet.text for fact in edit.observations(superseded=True)}
    new: dict[Section, list[str]] = {"observations": [], "superseded": []}
    for words, stamp in items:
        line = observation_line(words, stamp, stamp_task=imported)
        if words in holding or (stamp.superseded_at and words in ended):
            continue
        (ended if stamp.superseded_at else holding).add(words)
        new["superseded" if stamp.superseded_at else "observations"].append(line)
    for section, lines in new.items():
        edit.add(section, lines)


def edit_observation(text: str, old: str, new: str, *, at: str, by: str, stamp: Stamp | None = None) -> str:
    """Give a fact other words; its place, stamp and block id stay, and the stamp tells of the edit.

    `stamp` is what Git knows of a line that has none. A line of which neither knows stays without.

    Raises:
        NotFound: No such fact holds.
        AlreadyThere: The new one does already.
    """
    edit = _Edit(text, of_entity=True)
    first, *repeats = edit.found(old, superseded=False)
    if edit.has(new, superseded=False):
        raise AlreadyThere(f"There is an observation {_quoted(new)} already.")
    known = _stamp_of([first, *repeats])
    edited = known or stamp
    if edited:
        edited = replace(edited, edited_at=at, edited_by=by)
    line = observation_line(new, edited, stamp_task=known is not None)
    if first.section == "relations":  # a merge left it there, where its new words might read as a relation
        edit.remove([first])
        edit.add("observations", [line], first.bullet.block_id)
    else:
        edit.replace(first, line)
    edit.remove(repeats)
    return edit.text()


def remove_observations(text: str, texts: Collection[str]) -> str:
    """Take out the lines of facts, whether they hold or are superseded."""
    edit = _Edit(text, of_entity=True)
    edit.remove(fact for fact in edit.facts if fact.pair is None and fact.bullet.text in texts)
    return edit.text()


def supersede_observation(
    text: str, old: str, *, at: str, by: str, replacement: str | None = None, stamp: Stamp | None = None
) -> str:
    """Move a fact that no longer holds under ``## Superseded``; `replacement` is the text in its place.

    The replacement itself is added by `add_observations`. `stamp` is what Git knows of a line that has none;
    a line of which neither knows counts as added at this moment.

    Raises:
        NotFound: No such fact.
        AlreadyThere: It is superseded already.
    """
    edit = _Edit(text, of_entity=True)
    if edit.has(old, superseded=True) and not edit.has(old, superseded=False):
        raise AlreadyThere(f"The observation {_quoted(old)} is superseded already.")
    gone = edit.found(old, superseded=False)
    known = _stamp_of(gone) or stamp or Stamp(at, by)
    ended = replace(known, superseded_at=at, superseded_by=by, replacement=replacement)
    edit.remove(gone)
    edit.add("superseded", [observation_line(old, ended)], block_id=_block_id_of(gone))
    return edit.text()


def revive_observation(text: str, old: str, *, at: str, by: str, stamp: Stamp | None = None) -> str:
    """Let a superseded fact hold again, at the end of the list; its stamp says added as before, edited now.

    `stamp` as for `supersede_observation`.

    Raises:
        NotFound: No such fact is superseded.
        AlreadyThere: It holds already.
    """
    edit = _Edit(text, of_entity=True)
    if edit.has(old, superseded=False):
        raise AlreadyThere(f"There is an observation {_quoted(old)} already.")
    gone = edit.found(old, superseded=True)
    known = _stamp_of(gone) or stamp or Stamp(at, by)
    again = Stamp(known.added_at, known.agent, at, by, sources=known.sources)
    edit.remove(gone)
    edit.add("observations", [observation_line(old, again, stamp_task=True)], block_id=_block_id_of(gone))
    return edit.text()


# --- relations -------------------------------------------------------------------------------------


def add_relations(text: str, items: Sequence[tuple[str, str, Stamp]]) -> str:
    """Add relations to the end of the list, without those that are there; each is (type, wikilink, stamp)."""
    edit = _Edit(text)
    _add_relations(edit, items)
    return edit.text()


def _add_relations(edit: _Edit, items: Sequence[tuple[str, str, Stamp]]) -> None:
    known = {fact.pair for fact in edit.facts}
    lines = []
    for type_, link, stamp in items:
        line = relation_line(type_, link, stamp)
        pair = parse_relation(parse_bullet(line[2:]))
        if pair is None:
            raise BadArgument(f"{_quoted(link)} is no link to one note.")
        if pair not in known:
            known.add(pair)
            lines.append(line)
    edit.add("relations", lines)


def remove_relations(text: str, which: Callable[[Relation], bool]) -> str:
    """Take out the lines of those relations for which `which` says so."""
    edit = _Edit(text)
    edit.remove(
        fact
        for fact in edit.facts
        if fact.pair
        and which(Relation(fact.pair.type, fact.pair.target, fact.pair.shown, fact.bullet.stamp, fact.line))
    )
    return edit.text()


# --- sources ---------------------------------------------------------------------------------------


def rename_source(text: str, old: str, new: str) -> str:
    """Have the stamps that name an entity as their source name it by its new name."""
    edit = _Edit(text, of_entity=True)
    for fact in edit.facts:
        stamp = fact.bullet.stamp
        if fact.pair or stamp is None or all(source.entity != old for source in stamp.sources):
            continue
        sources = tuple(replace(s, entity=new) if s.entity == old else s for s in stamp.sources)
        line = observation_line(fact.bullet.text, replace(stamp, sources=sources), stamp_task=True)
        edit.replace(fact, line)
    return edit.text()


# --- the name --------------------------------------------------------------------------------------


def set_name(text: str, name: str, stem: str) -> str:
    """Give an entity another name; `stem` is the name of its file without ``.md``.

    Where they differ, the note says the name in ``name`` and ``aliases``; where not, in neither. Aliases of a
    person's own stay.
    """
    properties, problem = frontmatter.read(text)
    if problem:
        raise NoteUnreadable(f"The properties of this note cannot be changed: {problem}. Repair them first.")
    said, listed = properties.get("name"), properties.get("aliases")
    aliases = listed if isinstance(listed, list) else [] if listed is None else [listed]
    kept = [alias for alias in aliases if alias != said or said is None]
    if name == stem:
        text = frontmatter.remove_property(text, "name") if said is not None else text
    else:
        text = frontmatter.set_property(text, "name", name) if said != name else text
        if _can_be_alias(name) and name not in kept:
            kept.append(name)
    if kept == aliases:
        return text
    if kept[:-1] == aliases:
        return frontmatter.add_to_list(text, "aliases", kept[-1])
    if kept:
        return frontmatter.set_property(text, "aliases", kept)
    return frontmatter.remove_property(text, "aliases")


def _can_be_alias(name: str) -> bool:
    return "\n" not in name and "\r" not in name


# --- one edit --------------------------------------------------------------------------------------

_Says = tuple[str, Stamp | None, str, Pair | None, bool]


class _Edit:
    """One edit of one note: what goes, what comes, and what must be read back."""

    def __init__(self, text: str, *, of_entity: bool = False):
        front = frontmatter.split(text)
        if front.problem:
            raise NoteUnreadable(
                f"The properties of this note cannot be read: {front.problem}. Repair them first."
            )
        kind = kind_of(front.properties)
        if of_entity and kind != "entity":
            raise BadArgument("This note is no entity: it has no property 'entity'.")
        if kind == "key":
            raise BadArgument("This note keeps a key's value and has no relations.")
        self._kind: Kind = kind
        self._memory = memory.memory_text(text) if kind == "memory" else None
        self._layout, facts = read_lists(text, lists_start(text, front, kind), entity=kind == "entity")
        if self._layout.conflicts:
            raise NoteUnreadable("This note holds the marks of a merge that is not settled. Settle it first.")
        self.facts = list(facts)
        self._draft = Draft(self._layout)
        self._expected = Counter(map(_says, self.facts))

    def observations(self, *, superseded: bool) -> list[FactLine]:
        return [fact for fact in self.facts if fact.pair is None and fact.superseded == superseded]

    def has(self, words: str, *, superseded: bool) -> bool:
        return any(fact.bullet.text == words for fact in self.observations(superseded=superseded))

    def found(self, words: str, *, superseded: bool) -> list[FactLine]:
        found = [fact for fact in self.observations(superseded=superseded) if fact.bullet.text == words]
        if not found:
            raise NotFound(f"There is no observation {_quoted(words)}.")
        return found

    def add(self, section: Section, lines: Sequence[str], block_id: str = "") -> None:
        """Put lines at the end of a section's list."""
        lines = [_with_block_id(line, block_id) for line in lines]
        if not lines:
            return
        follows = [
            fact
            for fact in self.facts
            if fact.section == section and bool(fact.pair) == (section == "relations")
        ]
        if not follows and section == "observations" and self._layout.heading(section) is None:
            follows = [fact for fact in self.facts if fact.section == "top"]
        self._draft.add_facts(section, lines, follows)
        for line in lines:
            bullet = parse_bullet(line[2:])
            pair = parse_relation(bullet) if section == "relations" else None
            self._expected[bullet.text, bullet.stamp, bullet.block_id, pair, section == "superseded"] += 1

    def replace(self, fact: FactLine, line: str) -> None:
        """Put another observation in a fact's place; the sign that a person made the bullet with stays."""
        sign = self._layout.lines[fact.line][:2]
        line = _with_block_id(line, fact.bullet.block_id)
        self._draft.replace(fact.line, sign + line[2:])
        bullet = parse_bullet(line[2:])
        self._expected[_says(fact)] -= 1
        self._expected[bullet.text, bullet.stamp, bullet.block_id, None, fact.superseded] += 1

    def remove(self, facts: Iterable[FactLine]) -> None:
        for fact in facts:
            self._draft.remove(fact.line)
            self._expected[_says(fact)] -= 1

    def text(self) -> str:
        """Return the edited note, read back: it has to say what was asked, and all else as before."""
        text = self._draft.text()
        start = lists_start(text, frontmatter.split(text), self._kind)
        said = Counter(map(_says, read_lists(text, start, entity=self._kind == "entity")[1]))
        if said == +self._expected and (self._memory is None or memory.memory_text(text) == self._memory):
            return text
        if self._layout.open_fence is None:
            raise NoteUnreadable(
                "This edit would change how other lines of the note are read. Edit it as a file instead."
            )
        line = self._layout.open_fence + 1
        raise NoteUnreadable(
            f"The code fence in line {line} is never closed and hides what follows. Close it first."
        )


def _says(fact: FactLine) -> _Says:
    bullet = fact.bullet
    return bullet.text, bullet.stamp, bullet.block_id, fact.pair, fact.superseded


def _with_block_id(line: str, block_id: str) -> str:
    return f"{line} ^{block_id}" if block_id else line


def _stamp_of(repeats: Sequence[FactLine]) -> Stamp | None:
    """The stamp of a fact that stands in several lines: the oldest, as readers see it."""
    stamp = None
    for fact in repeats:
        stamp = older(stamp, fact.bullet.stamp)
    return stamp


def _block_id_of(repeats: Sequence[FactLine]) -> str:
    return next((fact.bullet.block_id for fact in repeats if fact.bullet.block_id), "")


def _quoted(text: str) -> str:
    shown = text if len(text) <= SHOWN_LENGTH else f"{text[:SHOWN_LENGTH]}…"
    return f"'{shown}'"
