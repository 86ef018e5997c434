"""The user's own settings folder, outside every vault: what a vault's content must have no say in."""

import contextlib
import os
import tempfile
from collections.abc import Mapping

from vault_mcp.errors import BadArgument, StorageFailed


def settings_folder(environ: Mapping[str, str]) -> str:
    """Give the folder of the user's own settings: XDG_CONFIG_HOME or ~/.config, on Windows APPDATA."""
    base = environ.get("XDG_CONFIG_HOME") or ""
    if not os.path.isabs(base):  # the XDG Base Directory Specification: relative ones are to be ignored
        base = environ.get("APPDATA", "") if os.name == "nt" else ""
    return os.path.join(base or os.path.join(os.path.expanduser("~"), ".config"), "vault-mcp")


def lies_in(path: str, root: str) -> bool:
    """Say whether a path is `root` or lies below it, links followed."""
    return (os.path.realpath(path) + os.sep).startswith(root.rstrip(os.sep) + os.sep)


def refuse_inside(root: str, environ: Mapping[str, str]) -> None:
    """Refuse to keep anything where whoever writes the vault could write it too.

    Raises:
        BadArgument: the settings folder lies inside the vault at `root`.
    """
    if lies_in(settings_folder(environ), root):
        raise BadArgument(
            "Your settings folder lies inside this vault, so whoever writes the vault could write there too. "
            "Set XDG_CONFIG_HOME to a folder outside it."
        )


def write_own(path: str, text: str, what: str) -> None:
    """Write a file that only the user may read, whole or not at all; its folder is made where need be.

    Args:
        path: where it is to lie.
        text: what it is to hold.
        what: what it is, for the error: "The list of trusted vaults".

    Raises:
        StorageFailed: the disk said no.
    """
    folder, name = os.path.split(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        descriptor, fresh = tempfile.mkstemp(prefix=f".{name[:20]}.", dir=folder)  # mode 0600
        try:
            with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
            os.replace(fresh, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(fresh)
            raise
    except OSError as error:
        raise StorageFailed(
            f"{what} cannot be written ({error.strerror}). Make {folder} writable."
        ) from error
