"""A vault's files read once, for whoever wants to know them all at the same moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from vault_mcp.errors import NoteUnreadable, StorageFailed
from vault_mcp.follow import LONGEST_NOTE, is_note
from vault_mcp.notes.note import Note, read_note
from vault_mcp.notes.warnings import secret_in
from vault_mcp.storage import files
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.git.objects import blob_id
from vault_mcp.storage.index.schema import ARCHIVE

Progress = Callable[[int], None]
"""Told now and then how many files were read."""


@dataclass(slots=True)
class Survey:
    """What the files hold.

    Attributes:
        stats: what the disk tells of each file.
        blobs: the Git blob of each file that could be read.
        notes: the Markdown files, read as notes.
        not_utf8: Markdown files that are not UTF-8.
        odd_names: paths that are not UTF-8, which are passed over.
        unreadable: files and folders that cannot be read, each with the reason.
        secrets: text files that seem to hold a secret, each with what it looks like.
    """

    stats: dict[str, FileStat] = field(default_factory=dict)
    blobs: dict[str, str] = field(default_factory=dict)
    notes: dict[str, Note] = field(default_factory=dict)
    not_utf8: list[str] = field(default_factory=list)
    odd_names: list[str] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)

    def living(self) -> Iterator[Note]:
        """Give the notes that are part of the graph."""
        return (note for note in self.notes.values() if not note.path.startswith(ARCHIVE))

    def counts(self) -> tuple[int, int, int]:
        """Count the entities, their facts that hold, and the relations."""
        entities = observations = relations = 0
        for note in self.living():
            relations += len(note.relations)
            if note.kind == "entity":
                entities += 1
                observations += sum(not fact.superseded for fact in note.observations)
        return entities, observations, relations


def look_through(root: str, progress: Progress) -> Survey:
    """Read every file that the vault does not pass over."""
    survey = Survey()
    closed: list[str] = []
    for number, (path, stat) in enumerate(sorted(files.walk(root, unreadable=closed)), 1):
        _look_at(root, path, stat, survey)
        if number % 100 == 0:
            progress(number)
    for folder in closed:
        survey.unreadable[folder] = "The folder cannot be listed. Check its permissions."
    return survey


def _look_at(root: str, path: str, stat: FileStat, survey: Survey) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        survey.odd_names.append(path)
        return
    survey.stats[path] = stat
    try:
        found = files.read(root, path)
    except (NoteUnreadable, StorageFailed) as error:
        survey.unreadable[path] = str(error)
        return
    if found is None:
        return
    raw, survey.stats[path] = found
    survey.blobs[path] = blob_id(raw)
    if len(raw) > LONGEST_NOTE:
        return
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        if is_note(path):
            survey.not_utf8.append(path)
        return
    secret = secret_in(text)
    if secret is not None:
        survey.secrets[path] = secret
    if is_note(path):
        survey.notes[path] = read_note(path, text)
