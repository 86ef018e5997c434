"""Notes and files for the tests of the index, made without a disk."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from vault_mcp.notes.line import Stamp
from vault_mcp.notes.note import Kind, Note, Observation, Passage, Relation
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.index import IndexWriter

STAMP = Stamp("2026-10-05T09:12:33Z", "claude-desktop")


def stat(size: int = 1) -> FileStat:
    return FileStat(size, 10**18 + size, 10**18 + size, 1000 + size, 0o100644)


def blob(text: object) -> str:
    return hashlib.sha1(repr(text).encode()).hexdigest()


def entity(
    name: str,
    observations: Sequence[str | Observation] = (),
    relations: Sequence[tuple[str, str]] = (),
    *,
    type: str = "person",
    path: str = "",
    stamp: Stamp | None = STAMP,
    created: str = STAMP.added_at,
    agent: str = STAMP.agent,
    tags: Iterable[str] = (),
    aliases: Iterable[str] = (),
    problems: Iterable[str] = (),
) -> Note:
    return Note(
        path or f"entities/{type}/{name}.md",
        "entity",
        name,
        type,
        created,
        agent,
        tags=tuple(tags),
        aliases=tuple(aliases),
        observations=tuple(
            Observation(item, stamp, line) if isinstance(item, str) else item
            for line, item in enumerate(observations)
        ),
        relations=tuple(
            Relation(kind, target, None, stamp, line) for line, (kind, target) in enumerate(relations)
        ),
        problems=tuple(problems),
    )


def plain(path: str, *passages: str, kind: Kind = "note", value: str | None = None) -> Note:
    name = path.rpartition("/")[2].removesuffix(".md")
    return Note(
        path, kind, name, passages=tuple(Passage("", text, n) for n, text in enumerate(passages)), value=value
    )


def put(writer: IndexWriter, *notes: Note) -> None:
    for note in notes:
        writer.put_file(note.path, blob(note), stat(), note)


def reading(blobs: Mapping[str, bytes]) -> Callable[[Iterable[str]], Iterable[bytes]]:
    """Give what a replay reads blobs with."""
    return lambda names: [blobs[name] for name in names]
