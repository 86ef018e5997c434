"""The steps of a commit made by Git itself, for a repository that is anything but plain.

Each is what the writer otherwise does alone: a blob with its conversions, a tree, a signed commit, the
branch, the index. Their order, the locks, the record and the files are the writer's in either case.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Sequence

from vault_mcp.errors import RepositoryRefused, StorageFailed
from vault_mcp.storage import system
from vault_mcp.storage.git.environment import Extra, GitProgram
from vault_mcp.storage.git.message import Ident
from vault_mcp.storage.git.refs import is_sha

SIGNING_SECONDS = 4.0
"""How long a signature may take: longer means that somebody is being asked for a passphrase."""

Entry = tuple[str, str, str | None]
"""Path, mode in octal, blob; no blob takes the path out."""


class ThroughGit:
    """Git's own commands, for one working tree. Used by whoever holds the write lock."""

    def __init__(self, program: GitProgram, git_dir: str, state_dir: str) -> None:
        self._program = program
        self._index = f"{git_dir}/index"
        self._next = f"{state_dir}/next-index"

    def blob(self, path: str, content: bytes) -> str:
        """Store a file's bytes as Git would on `git add`: filters, line ends and all."""
        out = self._program.run("hash-object", "-w", "--stdin", f"--path={path}", given=content)
        return out.decode().strip()

    def blobs_on_disk(self, paths: Sequence[str]) -> list[str]:
        """Store files as they are in the working tree; give their blobs in the same order."""
        given = b"".join(_raw(path) + b"\n" for path in paths)
        return self._program.run("hash-object", "-w", "--stdin-paths", given=given).decode().split()

    def tree(self, head: str | None, entries: Iterable[Entry]) -> str:
        """Store the tree of a commit with these paths changed."""
        self._forget()
        extra = {"GIT_INDEX_FILE": self._next}
        try:
            self._program.run("read-tree", head or "--empty", extra=extra)
            self._put(entries, extra, len(head or "") or 40)
            return self._program.run("write-tree", extra=extra).decode().strip()
        finally:
            self._forget()

    def raw_commit(self, body: bytes) -> str:
        """Store a commit of which every byte is given."""
        out = self._program.run("hash-object", "-w", "-t", "commit", "--stdin", given=body)
        return out.decode().strip()

    def signed_commit(
        self, tree: str, parents: Sequence[str], text: bytes, author: Ident, committer: Ident, at: int
    ) -> str:
        """Store a commit with a signature, without asking anybody anything.

        Raises:
            StorageFailed: it could not be signed within four seconds.
        """
        above = [part for parent in parents for part in ("-p", parent)]
        extra: dict[str, str | None] = {
            **_persons(author, committer, at),
            # Nobody is there to be asked: no terminal (a new session has none) and no window.
            **dict.fromkeys(("DISPLAY", "WAYLAND_DISPLAY", "GPG_TTY", "SSH_ASKPASS")),
            "SSH_ASKPASS_REQUIRE": "never",
        }
        code, out, err = self._program.attempt(
            "-c", "i18n.commitEncoding=UTF-8", "commit-tree", tree, *above, "-S", "-F", "-",
            given=text, extra=extra, timeout=SIGNING_SECONDS,
        )  # fmt: skip
        if code:
            raise StorageFailed(
                f"The commit could not be signed: {self._program.words(err) or 'no reason given'}"
            )
        return out.decode().strip()

    def move(self, ref: str, new: str, old: str | None, log: str, committer: Ident, at: int) -> None:
        """Set a branch if it still is at `old`."""
        before = old or "0" * len(new)
        self._program.run("update-ref", "-m", log, ref, new, before, extra=_persons(committer, committer, at))

    def prepare_index(self, entries: Sequence[Entry], width: int) -> None:
        """Make the index as it will be, beside the real one, in whatever form Git keeps it here.

        Names of objects are `width` digits long.

        Raises:
            RepositoryRefused: a path is in conflict.
        """
        self._forget()
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(self._index, self._next)
        extra = {"GIT_INDEX_FILE": self._next}
        if self._program.run("ls-files", "--unmerged", "-z", extra=extra):
            raise RepositoryRefused(UNMERGED)
        self._put(entries, extra, width)
        present = b"".join(_raw(path) + b"\0" for path, _, blob in entries if blob)
        if present:
            # Only the facts of the files are taken in: what they hold was stored above.
            self._program.attempt(
                "--literal-pathspecs", "add", "--refresh", "--sparse",
                "--pathspec-from-file=-", "--pathspec-file-nul",
                given=present, extra=extra,
            )  # fmt: skip

    def is_whole(self, commit: str) -> bool:
        """Say whether a commit is there with all of its files."""
        if not is_sha(commit):
            return False
        return self._program.attempt("rev-list", "--objects", "--quiet", "-1", commit)[0] == 0

    def forget_lost(self) -> None:
        """Take out of the reflogs what names commits that are not whole any more."""
        never = ("--expire=never", "--expire-unreachable=never")
        self._program.attempt("reflog", "expire", *never, "--stale-fix", "--all")

    def new_index(self, head: str | None) -> None:
        """Make the index anew as a commit has it, in the place of one that is damaged."""
        self._forget()
        extra = {"GIT_INDEX_FILE": self._next}
        self._program.run("read-tree", head or "--empty", extra=extra)
        self._program.attempt("update-index", "-q", "--refresh", extra=extra)
        self.publish_index()

    def publish_index(self) -> None:
        """Put what `prepare_index` made in the place of the index."""
        system.replace(self._next, self._index)

    def staged(self, path: str) -> str | None:
        """Give the blob of a path in the index."""
        out = self._program.run("--literal-pathspecs", "ls-files", "--stage", "-z", "--", path)
        return out.split(b" ")[1].decode() if out else None

    def _put(self, entries: Iterable[Entry], extra: Extra, width: int) -> None:
        # What goes comes first, so that a folder can take the place of a file.
        ordered = sorted(entries, key=lambda entry: entry[2] is not None)
        lines = [
            b"%s %s\t%s\0" % (mode.encode(), blob.encode(), _raw(path))
            if blob
            else b"0 %s\t%s\0" % (b"0" * width, _raw(path))
            for path, mode, blob in ordered
        ]
        self._program.run("update-index", "-z", "--index-info", given=b"".join(lines), extra=extra)

    def _forget(self) -> None:
        for path in (self._next, f"{self._next}.lock"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


UNMERGED = (
    "Files are in conflict here after a merge. Resolve them (git status names them) and commit, "
    "then call again."
)


def _raw(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _persons(author: Ident, committer: Ident, at: int) -> dict[str, str]:
    date = f"@{max(at, 0)} +0000"
    return {
        "GIT_AUTHOR_NAME": author.clean_name(),
        "GIT_AUTHOR_EMAIL": author.clean_email(),
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": committer.clean_name(),
        "GIT_COMMITTER_EMAIL": committer.clean_email(),
        "GIT_COMMITTER_DATE": date,
    }
