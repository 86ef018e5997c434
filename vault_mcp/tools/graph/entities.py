"""Entities: create, rename, merge and delete whole notes, and the links that point to them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from vault_mcp.errors import AlreadyThere, BadArgument, NoteUnreadable
from vault_mcp.notes import entity as notes
from vault_mcp.notes import frontmatter, links, names
from vault_mcp.notes.absorb import absorb
from vault_mcp.notes.line import Stamp
from vault_mcp.notes.note import Note, Relation, relation_text
from vault_mcp.tools import placing, wikilinks
from vault_mcp.tools.graph import find, relations
from vault_mcp.tools.graph.records import (
    LONGEST_NAME,
    Json,
    entity_record,
    not_blank,
    remarks,
    title,
    with_receipt,
)
from vault_mcp.tools.told import counted
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.vault import Vault


def create_entities(vault: Vault, caller: Caller, entities: Sequence[Mapping[str, object]]) -> Json:
    """Make a note for each new entity; one whose name is taken is skipped, its observations not saved."""
    wanted = [
        (
            not_blank(str(e["name"]), "entity name", LONGEST_NAME),
            not_blank(str(e["entityType"]), "entity type", LONGEST_NAME),
            [not_blank(str(text), "observation") for text in _texts(e["observations"])],
        )
        for e in entities
    ]
    subject = title(name for name, _, _ in wanted)
    with vault.change("create_entities", by=caller.agent, session=caller.session, subject=subject) as change:
        made: list[Json] = []
        skipped: dict[str, str] = {}
        warnings: list[Json] = []
        for name, kind, texts in wanted:
            if (why := _taken(change, name)) is not None:
                skipped[name] = why
                continue
            note = create(change, name, kind, find.unique(texts))
            made.append(entity_record(vault, note))
            warnings += remarks(name, find.unique(texts))
        change.subject = title(str(entity["name"]) for entity in made) or subject
    result: Json = {"entities": made, "skipped": list(skipped), "warnings": warnings}
    if skipped:
        reasons = dict.fromkeys(skipped.values())
        result["message"] = " ".join(
            f"{', '.join(name for name in skipped if skipped[name] == why)}: {why}" for why in reasons
        )
    return with_receipt(change, result)


TAKEN = "already exists, so nothing was saved for it. Add facts with add_observations."


def _taken(change: Change, name: str) -> str | None:
    """Say why no entity of this name can be made; a note that cannot be read may be that very entity."""
    if find.entity_or_none(change, name) is not None:
        return TAKEN
    note = find.broken(change, name)
    if note is None:
        return None
    return (
        f"its note {note.path} cannot be read ({note.problems[0]}). Repair it first, or choose another name."
    )


def create(change: Change, name: str, kind: str, texts: Sequence[str]) -> Note:
    """Make one entity; a person's plain note of exactly that name becomes it and keeps all its text."""
    stamp = Stamp(change.at, change.by)
    plain = plain_note(change, name)
    if plain is not None:
        path = plain.path
        text = made_entity(change.read(path) or "", kind, at=change.at, agent=change.by)
        change.write(path, notes.add_observations(text, [(t, stamp) for t in texts]) if texts else text)
    else:
        path, stem = placing.place(change, f"entities/{names.file_stem(kind)}", name)
        change.write(
            path,
            notes.new_entity(
                name, stem, kind, at=change.at, agent=change.by, observations=[(t, stamp) for t in texts]
            ),
        )
    change.made["entity", names.name_key(name)] = path
    note = change.note(path)
    if note is None or note.kind != "entity":
        raise BadArgument(f"The name {name!r} cannot be kept as a note. Choose another name.")
    return note


def plain_note(change: Change, name: str) -> Note | None:
    """Give the plain note of exactly this name that an entity of the name can be made of; None without."""
    with change.vault.snapshot() as reader:
        row = reader.note_named(name)
    if row is None or row.kind != "note":
        return None
    note = change.note(row.path)
    usable = note is not None and note.kind == "note" and not note.problems and note.name == name
    return note if usable else None


