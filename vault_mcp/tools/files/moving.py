"""Delete and rename files and folders, in one commit each, with the links that follow a moved note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument, NotFound, PathRefused
from vault_mcp.storage import files
from vault_mcp.tools import following
from vault_mcp.tools.files import places
from vault_mcp.tools.files.places import Place
from vault_mcp.tools.files.viewing import missing
from vault_mcp.tools.told import committed
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.vault import Vault

MISSING = "Error: The path {} does not exist"


def memory_delete(vault: Vault, caller: Caller, path: str, if_version: str = "") -> str:
    """Delete a file, or a folder with all that is in it; Git keeps what it was."""
    with vault.change(
        "memory_delete", by=caller.agent, session=caller.session, if_version=if_version
    ) as change:
        place = _there(change, path)
        doomed = _belonging(change, place)
        change.subject = place.path
        for file in doomed:
            change.delete(file)
    told = [f"Successfully deleted {path}"]
    if place.kind == "folder":
        told.append(f"Files deleted: {len(doomed)}.{_what_stays(vault, place)}")
    told.append("History keeps it: history_restore, or a person's vault-mcp restore, brings it back.")
    return "\n".join([*told, committed(change.receipt)])


def memory_rename(vault: Vault, caller: Caller, old_path: str, new_path: str) -> str:
    """Move a file or a folder; links to the notes in it follow."""
    with vault.change("memory_rename", by=caller.agent, session=caller.session) as change:
        old = _there(change, old_path)
        if old.kind == "file":
            places.refuse_without_name(new_path)
        new = places.new(change, new_path, exists="Error: The destination {} already exists", moved=old)
        if f"{new}/".startswith(f"{old.path}/"):
            raise BadArgument(f"Error: {old_path} cannot be moved into itself. Choose another destination.")
        moved = {file: new + file[len(old.path) :] for file in _belonging(change, old)}
        change.subject = f"{old.path} -> {new}"
        links = following.move(change, moved, rename_links=vault.options.rename_links)
    told = [f"Successfully renamed {old_path} to {new_path}"]
    if old.kind == "folder":
        told.append(f"Files moved: {len(moved)}.{_what_stays(vault, old)}")
    if links:
        told.append(f"Links that follow it: {links}.")
    return "\n".join([*told, committed(change.receipt)])


def _there(change: Change, said: str) -> Place:
    """Give the file or folder that is to be deleted or moved."""
    place = places.there(change.vault.root, said)
    if place.kind is None:
        raise missing(change.vault, place, MISSING)
    if not place.path:
        raise PathRefused(
            f"Error: {place.said} is the root of the memory, which can be neither deleted nor renamed. "
            "Name a file or a folder in it."
        )
    return place


def _belonging(change: Change, place: Place) -> list[str]:
    """Give the files of a place that are in history, or can go there before they are touched.

    A file that Git ignores, or whose name is not UTF-8, could never be brought back: it stays where it is.
    """
    if place.kind == "file":
        found = [place.path]
    else:
        found = sorted(path for path, _ in files.walk(change.vault.root, place.path))
    unknown = [path for path in found if change.writer.head_entry(path) is None]
    lost = {path for path in unknown if not _is_utf8(path)}
    if waiting := [path for path in unknown if path not in lost]:
        lost |= change.vault.repository.ignored(waiting)
    kept = [path for path in found if path not in lost]
    if not kept and lost:
        raise PathRefused(
            f"{place.said} is ignored by Git, or has a name that is not UTF-8, so it could not be "
            "brought back. Leave it to the person whose it is."
        )
    if not kept:
        raise NotFound(
            f"{place.said} is a folder without files, which Git does not keep. "
            "Leave it, or put a file into it."
        )
    return kept


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _what_stays(vault: Vault, place: Place) -> str:
    """Say that a folder is still there, for what the vault leaves alone."""
    if files.kind(vault.root, place.path) is None:
        return ""
    return " What in it is hidden, ignored by Git or a repository of its own was left in place."
