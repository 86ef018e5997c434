"""What a tool gave back, or what went wrong in it, as the result of a `tools/call`.

Some clients hand a model only the text of a result and some only the structure, so a result with a schema
goes out as both, the same facts in each. An error is text alone: clients show nothing else of it.
"""

import errno
import json
import math
import os
import re
from collections.abc import Mapping

from mcp_types import CallToolResult, TextContent

from vault_mcp.errors import VaultError
from vault_mcp.tools.tool import Result, Tool

MAX_REPLY = 1_000_000
"""Characters of one reply unless a tool says otherwise: a last resort, far above what tools give."""

MAX_ERROR = 4_000
"""Characters of an error: what a caller sent may be named in it, but need not come back whole."""

HALF_CHARACTER = re.compile("[\ud800-\udfff]")

NOTHING_SAVED = "Nothing was saved."

DISK_SAYS = {
    errno.ENOSPC: "There is no space left on the disk. Free some and try again.",
    errno.EDQUOT: "The disk quota is used up. Free some space and try again.",
    errno.EACCES: "The system gave no permission{path}. Check who owns the vault's files.",
    errno.EPERM: "The system gave no permission{path}. Check who owns the vault's files.",
    errno.EROFS: "The disk of the vault is read-only. Nothing can be written there.",
    errno.ENAMETOOLONG: "A file name is too long for this disk{path}. Choose a shorter name.",
    errno.EMFILE: "Too many files are open at once. Try again in a moment.",
    errno.ENFILE: "Too many files are open at once. Try again in a moment.",
}


def succeeded(tool: Tool, result: Result) -> CallToolResult:
    """Give a tool's result as text, and as structure where the tool declares one."""
    blocks: tuple[str, ...]
    if isinstance(result, Mapping):
        text, structure = _written(result)
        blocks = (text,)
    else:
        blocks = tuple(map(sendable, (result,) if isinstance(result, str) else result))
        structure = None
    length, most = sum(map(len, blocks)), tool.longest_reply or MAX_REPLY
    if length > most:
        return _too_long(tool, length, most)
    return CallToolResult(
        content=[TextContent(type="text", text=block) for block in blocks], structured_content=structure
    )


def failed(message: str) -> CallToolResult:
    """Give an error that the model reads and can act on."""
    return CallToolResult(
        content=[TextContent(type="text", text=sendable(message[:MAX_ERROR]))], is_error=True
    )


def explained(tool: Tool, error: Exception, root: str = "") -> str:
    """Say in one or two sentences what an exception means to the caller.

    Args:
        tool: what was called; a tool that writes is told that nothing was saved where that is certain.
        error: what was raised.
        root: the vault's folder, which is cut from the paths that are named.
    """
    if isinstance(error, VaultError):
        return nothing_saved(tool, str(error))
    if isinstance(error, OSError) and error.errno is not None:
        says = DISK_SAYS.get(error.errno, "The disk gave an error{path}: {what}.")
        told = says.format(path=_path_of(error, root), what=os.strerror(error.errno).lower())
        return nothing_saved(tool, told)
    # Only what was foreseen is known to have saved nothing.
    check = "" if tool.hints.read_only else " Look whether the change is there before you try again."
    fault = f"{tool.name} failed by a fault in the server ({type(error).__name__}); its log has the details."
    return fault + check


def nothing_saved(tool: Tool, message: str) -> str:
    """Add to an error of a tool that writes that it did not."""
    if tool.hints.read_only or NOTHING_SAVED in message:
        return message
    # A sentence that ends in a command stays apart, so that nobody copies what follows into a shell.
    joint = " " if message.rstrip()[-1:] in ".!?)…”\"'" else "\n"
    return f"{message}{joint}{NOTHING_SAVED}"


def sendable(text: str) -> str:
    """Replace what no reply can carry: half characters, as in file names that are not UTF-8."""
    return text if text.isascii() else HALF_CHARACTER.sub("\ufffd", text)


def _written(result: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    structure = dict(result)
    try:
        text = json.dumps(structure, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        text.encode("utf-8")
    except ValueError:  # a number that is none, or half a character: rare, so looked for only now
        structure = {sendable(str(key)): _clean(value) for key, value in structure.items()}
        text = json.dumps(structure, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text, structure


def _clean(value: object) -> object:
    match value:
        case str():
            return sendable(value)
        case float() if not math.isfinite(value):
            return None
        case Mapping():
            return {sendable(str(key)): _clean(item) for key, item in value.items()}
        case list() | tuple():
            return [_clean(item) for item in value]
        case _:
            return value


def _too_long(tool: Tool, length: int, most: int) -> CallToolResult:
    if tool.hints.read_only:
        return failed(
            f"The answer would have {length:,} characters, more than one reply may have ({most:,}). "
            "Ask for less: a smaller limit, a narrower search, or fewer names."
        )
    return failed(f"The change was saved. Only its report, {length:,} characters, is too long for one reply.")


def _path_of(error: OSError, root: str) -> str:
    """Name the file as the vault does, or not at all."""
    name = error.filename
    if not isinstance(name, str) or not name:
        return ""
    if os.path.isabs(name):
        inside = os.path.relpath(name, root) if root else ".."
        if inside.startswith(".."):
            return ""
        name = inside
    return f" for {name}"