def rename_entity(vault: Vault, caller: Caller, entityName: str, newName: str, if_version: str = "") -> Json:
    """Give an entity another name: its file moves, and every link to it follows, in one commit."""
    not_blank(newName, "new name", LONGEST_NAME)
    subject = f"{entityName} -> {newName}"
    with vault.change(
        "rename_entity", by=caller.agent, session=caller.session, subject=subject, if_version=if_version
    ) as change:
        note = find.entity(change, entityName)
        change.expect(note.path)
        if relations.same_name(note.name, newName):
            moved = 0
        else:
            if find.entity_or_none(change, newName) is not None:
                raise AlreadyThere(
                    f"Entity with name {newName} already exists. "
                    "Join the two with merge_entities, or choose another name."
                )
            note, moved = _rename(change, note, newName)
        record = entity_record(vault, note)
    return with_receipt(
        change,
        {
            "message": f"Entity renamed to {note.name}; {counted(moved, 'link')} followed to the new name.",
            "entity": record,
        },
    )


def _rename(change: Change, note: Note, name: str) -> tuple[Note, int]:
    folder = note.path.rpartition("/")[0]
    stem = names.file_stem(name)
    old_key = links.stem_key(note.path)
    if links.stem_key(stem) == old_key:
        path = f"{folder}/{stem}.md" if folder else f"{stem}.md"
    else:
        path, stem = (
            placing.place(change, folder, name) if folder else placing.place(change, "entities", name)
        )
    text = notes.set_name(change.read(note.path) or "", name, stem)
    if path != note.path:
        change.move(note.path, path)
    change.write(path, text)
    change.made["entity", names.name_key(name)] = path
    renamed = change.note(path)
    if renamed is None:
        raise BadArgument(f"The name {name!r} cannot be kept as a note. Choose another name.")
    moved = wikilinks.point_to(change, {note.path: renamed}, old_names={note.path: note.name})
    _rename_sources(change, note.name, name)
    again = change.note(path)
    return again or renamed, moved


def _rename_sources(change: Change, old: str, new: str) -> None:
    """Have the facts that were drawn from an entity name it as it is called now."""
    with change.vault.snapshot() as reader:
        known = set(reader.citing(old))
    made = {path for path, raw in change.pending.items() if raw is not None and path[-3:].lower() == ".md"}
    for path in sorted(known | made):
        note = change.note(path) if change.exists(path) else None
        if note is None or note.kind != "entity" or not _cites(note, old):
            continue
        with contextlib.suppress(NoteUnreadable):  # its lines stay as they are until a person repairs it
            find.edit(change, path, partial(notes.rename_source, old=old, new=new))


def _cites(note: Note, name: str) -> bool:
    return any(s.entity == name for o in note.observations if o.stamp for s in o.stamp.sources)


def merge_entities(
    vault: Vault, caller: Caller, sourceName: str, targetName: str, if_version: str = ""
) -> Json:
    """Move everything of one entity into another: facts with their stamps, relations, links, and prose."""
    if relations.same_name(sourceName, targetName):
        raise BadArgument(f"Cannot merge entity {sourceName} into itself. Name two different entities.")
    subject = f"{sourceName} into {targetName}"
    with vault.change(
        "merge_entities", by=caller.agent, session=caller.session, subject=subject, if_version=if_version
    ) as change:
        source, target = find.entity(change, sourceName), find.entity(change, targetName)
        if source.problems:
            raise NoteUnreadable(
                f"{source.path} cannot be merged away: {source.problems[0]}. Repair it first."
            )
        incoming = _incoming(change, source)
        _drop_before_merge(change, source, target)
        target = find.entity(change, target.name)
        find.edit(
            change,
            target.path,
            partial(
                absorb,
                source=change.read(source.path) or "",
                source_name=source.name,
                stamps=_unstamped(change, source),
                unknown=Stamp(change.at, vault.person.name),
                keep=lambda r: _worth_keeping(change, source, target, r),
            ),
        )
        wikilinks.point_to(change, {source.path: target}, old_names={source.path: source.name})
        _rename_sources(change, source.name, target.name)
        change.delete(source.path)
        change.take_over(source.path, target.path)
        merged = find.entity(change, target.name)
        moved = [
            row | {"from": merged.name}
            for row in _outgoing(change, source)
            if row["to"] not in (source.name, merged.name)
        ]
        moved += [
            row | {"to": merged.name} for row in incoming if row["from"] not in (source.name, merged.name)
        ]
        record = entity_record(vault, merged)
    return with_receipt(
        change,
        {
            "message": f"{source.name} merged into {merged.name}.",
            "entity": record,
            "movedRelations": _once(moved),
        },
    )


