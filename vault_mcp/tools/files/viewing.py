"""View a file with line numbers, or a folder two levels deep, as it is on the disk now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument, NoteUnreadable, NotFound, VaultError
from vault_mcp.notes.links import stem_key
from vault_mcp.storage import files, paths
from vault_mcp.storage.files import Entry, Listing
from vault_mcp.tools.files import lines
from vault_mcp.tools.files.places import Place, is_in_memories, readings_of, there
from vault_mcp.tools.history.asof import reading_at
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.vault import Vault

VIEW = 16_000
"""Characters of one view; agents are told that longer ones are cut."""

ENTRIES = 1_000
"""Entries of one listing."""

LEVELS = 2
PASSED_OVER = "node_modules"
NEAR = 3
"""Files of the same name that are told where a path leads nowhere."""


def memory_view(
    vault: Vault, caller: Caller, path: str = "", view_range: Sequence[int] = (), as_of: str = ""
) -> str:
    """Show a file's lines, or what a folder holds."""
    if as_of.strip():
        return _as_of(vault, path, view_range, as_of)
    place = there(vault.root, path)
    if place.kind is None:
        raise missing(vault, place, "The path {} does not exist. Please provide a valid path.")
    if place.kind == "folder":
        return _folder(vault, place)
    return _file(place, text_of(vault.root, place), view_range)


def _as_of(vault: Vault, said: str, view_range: Sequence[int], as_of: str) -> str:
    """Show a file or a folder as a commit has it."""
    readings = [paths.inside(reading, existing=True) for reading in readings_of(said)]
    with reading_at(vault, as_of) as reader:
        for path in readings:
            row = reader.file(path)
            if row is not None:
                text = decoded(vault.repository.blob(row.blob), said)
                return _file(Place(path, said, "file"), text, view_range)
            below = [(row[0], row[2]) for row in reader.files(path)]
            if below or not path:
                return _listed(Place(path, said or "/", "folder"), _folded(below, path))
    raise NotFound(f"The path {said} did not exist at that moment. See history_log for its changes.")


def _folded(below: Sequence[tuple[str, int]], folder: str) -> Listing:
    """Give the files and folders of a folder, two levels deep, out of all the files below it."""
    sizes: dict[str, int] = {}
    skip = len(folder) + 1 if folder else 0
    for path, count in below:
        parts = path[skip:].split("/")
        if any(paths.is_hidden(part) for part in parts):
            continue
        for level in range(1, min(LEVELS, len(parts)) + 1):
            inside = "/".join(parts[:level])
            key = f"{folder}/{inside}" if folder else inside
            is_file = level == len(parts)
            sizes[key if is_file else f"{key}/"] = count if is_file else 0
    named = sorted(sizes.items(), key=lambda row: row[0].rstrip("/").split("/"))
    entries = [Entry(name.rstrip("/"), name.endswith("/"), count) for name, count in named]
    return Listing(tuple(entries[:ENTRIES]), max(0, len(entries) - ENTRIES))


def missing(vault: Vault, place: Place, wording: str) -> NotFound:
    """Give the error for a path where nothing is, with files of that name that are somewhere else."""
    told = [wording.format(place.said).rstrip(".") + "."]
    if place.kind == "folder":
        told.append("It is a folder; memory_view lists its files.")
    elif files.stat(vault.root, paths.placeholder_for(place.path)) is not None:
        told.append("The file is in iCloud and not on this disk: download it first.")
    elif near := _of_the_same_name(vault, place.path):
        told.append(f"There is: {', '.join(map(paths.shown, near))}.")
    return NotFound(" ".join(told))


def _of_the_same_name(vault: Vault, path: str) -> list[str]:
    try:
        with vault.snapshot() as reader:
            return reader.paths_with_stem(stem_key(path))[:NEAR]
    except VaultError:
        return []


def text_of(root: str, place: Place) -> str:
    """Give a file's text exactly.

    Raises:
        NoteUnreadable: it is no text in UTF-8.
    """
    found = files.read(root, place.path)
    if found is None:
        raise NotFound(f"The path {place.said} does not exist. Please provide a valid path.")
    return decoded(found[0], place.said)


def decoded(raw: bytes, said: str) -> str:
    """Read bytes as text.

    Raises:
        NoteUnreadable: they are none in UTF-8.
    """
    if b"\0" not in raw:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            pass
    raise NoteUnreadable(
        f"{said} is a binary file or not in UTF-8, so it can be listed, moved and deleted, but not shown or "
        "edited as text."
    )


# -- a file


def _file(place: Place, text: str, view_range: Sequence[int]) -> str:
    header = f"Here's the content of {place.said} with line numbers:"
    rows = lines.split_lines(text)
    if len(rows) > lines.MOST_LINES:
        raise BadArgument(f"File {place.said} exceeds maximum line limit of {lines.MOST_LINES:,} lines.")
    if not rows:
        return f"{header}\nThe file is empty."
    first, last = _range(view_range, len(rows))
    if first > last:
        return f"{header}\nNo line is in that range: the last line is {len(rows)}."
    shown, count = lines.numbered(rows[first - 1 : last], first, VIEW - len(header) - 1)
    view = f"{header}\n{shown}"
    reached = first + count - 1
    if reached < last:
        following = f"[{reached + 1}, {last if last < len(rows) else -1}]"
        view += (
            f"\nThese are lines {first} to {reached} of {len(rows)}. "
            f"To go on, call memory_view with view_range {following}."
        )
    return view


def _range(view_range: Sequence[int], total: int) -> tuple[int, int]:
    """Give the first and last line that are wanted, from 1, within the file."""
    if not view_range:
        return 1, total
    if len(view_range) != 2:
        raise BadArgument(
            "`view_range` needs two numbers, the first and the last line, as in [10, 20] or [10, -1]."
        )
    first, last = view_range
    return max(first, 1), total if last == -1 else min(last, total)


# -- a folder


def _folder(vault: Vault, place: Place) -> str:
    return _listed(place, files.listing(vault.root, place.path, LEVELS, ENTRIES) or Listing((), 0))


def _listed(place: Place, listing: Listing) -> str:
    base = place.said.rstrip("/") if is_in_memories(place.said) else place.path
    told = [
        f"Here're the files and directories up to {LEVELS} levels deep in {place.said}, "
        f"excluding hidden items and {PASSED_OVER}:",
        f"{size(listing.size)}\t{base or '/'}",
    ]
    room = VIEW - sum(map(len, told))
    left_out = listing.left_out
    for entry in listing.entries:
        inside = entry.path[len(place.path) :].lstrip("/")
        if PASSED_OVER in inside.split("/"):
            continue
        named = paths.shown(f"{base}/{inside}" if base else inside)
        row = f"{size(entry.size)}\t{named}{'/' if entry.is_folder else ''}"
        room -= len(row) + 1
        if room < 0:
            left_out += 1
        else:
            told.append(row)
    if not listing.entries:
        told.append("It is empty.")
    if left_out:
        told.append(f"Not shown for length: {left_out} more. View one of the folders to see what is in it.")
    return "\n".join(told)


def size(count: int) -> str:
    """Write a number of bytes as `du -h` does: 0B, 14B, 4K, 5.5K, 1.2M."""
    amount = float(count)
    for unit in "BKMG":
        if amount < 1024 or unit == "G":
            break
        amount /= 1024
    rounded = round(amount, 1)
    return f"{rounded:g}{unit}" if rounded.is_integer() else f"{rounded:.1f}{unit}"
