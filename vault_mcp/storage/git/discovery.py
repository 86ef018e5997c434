"""Which repository a folder is the working tree of, and whether it is one we may write to."""

from __future__ import annotations

import os
from collections.abc import Iterable

from vault_mcp.errors import RepositoryRefused
from vault_mcp.storage.git.environment import GitProgram
from vault_mcp.storage.git.probe import BARE


def find_repository(root: str) -> tuple[str, str]:
    """Give the Git folder of a working tree, and the one with the objects: another in a linked working tree.

    Raises:
        RepositoryRefused: the folder is not the top of a working tree.
    """
    git_dir = f"{root}/.git"
    if os.path.isfile(git_dir):
        git_dir = _linked(root, git_dir)
    if not os.path.isfile(f"{git_dir}/HEAD"):
        raise _refusal(root)
    common = git_dir
    if os.path.isfile(f"{git_dir}/commondir"):
        with open(f"{git_dir}/commondir", encoding="utf-8", errors="surrogateescape") as file:
            common = os.path.realpath(os.path.join(git_dir, file.read().rstrip("\n")))
    return git_dir, common


def _linked(root: str, file: str) -> str:
    """Follow a `.git` file: gitrepository-layout(5)."""
    with open(file, encoding="utf-8", errors="surrogateescape") as opened:
        line = opened.read(4096).rstrip("\n")
    target = os.path.realpath(os.path.join(root, line.removeprefix("gitdir: ")))
    if not line.startswith("gitdir: ") or not os.path.isdir(target):
        raise RepositoryRefused(
            "The vault's .git file leads nowhere. If this was a linked working tree that has moved, run: "
            "git worktree repair"
        )
    return target


def _refusal(root: str) -> RepositoryRefused:
    if not os.path.isdir(root):
        return RepositoryRefused("The folder does not exist. Make a vault there with: vault-mcp init DIR")
    if is_bare(root):
        return RepositoryRefused(BARE)
    above = repository_around(root)
    if above is not None:
        return _inside(above)
    return RepositoryRefused(
        "The folder is not a Git repository. Make a vault of it with: vault-mcp init DIR"
    )


def _inside(above: str) -> RepositoryRefused:
    return RepositoryRefused(
        f"The folder lies inside another Git repository ({os.path.basename(above)}) and has none of its "
        "own, so its notes would be committed there. Make one of its own with: vault-mcp init DIR"
    )


def refuse_to_make(root: str, *, nested: bool) -> None:
    """See that a repository can be made in a folder; inside another one it can if `nested` says so.

    Raises:
        RepositoryRefused: the folder is a bare repository, or lies inside another one.
    """
    if is_bare(root):
        raise RepositoryRefused(BARE)
    above = None if nested else repository_around(root)
    if above is not None:
        raise _inside(above)


def is_bare(root: str) -> bool:
    """Say whether a folder is itself a Git folder, without a working tree."""
    return all(os.path.exists(f"{root}/{name}") for name in ("HEAD", "objects", "refs"))


def repository_around(root: str) -> str | None:
    """Give the working tree that a folder lies in, its own not counted; None where there is none."""
    above = os.path.dirname(root)
    while above != os.path.dirname(above):
        if os.path.exists(f"{above}/.git"):
            return above
        above = os.path.dirname(above)
    return None


def refuse_other_owner(program: GitProgram, places: Iterable[str]) -> None:
    """Refuse a repository that belongs to another user, unless the user told Git that it is safe.

    Git's own rule (safe.directory in git-config(1)): it is asked only when there is something to ask.

    Raises:
        RepositoryRefused: with the command that tells Git so. We never give it ourselves.
    """
    if not hasattr(os, "geteuid") or all(os.stat(place).st_uid == os.geteuid() for place in places):
        return
    code, _, err = program.attempt("rev-parse", "--git-dir")
    if not code:
        return
    if b"safe.directory" in err:
        raise RepositoryRefused(
            "The folder or its repository belongs to another user. If you trust it, run in that folder: "
            'git config --global --add safe.directory "$PWD"'
        )
    raise RepositoryRefused(f"Git cannot open the repository: {program.words(err)}")
