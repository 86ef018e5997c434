"""Which files differ from the last commit, as Git itself sees it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vault_mcp.storage.git.environment import GitProgram


@dataclass(frozen=True, slots=True)
class Uncommitted:
    """A file that differs from the last commit; `staged`: the person has put it up for the next one."""

    path: str
    staged: bool
    deleted: bool


def uncommitted(program: GitProgram) -> Iterator[Uncommitted]:
    """Give the files that are not as the last commit has them, without those that Git ignores."""
    # Submodules are left alone: Git would read their own configuration, and might run what it names.
    said = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
    out = program.run("status", *said)
    for line in out.decode("utf-8", "surrogateescape").split("\0"):
        if line:
            in_index, on_disk, path = line[0], line[1], line[3:]
            yield Uncommitted(path, staged=in_index not in " ?", deleted="D" in (in_index, on_disk))
