"""The merge driver of a clone: which command Git calls for a note that two sides changed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from vault_mcp.storage.git.environment import GitProgram

NAME = "merge notes by facts and properties"
_KEYS = ("merge.vault.name", "merge.vault.driver")


def register(program: GitProgram, command: Sequence[str]) -> bool:
    """Have Git call a command for notes in this clone; say whether that is new.

    What stood there is replaced, whoever wrote it. Git gives the command to a shell, so every part is quoted
    for one.
    """
    wanted = (NAME, _line(command))
    if registered(program) == wanted[1]:
        return False
    for key, value in zip(_KEYS, wanted, strict=True):
        program.run("config", "--local", "--replace-all", key, value)
    return True


def is_registered(program: GitProgram, command: Sequence[str]) -> bool:
    """Say whether this very command is the one that Git calls in this clone."""
    return registered(program) == _line(command)


def _line(command: Sequence[str]) -> str:
    return f"{shlex.join(command)} %O %A %B %P"


def registered(program: GitProgram) -> str:
    """Give the command line that Git would call in this clone; "" for none."""
    out = program.run("config", "--local", "--get", _KEYS[1], fine=(0, 1))
    return out.decode("utf-8", "replace").strip()
