"""Observations: add, edit, supersede and delete single facts of an entity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from vault_mcp.errors import AlreadyThere, BadArgument, NotFound
from vault_mcp.notes import entity as notes
from vault_mcp.notes.line import Source, Stamp
from vault_mcp.notes.note import Note, Observation
from vault_mcp.tools.graph import find
from vault_mcp.tools.graph.records import Json, not_blank, observation_record, remarks, title, with_receipt
from vault_mcp.tools.told import counted
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.vault import Vault


def add_observations(vault: Vault, caller: Caller, observations: Sequence[Mapping[str, object]]) -> Json:
    """Add facts to entities; a text that is there already is left as it is."""
    wanted = [
        (
            str(item["entityName"]),
            [str(text) for text in _list(item["contents"])],
            _sources(item.get("sources")),
        )
        for item in observations
    ]
    for _, contents, _ in wanted:
        for text in contents:
            not_blank(text, "observation")
    with _change(vault, caller, "add_observations", title(name for name, _, _ in wanted)) as change:
        added: list[tuple[str, str, list[str]]] = []
        warnings: list[Json] = []
        for name, contents, sources in wanted:
            note = find.entity(change, name)
            texts, remarked = _add(change, note, contents, _checked(change, sources))
            added.append((name, note.path, texts))
            warnings += remarked
        results = [
            {"entityName": name, "addedObservations": _records(change, path, texts)}
            for name, path, texts in added
        ]
    return with_receipt(change, {"results": results, "warnings": warnings})


def _add(
    change: Change, note: Note, contents: Sequence[str], sources: tuple[Source, ...]
) -> tuple[list[str], list[Json]]:
    current = {o.text for o in note.observations if not o.superseded}
    superseded = {o.text for o in note.observations if o.superseded}
    fresh = [t for t in find.unique(contents) if t not in current]
    revived = [t for t in fresh if t in superseded]
    new = [t for t in fresh if t not in superseded]
    stamp = Stamp(change.at, change.by, sources=sources)

    def with_these(text: str) -> str:
        for old in revived:
            text = notes.revive_observation(text, old, at=change.at, by=change.by)
        return notes.add_observations(text, [(t, stamp) for t in new]) if new else text

    find.edit(change, note.path, with_these)
    return fresh, remarks(note.name, new, list(current))


def edit_observation(
    vault: Vault, caller: Caller, entityName: str, oldText: str, newText: str, if_version: str = ""
) -> Json:
    """Replace the words of one fact; who added it and when is kept."""
    not_blank(newText, "new text")
    with _change(vault, caller, "edit_observation", entityName, if_version) as change:
        note = find.entity(change, entityName)
        change.expect(note.path)
        old = _current(note, oldText)
        _refuse_present(note, newText)
        stamp = _stamp(change, note, old)
        find.edit(
            change,
            note.path,
            lambda text: notes.edit_observation(
                text, oldText, newText, at=change.at, by=change.by, stamp=stamp
            ),
        )
        record = _records(change, note.path, [newText])[0]
    return with_receipt(
        change,
        {
            "message": f"Observation of {note.name} edited.",
            "entityName": note.name,
            "observation": record,
            "warnings": remarks(
                note.name, [newText], [o.text for o in note.observations if o.text != oldText]
            ),
        },
    )


def supersede_observation(
    vault: Vault, caller: Caller, entityName: str, oldText: str, newText: str = "", if_version: str = ""
) -> Json:
    """Retire one fact without losing it, and put a newer one in its place where there is one."""
    if newText and newText == oldText:
        raise BadArgument(
            "The new text is the same as the old one. Give different words, or leave newText out."
        )
    with _change(vault, caller, "supersede_observation", entityName, if_version) as change:
        note = find.entity(change, entityName)
        change.expect(note.path)
        if any(o.text == oldText and o.superseded for o in note.observations):
            raise AlreadyThere(f"Observation {oldText!r} is already superseded. Nothing is left to do.")
        old = _current(note, oldText)
        if newText:
            not_blank(newText, "new text")
        stamp = _stamp(change, note, old)
        find.edit(
            change,
            note.path,
            lambda text: notes.supersede_observation(
                text, oldText, at=change.at, by=change.by, replacement=newText or None, stamp=stamp
            ),
        )
        if newText:
            _add(change, _again(change, note), [newText], ())
        superseded = _records(change, note.path, [oldText])[0]
        replacement = _records(change, note.path, [newText])[0] if newText else None
    return with_receipt(
        change,
        {
            "message": f"Observation of {note.name} superseded; it stays in the note, out of normal reads.",
            "entityName": note.name,
            "superseded": superseded,
            "replacement": replacement,
            "warnings": remarks(note.name, [newText] if newText else []),
        },
    )


def delete_observations(
    vault: Vault, caller: Caller, deletions: Sequence[Mapping[str, object]], if_version: str = ""
) -> Json:
    """Remove facts by their exact text; what is not there is passed over."""
    wanted = [
        (str(item["entityName"]), [str(text) for text in _list(item["observations"])]) for item in deletions
    ]
    subject = title(name for name, _ in wanted)
    with _change(vault, caller, "delete_observations", subject, if_version) as change:
        deleted: list[Json] = []
        for name, texts in wanted:
            note = find.entity_or_none(change, name)
            gone = [o for o in note.observations if o.text in set(texts)] if note else []
            if note is None or not gone:
                continue
            records = [observation_record(vault, note.path, o) for o in gone]
            doomed = [o.text for o in gone]
            find.edit(change, note.path, partial(notes.remove_observations, texts=doomed))
            deleted.append({"entityName": note.name, "deletedObservations": records})
    count = sum(len(_list(item["deletedObservations"])) for item in deleted)
    return with_receipt(
        change,
        {
            "success": True,
            "message": f"{counted(count, 'observation').capitalize()} deleted.",
            "deletedObservations": deleted,
        },
    )


def _change(vault: Vault, caller: Caller, tool: str, subject: str, if_version: str | None = None) -> Change:
    return vault.change(tool, by=caller.agent, session=caller.session, subject=subject, if_version=if_version)


def _again(change: Change, note: Note) -> Note:
    found = change.note(note.path)
    if found is None:
        raise NotFound(f"Entity with name {note.name} not found.")
    return found


def _records(change: Change, path: str, texts: Sequence[str]) -> list[Json | str]:
    note = change.note(path)
    by_text = {o.text: o for o in note.observations} if note else {}
    return [observation_record(change.vault, path, by_text[text]) for text in texts]


def _current(note: Note, text: str) -> Observation:
    for observation in note.observations:
        if observation.text == text and not observation.superseded:
            return observation
    raise NotFound(
        f"Entity {note.name} has no observation {text!r}. Read the exact text with open_nodes and call again."
    )


def _refuse_present(note: Note, text: str) -> None:
    for observation in note.observations:
        if observation.text == text and observation.superseded:
            raise AlreadyThere(
                f"Entity {note.name} has a superseded observation {text!r}. "
                "Make it current again with add_observations."
            )
        if observation.text == text:
            raise AlreadyThere(f"Entity {note.name} already has observation {text!r}. Nothing is left to do.")


def _stamp(change: Change, note: Note, observation: Observation) -> Stamp:
    """Give the full stamp of a line; for one typed by hand, what Git tells, or the person and this moment."""
    if observation.stamp is not None:
        return observation.stamp
    known = change.vault.provenance(note.path, [("observation", observation.text)])
    by, at, _ = known.get(("observation", observation.text), ("", "", True))
    return Stamp(at or change.at, by or change.vault.person.name)


def _sources(value: object) -> tuple[Source, ...]:
    return tuple(
        Source(str(item["entityName"]), str(item["text"]))
        for item in _list(value)
        if isinstance(item, Mapping)
    )


def _checked(change: Change, sources: tuple[Source, ...]) -> tuple[Source, ...]:
    """Give the sources, each entity by its own spelling of its name."""
    found, missing = [], []
    for source in sources:
        note = find.entity_or_none(change, source.entity)
        if note is None or all(o.text != source.text for o in note.observations):
            missing.append(f"{source.entity}: {source.text!r}")
        else:
            found.append(Source(note.name, source.text))
    if missing:
        raise NotFound(
            f"Sources not found: {', '.join(missing)}. Name facts that are in the graph, by exact text."
        )
    return tuple(found)


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
