"""What stays open between the commits of one working tree."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from vault_mcp.errors import RepositoryRefused
from vault_mcp.storage.git.flush import Durability
from vault_mcp.storage.git.git_lock import GitLock
from vault_mcp.storage.git.index_image import IndexImage
from vault_mcp.storage.git.intent import IntentFile
from vault_mcp.storage.git.objects import LooseObjects
from vault_mcp.storage.git.probe import Probe
from vault_mcp.storage.git.reader import ObjectReader
from vault_mcp.storage.git.refs import Refs
from vault_mcp.storage.git.through_git import ThroughGit
from vault_mcp.storage.git.trees import TreeStore
from vault_mcp.storage.git.wal import Log


@dataclass(slots=True)
class Workshop:
    """The tools of a writer. But for reading objects and trees, only the lock's holder uses them."""

    root: str
    git_dir: str
    state_dir: str
    objects: LooseObjects
    reader: ObjectReader
    trees: TreeStore
    refs: Refs
    image: IndexImage
    intents: IntentFile
    log: Log
    probe: Probe
    git: ThroughGit
    device: int
    """The file system that the state folder is on."""
    durability: Durability = "git"
    roots: dict[str, bytes] = field(default_factory=dict)

    def root_tree(self, commit: str) -> bytes:
        """Give the tree of a commit (its name's bytes)."""
        tree = self.roots.get(commit)
        if tree is None:
            kind, body = self.reader.read(commit)
            if kind != b"commit" or not body.startswith(b"tree "):
                raise RepositoryRefused("The last commit cannot be read. Run: git fsck")
            tree = bytes.fromhex(body[5 : body.index(b"\n")].decode())
            self.remember(commit, tree)
        return tree

    def remember(self, commit: str, tree: bytes) -> None:
        """Keep the tree of a commit at hand."""
        if len(self.roots) > 64:
            self.roots.clear()
        self.roots[commit] = tree

    def places(self) -> list[str]:
        """Give a folder on each file system that this repository is on."""
        found = {os.stat(path).st_dev: path for path in (self.root, self.git_dir, self.refs.common_dir)}
        return list(found.values())

    def locks(self, ref: str) -> tuple[GitLock, GitLock]:
        """Give the locks of the index and of a branch, not taken."""
        shown = ".git" if self.git_dir == f"{self.root}/.git" else "(the repository's Git folder)"
        return (
            GitLock(f"{self.state_dir}/own-index", f"{self.git_dir}/index", f"{shown}/index.lock"),
            GitLock(f"{self.state_dir}/own-ref", self.refs.path(ref), f"{shown}/{ref}.lock"),
        )


def encoded(path: str) -> bytes:
    """Give a path as Git stores it."""
    return path.encode("utf-8", "surrogateescape")
