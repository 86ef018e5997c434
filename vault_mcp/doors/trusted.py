"""Which vaults' own programs may run: a list in the user's settings folder, outside every vault.

A repository's configuration can name programs (filters, signing, ssh). They run only when the user said so
for that folder, because a vault may come from anybody. The list is a text file that a person may edit: a
folder's path on each line.
"""

import os
from collections.abc import Mapping

from vault_mcp.doors.own_folder import lies_in, refuse_inside, settings_folder, write_own
from vault_mcp.errors import BadArgument, StorageFailed

HEAD = "# Folders whose Git repositories may run the programs that they name. Written by: vault-mcp trust\n"


def trusted_vaults(environ: Mapping[str, str]) -> list[str]:
    """Give the folders that are trusted, in the order in which they came."""
    try:
        with open(_file(environ), encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().split("\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StorageFailed(
            f"The list of trusted vaults cannot be read ({error.strerror}). Make {_file(environ)} readable."
        ) from error
    return list(dict.fromkeys(line for line in lines if os.path.isabs(line)))


def is_trusted(root: str, environ: Mapping[str, str]) -> bool:
    """Say whether the user trusts the vault at `root`; never on the word of a list inside it."""
    return not lies_in(settings_folder(environ), root) and root in trusted_vaults(environ)


def trust(root: str, environ: Mapping[str, str]) -> bool:
    """Put a vault on the list; say whether that was news.

    Raises:
        BadArgument: the list would lie inside the vault, or the path cannot stand on a line.
        StorageFailed: the list cannot be written.
    """
    refuse_inside(root, environ)
    if "\n" in root or "\r" in root:
        raise BadArgument("The folder's path has a line break. Move the vault to a path without one.")
    known = trusted_vaults(environ)
    if root in known:
        return False
    _write([*known, root], environ)
    return True


def distrust(root: str, environ: Mapping[str, str]) -> bool:
    """Take a vault off the list; say whether it was on it."""
    known = trusted_vaults(environ)
    if root not in known:
        return False
    _write([path for path in known if path != root], environ)
    return True


def _file(environ: Mapping[str, str]) -> str:
    return os.path.join(settings_folder(environ), "trusted")


def _write(paths: list[str], environ: Mapping[str, str]) -> None:
    text = HEAD + "".join(f"{path}\n" for path in paths)
    write_own(_file(environ), text, "The list of trusted vaults")
