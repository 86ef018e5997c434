"""A person's words that a change would take away, where the owner has them protected.

What counts is the line. A line that a change moves, within its note, to another place or into another note,
or in which it only lets a link follow what was moved, is still there. The facts of an entity are known by
their own story; of any other line the commit that brought it says whose it is, behind the commits of tools
that put back or carry over what others wrote.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vault_mcp.errors import Stale, VaultBusy
from vault_mcp.line_origins import line_changes, lines_of_blob
from vault_mcp.notes.linediff import lines_of, matches
from vault_mcp.notes.links import without_targets
from vault_mcp.notes.note import Note
from vault_mcp.notes.sections import TITLES
from vault_mcp.storage.index.dates import written
from vault_mcp.storage.index.dating import BY_PERSON
from vault_mcp.storage.index.descent import KEEPS_WORDS, ChangeId
from vault_mcp.storage.paths import shown

if TYPE_CHECKING:
    from vault_mcp.storage.index import CommitRow, Reader
    from vault_mcp.vault import Vault

CARRIES = KEEPS_WORDS - {"import", "init", "sync"} | {"memory_rename", "memory_consolidate"}
"""Tools whose commits may only have moved a line, or put it back: who wrote it stands behind them."""

_PUTS_BACK = frozenset({"history_restore", "history_undo"})

HOPS = 100
"""Commits of such tools that are looked behind, for one line."""

NOTES = 1_000
"""Notes of one such commit in which a line is looked for."""

QUOTED = 200
"""Characters of a line that a message repeats."""

# Rules, fences, the frame of a table: nobody's words. (CommonMark 0.31, sections 4.1 to 4.6)
_BARE = re.compile(r"[\s\-=*_#>`~|:+.\\]*")


@dataclass(frozen=True, slots=True)
class Words:
    """One line of a person's: the note, the number of the line from 1, who wrote it, and when (RFC 3339).

    A file that is no text counts as one line, the 0th.
    """

    note: str
    line: int
    text: str
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class File:
    """One file of a change: its bytes and its note before and after, None where there is none."""

    old: bytes | None
    new: bytes | None
    old_note: Note | None = None
    new_note: Note | None = None


class Versions:
    """The versions that a caller names as those it has read; None for a tool that takes none.

    Attributes:
        named: each of them: hex digits of a blob, seven or more.
        taken: whether the tool takes any.
    """

    def __init__(self, said: str | None) -> None:
        self.taken = said is not None
        self.named = tuple(dict.fromkeys((said or "").lower().replace(",", " ").split()))

    def name(self, version: str) -> bool:
        """Say whether this version is among them."""
        return any(_is(said, version) for said in self.named)

    def refuse_stale(self, versions: Iterable[str]) -> None:
        """Fail for one that no note has.

        Raises:
            Stale: there is one.
        """
        if not self.named:
            return
        known = tuple(versions)
        for said in self.named:
            if not any(_is(said, version) for version in known):
                raise Stale(
                    f"No note that this call changes is at version {said}: it has changed since. "
                    "Read it again."
                )


def _is(said: str, version: str) -> bool:
    return len(said) >= 7 and version.startswith(said)


@dataclass(slots=True)
class Moves:
    """What a change moved, so that it is not taken for lost.

    Attributes:
        taken_over: where a file was -> where it is now, or the note that took it in.
        followed: path -> line -> the same line with its links pointing where they should now.
    """

    taken_over: dict[str, str] = field(default_factory=dict)
    followed: dict[str, dict[str, str]] = field(default_factory=dict)

    def follow(self, path: str, before: str, after: str) -> None:
        """Take down that only links differ in two texts of a file."""
        old, new = _lines(before), _lines(after)
        if len(old) == len(new):
            pairs = {one: other for one, other in zip(old, new, strict=True) if one != other}
            self.followed.setdefault(path, {}).update(pairs)

    def now_at(self, path: str) -> str:
        """Give where a file, or what it said, is at the end of the change."""
        seen = {path}
        while (following := self.taken_over.get(path)) is not None and following not in seen:
            path = following
            seen.add(path)
        return path

    def as_followed(self, path: str, line: str) -> str:
        """Give a line of a file as it is when its links have followed."""
        for place in dict.fromkeys((path, self.now_at(path))):
            for _ in range(HOPS):
                following = self.followed.get(place, {}).get(line, line)
                if following == line:
                    break
                line = following
        return line


def refuse_losses(
    vault: Vault,
    head: str | None,
    files: Mapping[str, File],
    moves: Moves,
    versions: Mapping[str, str],
    named: Versions,
) -> None:
    """Refuse a change that takes away words of a person from a note whose version the caller did not name.

    Args:
        vault: the vault.
        head: the last commit, up to which the past must be known.
        files: every file of the change, by path.
        moves: what the change moved.
        versions: the version of each file before the change.
        named: what the caller named.

    Raises:
        Stale: there are such words.
        VaultBusy: the past is not known up to there.
    """
    with vault.snapshot() as reader:
        if reader.history_head != head:
            raise VaultBusy("Whose words these are is still being looked up. Call again in a few seconds.")
    lost = [one for one in words_lost(vault, files, moves) if not named.name(versions[one.note])]
    if lost:
        raise Stale(_refusal(lost, versions, takes_version=named.taken))


def words_lost(vault: Vault, files: Mapping[str, File], moves: Moves) -> list[Words]:
    """Give the lines of a person that a change takes away or changes.

    Args:
        vault: the vault, its history tables in step.
        files: every file of the change by path; one that moved is there under both paths.
        moves: what the change moved.
    """
    gone = {path: lost for path, file in files.items() if (lost := _lost(path, files, moves))}
    if not gone:
        return []
    come = _come(files)
    found: list[Words] = []
    with vault.snapshot() as reader:
        for path, lost in gone.items():
            away = [one for one in lost if not come.take(moves.as_followed(path, one.text), one.fact)]
            found += _of_person(vault, reader, path, files[path], away)
    return found


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str
    fact: tuple[str, str] | None = None
    stamped: bool = False


@dataclass(slots=True)
class _Come:
    """Lines and facts that the files of a change gain, each of which may be one that left another file."""

    lines: Counter[str]
    facts: Counter[tuple[str, str]]

    def take(self, line: str, fact: tuple[str, str] | None) -> bool:
        if fact is not None and self.facts[fact]:
            self.facts[fact] -= 1
            return True
        if self.lines[line]:
            self.lines[line] -= 1
            return True
        return False


def _come(files: Mapping[str, File]) -> _Come:
    lines: Counter[str] = Counter()
    facts: Counter[tuple[str, str]] = Counter()
    for file in files.values():
        old, new = _text_lines(file.old) or [], _text_lines(file.new) or []
        kept = {at for _, at in matches(old, new)}
        lines.update(line for at, line in enumerate(new) if at not in kept)
        before = set(_facts(file.old_note).values())
        facts.update(fact for fact in set(_facts(file.new_note).values()) if fact not in before)
    return _Come(lines, facts)


def _lost(path: str, files: Mapping[str, File], moves: Moves) -> list[_Line]:
    """Give the lines of a file that stand no more where it, or what took it in, is now."""
    file = files[path]
    now = moves.now_at(path)
    after = files.get(now, File(None, None))
    if file.old is None or file.old == after.new:
        return []
    old, new = _text_lines(file.old), _text_lines(after.new) or []
    if old is None:
        return [_Line(-1, "")]
    kept = {at for at, _ in matches([moves.as_followed(path, line) for line in old], new)}
    anywhere = set(new) if now != path else set()  # a note that took another in had some of its lines already
    facts, known = _facts(file.old_note), set(_facts(after.new_note).values())
    stamped = _stamped(file.old_note)
    known |= {("superseded", text) for kind, text in known if kind == "observation"}  # it holds again
    return [
        _Line(at, line, facts.get(at), at in stamped)
        for at, line in enumerate(old)
        if at not in kept
        and not _is_bare(line)
        and facts.get(at) not in known
        and moves.as_followed(path, line) not in anywhere
    ]


def _of_person(vault: Vault, reader: Reader, path: str, file: File, lost: Sequence[_Line]) -> Iterator[Words]:
    """Give those of a file's lost lines that a person wrote."""
    stories = reader.provenance(path, [line.fact for line in lost if line.fact is not None])
    person = vault.person.clean_name()
    unknown = []
    for line in lost:
        by, at, by_hand = stories.get(line.fact, ("", "", False)) if line.fact else ("", "", False)
        if line.fact and (by_hand or by == person):
            yield Words(path, line.number + 1, line.fact[1], by, at)
        elif not by or not line.stamped:
            unknown.append(line)  # the story of a fact without a stamp ends where a link in it followed
    if not unknown:
        return
    writers = _Writers(vault, reader)
    rows = writers.of(path, _text_lines(file.old), [line.number for line in unknown])
    for line in unknown:
        row = rows[line.number]
        if row is None or writers.is_person(row):
            by, at = (row.author, written(row.at) or "") if row else ("", "")
            yield Words(path, line.number + 1, line.fact[1] if line.fact else line.text, by, at)


