"""Several machines with one vault: clones of one bare remote."""

from __future__ import annotations

from pathlib import Path

from tests.vaults import git, make_vault


def remote_and_clones(tmp_path: Path, names: str = "ab", files: dict[str, str] | None = None) -> list[Path]:
    """Make a bare remote with a first vault in it, and a clone for each letter."""
    bare = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(bare))
    first = make_vault(tmp_path / names[0], files or {})
    git(first, "remote", "add", "origin", str(bare))
    git(first, "push", "-q", "-u", "origin", "main")
    return [first, *(clone(bare, tmp_path / name) for name in names[1:])]


def clone(bare: Path, root: Path) -> Path:
    """Clone the remote for another machine of the same person."""
    git(bare.parent, "clone", "-q", str(bare), str(root))
    git(root, "config", "user.name", f"Ann on {root.name}")
    git(root, "config", "user.email", "ann@example.org")
    return root


def tree(root: Path) -> str:
    """Give the tree of HEAD."""
    return git(root, "rev-parse", "HEAD^{tree}").strip()


def sound(root: Path) -> bool:
    """Say whether Git sees nothing uncommitted, nothing under way and no fault.

    A commit that had to be made anew, since somebody else was quicker, may lie about; `git gc` takes it.
    """
    under_way = (
        "MERGE_HEAD",
        "CHERRY_PICK_HEAD",
        "REVERT_HEAD",
        "rebase-merge",
        "rebase-apply",
        "index.lock",
    )
    return (
        not any((root / ".git" / name).exists() for name in under_way)
        and git(root, "status", "--porcelain") == ""
        and git(root, "fsck", "--strict", "--no-dangling") == ""
    )
