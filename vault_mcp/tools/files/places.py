"""The place in the vault that a caller's path means: what is there, or where something new may go.

Three ways of writing a path are understood: relative to the vault (`notes/plan.md`), below `/memories`, as
agents are taught to (`/memories/notes/plan.md`), and below `/`. The vault may have a folder `memories` too:
`/memories/x` means `x`, and only where nothing is there, what lies in that folder.

What is there is found by its exact spelling, else by the one spelling that macOS or Windows would take for
the same. A new path may be no such twin of another, and if it is written like an absolute one, it has to
begin with `/memories`: whoever asks for `/etc/motd` means the host's, and is not to hear that it was made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_mcp.change import same_file
from vault_mcp.errors import AlreadyThere, PathRefused
from vault_mcp.notes.links import stem_key
from vault_mcp.storage import files, paths
from vault_mcp.storage.files import Kind

if TYPE_CHECKING:
    from vault_mcp.change import Change

MEMORIES = "/memories"
"""Where agents are taught that their memory lies: the vault's root under another name."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a caller's path leads: `path` in the vault ("" is its root), `said` as the caller wrote it."""

    path: str
    said: str
    kind: Kind | None


def there(root: str, said: str) -> Place:
    """Give the file or folder that a path means; `kind` is None where nothing is.

    Raises:
        PathRefused: it leads out of the vault, to what no tool may touch, or through a link.
    """
    place = Place("", said or "/", None)
    for reading in readings_of(said):
        path, kind = _spelled(root, paths.inside(reading, existing=True))
        place = Place(path, said or "/", kind)
        if kind is not None:
            break
    _refuse_foreign(root, place)
    return place


def new(change: Change, said: str, *, exists: str, moved: Place | None = None) -> str:
    """Give the path for something new; of a folder that is there, the spelling that it has.

    Args:
        change: the change that will put it there.
        said: the caller's path.
        exists: the error, with {} for the path, where something is there.
        moved: what is to be renamed, which may become its own twin in another spelling.

    Raises:
        PathRefused: it leads out of the vault, to what no tool may touch, or into a file or a link.
        AlreadyThere: something is there, also in a spelling that some systems take for the same.
    """
    wanted = paths.inside(readings_of(said)[0])
    if said.startswith("/") and said != "/" and not is_in_memories(said):
        raise PathRefused(
            f"The path {said} is absolute. Give a new path relative to the vault, such as notes/plan.md."
        )
    root = change.vault.root
    if not wanted:
        raise AlreadyThere(f"{exists.format(said or '/')}. It is the root of the memory: name a file in it.")
    above, slash, name = wanted.rpartition("/")
    folder, kind = _folder(root, above)
    if kind not in ("folder", None):
        what = "a symbolic link, which the vault does not follow" if kind == "link" else "no folder"
        raise PathRefused(f"{folder} is {what}, so nothing can be put into it. Choose another path.")
    path = f"{folder}{slash}{name}"
    _refuse_foreign(root, Place(path, said, None))
    taken = _taken_by(change, path, moved)
    if taken is not None and not (moved and path != moved.path and _is_one(root, taken, path, moved.path)):
        alias = "" if taken == path else f" as {taken}, which some systems cannot tell from it"
        raise AlreadyThere(f"{exists.format(said)}{alias}. Choose another path.")
    return path


def _is_one(root: str, taken: str, path: str, moved: str) -> bool:
    """Say whether what takes the path is the very thing that is to be moved there."""
    return taken == moved or (taken == path and same_file(root, moved, path))


def refuse_without_name(said: str) -> None:
    """Refuse a path for a file that ends where a name should follow, such as `notes/`.

    Raises:
        PathRefused: it ends in a slash. The root itself is left to `new` and `there`, which know it.
    """
    above, slash, last = said.rpartition("/")
    if slash and last in ("", ".") and any(readings_of(said)):
        like = f"{above.rstrip('/')}/notes.md"
        raise PathRefused(f"A file name is missing at the end of the path {said}: give one, as in {like}.")


def readings_of(said: str) -> list[str]:
    """Give the paths relative to the vault that a caller's words can mean, the first one first."""
    if is_in_memories(said):
        rest = said[len(MEMORIES) :].lstrip("/")
        return [rest, f"{MEMORIES[1:]}/{rest}"] if rest else [""]
    return [said.lstrip("/")]


def is_in_memories(said: str) -> bool:
    """Say whether a path is written as agents are taught to, below `/memories`."""
    return said == MEMORIES or said.startswith(MEMORIES + "/")


def _spelled(root: str, path: str) -> tuple[str, Kind | None]:
    """Give a path as it is spelled on the disk, and what is there; as it came where nothing is."""
    if path and files.stat(root, path) is not None:  # the common case, in one look
        return path, "file"
    kind = files.kind(root, path)
    if kind is not None:
        return path, kind
    found = ""
    for part in path.split("/"):
        step = f"{found}/{part}" if found else part
        if files.kind(root, step) is None:
            twins = _twins(root, found, part)
            if len(twins) != 1:
                return path, None
            step = twins[0]
        found = step
    return found, files.kind(root, found)


def _folder(root: str, path: str) -> tuple[str, Kind | None]:
    """Give the folder for something new: as far as it is there in the spelling it has, then as it came."""
    found = ""
    kind: Kind | None = "folder"
    for part in path.split("/") if path else ():
        step = f"{found}/{part}" if found else part
        if kind == "folder":
            kind = files.kind(root, step)
            if kind is None:
                twins = _twins(root, found, part)
                if len(twins) == 1:
                    step = twins[0]
                    kind = files.kind(root, step)
        if kind not in ("folder", None):
            return step, kind
        found = step
    return found, kind


def _twins(root: str, folder: str, name: str) -> list[str]:
    """Give what has this name in a folder, on a system that tells neither case nor Unicode forms apart."""
    listed = files.listing(root, folder, depth=1, limit=1_000_000)
    key = paths.place_key(name)
    entries = listed.entries if listed else ()
    return [e.path for e in entries if paths.place_key(e.path.rpartition("/")[2]) == key]


def _taken_by(change: Change, path: str, moved: Place | None) -> str | None:
    """Give what stands at a path already, or at a twin of it, or would come back to it from a cloud drive."""
    root = change.vault.root
    if files.kind(root, path) is not None:
        return path
    if files.stat(root, paths.placeholder_for(path)) is not None:
        return paths.placeholder_for(path)
    if moved is not None and moved.kind == "folder":
        folder, _, name = path.rpartition("/")
        twins = [other for other in _twins(root, folder, name) if other != moved.path]
        return twins[0] if twins else None
    with change.vault.snapshot() as reader:
        alike = reader.paths_with_stem(stem_key(path))
    key = paths.place_key(path)
    twins = [other for other in alike if paths.place_key(other) == key]
    return next((other for other in twins if files.kind(root, other) is not None), None)


def _refuse_foreign(root: str, place: Place) -> None:
    """Refuse links, devices, and what belongs to a repository of its own."""
    if place.kind in ("link", "other"):
        what = "a symbolic link" if place.kind == "link" else "no file and no folder"
        raise PathRefused(f"{place.said} is {what}, which the vault leaves alone. Choose another path.")
    # The path itself may be such a repository, so one part more is asked for than it has.
    if place.path and files.within_nested(root, f"{place.path}/."):
        raise PathRefused(
            f"{place.said} belongs to a Git repository of its own, which the vault leaves alone. "
            "Choose another path."
        )
