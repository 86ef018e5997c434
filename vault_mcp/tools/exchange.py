"""Graphs in and out of the vault: the memory files of other servers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vault_mcp.notes import entity as notes
from vault_mcp.notes import frontmatter, links, names
from vault_mcp.notes.jsonl import EntityRecord, Graph, ObservationRecord, RelationRecord
from vault_mcp.notes.line import Stamp
from vault_mcp.tools.graph import find

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.vault import Vault

Progress = Callable[[int, int], None]
"""Called with (done, in all) while an import goes on."""

ORPHANS = "entities/unknown"
"""Where relations go that start from a name which is no entity."""


@dataclass(slots=True)
class ImportReport:
    """What an import did; `dangling` counts relations with an end that is no entity (kept, as they came)."""

    commit: str | None = None
    entities: int = 0
    merged: int = 0
    observations: int = 0
    relations: int = 0
    dangling: int = 0
    problems: list[str] = field(default_factory=list)


def import_graph(
    vault: Vault, graph: Graph, *, by: str, source: str, progress: Progress | None = None
) -> ImportReport:
    """Bring a whole graph into the vault in one commit; an entity that is there gains what it lacks.

    Names and texts are kept as they came: also blank ones, repeated ones that differ only in case or Unicode
    form, and relations whose ends are not there.
    """
    report = ImportReport(problems=[f"Line {r.line}: {r.what}" for r in graph.problems])
    with vault.change("import", by=by, subject=source) as change:
        importing = _Import(change, report)
        importing.places(graph)
        total = len(graph.entities)
        for number, record in enumerate(graph.entities, 1):
            importing.entity(record)
            if progress and (number % 200 == 0 or number == total):
                progress(number, total)
        importing.relations(graph.relations)
    report.commit = change.receipt.commit
    return report


class _Import:
    def __init__(self, change: Change, report: ImportReport) -> None:
        self.change = change
        self.report = report
        self.path: dict[str, str] = {}
        self.known: set[str] = set()

    def places(self, graph: Graph) -> None:
        """Find or choose the note of every name first, so that links can be written before their targets."""
        with self.change.vault.snapshot() as reader:
            for row in find.all_entities(reader):
                self.path.setdefault(row.name, row.path)
        self.known = set(self.path)
        for record in graph.entities:
            if record.name not in self.path:
                folder = f"entities/{names.file_stem(record.type)}"
                self.path[record.name], _ = find.place(self.change, folder, record.name)

    def entity(self, record: EntityRecord) -> None:
        path = self.path[record.name]
        items = [(o.text, self._stamp(o)) for o in record.observations if not o.superseded]
        old = [o for o in record.observations if o.superseded]
        if record.name in self.known:
            note = self.change.note(path)
            have = {o.text for o in note.observations} if note else set()
            fresh = [item for item in items if item[0] not in have]
            text = (
                notes.add_observations(self.change.read(path) or "", fresh, imported=True)
                if fresh
                else self.change.read(path) or ""
            )
            old = [o for o in old if o.text not in have]
            self.report.merged += 1
            self.report.observations += len(fresh)
        else:
            stem = path.rpartition("/")[2][:-3]
            stamp = record.stamp
            text = notes.new_entity(
                record.name,
                stem,
                record.type,
                at=(stamp.added_at if stamp else "") or self.change.at,
                agent=(stamp.agent if stamp else "") or self.change.by,
                observations=items,
                imported=True,
            )
            self.report.entities += 1
            self.report.observations += len(items)
        if old:
            text = notes.add_observations(text, [(o.text, self._stamp(o)) for o in old], imported=True)
        self.change.write(path, text)

    def _stamp(self, record: ObservationRecord | RelationRecord | EntityRecord) -> Stamp:
        stamp = record.stamp
        if stamp is None:
            return Stamp(self.change.at, self.change.by)
        if stamp.added_at and stamp.agent:
            return stamp
        return Stamp(
            stamp.added_at or self.change.at,
            stamp.agent or self.change.by,
            stamp.edited_at,
            stamp.edited_by,
            stamp.superseded_at,
            stamp.superseded_by,
            stamp.replacement,
            stamp.sources,
        )

    def relations(self, relations: tuple[RelationRecord, ...]) -> None:
        """Write each relation into the note it starts from, all lines of one note at once."""
        by_source: dict[str, list[RelationRecord]] = {}
        for relation in relations:
            by_source.setdefault(relation.source, []).append(relation)
        entities = set(self.path)
        for source, records in by_source.items():
            path = self.path.get(source) or self._orphan(source)
            note = self.change.note(path)
            have = {(r.type, r.shown or r.target) for r in note.relations} if note else set()
            lines = []
            for record in records:
                if source not in entities or record.target not in entities:
                    self.report.dangling += 1
                link, shown = self._link(record.target)
                if (record.type, shown) not in have:
                    have.add((record.type, shown))
                    lines.append((record.type, link, self._stamp(record)))
            if lines:
                self.change.write(path, notes.add_relations(self.change.read(path) or "", lines))
                self.report.relations += len(lines)

    def _orphan(self, name: str) -> str:
        """Make a plain note for a name that only relations know, to hold those that start from it."""
        path, stem = find.place(self.change, ORPHANS, name)
        self.change.write(path, frontmatter.block({"name": name}) if name != stem else "")
        self.path[name] = path
        return path

    def _link(self, target: str) -> tuple[str, str]:
        path = self.path.get(target)
        if path is None:
            stem = names.free_stem(target, self._taken)
            path = f"{stem}.md"
        link = links.written_link(path, target, unique=True)
        inner = link[2:-2]
        stem = path.rpartition("/")[2][:-3]
        return link, target if "|" in inner else stem

    def _taken(self, stem_key: str) -> bool:
        if stem_key in self.change.stems:
            return True
        with self.change.vault.snapshot() as reader:
            return reader.stem_taken(stem_key)


def export_graph(vault: Vault) -> Graph:
    """Give the whole graph: entities with their current facts, and relations, dangling ones too."""
    with vault.reading() as reader:
        entities = []
        for row in find.all_entities(reader):
            observations = tuple(ObservationRecord(o.text) for o in reader.observations(row.id))
            entities.append(EntityRecord(row.name, row.type, observations))
        relations = tuple(
            RelationRecord(r.from_name, r.to_name, r.type)
            for r in reader.all_relations()
            if r.from_kind in ("entity", "note")
        )
    return Graph(tuple(entities), relations)