class _Writers:
    """Who wrote lines of files, looked up in their history."""

    def __init__(self, vault: Vault, reader: Reader) -> None:
        self._vault = vault
        self._reader = reader
        self._person = vault.person.clean_name()

    def of(
        self, path: str, lines: Sequence[str] | None, numbers: Sequence[int]
    ) -> dict[int, CommitRow | None]:
        """Give for each numbered line of a file the commit that wrote it, None where none is known."""
        lineage = self._reader.lineage_at(path)
        if lineage is None:
            return dict.fromkeys(numbers)
        now = self._reader.last_seq
        if lines is None:
            return dict.fromkeys(numbers, self._whole(lineage))
        changes = line_changes(self._vault, self._reader, lineage, now, lines, wanted=numbers, bare=True)
        pairs = zip(numbers, changes, strict=True)
        return {number: self._behind(lineage, change, lines[number]) for number, change in pairs}

    def _whole(self, lineage: int) -> CommitRow | None:
        """Give the commit that stored the bytes which a file has now, wherever it lay since."""
        versions = self._reader.versions(lineage)
        while len(versions) > 1 and versions[-1][1] == versions[-2][1]:
            versions.pop()
        return self._reader.commit_number(versions[-1][0]) if versions else None

    def is_person(self, row: CommitRow) -> bool:
        """Say whether what a commit brought is a person's own words."""
        return row.tool in BY_PERSON or (row.author == self._person and row.tool != "sync")

    def _behind(self, lineage: int, change: ChangeId, line: str) -> CommitRow | None:
        """Follow a line behind commits that only moved it or put it back."""
        row = self._reader.change_at(*change)
        for _ in range(HOPS):
            if row is None or row.came_with or self.is_person(row) or row.tool not in CARRIES:
                break
            found = self._before(lineage, row, line)
            if found is None:
                break
            lineage, then, lines, number = found
            line = lines[number]
            changes = line_changes(
                self._vault, self._reader, lineage, then, lines, wanted=[number], bare=True
            )
            row = self._reader.change_at(*changes[0])
        return row

    def _before(self, lineage: int, row: CommitRow, line: str) -> tuple[int, int, list[str], int] | None:
        """Give where a line stood before a commit: note, commit then, lines of the note, number."""
        steps = self._reader.steps(row.seq, NOTES)
        places = [
            (step.lineage, row.seq - 1, step.before.blob)
            for step in sorted(steps, key=lambda step: step.lineage != lineage)
        ]
        if row.tool in _PUTS_BACK:
            older = [version for version in self._reader.versions(lineage) if version[0] < row.seq]
            places += [(lineage, seq, blob) for seq, blob in reversed(older)]
        masked = without_targets(line)
        for other, seq, blob in places:
            lines = lines_of_blob(self._vault, blob, bare=True)
            number = next((at for at, one in enumerate(lines) if one == line), None)
            if number is None and masked != line:
                number = next((at for at, one in enumerate(lines) if without_targets(one) == masked), None)
            if number is not None:
                return other, seq, lines, number
        return None


