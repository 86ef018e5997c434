"""Find the note of a key, or a place for a new one. Keys are told apart by case and Unicode form too."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vault_mcp.errors import AlreadyThere, BadArgument, NoteUnreadable
from vault_mcp.notes import names
from vault_mcp.notes.links import stem_key
from vault_mcp.notes.note import Note
from vault_mcp.storage import files, paths
from vault_mcp.storage.index import Reader
from vault_mcp.tools.placing import FOLDER_MOST

if TYPE_CHECKING:
    from vault_mcp.change import Change

KIND = "key"

_PLACES = 3
"""Paths that a key can have: its own, and two with a mark from which ever more of its hash can be read."""


def checked(key: str) -> str:
    """Give a key that can be kept.

    Raises:
        BadArgument: it is blank, or has half of a character.
    """
    if not key.strip():
        raise BadArgument("The key is blank. Give it some text.")
    try:
        key.encode()
    except UnicodeEncodeError:
        raise BadArgument(
            "The key holds half of a surrogate pair, which is no character. Send the whole character."
        ) from None
    return key


def paths_of(reader: Reader, key: str) -> list[str]:
    """Give the notes that bear a key, the one that counts first; several mean that somebody copied it."""
    return [row.path for row in reader.notes_named(key, kinds=(KIND,)) if row.name == key]


def alike(reader: Reader, key: str) -> list[str]:
    """Give keys that differ from one in case or Unicode form alone."""
    wanted = paths.place_key(key)
    spellings = dict.fromkeys((key, key.casefold(), key.upper(), key.title(), key.capitalize()))
    rows = [row for spelling in spellings for row in reader.notes_named(spelling, kinds=(KIND,))]
    return list(dict.fromkeys(r.name for r in rows if r.name != key and paths.place_key(r.name) == wanted))


def is_of(note: Note | None, key: str) -> bool:
    """Say whether a note is, or still is, the note of a key."""
    return note is not None and note.kind == KIND and note.name == key


def note_of(change: Change, key: str) -> Note | None:
    """Give the note of a key as this change leaves it.

    A person may have made it a moment ago: it is looked for where it would be put, and where nobody tells of
    such files (no watcher), everywhere.
    """
    found = _known(change, key) or _unnoticed(change, key)
    if found is None and change.vault.watching == "off" and change.look_again():
        found = _known(change, key)
    return found


def _known(change: Change, key: str) -> Note | None:
    made = change.made.get((KIND, key))
    with change.vault.snapshot() as reader:
        known = paths_of(reader, key)
    notes = (change.note(path) for path in ([made, *known] if made else known))
    return next((note for note in notes if is_of(note, key)), None)


def _unnoticed(change: Change, key: str) -> Note | None:
    path = _path(key, 0)
    if paths.is_hidden(path) or not change.exists(path):
        return None
    with contextlib.suppress(NoteUnreadable):
        note = change.note(path)
        return note if is_of(note, key) else None
    return None


def place(change: Change, key: str) -> str:
    """Give the path for the note of a new key, where nothing is in any spelling.

    Raises:
        AlreadyThere: other files stand everywhere the key could go.
    """
    with change.vault.snapshot() as reader:
        for path in _places(change, reader, key):
            if not _is_taken(change, reader, path):
                change.stems.add(names.path_key(path))
                change.placed[path.rpartition("/")[0]] += 1
                change.made[KIND, key] = path
                return path
    raise AlreadyThere(f"Other files stand where the key {key!r} could go. Move {path}, or use another key.")


def _places(change: Change, reader: Reader, key: str) -> Iterator[str]:
    """Give the paths that a key could have, the most readable first."""
    for taken in range(_PLACES):
        path = _path(key, taken)
        if paths.is_hidden(path):  # such as `~$plan`: the vault would look past a file of that name
            path = _path(f"key {key.replace('/', ' ')}", taken)
        folder, _, name = path.rpartition("/")
        if reader.notes_in_folder(folder) + change.placed[folder] >= FOLDER_MOST:
            path = f"{folder}/{names.shard(key)}/{name}"
        yield path


def _path(key: str, taken: int) -> str:
    asked = itertools.count()
    return names.key_path(key, lambda _: next(asked) < taken)


def _is_taken(change: Change, reader: Reader, path: str) -> bool:
    path_key = names.path_key(path)
    return (
        path_key in change.stems
        or any(names.path_key(other) == path_key for other in reader.paths_with_stem(stem_key(path)))
        or files.kind(change.vault.root, path) is not None  # a file that nobody has noticed yet
    )
