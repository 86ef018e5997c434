"""Who wrote each line of a note: facts by their own story, prose by the versions of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument, NoteUnreadable, NotFound
from vault_mcp.line_origins import OLDEST, line_changes
from vault_mcp.notes.linediff import lines_of
from vault_mcp.notes.note import Note
from vault_mcp.storage.index.dating import stamped_by_person
from vault_mcp.storage.index.descent import ChangeId, group_of, same_edit
from vault_mcp.tools.history.moments import moment_of, written
from vault_mcp.tools.history.records import BY_PERSON, Json, short
from vault_mcp.tools.history.target import NOW, then
from vault_mcp.tools.told import one_line
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.storage.index import CommitRow, FactVersion, Reader
    from vault_mcp.vault import Vault

SHOWN = 1_000
"""Characters of a line that are shown."""


def history_blame(
    vault: Vault, caller: Caller, note: str, text: str = "", at: str = "", limit: int = 200, cursor: str = ""
) -> Json:
    """Give each line of a note with who added it, who edited it last, and in which changes."""
    if cursor and not cursor.isdecimal():
        raise BadArgument("The cursor is not one that history_blame gave out. Leave it out to begin anew.")
    with vault.remembering() as reader:
        seq = moment_of(reader, at, "at").seq if at.strip() else NOW
        found = then(vault, reader, note, seq)
        lines = _decoded(found.raw, found.path)
        brought = line_changes(vault, reader, found.lineage, seq, lines)
        told = _Told(reader, found.lineage, seq, found.note)
        rows: list[Json] = []
        following = ""
        for number in range(int(cursor or 0), len(lines)):
            if not lines[number].strip() or text not in lines[number]:
                continue
            if len(rows) == limit:
                following = str(number)
                break
            rows.append(told.line(number, lines[number], brought[number]))
        result: Json = {"note": found.path, "lines": rows}
    if text and not rows:
        raise NotFound(f"No line of {found.path} holds {one_line(text)!r}. Leave text out to see all lines.")
    if following:
        result["next_cursor"] = following
        result["left_out"] = "There are more lines: call again with cursor set to next_cursor."
    return result


def _decoded(raw: bytes, path: str) -> list[str]:
    if b"\0" not in raw:
        try:
            return lines_of(raw.decode())
        except UnicodeDecodeError:
            pass
    raise NoteUnreadable(f"{path} is a binary file or not in UTF-8, so it has no lines. Use history_log.")


class _Told:
    """The lines of one note with what history tells of them."""

    def __init__(self, reader: Reader, lineage: int, seq: int, note: Note | None) -> None:
        self.reader = reader
        self._commits: dict[ChangeId, CommitRow | None] = {}
        known = {(group_of(f.kind), f.text): f for f in reader.facts_at(lineage, seq)}
        self._facts: dict[int, tuple[str, FactVersion]] = {}
        for number, kind, words in _lines(note):
            version = known.get((group_of(kind), words))
            if version is not None:
                self._facts[number] = kind, version

    def line(self, number: int, line: str, origin: ChangeId) -> Json:
        """Give one line: what it says, who added and edited it, and the change that brought it so."""
        brought = self._commit(*origin)
        record: Json = {"line": number + 1, "text": _cut(line), "change": short(brought)}
        if number not in self._facts:
            return record | _by(brought) | {"kind": "text"}
        kind, version = self._facts[number]
        return record | {"text": _cut(version.text), "kind": kind} | self._fact(version)

    def _fact(self, version: FactVersion) -> Json:
        added = self._commit(version.added, version.added_place)
        record = _by(added)
        stamp = version.stamp
        if stamp is not None:
            record |= {
                "added_by": stamp.agent,
                "added_at": stamp.added_at,
                "by_hand": stamped_by_person(stamp, added),
            }
        chain = self._chain(version)
        if version.edited is not None:
            record |= self._edit(self._commit(version.edited, version.edited_place), None, None)
        elif stamp is not None and stamp.edited_at:
            first = version
            for older in chain:
                if not same_edit(older.stamp, stamp):
                    break
                first = older
            record |= self._edit(
                self._commit(first.first, first.first_place), stamp.edited_by, stamp.edited_at
            )
        before = next((older.text for older in chain if older.text != version.text), None)
        if before is not None:
            record["before"] = _cut(before)
        came_from = next((older.lineage for older in chain if older.lineage != version.lineage), None)
        if came_from is not None:
            record["came_from"] = self.reader.last_place(came_from)[0]
        return record

    def _edit(self, commit: CommitRow | None, by: str | None, at: str | None) -> Json:
        return {
            "edited_by": by or (commit.author if commit else None),
            "edited_at": at or (written(commit.at) if commit else None),
            "edited_in": short(commit),
            "edited_by_hand": commit is not None and commit.tool in BY_PERSON,
        }

    def _chain(self, version: FactVersion) -> list[FactVersion]:
        """Give the versions that a fact came from, the newest first."""
        chain: list[FactVersion] = []
        seen = {version.id}
        number = version.previous
        while number is not None and number not in seen and len(chain) < OLDEST:
            seen.add(number)
            older = self.reader.fact(number)
            if older is None:
                break
            chain.append(older)
            number = older.previous
        return chain

    def _commit(self, seq: int, place: int = 0) -> CommitRow | None:
        if (seq, place) not in self._commits:
            self._commits[seq, place] = self.reader.change_at(seq, place)
        return self._commits[seq, place]


def _by(commit: CommitRow | None) -> Json:
    return {
        "added_by": commit.author if commit else None,
        "added_at": written(commit.at) if commit else None,
        "added_in": short(commit),
        "by_hand": commit is not None and commit.tool in BY_PERSON,
    }


def _lines(note: Note | None) -> list[tuple[int, str, str]]:
    """Give (line number, kind, words) of the facts of a note that are one line."""
    if note is None:
        return []
    found = [
        (fact.line, "superseded" if fact.superseded else "observation", fact.text)
        for fact in (note.observations if note.kind == "entity" else ())
    ]
    found += [(r.line, "relation", f"{r.type} -> {r.shown or r.target}") for r in note.relations]
    return found


def _cut(line: str) -> str:
    text = line.rstrip("\r\n")
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
