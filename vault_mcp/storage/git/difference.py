"""What differs between two commits, in the form that Git prints."""

from __future__ import annotations

from collections.abc import Sequence

from vault_mcp.errors import BadArgument
from vault_mcp.storage.git.environment import GitProgram
from vault_mcp.storage.git.refs import is_sha

_DIFF = (
    "diff-tree",
    "-r",
    "-p",
    "--root",
    "--no-commit-id",
    "--find-renames",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--ignore-submodules=all",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--unified=1",
)


def diff_text(program: GitProgram, old: str | None, new: str, paths: Sequence[str] = ()) -> str:
    """Give what `new` has other than `old` (None: than nothing) as a unified diff, of some files or all."""
    for revision in (old, new):
        if revision is not None and not is_sha(revision):
            raise BadArgument("A commit is named by its full hash here.")
    revisions = (old, new) if old else (new,)
    literal = [f":(literal){path}" for path in paths]
    out = program.run("-c", "core.quotePath=false", *_DIFF, *revisions, "--", *literal)
    return out.decode("utf-8", "replace")
