"""The current tables as they were at another commit: a copy of the index, with what differs put back.

A copy keeps nearly every note as it is; only the files that a later commit touched are read again. So the
past is answered by the same code as the present, in the same order and by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from vault_mcp.notes.note import Note
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.index.database import Index

FEWER = 2
"""A copy pays as long as it shares at least one in so many of the files."""

MODE = 0o100644

ReadNote = Callable[[str, str], tuple[Note | None, int]]
"""Gives the note of (path, blob), None for a file that is none, and its size in bytes."""


def make_bygone(
    index: Index, path: str, sha: str, seq: int, tree: Iterable[tuple[str, str]], read: ReadNote
) -> Index:
    """Make an index at `path` that says what the files held at a commit.

    Args:
        index: The present one, whose history tables know the commit.
        path: Where to put the new one; whoever asked for it takes it away again.
        sha: The commit.
        seq: Its number.
        tree: Every file that it has: path and blob.
        read: Reads a note.
    """
    then = dict(tree)
    with index.reading() as reader:
        now = {row[0]: row[1] for row in reader.files()}
        touched = set(reader.paths_touched_after(seq))
    same = {p for p, blob in then.items() if now.get(p) == blob and p not in touched}
    if len(same) * FEWER >= len(then) or not now:
        bygone = index.copy_to(path)
        gone = [p for p in now if p not in same]
    else:
        bygone = index.copy_to(path, history_alone=True)
        gone, same = [], set()
    with bygone.writing() as writer:
        writer.as_of(sha, seq)
        for old in gone:
            writer.remove(old)
        for new, blob in then.items():
            if new not in same:
                note, size = read(new, blob)
                writer.put_file(new, blob, FileStat(size, 0, 0, 0, MODE), note)
    return bygone
