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
    before = old or program.run("hash-object", "-t", "tree", "--stdin", given=b"").decode().strip()
    literal = [f":(literal){path}" for path in paths]
    out = program.run("-c", "core.quotePath=false", *_DIFF, before, new, "--", *literal)
    return out.decode("utf-8", "replace")


Files = dict[str, tuple[int, str] | None]
"""Path -> mode and blob of files, submodules and links; None for one that is gone."""


def changed_files(program: GitProgram, old: str | None, new: str) -> Files:
    """Give what a commit has otherwise than another (None: than nothing)."""
    if not is_sha(new) or (old is not None and not is_sha(old)):
        raise BadArgument("A commit is named by its full hash here.")
    if old is None:
        rows = program.run("ls-tree", "-r", "-z", "--full-tree", new).split(b"\0")
        parted = (row.partition(b"\t") for row in rows if row)
        return {
            _path(path): (int(told.split(b" ")[0], 8), told.split(b" ")[2].decode())
            for told, _, path in parted
        }
    out = program.run(
        "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", old, new
    )
    fields = out.split(b"\0")
    found: Files = {}
    for told, path in zip(fields[0::2], fields[1::2], strict=False):
        _, mode, _, blob, _ = told[1:].split(b" ")
        found[_path(path)] = (int(mode, 8), blob.decode()) if int(mode, 8) else None
    return found


def merge_bases(program: GitProgram, one: str, other: str) -> list[str]:
    """Give the best common ancestors of two commits; none where they share no history."""
    if not is_sha(one) or not is_sha(other):
        raise BadArgument("A commit is named by its full hash here.")
    return program.run("merge-base", "--all", one, other, fine=(0, 1)).decode().split()


def _path(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
