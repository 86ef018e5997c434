"""Which vaults' own programs may run: a list in the user's settings folder, outside every vault.

A repository's configuration can name programs (filters, signing, ssh). They run only when the user said so
for that folder, because a vault may come from anybody. The list is a text file that a person may edit: a
folder's path on each line.
"""

import os
import tempfile
from collections.abc import Mapping

from vault_mcp.errors import BadArgument, StorageFailed

HEAD = "# Folders whose Git repositories may run the programs that they name. Written by: vault-mcp trust\n"


def settings_folder(environ: Mapping[str, str]) -> str:
    """Give the folder of the user's own settings: XDG_CONFIG_HOME or ~/.config, on Windows APPDATA."""
    base = environ.get("XDG_CONFIG_HOME") or ""
    if not os.path.isabs(base):  # the XDG Base Directory Specification: relative ones are to be ignored
        base = environ.get("APPDATA", "") if os.name == "nt" else ""
    return os.path.join(base or os.path.join(os.path.expanduser("~"), ".config"), "vault-mcp")


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
    return not _lies_in(settings_folder(environ), root) and root in trusted_vaults(environ)


def trust(root: str, environ: Mapping[str, str]) -> bool:
    """Put a vault on the list; say whether that was news.

    Raises:
        BadArgument: the list would lie inside the vault, or the path cannot stand on a line.
        StorageFailed: the list cannot be written.
    """
    if _lies_in(settings_folder(environ), root):
        raise BadArgument(
            "Your settings folder lies inside this vault, so whoever writes the vault could write there too. "
            "Set XDG_CONFIG_HOME to a folder outside it."
        )
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


def _lies_in(path: str, root: str) -> bool:
    return (os.path.realpath(path) + os.sep).startswith(root.rstrip(os.sep) + os.sep)


def _write(paths: list[str], environ: Mapping[str, str]) -> None:
    folder = settings_folder(environ)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        descriptor, fresh = tempfile.mkstemp(prefix="trusted.", dir=folder)  # mode 0600
        try:
            with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(HEAD + "".join(f"{path}\n" for path in paths))
            os.replace(fresh, _file(environ))
        except BaseException:
            os.unlink(fresh)
            raise
    except OSError as error:
        raise StorageFailed(
            f"The list of trusted vaults cannot be written ({error.strerror}). Make {folder} writable."
        ) from error
