"""The current tables as they were at another commit: a copy of the index, with what differs put back.

A copy keeps nearly every note as it is; only the files that a later commit touched are read again. So the
past is answered by the same code as the present, in the same order and by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from vault_mcp.notes.note import Note
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.index.database import Index

FEWER = 2
"""A copy pays as long as it shares at least one in so many of the files."""

MODE = 0o100644

Blobs = Iterable[tuple[str, str]]
ReadNotes = Callable[[Blobs], Iterator[tuple[str, str, Note | None, int]]]
"""Gives, for each (path, blob), these two, the note (None for a file that is none) and its size in bytes."""


def make_bygone(
    index: Index, path: str, sha: str, seq: int, read: ReadNotes, is_indexed: Callable[[str], bool]
) -> Index:
    """Make an index at `path` that says what the files held at a commit.

    Args:
        index: The present one, whose history tables reach beyond the commit.
        path: Where to put the new one; whoever asked for it takes it away again.
        sha: The commit.
        seq: Its number.
        read: Reads notes.
        is_indexed: Says whether an index knows a file that the commit has: no link, nothing hidden.
    """
    with index.reading() as reader:
        apart = set(reader.paths_apart()) | set(reader.paths_touched_after(seq))
        now = {place for place in apart if reader.file(place) is not None}
        known = ((place, reader.lineage_at(place, seq)) for place in apart)
        then = {
            place: blob
            for place, lineage in known
            if lineage is not None and (blob := reader.place(lineage, seq).blob) and is_indexed(place)
        }
        alone = (reader.totals().files - len(now)) * FEWER < len(then)
        if alone:
            then |= {row[0]: row[1] for row in reader.files() if row[0] not in apart}
    bygone = index.copy_to(path, history_alone=alone)
    with bygone.writing() as writer:
        writer.as_of(sha, seq)
        for place in now - then.keys() if not alone else ():
            writer.remove(place)
        for place, blob, note, size in read(then.items()):
            writer.put_bygone(place, blob, FileStat(size, 0, 0, 0, MODE), note)
    return bygone