def delete_entities(vault: Vault, caller: Caller, entityNames: Sequence[str], if_version: str = "") -> Json:
    """Remove entities and the relations that touch them; links in a person's prose are left as they are."""
    subject = title(entityNames)
    with vault.change(
        "delete_entities", by=caller.agent, session=caller.session, subject=subject, if_version=if_version
    ) as change:
        deleted: list[Json] = []
        gone: list[Json] = []
        found = (find.entity_or_none(change, name) for name in find.unique(entityNames))
        doomed = list({note.path: note for note in found if note is not None}.values())
        for note in doomed:
            deleted.append(entity_record(vault, note, include_superseded=True))
            gone += _outgoing(change, note)
            for path in wikilinks.linking_to(change, note.path):
                other = change.note(path)
                if other is not None and path != note.path:
                    gone += relations.remove(change, other, _means(change, other, note.path))
        for note in doomed:
            change.delete(note.path)
    gone_entities = counted(len(deleted), "entity", "entities")
    return with_receipt(
        change,
        {
            "success": True,
            "message": f"{gone_entities.capitalize()} deleted. History keeps what was there.",
            "deletedEntities": deleted,
            "deletedRelations": _once(gone),
        },
    )


def made_entity(text: str, kind: str, *, at: str, agent: str) -> str:
    """Give a plain note the properties of an entity; all else stays."""
    for key, value in (("entity", kind), ("created", at), ("agent", agent)):
        text = frontmatter.set_property(text, key, value)
    return text


def _outgoing(change: Change, note: Note) -> list[Json]:
    """Give the relations that stand in a note."""
    return [relations.record(change, note, r) for r in note.relations]


def _incoming(change: Change, note: Note) -> list[Json]:
    """Give the relations of other notes that point to this one."""
    rows = []
    for path in wikilinks.linking_to(change, note.path):
        other = change.note(path)
        if other is not None and path != note.path:
            rows += [
                relations.record(change, other, r)
                for r in other.relations
                if relations.target_path(change, other, r) == note.path
            ]
    return rows


def _drop_before_merge(change: Change, source: Note, target: Note) -> None:
    """Take out the relations that the merge would turn into loops or repeats."""
    for path in wikilinks.linking_to(change, source.path):
        other = change.note(path)
        if other is None or path == source.path:
            continue
        ends = {id(r): relations.target_path(change, other, r) for r in other.relations}
        present = {r.type for r in other.relations if ends[id(r)] == target.path}
        doomed = {
            r.line
            for r in other.relations
            if ends[id(r)] == source.path and (path == target.path or r.type in present)
        }
        if doomed:
            find.edit(change, path, partial(notes.remove_relations, which=_in_lines(doomed)))


def _means(change: Change, note: Note, path: str) -> Callable[[Relation, str], bool]:
    return lambda relation, _: relations.target_path(change, note, relation) == path


def _in_lines(lines: set[int]) -> Callable[[Relation], bool]:
    return lambda relation: relation.line in lines


def _worth_keeping(change: Change, source: Note, target: Note, relation: Relation) -> bool:
    end = relations.target_path(change, source, relation)
    if end in (source.path, target.path):
        return False
    return all(
        r.type != relation.type
        or (relations.target_path(change, target, r) or r.target) != (end or relation.target)
        for r in target.relations
    )


def _unstamped(change: Change, note: Note) -> dict[tuple[str, str], Stamp]:
    """Give what Git tells of a note's facts that a person typed, by kind and text."""
    facts = [("observation", o.text) for o in note.observations if o.stamp is None]
    facts += [("relation", relation_text(r)) for r in note.relations if r.stamp is None]
    known = change.vault.provenance(note.path, facts)
    return {
        fact: Stamp(at or change.at, by or change.vault.person.name)
        for fact in facts
        for by, at, _ in [known.get(fact, ("", "", True))]
    }


def _texts(value: object) -> list[str]:
    return [str(v) for v in value] if isinstance(value, Sequence) and not isinstance(value, str) else []


def _once(rows: list[Json]) -> list[Json]:
    return list({(r["from"], r["to"], r["relationType"]): r for r in rows}.values())