def _refusal(words: Sequence[Words], versions: Mapping[str, str], *, takes_version: bool) -> str:
    """Say which words of a person a change would take away, and how to go on.

    Args:
        words: the words, at least one.
        versions: path -> present version of the note.
        takes_version: whether the tool has an `if_version`.
    """
    first = words[0]
    where = f"{shown(first.note)}, line {first.line}," if first.line else shown(first.note)
    who = ", ".join(part for part in (first.by, first.at) if part)
    text = " ".join(first.text.split())
    quoted = text if len(text) <= QUOTED else f"{text[: QUOTED - 1]}…"
    more = f", and {len(words) - 1} more like it" if len(words) > 1 else ""
    said = (
        f"“{quoted}” in {where} is a person's ({who}) and protected here{more}."
        if first.line
        else f"The file {where} is a person's ({who}) and protected here{more}."
    )
    if not takes_version:
        return f"{said} This tool leaves such words alone. Leave them to the person, or use another tool."
    notes = list(dict.fromkeys(one.note for one in words))
    needed = " ".join(versions[note] for note in notes)
    named = "The note is" if len(notes) == 1 else f"The {len(notes)} notes are"
    at = "at version" if len(notes) == 1 else "at versions"
    return (
        f"{said} {named} {at} {needed} now. Read what is there; if the change is still right, call again "
        f'with if_version "{needed}", or leave the words to the person.'
    )


def _facts(note: Note | None) -> dict[int, tuple[str, str]]:
    """Give the facts of a note that are one line each: line -> (kind, text)."""
    if note is None:
        return {}
    found = {
        fact.line: ("superseded" if fact.superseded else "observation", fact.text)
        for fact in (note.observations if note.kind == "entity" else ())
    }
    return found | {r.line: ("relation", f"{r.type} -> {r.shown or r.target}") for r in note.relations}


def _stamped(note: Note | None) -> set[int]:
    """Give the lines of facts that bear a stamp."""
    if note is None:
        return set()
    stamped = {fact.line for fact in note.observations if fact.stamp is not None}
    return stamped | {relation.line for relation in note.relations if relation.stamp is not None}


def _text_lines(raw: bytes | None) -> list[str] | None:
    """Give the lines of a text without what ends them; None for bytes that are none."""
    if raw is None:
        return []
    try:
        return None if b"\0" in raw else _lines(raw.decode())
    except UnicodeDecodeError:
        return None


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in lines_of(text)]


def _is_bare(line: str) -> bool:
    return _BARE.fullmatch(line) is not None or line.strip("# ").casefold() in TITLES
