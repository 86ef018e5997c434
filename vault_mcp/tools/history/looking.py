"""Look at the past: the list of changes, one change, and what lies between two moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument
from vault_mcp.follow import note_of
from vault_mcp.receipt import difference
from vault_mcp.storage.git.difference import diff_text
from vault_mcp.storage.index.rows import Place, Wanted
from vault_mcp.tools.history.moments import Moment, change_of, moment_of, written
from vault_mcp.tools.history.records import Json, bounded, change_record, fact_records, short
from vault_mcp.tools.history.target import lineages_of
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.storage.index import CommitRow, Reader
    from vault_mcp.vault import Vault

DIFF = 20_000
"""Characters of a diff that are shown."""

FACTS = 200
"""Facts of each kind that one answer shows."""

NOTES = 1_000
"""Files that one answer compares."""


def history_log(
    vault: Vault,
    caller: Caller,
    note: str = "",
    agent: str = "",
    tool: str = "",
    session: str = "",
    since: str = "",
    before: str = "",
    text: str = "",
    limit: int = 20,
    cursor: str = "",
) -> Json:
    """Give the changes of the vault or of one note, the newest first."""
    with vault.remembering() as reader:
        where = Wanted(
            lineages=tuple(lineages_of(reader, note)) if note.strip() else None,
            agent=agent.strip(),
            tool=tool.strip(),
            session=session.strip(),
            since=_when(reader, since, "since"),
            before=_when(reader, before, "before"),
            text=text,
        )
        page = reader.find_changes(limit, cursor or None, where)
        result: Json = {"changes": [change_record(reader, row) for row in page.rows]}
    if page.cursor:
        result["next_cursor"] = page.cursor
        result["left_out"] = "There are older changes: call again with cursor set to next_cursor."
    return result


def _when(reader: Reader, said: str, name: str) -> int | None:
    """Read a time, or the time of a change."""
    if not said.strip():
        return None
    return moment_of(reader, said, name).at


def history_show(vault: Vault, caller: Caller, change: str) -> Json:
    """Give one change: its facts in words, and the diff."""
    with vault.remembering() as reader:
        row = change_of(reader, change)
        result: Json = {**change_record(reader, row), "change": row.sha}
        left = in_words(vault, reader, row, result)
    _with_diff(vault, result, row.parent, row.sha, ())
    if left:
        result["left_out"] = f"{left} more facts; the diff, or history_log with note, shows them."
    return result


def in_words(vault: Vault, reader: Reader, row: CommitRow, result: Json, most: int = NOTES) -> int:
    """Put into a result what a change did to the facts of its first so many files; give what is left out."""
    steps = reader.steps_of(row, most)
    left = _compared(vault, result, [(step.before, step.after) for step in steps])
    moves = [
        {"from": step.before.path, "to": step.after.path}
        for step in steps
        if step.before.path and step.after.path and step.before.path != step.after.path
    ]
    if moves:
        result["moved"] = moves
    return left


def history_diff(vault: Vault, caller: Caller, since: str, until: str = "", note: str = "") -> Json:
    """Give what a note or the vault gained and lost between two moments."""
    with vault.remembering() as reader:
        first = moment_of(reader, since, "since")
        last = moment_of(reader, until, "until") if until.strip() else _newest(reader)
        if first.seq > last.seq:
            raise BadArgument("since is later than until. Turn them round.")
        if note.strip():
            lineages = lineages_of(reader, note)[: NOTES + 1]
        else:
            lineages = reader.lineages_between(first.seq, last.seq, NOTES + 1)
        pairs = [
            (reader.place(lineage, first.seq), reader.place(lineage, last.seq))
            for lineage in lineages[:NOTES]
        ]
        changed = [pair for pair in pairs if pair[0] != pair[1]]
        changed.sort(key=lambda pair: pair[1].path or pair[0].path or "")
        result: Json = {
            "since": {"change": short(first.commit), "at": written(first.at)},
            "until": {"change": short(last.commit), "at": written(last.at)},
            "changes": _count(reader, first, last),
        }
        left = _compared(vault, result, changed)
    paths = sorted({place.path for pair in changed for place in pair if place.path})
    if paths and last.commit is not None and len(paths) <= NOTES:
        old = first.commit.sha if first.commit else None
        _with_diff(vault, result, old, last.commit.sha, paths if note.strip() else ())
    if left or len(lineages) > NOTES:
        more = f"{left} more facts" if left else f"more than {NOTES} files differ"
        result["left_out"] = f"{more}: name a note, or moments that lie closer together."
    return result


def _newest(reader: Reader) -> Moment:
    row = reader.commit_number(reader.last_seq)
    return Moment(row.seq, row, row.at) if row else Moment(0, None, 0)


def _count(reader: Reader, first: Moment, last: Moment) -> int:
    return last.seq - first.seq


def _compared(vault: Vault, result: Json, pairs: list[tuple[Place, Place]]) -> int:
    """Put into a result what files gained, what was edited in them and what they lost; give what is left."""
    added: list[Json] = []
    edited: list[Json] = []
    removed: list[Json] = []
    files: list[Json] = []
    for before, after in pairs:
        name = after.path or before.path or ""
        old, new = _read(vault, before), _read(vault, after)
        told = difference(note_of(before.path or "", old), note_of(after.path or "", new))
        come, turned, gone = fact_records(name, told)
        added += come
        edited += turned
        removed += gone
        if before.path is None or after.path is None or not (come or turned or gone):
            what = "made" if before.path is None else "deleted" if after.path is None else "changed"
            files.append({"note": name, "what": what})
    left = bounded(added, FACTS, result, "added") + bounded(edited, FACTS, result, "edited")
    left += bounded(removed, FACTS, result, "removed")
    return left + bounded(files, FACTS, result, "files")


def _read(vault: Vault, place: Place) -> bytes | None:
    return vault.repository.blob(place.blob) if place.blob else None


def _with_diff(
    vault: Vault, result: Json, old: str | None, new: str, paths: tuple[str, ...] | list[str]
) -> None:
    text = diff_text(vault.repository.program, old, new, paths)
    result["diff"] = text[:DIFF]
    if len(text) > DIFF:
        result["diff_left_out"] = f"{len(text) - DIFF} more characters of the diff are not shown."
