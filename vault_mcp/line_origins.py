"""Which commit brought each line of a file: as Git blames it, from the versions that the index knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vault_mcp.notes.linediff import lines_of, matches
from vault_mcp.storage.index.descent import ChangeId

if TYPE_CHECKING:
    from vault_mcp.storage.index import Reader
    from vault_mcp.vault import Vault

OLDEST = 10_000
"""Versions of a file that are looked through."""

LOOKED_BACK = 200
"""Versions before a merge in which lines are looked for that it brought back."""


def line_origins(
    vault: Vault,
    reader: Reader,
    lineage: int,
    seq: int,
    lines: Sequence[str],
    *,
    wanted: Sequence[int] | None = None,
    bare: bool = False,
) -> list[int]:
    """Give for each line of a file the number of the commit that brought it, as Git blames it.

    Args:
        vault: the vault.
        reader: the snapshot that is asked.
        lineage: the file.
        seq: the commit at which it has these lines.
        lines: the lines, with their ends.
        wanted: the lines that are asked about, counted from 0; None for all.
        bare: whether white space at the end of a line counts for nothing.
    """
    versions = [version for version in reader.versions(lineage) if version[0] <= seq][-OLDEST:]
    here = [line.rstrip() for line in lines] if bare else list(lines)
    asked = range(len(lines)) if wanted is None else wanted
    left = {number: number for number in asked}  # line of the version in hand -> line of the file
    origins = dict.fromkeys(left, versions[0][0] if versions else 0)
    since = versions[-1][0] if versions else 0
    for number, blob in reversed(versions[:-1]):
        before = lines_of_blob(vault, blob, bare=bare)
        came = {b: a for a, b in matches(before, here)}
        stays = {}
        for at, line in left.items():
            if at in came:
                stays[came[at]] = line
            else:
                origins[line] = since
        left, here, since = stays, before, number
        if not left:
            break
    for line in left.values():
        origins[line] = since
    return [origins[number] for number in asked]


def line_changes(
    vault: Vault,
    reader: Reader,
    lineage: int,
    seq: int,
    lines: Sequence[str],
    *,
    wanted: Sequence[int] | None = None,
    bare: bool = False,
) -> list[ChangeId]:
    """Do as `line_origins`; where a merge brought a line, name the commit behind it that did.

    What none of those gained may have stood here once, and been taken away by this side alone. All else is
    the merge's own.
    """
    asked = range(len(lines)) if wanted is None else wanted
    origins = line_origins(vault, reader, lineage, seq, lines, wanted=asked, bare=bare)
    found: dict[int, ChangeId] = {number: (seq, 0) for number, seq in zip(asked, origins, strict=True)}
    clean = [line.rstrip("\r\n") for line in lines]  # a merge ends a last line that had no end
    for merge in reader.with_sides({seq for seq, _ in found.values()}):
        left = {number for number, change in found.items() if change == (merge, 0)}
        for place, before, after in reader.side_versions(merge, lineage)[:OLDEST]:
            mine = _gained(_bare(vault, before), _bare(vault, after), clean, left)
            for number in mine:
                found[number] = merge, place
            left -= mine
            if not left:
                break
        if left:
            for number, change in _there_before(vault, reader, lineage, merge, clean, left).items():
                found[number] = change
    return [found[number] for number in asked]


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
            changes = line_changes(vault, reader, lineage, seq, lines_of_blob(vault, blob))
            found |= {number: changes[at] for number, at in known.items()}
    return found


def lines_of_blob(vault: Vault, blob: str | None, *, bare: bool = False) -> list[str]:
    """Give the lines of a version of a file; none where there was no file."""
    if blob is None:
        return []
    lines = lines_of(vault.repository.blob(blob).decode("utf-8", "replace"))
    return [line.rstrip() for line in lines] if bare else lines


def _bare(vault: Vault, blob: str | None) -> list[str]:
    return [line.rstrip("\r\n") for line in lines_of_blob(vault, blob)]
