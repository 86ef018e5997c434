"""How a commit is to be made here: by ourselves, or which part of it through Git.

Looked at before each commit by the signatures of a handful of files, and worked out only when one changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from vault_mcp.errors import RepositoryRefused
from vault_mcp.storage.git.attributes import Attributes, Conversion
from vault_mcp.storage.git.config import Config, ConfigFiles
from vault_mcp.storage.git.environment import GitProgram

_KNOWN_EXTENSIONS = (
    "worktreeconfig",
    "noop",
    "noop-v1",
    "preciousobjects",
    "partialclone",
    "objectformat",
    "refstorage",
)
_UNDERWAY = {
    "rebase-merge": ("A rebase", "git rebase --continue", "git rebase --abort"),
    "rebase-apply": ("A rebase", "git rebase --continue", "git rebase --abort"),
    "MERGE_HEAD": ("A merge", "git commit", "git merge --abort"),
    "CHERRY_PICK_HEAD": ("A cherry-pick", "git cherry-pick --continue", "git cherry-pick --abort"),
    "REVERT_HEAD": ("A revert", "git revert --continue", "git revert --abort"),
    "sequencer": ("A cherry-pick or revert", "git cherry-pick --continue", "git cherry-pick --abort"),
    "BISECT_LOG": ("A bisect", "git bisect good or git bisect bad", "git bisect reset"),
}
_BUSY = frozenset(_UNDERWAY)


@dataclass(frozen=True, slots=True)
class Rules:
    """What the configuration says about making a commit here.

    `through_git` is why Git has to make all of it, or nothing when we may.
    """

    through_git: str = ""
    signed: bool = False
    logs: bool = True
    file_mode: bool = True
    oid_length: int = 20


class Probe:
    """What is known about one repository, kept up to date."""

    def __init__(self, program: GitProgram, git_dir: str, common_dir: str, *, trusted: bool) -> None:
        self._program = program
        self._git_dir = git_dir
        self._trusted = trusted
        self._files = ConfigFiles(program, git_dir, common_dir)
        self._attributes = Attributes(program, program.root, common_dir)
        self.rules = Rules()
        self.unsignable = ""
        """Why a commit could not be signed, until the configuration changes."""

    @property
    def config(self) -> Config:
        """The configuration as it was looked at last; at first use it is read."""
        if not self._files.config.entries:
            self.look()
        return self._files.config

    def look(self) -> Rules:
        """Give the rules as they are now.

        Raises:
            RepositoryRefused: the repository is bare, or of a kind we cannot write to.
        """
        if self._files.look():
            config = self._files.config
            self._program.overlay([] if self._trusted else config.own_programs())
            self._attributes.configure(
                autocrlf=config.text("core.autocrlf", "false").lower() == "input"
                or config.truth("core.autocrlf"),
                user_file=config.text("core.attributesfile"),
            )
            self.unsignable = ""
            self.rules = self._rules(config)
        return self.rules

    def _rules(self, config: Config) -> Rules:
        if config.truth("core.bare"):
            raise RepositoryRefused(BARE)
        tree = config.text("core.worktree", own=True)
        if tree and os.path.realpath(os.path.join(self._git_dir, tree)) != self._program.root:
            raise RepositoryRefused(
                "The repository's working tree is another folder (core.worktree). Open that folder instead."
            )
        if config.text("extensions.refstorage", "files") != "files":
            raise RepositoryRefused(
                "The repository keeps its branches in a form that only newer programs read "
                "(extensions.refStorage). Convert it with: git refs migrate --ref-format=files"
            )
        logs = config.text("core.logallrefupdates", "true").lower() != "false"
        return Rules(
            through_git=_why_through_git(config),
            signed=config.truth("commit.gpgsign"),
            logs=logs,
            file_mode=config.truth("core.filemode", default=True),
            oid_length=32 if config.text("extensions.objectformat") == "sha256" else 20,
        )

    @property
    def converting(self) -> bool:
        """Whether a file at the top of the vault may be stored otherwise than byte for byte."""
        return not self._attributes.plain("")

    def conversions(self, paths: Iterable[str]) -> dict[str, Conversion]:
        """Give those of these paths that Git does not store byte for byte.

        Raises:
            RepositoryRefused: one needs a program that only the repository's own configuration names.
        """
        found = self._attributes.conversions(paths)
        kept = {}
        for path, conversion in found.items():
            if conversion.filter and not self._filter_runs(conversion.filter, path):
                conversion = Conversion("", conversion.others)
            if conversion:
                kept[path] = conversion
        return kept

    def _filter_runs(self, name: str, path: str) -> bool:
        """Say whether a filter is one that would run; a name that nothing defines does nothing."""
        keys = [f"filter.{name}.{part}" for part in ("clean", "process")]
        config = self._files.config
        if any(config.text(key, own=False) for key in keys):
            return True
        if not any(config.text(key) for key in keys):
            return False
        if not self._trusted:
            raise RepositoryRefused(
                f"{path} goes through the filter {name!r}, a program that this repository's own "
                "configuration names. If you trust it, allow its programs with: vault-mcp trust DIR"
            )
        return True


BARE = (
    "The repository is bare: it has no working tree for notes. Clone it first, and open the clone: "
    "git clone REPOSITORY FOLDER"
)


def _why_through_git(config: Config) -> str:
    unknown = [
        key for key, _ in config.of_section("extensions") if key.split(".")[1] not in _KNOWN_EXTENSIONS
    ]
    reasons = [
        (config.text("extensions.objectformat", "sha1") != "sha1", "objects are named by SHA-256"),
        (bool(unknown), f"it uses {', '.join(unknown)}"),
        (config.truth("core.sparsecheckout"), "its checkout is sparse (core.sparseCheckout)"),
        (config.truth("core.splitindex"), "its index is split (core.splitIndex)"),
        (_shared(config), "it is shared between users (core.sharedRepository)"),
        (
            any(map(config.is_set, ("core.fsync", "core.fsyncmethod", "core.fsyncobjectfiles"))),
            "it asks for every write to be forced to disk (core.fsync)",
        ),
    ]
    return next((reason for holds, reason in reasons if holds), "")


def _shared(config: Config) -> bool:
    return config.text("core.sharedrepository", "umask").lower() not in ("umask", "false", "no", "0", "")


def refuse_under_way(git_dir: str) -> None:
    """Refuse to write while a person is in the middle of something.

    Raises:
        RepositoryRefused: a merge, rebase, cherry-pick, revert or bisect is under way.
    """
    for name in _BUSY.intersection(os.listdir(git_dir)):
        what, go_on, give_up = _UNDERWAY[name]
        raise RepositoryRefused(
            f"{what} is under way in this repository. Finish it ({go_on}) or end it ({give_up})."
        )
