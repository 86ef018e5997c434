"""Who wrote each line of a note: facts by their own story, prose by the versions of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument, NoteUnreadable, NotFound
from vault_mcp.notes.linediff import lines_of, matches
from vault_mcp.notes.note import Note
from vault_mcp.storage.index.descent import ChangeId, group_of, same_edit
from vault_mcp.tools.history.moments import moment_of, written
from vault_mcp.tools.history.records import BY_PERSON, Json, short
from vault_mcp.tools.history.target import NOW, then
from vault_mcp.tools.told import one_line
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_mcp.storage.index import CommitRow, FactVersion, Reader
    from vault_mcp.vault import Vault

SHOWN = 1_000
"""Characters of a line that are shown."""

OLDEST = 10_000
"""Versions of a file that are looked through."""

LOOKED_BACK = 200
"""Versions before a merge in which lines are looked for that it brought back."""


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


def line_origins(vault: Vault, reader: Reader, lineage: int, seq: int, lines: Sequence[str]) -> list[int]:
    """Give for each line of a file the number of the commit that brought it, as Git blames it."""
    versions = [version for version in reader.versions(lineage) if version[0] <= seq][-OLDEST:]
    left = {number: number for number in range(len(lines))}  # line of the version in hand -> of the file
    origins = [versions[0][0] if versions else 0] * len(lines)
    here, since = list(lines), versions[-1][0] if versions else 0
    for number, blob in reversed(versions[:-1]):
        before = _lines_of_blob(vault, blob)
        came = {b: a for a, b in matches(before, here)}
        stays = {}
        for at, line in left.items():
            if at in came:
                stays[came[at]] = line
            else:
                origins[line] = since
        left, here, since = stays, before, number
        if not left:
            return origins
    for line in left.values():
        origins[line] = since
    return origins


def line_changes(
    vault: Vault, reader: Reader, lineage: int, seq: int, lines: Sequence[str]
) -> list[ChangeId]:
    """Give for each line of a file the commit that brought it; where a merge did, the one behind it that did.

    What none of those gained may have stood here once, and been taken away by this side alone. All else is
    the merge's own.
    """
    origins = line_origins(vault, reader, lineage, seq, lines)
    found: list[ChangeId] = [(number, 0) for number in origins]
    bare = [line.rstrip("\r\n") for line in lines]  # a merge ends a last line that had no end
    for merge in reader.with_sides(set(origins)):
        left = {number for number, origin in enumerate(origins) if origin == merge}
        for place, before, after in reader.side_versions(merge, lineage)[:OLDEST]:
            mine = _gained(_bare(vault, before), _bare(vault, after), bare, left)
            for number in mine:
                found[number] = merge, place
            left -= mine
            if not left:
                break
        if left:
            for number, change in _there_before(vault, reader, lineage, merge, bare, left).items():
                found[number] = change
    return found


def _gained(old: list[str], new: list[str], lines: Sequence[str], left: set[int]) -> set[int]:
    """Give which lines a change brought: by place where they stand as they did then, else by their words."""
    kept = {at for at, _ in matches(new, old)}
    gained = {at for at in range(len(new)) if at not in kept}
    placed = {number: at for at, number in matches(new, lines)}
    words = {new[at] for at in gained if new[at].strip()}
    return {n for n in left if (placed[n] in gained if n in placed else lines[n] in words)}


def _there_before(
    vault: Vault, reader: Reader, lineage: int, merge: int, lines: Sequence[str], left: set[int]
) -> dict[int, ChangeId]:
    """Give the lines that this side had once, and took away before a merge brought them back."""
    found: dict[int, ChangeId] = {}
    versions = [version for version in reader.versions(lineage) if version[0] < merge]
    for seq, blob in reversed(versions[-LOOKED_BACK:]):
        places = {line: at for at, line in enumerate(_bare(vault, blob)) if line.strip()}
        known = {n: places[lines[n]] for n in left - found.keys() if lines[n] in places}
        if known:
            changes = line_changes(vault, reader, lineage, seq, _lines_of_blob(vault, blob))
            found |= {number: changes[at] for number, at in known.items()}
    return found


def _bare(vault: Vault, blob: str | None) -> list[str]:
    return [line.rstrip("\r\n") for line in _lines_of_blob(vault, blob)]


def _lines_of_blob(vault: Vault, blob: str | None) -> list[str]:
    return lines_of(vault.repository.blob(blob).decode("utf-8", "replace")) if blob else []


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
            record |= {"added_by": stamp.agent, "added_at": stamp.added_at, "by_hand": False}
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
