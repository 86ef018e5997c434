"""A real vault in a temporary folder, and plain Git to look at it with."""

import contextlib
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from vault_mcp.adopt import adopt
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Options, Vault

CLAUDE = Caller("claude-desktop")
CURSOR = Caller("cursor")
PERSON = "Ann Person"


def git(root: Path | str, *args: str, given: str | None = None) -> str:
    """Run the real git and give what it printed."""
    environment = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["git", "-c", "core.quotePath=false", *args],
        cwd=root,
        input=given,
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        encoding="utf-8",
    )
    return done.stdout


def make_vault(root: Path, files: Mapping[str, str] | None = None) -> Path:
    """Make a vault at `root` that holds these files, with a person's identity in its own config."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", PERSON)
    git(root, "config", "user.email", "ann@example.org")
    adopt(str(root))
    if files:
        write_files(root, files)
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "start", "--allow-empty")
    return root


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Write files exactly as given."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


@contextlib.contextmanager
def opened(root: Path, options: Options | None = None) -> Iterator[Vault]:
    """Open a vault for a block, without a watcher."""
    vault = Vault.open(str(root), options)
    try:
        yield vault
    finally:
        vault.close()


def commits(root: Path) -> list[str]:
    """Give the subjects of all commits, newest first."""
    return git(root, "log", "--format=%s").splitlines()


def authors(root: Path) -> list[str]:
    """Give the authors of all commits, newest first."""
    return git(root, "log", "--format=%an").splitlines()


def clean(root: Path) -> bool:
    """Say whether Git sees nothing uncommitted and no fault."""
    return git(root, "status", "--porcelain") == "" and git(root, "fsck", "--strict") == ""
