"""Graphs in and out of the vault: the memory files of other servers.

What comes in keeps its words: blank names and texts, names that differ only in case or Unicode form, and
relations whose ends are no entities. So an export gives back what an import took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from vault_mcp.errors import VaultError
from vault_mcp.notes import entity as notes
from vault_mcp.notes import frontmatter, links, names
from vault_mcp.notes.jsonl import EntityRecord, Graph, ObservationRecord, RelationRecord
from vault_mcp.notes.line import Stamp
from vault_mcp.tools import placing
from vault_mcp.tools.graph import find
from vault_mcp.tools.graph.entities import made_entity, plain_note

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.storage.index import NoteRow
    from vault_mcp.vault import Vault

Progress = Callable[[int, int], None]
"""Called with (done, in all) while an import goes on."""

ORPHANS = "entities/unknown"
"""Where relations go that start from a name which is no note."""

_STEP = 100

Facts = list[tuple[str, Stamp]]
Lines = list[tuple[str, str, Stamp]]


@dataclass(slots=True)
class ImportReport:
    """What an import did, or would do.

    Attributes:
        commit: the commit it made; None when there was nothing new, and for a dry run.
        entities: how many notes of entities it made.
        merged: how many entities were in the vault already.
        observations: how many facts it added.
        relations: how many relations it added.
        dangling: how many of the file's relations have an end that is no note; they are kept.
        repeats: what stood in the file more than once and is kept once.
        problems: what could not be read or kept, most of it by the number of its line.
    """

    commit: str | None = None
    entities: int = 0
    merged: int = 0
    observations: int = 0
    relations: int = 0
    dangling: int = 0
    repeats: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def import_graph(
    vault: Vault,
    graph: Graph,
    *,
    by: str,
    source: str,
    progress: Progress | None = None,
    dry_run: bool = False,
) -> ImportReport:
    """Bring a whole graph into the vault in one commit; an entity that is there gains what it lacks.

    Args:
        vault: the vault.
        graph: what a memory file holds.
        by: the author of the commit, and of every fact that names none.
        source: what the graph came from, for the subject of the commit.
        progress: told from time to time how many notes are done.
        dry_run: only say what would be done.
    """
    report = ImportReport(
        repeats=[f"Line {line} {what}" for line, what in graph.repeats],
        problems=[f"Line {line} {what}" for line, what in graph.problems],
    )
    with vault.change("import", by=by, subject=source) as change:
        _Import(change, graph, report).run(progress or (lambda done, total: None))
        if dry_run:
            change.pending.clear()
    report.commit = change.receipt.commit
    return report


@dataclass(slots=True)
class _Place:
    """The note of one name: where it lies, and whether it is there (`row`) or has still to be made."""

    path: str
    row: NoteRow | None = None
    text: str | None = None
    """What it begins with, where that is not nothing: a plain note that becomes an entity, or an orphan's."""
    orphan: bool = False
    """Whether it only holds relations of a name that is no note."""


