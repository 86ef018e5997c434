"""The six file tools behind one name with a command: the memory tool that Claude is trained on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument
from vault_mcp.tools.files import editing, moving, viewing
from vault_mcp.tools.tool import Caller, Result

if TYPE_CHECKING:
    from vault_mcp.vault import Vault

_DEEDS: dict[str, tuple[Callable[..., Result], tuple[str, ...], tuple[str, ...]]] = {
    "view": (viewing.memory_view, ("path",), ("view_range", "as_of")),
    "create": (editing.memory_create, ("path", "file_text"), ()),
    "str_replace": (editing.memory_str_replace, ("path", "old_str"), ("new_str", "if_version")),
    "insert": (editing.memory_insert, ("path", "insert_line", "insert_text"), ()),
    "delete": (moving.memory_delete, ("path",), ("if_version",)),
    "rename": (moving.memory_rename, ("old_path", "new_path"), ()),
}
"""Command -> (deed, arguments that it needs, arguments that it may get)."""

COMMANDS = tuple(_DEEDS)


def memory(vault: Vault, caller: Caller, command: str, **arguments: object) -> Result:
    """Do what `command` says; arguments that belong to other commands are left aside."""
    deed, needed, optional = _DEEDS[command]
    missing = [f"`{name}`" for name in needed if name not in arguments]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise BadArgument(f"{' and '.join(missing)} {verb} missing: the command {command} needs it.")
    given = {name: arguments[name] for name in (*needed, *optional) if name in arguments}
    return deed(vault, caller, **given)
