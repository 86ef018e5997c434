"""Places for new notes: a folder that stays small, a file name that no other note has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.notes import links, names
from vault_mcp.storage import files

if TYPE_CHECKING:
    from vault_mcp.change import Change

ARCHIVE = "archive/"
"""Notes below this folder are kept and can be recalled, but are no part of the graph."""

FOLDER_MOST = 500
"""Notes in one folder from which new ones go to its sub-folders (Git's tree objects stay small)."""


def place(change: Change, folder: str, name: str) -> tuple[str, str]:
    """Give (path, stem) for a new note called `name` in `folder`; no other note in use has that stem.

    An archived note that has it is no hindrance: a bare link means the shorter of two paths, as a rule the
    new one.
    """
    with change.vault.snapshot() as reader:

        def taken(stem: str) -> bool:
            key = links.stem_key(stem)
            if key in change.stems:
                return True
            return any(not path.startswith(ARCHIVE) for path in reader.paths_with_stem(key))

        stem = names.free_stem(name, taken)
        if reader.notes_in_folder(folder) + change.placed[folder] >= FOLDER_MOST:
            folder = f"{folder}/{names.shard(name)}"
    path = f"{folder}/{stem}.md"
    while change.exists(path) or files.stat(change.vault.root, path) is not None:
        # A file that nobody has noticed yet stands there.
        stem = names.free_stem(f"{stem} (2)", lambda s: change.exists(f"{folder}/{s}.md"))
        path = f"{folder}/{stem}.md"
    change.stems.add(links.stem_key(stem))
    change.placed[folder] += 1
    return path, stem