class _Import:
    def __init__(self, change: Change, graph: Graph, report: ImportReport) -> None:
        self.change = change
        self.graph = graph
        self.report = report
        self.places: dict[str, _Place] = {}
        self.leaving: dict[str, list[RelationRecord]] = {}
        self.links: dict[str, str] = {}
        self.missing: dict[str, str] = {}
        """Stem keys of links to names that no note has, each with its name."""

    def run(self, progress: Progress) -> None:
        """Find or choose the note of every name first, so that links can be written before their targets."""
        self.change.look_again()
        for relation in self.graph.relations:
            self.leaving.setdefault(relation.source, []).append(relation)
        self._place_entities()
        entities = {record.name for record in self.graph.entities}
        others = [name for name in self.leaving if name not in entities]
        for name in others:
            self._place_other(name)
        total = len(entities) + len(others)
        for number, record in enumerate(self.graph.entities, 1):
            self._tried(record.name, partial(self._entity, record))
            if number % _STEP == 0 or number == total:
                progress(number, total)
        for number, name in enumerate(others, len(entities) + 1):
            self._tried(name, partial(self._related, name))
            if number % _STEP == 0 or number == total:
                progress(number, total)

    def _tried(self, name: str, put: Callable[[], None]) -> None:
        """Let a note that cannot be edited cost itself alone."""
        try:
            put()
        except VaultError as error:
            self.report.problems.append(f"{name!r} is left out. {error}")

    # -- places

    def _place_entities(self) -> None:
        with self.change.vault.snapshot() as reader:
            known = {row.name: row for row in find.all_entities(reader)}
        for record in self.graph.entities:
            row = known.pop(record.name, None)
            if row is not None:
                self.places[record.name] = _Place(row.path, row)
                continue
            plain = plain_note(self.change, record.name)
            if plain is not None:
                self.places[record.name] = _Place(plain.path, text=self.change.read(plain.path))
                continue
            path, _ = placing.place(self.change, f"entities/{names.file_stem(record.type)}", record.name)
            self.places[record.name] = _Place(path)
        self.places |= {name: _Place(row.path, row) for name, row in known.items()}

    def _place_other(self, name: str) -> None:
        """Find the note that a relation starts from though no entity is called so; make one if need be."""
        if name in self.places:
            return
        if (place := self._plain(name)) is not None:
            self.places[name] = place
        else:
            path, stem = placing.place(self.change, ORPHANS, name)
            text = frontmatter.block({"name": name}) if name != stem else ""
            self.places[name] = _Place(path, text=text, orphan=True)

    def _plain(self, name: str) -> _Place | None:
        """Give the plain note of exactly this name."""
        with self.change.vault.snapshot() as reader:
            found = reader.notes_named(name, kinds=("note",))
        places = [_Place(row.path, row, orphan=_holds_orphans(row.path)) for row in found if row.name == name]
        return places[0] if places else None

    # -- notes

    def _entity(self, record: EntityRecord) -> None:
        place = self.places[record.name]
        facts = [(o.text, self._stamp(o.stamp)) for o in record.observations]
        if place.row is not None:
            self._merge(record, place, facts)
            return
        stamp = self._stamp(record.stamp)
        relations = self._lines(record.name, ())
        if place.text is None:
            text = notes.new_entity(
                record.name,
                place.path.rpartition("/")[2][:-3],
                record.type,
                at=stamp.added_at,
                agent=stamp.agent,
                observations=facts,
                relations=relations,
                imported=True,
            )
        else:
            text = made_entity(place.text, record.type, at=stamp.added_at, agent=stamp.agent)
            text = notes.add_relations(notes.add_observations(text, facts, imported=True), relations)
        self.change.write(place.path, text)
        self._count(entities=1, observations=len(facts), relations=len(relations))

    def _merge(self, record: EntityRecord, place: _Place, facts: Facts) -> None:
        assert place.row is not None
        if record.type != place.row.type:
            self.report.problems.append(
                f"{record.name!r} is of type {place.row.type!r} in the vault, which stays; "
                f"the file says {record.type!r}."
            )
        note = self.change.note(place.path)
        have = {o.text for o in note.observations} if note else set()
        fresh = [fact for fact in facts if fact[0] not in have]
        text = before = self.change.read(place.path) or ""
        if fresh:
            text = notes.add_observations(text, fresh, imported=True)
        relations = self._lines(record.name, self._relations_of(place.row))
        if relations:
            text = notes.add_relations(text, relations)
        if text != before:
            self.change.write(place.path, text)
        self._count(merged=1, observations=len(fresh), relations=len(relations))

    def _related(self, name: str) -> None:
        """Put relations into the note of a name that is no entity of the file."""
        place = self.places[name]
        relations = self._lines(name, self._relations_of(place.row) if place.row else ())
        if relations:
            text = place.text if place.text is not None else self.change.read(place.path) or ""
            self.change.write(place.path, notes.add_relations(text, relations))
        self._count(relations=len(relations))

    def _count(self, **more: int) -> None:
        for what, number in more.items():
            setattr(self.report, what, getattr(self.report, what) + number)

    def _stamp(self, stamp: Stamp | None) -> Stamp:
        """Complete what the file tells of a fact with the time and the author of this import."""
        if stamp is None:
            return Stamp(self.change.at, self.change.by)
        if stamp.added_at and stamp.agent:
            return stamp
        return replace(stamp, added_at=stamp.added_at or self.change.at, agent=stamp.agent or self.change.by)

    # -- relations

    def _relations_of(self, row: NoteRow) -> Iterable[tuple[str, str]]:
        with self.change.vault.snapshot() as reader:
            note = reader.note_at(row.path)
            found = reader.relations_from([note.id]) if note else []
        return [(relation.type, relation.to_name) for relation in found]

    def _lines(self, name: str, known: Iterable[tuple[str, str]]) -> Lines:
        """Give the relations that start from a name and are not among the known ones."""
        have = set(known)
        lines: Lines = []
        for record in self.leaving.get(name, ()):
            link = self._link(record.target)
            target = self.places.get(record.target)
            if target is None or target.orphan or self.places[name].orphan:
                self.report.dangling += 1
            if (record.type, record.target) not in have:
                have.add((record.type, record.target))
                lines.append((record.type, link, self._stamp(record.stamp)))
        return lines

    def _link(self, target: str) -> str:
        link = self.links.get(target)
        if link is None:
            link = self.links[target] = self._new_link(target)
        return link

    def _new_link(self, target: str) -> str:
        place = self.places.get(target) or self._plain(target)
        if place is not None:
            self.places[target] = place
        else:
            stem = names.free_stem(target, lambda key: self._taken(key, target))
            self.missing[links.stem_key(stem)] = target
            return links.written_link(f"{stem}.md", target, unique=True)
        if place.row is None and place.text is None:
            return links.written_link(place.path, target, unique=True)
        with self.change.vault.snapshot() as reader:
            others = set(reader.paths_with_stem(links.stem_key(place.path))) - {place.path}
        return links.written_link(place.path, target, unique=not others)

    def _taken(self, key: str, name: str) -> bool:
        if key in self.change.stems or self.missing.get(key, name) != name:
            return True
        with self.change.vault.snapshot() as reader:
            return reader.stem_taken(key)


def export_graph(vault: Vault) -> Graph:
    """Give the whole graph: entities with their current facts, and relations, dangling ones too.

    In the order of names, so that two exports of the same graph are the same file.
    """
    with vault.reading() as reader:
        entities = [
            EntityRecord(
                row.name, row.type, tuple(ObservationRecord(o.text) for o in reader.observations(row.id))
            )
            for row in find.all_entities(reader)
        ]
        relations = {
            (r.from_name, r.to_name, r.type)
            for r in reader.all_relations()
            if r.from_kind in ("entity", "note")
        }
    return Graph(tuple(entities), tuple(RelationRecord(*ends) for ends in sorted(relations)))


def _holds_orphans(path: str) -> bool:
    return path.startswith(f"{ORPHANS}/")
