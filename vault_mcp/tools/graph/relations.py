"""Relations: lines that link one note to another, with a type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from vault_mcp.notes import entity as notes
from vault_mcp.notes import names
from vault_mcp.notes.line import Stamp
from vault_mcp.notes.note import Note, Relation
from vault_mcp.tools import wikilinks
from vault_mcp.tools.graph import find
from vault_mcp.tools.graph.records import LONGEST_NAME, Json, not_blank, relation_record, title, with_receipt
from vault_mcp.tools.told import counted
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.vault import Vault


def create_relations(vault: Vault, caller: Caller, relations: Sequence[Mapping[str, object]]) -> Json:
    """Add relations between notes that exist; one with a missing end is skipped and reported."""
    wanted = [
        (str(r["from"]), str(r["to"]), not_blank(str(r["relationType"]), "relation type", LONGEST_NAME))
        for r in relations
    ]
    subject = title(f"{source} -> {target}" for source, target, _ in wanted)
    with vault.change("create_relations", by=caller.agent, session=caller.session, subject=subject) as change:
        created: list[Json] = []
        skipped: list[Json] = []
        for source, target, kind in wanted:
            start, end = find.node(change, source), find.node(change, target)
            missing = [name for name, note in ((source, start), (target, end)) if note is None]
            if start is None or end is None:
                skipped.append(
                    {"from": source, "to": target, "relationType": kind, "missing": find.unique(missing)}
                )
            elif _add(change, start, end, kind):
                created.append(relation_record(start.name, end.name, kind, at=change.at, by=change.by))
        change.subject = title(f"{row['from']} -> {row['to']}" for row in created) or subject
    result: Json = {"relations": created, "skipped": skipped}
    if skipped:
        absent = find.unique(str(name) for row in skipped for name in _texts(row["missing"]))
        result["message"] = (
            f"Skipped {counted(len(skipped), 'relation')}, since {', '.join(absent)} cannot be found. "
            "Make the missing ends with create_entities, then call again."
        )
    return with_receipt(change, result)


def _add(change: Change, start: Note, end: Note, kind: str) -> bool:
    if any(r.type == kind and target_path(change, start, r) == end.path for r in start.relations):
        return False
    link = wikilinks.link_to(change, end)
    row = (kind, link, Stamp(change.at, change.by))
    find.edit(change, start.path, lambda text: notes.add_relations(text, [row]))
    return True


def delete_relations(
    vault: Vault, caller: Caller, relations: Sequence[Mapping[str, object]], if_version: str = ""
) -> Json:
    """Remove relations by their two ends and type; what is not there is passed over."""
    wanted = [(str(r["from"]), str(r["to"]), str(r["relationType"])) for r in relations]
    subject = title(f"{source} -> {target}" for source, target, _ in wanted)
    with vault.change(
        "delete_relations", by=caller.agent, session=caller.session, subject=subject, if_version=if_version
    ) as change:
        deleted: list[Json] = []
        for source, target, kind in wanted:
            note = find.node(change, source)
            if note is not None:
                deleted += remove(change, note, _is(kind, target))
    return with_receipt(
        change,
        {
            "success": True,
            "message": f"{counted(len(deleted), 'relation').capitalize()} deleted.",
            "deletedRelations": deleted,
        },
    )


def _is(kind: str, target: str) -> Callable[[Relation, str], bool]:
    return lambda relation, to: relation.type == kind and same_name(to, target)


def remove(change: Change, note: Note, which: Callable[[Relation, str], bool]) -> list[Json]:
    """Take lines out of a note's relations: those for which `which(relation, name of its target)` is true."""
    gone: list[Json] = []
    lines: set[int] = set()
    for relation in note.relations:
        to = target_name(change, note, relation)
        if which(relation, to):
            lines.add(relation.line)
            gone.append(record(change, note, relation))
    if lines:
        find.edit(change, note.path, lambda text: notes.remove_relations(text, lambda r: r.line in lines))
    return gone


def record(change: Change, note: Note, relation: Relation) -> Json:
    """Give a relation of a note as a RelationRecord."""
    stamp = relation.stamp
    at, by = (stamp.added_at, stamp.agent) if stamp else (None, None)
    return relation_record(note.name, target_name(change, note, relation), relation.type, at=at, by=by)


def target_path(change: Change, note: Note, relation: Relation) -> str | None:
    """Give the path of the note that a relation means, by Obsidian's rule; None when there is none yet."""
    return wikilinks.resolve(change, relation.target, note.path)


def target_name(change: Change, note: Note, relation: Relation) -> str:
    """Give the name at the far end of a relation: its note's name, or the words of the link."""
    path = target_path(change, note, relation)
    target = change.note(path) if path else None
    if target is not None:
        return target.name
    return relation.shown or relation.target


def same_name(one: str, other: str) -> bool:
    """Say whether two names are one by the rule of the tools (NFC, exact case)."""
    return names.name_key(one) == names.name_key(other)


def _texts(value: object) -> list[str]:
    return [str(v) for v in value] if isinstance(value, list) else []
