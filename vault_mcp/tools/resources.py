"""What can be read at an address: the graph, the latest changes, each note, entity, memory and key.

Reading an address makes no commit. What is too long for one answer is refused with the tool that gives it
in parts, since an address cannot say where to go on.
"""

from __future__ import annotations

import json
import mimetypes
from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument, NotFound
from vault_mcp.storage import files, paths
from vault_mcp.tools import suggesting
from vault_mcp.tools.files.places import there
from vault_mcp.tools.files.viewing import missing
from vault_mcp.tools.graph import reading, taxonomy
from vault_mcp.tools.history.looking import history_log
from vault_mcp.tools.history.moments import written
from vault_mcp.tools.keys.find import checked, paths_of
from vault_mcp.tools.keys.reading import read_memory
from vault_mcp.tools.memories.find import memory, memory_id
from vault_mcp.tools.tool import Caller, Content, Listed, Resource, Template

if TYPE_CHECKING:
    from vault_mcp.vault import Vault

MOST_TEXT = 1_000_000
"""Characters of text at one address."""

MOST_BYTES = 2_000_000
"""Bytes of a picture or another file that is no text."""

CHANGES = 50
"""Changes that the latest changes are."""

LISTED = 25
"""Notes that are listed beside the fixed addresses, those that changed last."""

LOOKED_AT = 100
"""Changes that are looked through for these notes."""

MARKDOWN = "text/markdown"
JSON = "application/json"
READER = Caller("resource")

KINDS = mimetypes.MimeTypes()
"""The kinds of files by their endings, as Python lists them, whatever this system adds to them."""

for _ending, _mime in (
    (".md", MARKDOWN),
    (".canvas", JSON),
    (".base", "application/yaml"),
    (".webp", "image/webp"),
):
    KINDS.add_type(_mime, _ending)


def changes_text(vault: Vault) -> str:
    """Give the latest changes as JSON text, the newest first."""
    return _as_json(history_log(vault, READER, limit=CHANGES))


def note(vault: Vault, path: str) -> Content:
    """Give the file at a path, whole.

    Raises:
        NotFound: nothing is there; the error names files called alike.
        PathRefused: it leads out of the vault, or to what no tool may touch.
        BadArgument: it is a folder, or longer than an address gives.
    """
    place = there(vault.root, path)
    if place.kind == "folder":
        raise BadArgument(f"{paths.shown(place.said)} is a folder. memory_view lists what is in it.")
    found = files.read(vault.root, place.path) if place.kind else None
    if found is None:
        raise missing(vault, place, "There is no file {} in the vault.")
    return _content(place.path, found[0])


def _content(path: str, raw: bytes) -> Content:
    kind = KINDS.guess_type(path)[0] or ""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        _refuse_long(path, len(raw), MOST_BYTES, "bytes", "Open it in the vault's folder.")
        return Content(raw, kind or "application/octet-stream")
    _refuse_long(path, len(text), MOST_TEXT, "characters", "memory_view shows it in parts, by view_range.")
    return Content(text, kind or "text/plain")


def _refuse_long(path: str, length: int, most: int, unit: str, instead: str) -> None:
    if length > most:
        raise BadArgument(
            f"{paths.shown(path)} has {length:,} {unit}; an address gives at most {most:,}. {instead}"
        )


def entity(vault: Vault, name: str) -> Content:
    """Give an entity with its facts and every relation that touches it, as open_nodes does.

    Raises:
        NotFound: there is none of exactly this name; the error names some that are like it.
    """
    shown = reading.open_nodes(vault, READER, [name])
    if "missing" in shown:
        near = suggesting.entities(vault, name, 3)
        hint = f" There is: {', '.join(near)}." if near else ""
        raise NotFound(f"There is no entity {name!r}.{hint} search_nodes finds entities by their words.")
    return Content(_as_json(shown), JSON)


def memory_text(vault: Vault, number: str) -> Content:
    """Give the note of a memory: its properties and its text.

    Raises:
        NotFound: there is none of this number.
        BadArgument: it is no number.
    """
    with vault.reading() as reader:
        path = memory(reader, memory_id(number)).note.path
    return note(vault, path)


def key(vault: Vault, name: str) -> Content:
    """Give the value of a key to the letter.

    Raises:
        NotFound: there is no such key; the error names one that differs in case alone.
        BadArgument: it is blank, or its value longer than an address gives.
    """
    checked(name)
    value = read_memory(vault, READER, name)
    with vault.reading() as reader:
        known = paths_of(reader, name)
    if not known:
        raise NotFound(value)
    _refuse_long(name, len(value), MOST_TEXT, "characters", "read_memory gives it whole.")
    return Content(value, "text/plain")


def latest_notes(vault: Vault) -> list[Listed]:
    """Give the notes and files that changed last, the newest first; none while the first index is made."""
    rows: dict[str, Listed] = {}
    if not vault.readable:
        return []  # a client lists as soon as it is greeted; it hears when there is more
    with vault.reading() as reader:
        for change in reader.log(LOOKED_AT).rows:
            for path in reader.paths_of(change.seq, LISTED)[0]:
                if path in rows or paths.is_hidden(path) or reader.file(path) is None:
                    continue
                found = reader.note_at(path)
                name = found.name if found else path.rpartition("/")[2]
                rows[path] = Listed(NOTES.address(path), name, path, _kind(path), written(change.at))
            if len(rows) >= LISTED:
                break
    return list(rows.values())[:LISTED]


def _kind(path: str) -> str:
    return KINDS.guess_type(path)[0] or "text/plain"


def _as_json(shown: object) -> str:
    return json.dumps(shown, ensure_ascii=False, indent=2)


RESOURCES = (
    Resource(
        uri="memory://knowledge-graph",
        name="knowledge-graph",
        title="Knowledge graph",
        description="The first page of the knowledge graph, as read_graph gives it.",
        mime=JSON,
        run=reading.graph_text,
    ),
    Resource(
        uri="memory://taxonomy",
        name="taxonomy",
        title="Taxonomy",
        description="Entity types, relation types and tags of this memory, with counts.",
        mime=JSON,
        run=taxonomy.taxonomy_text,
    ),
    Resource(
        uri="vault://changes",
        name="changes",
        title="Latest changes",
        description=f"The latest {CHANGES} changes of the memory, the newest first: who, when, what.",
        mime=JSON,
        run=changes_text,
    ),
)

NOTES = Template(
    stem="vault://note/",
    variable="path",
    name="note",
    title="Note or file",
    description="A note or another file of the vault by its path, whole and as it is on the disk.",
    run=note,
    suggest=suggesting.paths,
    slashes=True,
)

TEMPLATES = (
    NOTES,
    Template(
        stem="vault://entity/",
        variable="name",
        name="entity",
        title="Entity",
        description="An entity by its exact name: facts, and every relation that touches it, as JSON.",
        mime=JSON,
        run=entity,
        suggest=suggesting.entities,
    ),
    Template(
        stem="vault://memory/",
        variable="id",
        name="memory",
        title="Memory",
        description="A memory by its number: its note, with session, importance and tags above the text.",
        mime=MARKDOWN,
        run=memory_text,
        suggest=suggesting.memories,
    ),
    Template(
        stem="vault://key/",
        variable="key",
        name="key",
        title="Value of a key",
        description="The value under a key, to the letter.",
        mime="text/plain",
        run=key,
        suggest=suggesting.keys,
        slashes=True,
    ),
)
