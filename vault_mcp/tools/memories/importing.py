"""Bring in memories that a file holds (`notes.transcript`), all in one commit.

`created` is kept and gives the number, so that memories sort by when they were and stand in the order of the
file where times are equal. `speaker` becomes a property of the note: it is who said the text. `agent` is who
brought it into the vault, as for every note that a program writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vault_mcp.errors import VaultError
from vault_mcp.notes.transcript import MemoryRecord, Transcript
from vault_mcp.tools.memories.writing import FORGET, Numbers, numbers_in, remember

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.vault import Vault

Progress = Callable[[int, int], None]
"""Called with (done, in all) while an import goes on."""

_STEP = 100


@dataclass(slots=True)
class MemoryImportReport:
    """What an import did, or would do.

    Attributes:
        commit: the commit it made; None when there was nothing new, and for a dry run.
        memories: how many it made.
        present: how many were in the vault already: same text, session, speaker and time.
        sessions: how many sessions the file names.
        problems: what was left out, by the number of its line.
    """

    commit: str | None = None
    memories: int = 0
    present: int = 0
    sessions: int = 0
    problems: list[str] = field(default_factory=list)


def import_memories(
    vault: Vault,
    transcript: Transcript,
    *,
    by: str,
    source: str,
    progress: Progress | None = None,
    dry_run: bool = False,
) -> MemoryImportReport:
    """Bring memories into the vault in one commit; what is there already is not repeated.

    Args:
        vault: the vault.
        transcript: what a file holds.
        by: the author of the commit, and the agent of every memory.
        source: what it came from, for the subject of the commit.
        progress: told from time to time how many memories are done.
        dry_run: only say what would be done.
    """
    report = MemoryImportReport(
        sessions=len({record.session for record in transcript.memories}),
        problems=[f"{transcript.unit} {line} {what}." for line, what in transcript.problems],
    )
    with vault.change("import", by=by, subject=source) as change:
        _import(change, transcript, report, progress or (lambda done, total: None))
        if dry_run:
            change.pending.clear()
    report.commit = change.receipt.commit
    return report


def _import(change: Change, transcript: Transcript, report: MemoryImportReport, progress: Progress) -> None:
    records = transcript.memories
    with change.vault.snapshot() as reader:
        forgotten = [number for said in reader.subjects(FORGET) for number in numbers_in(said)]
    numbers = Numbers(change, forgotten)
    known = Counter(_known(change, {record.session for record in records}))
    for count, record in enumerate(records, 1):
        same = (record.session, record.speaker, record.created, record.text)
        if known[same]:
            known[same] -= 1  # what a file says twice is said twice
            report.present += 1
        else:
            try:
                _remember(change, record, numbers)
                report.memories += 1
            except VaultError as error:
                report.problems.append(f"{transcript.unit} {record.line}: {error}")
        if count % _STEP == 0 or count == len(records):
            progress(count, len(records))


def _known(change: Change, sessions: set[str]) -> Iterator[tuple[str, str, str, str]]:
    """Give what tells a memory of these sessions from others; with and without its time."""
    for session in sessions:
        with change.vault.snapshot() as reader:
            paths = reader.session_paths(session)
        for path in paths:
            note = change.note(path)
            if note is not None and note.value is not None:
                speaker = str(note.properties.get("speaker") or "")
                yield session, speaker, note.created, note.value
                yield session, speaker, "", note.value


def _remember(change: Change, record: MemoryRecord, numbers: Numbers) -> None:
    remember(
        change,
        record.text,
        record.session,
        tags=record.tags,
        kind=record.type,
        importance=record.importance,
        created=record.created,
        speaker=record.speaker,
        numbers=numbers,
    )
