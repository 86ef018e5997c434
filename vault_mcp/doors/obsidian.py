"""What makes a vault pleasant in Obsidian, laid down when a person asks for it: a table, a style, settings.

Nothing that is there is replaced: a file of that name stays, and so does every setting that a person made.
Obsidian's own folder is hidden from the vault, so what is written there is in no commit.
"""

import os
import tempfile
from collections.abc import Callable, Iterator

from vault_mcp.doors import jsonc
from vault_mcp.errors import BadArgument, StorageFailed, VaultError
from vault_mcp.storage import files

TABLE = "Memory.base"
"""A view of Obsidian's Bases: every entity with its type, its links and its last change."""

STYLE = ".obsidian/snippets/vault-stamps.css"
"""A style that hides the stamps at the ends of lines, but on the line that is being edited."""

APPEARANCE = ".obsidian/appearance.json"
LINKS = ".obsidian/app.json"


def sample_file(sample: str, path: str) -> str:
    """Give a file of the sample vault, from which the table and the style are taken.

    Raises:
        StorageFailed: it is not there.
    """
    try:
        with open(os.path.join(sample, path), encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise StorageFailed(
            f"The sample vault lacks {path} ({error.strerror}). Install the package again."
        ) from error


def lay_down(root: str, sample: str) -> Iterator[str]:
    """Write Obsidian's own files and say of each, in a sentence, what was done. The table is not among them.

    Args:
        root: the vault's folder.
        sample: the folder of the sample vault.
    """
    if not _there(root, STYLE):
        _write(root, STYLE, sample_file(sample, STYLE))
        yield f"added {STYLE}: hides the stamps at the ends of lines"
    name = os.path.splitext(os.path.basename(STYLE))[0]
    yield from _edited(root, APPEARANCE, lambda text: _with_style(text, name), f"switched {name}.css on")
    yield from _edited(
        root,
        LINKS,
        lambda text: _with_missing(text, sample_file(sample, LINKS)),
        "links follow a renamed note, and are written as short as they may be",
    )


def _there(root: str, path: str) -> bool:
    return files.kind(root, path) is not None


def _edited(root: str, path: str, edit: Callable[[str], str], did: str) -> Iterator[str]:
    """Edit one of Obsidian's settings files, or say why it was left alone."""
    try:
        found = files.read(root, path)
        if found is None and _there(root, path):
            raise BadArgument("It is no file of its own.")
        text = found[0].decode() if found else ""
        after = edit(text)
    except (ValueError, VaultError) as error:
        yield f"left {path} alone: {error}"
        return
    if after != text:
        _write(root, path, after)
        yield f"{'changed' if text else 'added'} {path}: {did}"


def _with_style(text: str, name: str) -> str:
    said = jsonc.read(text)
    styles = said.get("enabledCssSnippets") if isinstance(said, dict) else None
    listed = styles if isinstance(styles, list) else []
    return text if name in listed else jsonc.put(text, ["enabledCssSnippets"], [*listed, name])


def _with_missing(text: str, wanted: str) -> str:
    """Add the settings that a person has not made; those that they have stay."""
    settings, said = jsonc.read(wanted), jsonc.read(text)
    assert isinstance(settings, dict)
    for key, value in settings.items():
        if isinstance(said, dict) and key not in said:
            text = jsonc.put(text, [key], value)
    return text


def _write(root: str, path: str, text: str) -> None:
    target = os.path.join(root, *path.split("/"))
    folder = os.path.dirname(target)
    try:
        above = root
        for part in path.split("/")[:-1]:
            above = os.path.join(above, part)
            if os.path.islink(above):
                raise StorageFailed(f"{part} is a symbolic link, which the vault does not follow.")
            os.makedirs(above, exist_ok=True)
        descriptor, fresh = tempfile.mkstemp(prefix=".vault-mcp.", dir=folder)
        try:
            with open(descriptor, "wb") as file:
                file.write(text.encode())
            os.chmod(fresh, 0o644)
            os.replace(fresh, target)
        except BaseException:
            os.unlink(fresh)
            raise
    except OSError as error:
        raise StorageFailed(
            f"{path} cannot be written ({error.strerror}). The vault itself is as it was."
        ) from error
