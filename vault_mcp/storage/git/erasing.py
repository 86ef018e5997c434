"""Words or files taken out of all of a history, and the old history out of the repository.

git-filter-repo writes the new history into a repository beside this one. Then its objects are put here, all
branches and tags move in one transaction, and everything that still leads to the old ones goes: reflogs, the
objects themselves. The last commit holds nothing of it already, so files and index stay as they are, and a
process killed at any moment leaves the old history whole, or the new one with old objects that the next run
takes away.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vault_mcp.errors import RepositoryRefused, StorageFailed
from vault_mcp.storage.git.environment import GitProgram

UNFINISHED = "erasing"
"""A file in the state folder for as long as old objects may be left."""

ERASED = "erased"
"""A file in the state folder with the names of the commits in which erased words first stood."""

INCOMING = "incoming-"
"""How the names of repositories in the state folder begin in which what comes is looked at first."""

_TARGET = "rewritten-"
_CHILD = "vault_mcp.storage.git.rewriting"
_SIGNED = (
    b"\ngpgsig ",
    b"\ngpgsig-sha256 ",
    b"-----BEGIN PGP SIGNATURE-----",
    b"-----BEGIN SSH SIGNATURE-----",
)
_PASSING = (
    "ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "AUTO_MERGE", "gc.log",
)  # fmt: skip
_CHUNK = 1 << 20


@dataclass(slots=True)
class Seen:
    """What a look at every object found: how many of each kind hold the words, and how many are signed."""

    commits: int = 0
    files: int = 0
    binary: int = 0
    folders: int = 0
    tags: int = 0
    signed: int = 0

    @property
    def any(self) -> bool:
        """Whether some object holds the words."""
        return bool(self.commits or self.files or self.binary or self.folders or self.tags)


@dataclass(slots=True)
class Rewritten:
    """The new history, and what became of the old one's names."""

    commits: int = 0
    """Commits that have another name now."""
    refs: list[str] = field(default_factory=list)
    """Branches, tags and marks that moved."""
    remotes: list[str] = field(default_factory=list)
    """What was known of other repositories' branches, and is forgotten."""


def refuse_unfit(program: GitProgram, git_dir: str, common_dir: str) -> None:
    """See that all of the history is here, and nothing would be lost with the old one.

    Raises:
        RepositoryRefused: with what to do first.
    """
    if os.path.exists(f"{common_dir}/shallow"):
        raise RepositoryRefused(
            "This clone is shallow: most of its history is elsewhere. Erase there, or run "
            "`git fetch --unshallow`, then call again."
        )
    alternates = f"{common_dir}/objects/info/alternates"
    if os.path.exists(alternates) and os.path.getsize(alternates):
        raise RepositoryRefused(
            "This repository borrows objects from another (objects/info/alternates). Run: git repack -a -d, "
            "remove that file, then call again."
        )
    if git_dir != common_dir or (
        os.path.isdir(f"{common_dir}/worktrees") and os.listdir(f"{common_dir}/worktrees")
    ):
        raise RepositoryRefused(
            "This repository has several working trees. Remove the others first with: git worktree remove"
        )
    if program.run("for-each-ref", "--format=%(refname)", "refs/stash", "refs/replace"):
        raise RepositoryRefused(
            "There are stashed changes or replaced objects here, which the old history would take along. "
            "Apply or drop them first (git stash list, git replace --list)."
        )
    promisor = program.attempt("config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$")
    if promisor[1]:
        raise RepositoryRefused(
            "This clone is a partial one: its objects are elsewhere. Make a whole clone first."
        )


def look(program: GitProgram, words: Sequence[bytes]) -> Seen:
    """Read every object there is, reachable or not, and count those that hold any of the words."""
    seen = Seen()
    for kind, body in _objects(program):
        if kind in (b"commit", b"tag"):
            seen.signed += any(mark in body for mark in _SIGNED)
        if not any(word in body for word in words):
            continue
        if kind == b"commit":
            seen.commits += 1
        elif kind == b"tag":
            seen.tags += 1
        elif kind == b"tree":
            seen.folders += 1
        elif b"\0" in body[:8192]:
            seen.binary += 1
        else:
            seen.files += 1
    return seen


def _objects(program: GitProgram) -> Iterator[tuple[bytes, bytes]]:
    with program.start("cat-file", "--batch-all-objects", "--unordered", "--batch") as child:
        assert child.stdin
        assert child.stdout
        assert child.stderr
        child.stdin.close()
        while header := child.stdout.readline():
            _, kind, size = header.split()
            yield kind, child.stdout.read(int(size))
            child.stdout.read(1)


def every_path(program: GitProgram) -> set[bytes]:
    """Give every path that a file had in any commit."""
    said = ("log", "--all", "--format=", "-z", "--name-only", "-m", "--root", "--no-renames")
    return {path.lstrip(b"\n") for path in program.run(*said).split(b"\0")} - {b""}


def were_together(program: GitProgram, paths: Iterable[bytes]) -> bool:
    """Say whether some commit has more than one of these files."""
    these = [os.fsdecode(path) for path in paths]
    touching = program.run("--literal-pathspecs", "log", "--all", "-m", "--format=%H", "--", *these)
    return any(
        program.run("--literal-pathspecs", "ls-tree", "-z", commit, "--", *these).count(b"\0") > 1
        for commit in set(touching.decode().split())
    )


def left_in_files(folder: str, words: Sequence[bytes], passed_over: Callable[[str], bool]) -> list[str]:
    """Give the files below a folder that hold any of the words, in themselves or in their names."""
    found = []
    longest = max(map(len, words), default=0)
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not passed_over(os.path.join(place, one)))
        for name in sorted(names):
            path = os.path.join(place, name)
            if passed_over(path):
                continue
            if any(word in os.fsencode(name) for word in words) or _holds(path, words, longest):
                found.append(os.path.relpath(path, folder))
    return found


def _holds(path: str, words: Sequence[bytes], longest: int) -> bool:
    before = b""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            text = before + chunk
            if any(word in text for word in words):
                return True
            before = text[-longest:]
    return False


def has_erased(state_dir: str) -> bool:
    """Say whether words were erased from the history here, so that another clone may still have them."""
    return os.path.exists(f"{state_dir}/{ERASED}")


def brings_back(program: GitProgram, state_dir: str, sha: str, *, at: str = "") -> bool:
    """Say whether a commit, as another clone has it, lies on a history from which words were erased here.

    The commit is looked for in the repository `at` where one is named.
    """
    try:
        with open(f"{state_dir}/{ERASED}", encoding="ascii") as file:
            first = file.read().split()
    except FileNotFoundError:
        return False
    where = (f"--git-dir={at}",) if at else ()
    outside = {"GIT_WORK_TREE": None} if at else None
    return any(
        program.attempt(*where, "merge-base", "--is-ancestor", one, sha, extra=outside)[0] == 0
        for one in first
    )


@contextlib.contextmanager
def looked_at_first(program: GitProgram, common_dir: str, state_dir: str) -> Iterator[str]:
    """Give a bare repository that sees the vault's objects and adds none, for the time of a block."""
    place = tempfile.mkdtemp(prefix=INCOMING, dir=state_dir)
    try:
        format_ = program.run("rev-parse", "--show-object-format").decode().strip()
        program.run(
            "init", "--quiet", "--bare", "--template=", f"--object-format={format_}", place,
            extra={"GIT_WORK_TREE": None},
        )  # fmt: skip
        os.makedirs(f"{place}/objects/info", exist_ok=True)
        with open(
            f"{place}/objects/info/alternates", "w", encoding="utf-8", errors="surrogateescape"
        ) as file:
            file.write(f"{common_dir}/objects\n")
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


class Eraser:
    """One history written anew. The vault's lock is held all the while."""

    def __init__(
        self, program: GitProgram, common_dir: str, state_dir: str, keep: tuple[int, ...] = ()
    ) -> None:
        """Prepare; every command inherits the files `keep`, so that the lock outlives a kill (`cut_off`)."""
        self._program = program
        self._keep = keep
        self._run = functools.partial(program.run, keep=keep)
        self._common = common_dir
        self._state = state_dir
        self._unfinished = f"{state_dir}/{UNFINISHED}"

    def run(self, words: Sequence[bytes], instead: bytes, paths: Iterable[bytes]) -> Rewritten:
        """Write the history anew and move every name to it; `clear_up` has to follow.

        Raises:
            StorageFailed: it could not be done; the history is as it was.
        """
        self._sweep()
        target = f"{self._state}/{_TARGET}{uuid.uuid4().hex}"
        try:
            self._rewrite(target, words, instead, paths)
            self._see_that_files_stay(target)
            names, commits = self._names(target), _commit_map(target)
            self._bring_objects(target)
            self._write_down(commits)
            return self._move(names, commits)
        finally:
            shutil.rmtree(target, ignore_errors=True)

    def _rewrite(self, target: str, words: Sequence[bytes], instead: bytes, paths: Iterable[bytes]) -> None:
        format_ = self._run("rev-parse", "--show-object-format").decode().strip()
        self._run(
            "init", "--quiet", "--bare", "--template=", f"--object-format={format_}", target,
            extra={"GIT_WORK_TREE": None},
        )  # fmt: skip
        plan = {
            "source": self._program.root,
            "target": target,
            "words": [base64.b64encode(one).decode() for one in words],
            "instead": base64.b64encode(instead).decode(),
            "paths": [base64.b64encode(one).decode() for one in paths],
        }
        # The child finds Git by its name: the one that we use, and none of the vault's.
        environment = self._program.environment({"GIT_WORK_TREE": None})
        environment["PATH"] = os.pathsep.join((os.path.dirname(self._program.program), environment["PATH"]))
        done = subprocess.run(
            [sys.executable, "-P", "-m", _CHILD],
            input=json.dumps(plan).encode(),
            capture_output=True,
            pass_fds=self._keep,
            cwd=self._state,
            env={**environment, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            check=False,
        )
        if done.returncode:
            raise StorageFailed(
                f"The history could not be rewritten and is as it was: {self._program.words(done.stderr)}"
            )

    def _see_that_files_stay(self, target: str) -> None:
        """See that the new last commit has the very files of the old one, which holds nothing any more."""
        branch = self._run("symbolic-ref", "HEAD").decode().strip()
        here = self._run("rev-parse", f"{branch}^{{tree}}").strip()
        there = self._in(target, "rev-parse", f"{branch}^{{tree}}").strip()
        if here != there:
            raise StorageFailed(
                "The rewritten history would change files of the last commit, so it was thrown away. "
                "See that no file holds the words any more, then call again."
            )

    def _in(self, target: str, *arguments: str) -> bytes:
        return self._run(f"--git-dir={target}", *arguments, extra={"GIT_WORK_TREE": None})

    def _names(self, target: str) -> dict[str, str]:
        told = self._in(target, "for-each-ref", "--format=%(objectname) %(refname)")
        rows = (line.split(" ", 1) for line in told.decode("utf-8", "surrogateescape").splitlines())
        return {ref: sha for sha, ref in rows}

    def _bring_objects(self, target: str) -> None:
        """Put the new objects here, where nothing leads to them yet."""
        self._in(target, "repack", "-a", "-d", "-q")
        self._in(target, "fsck", "--connectivity-only", "--no-dangling", "--no-progress")
        packs = f"{self._common}/objects/pack"
        os.makedirs(packs, exist_ok=True)
        # Git looks for the .idx: it comes last.
        for name in sorted(os.listdir(f"{target}/objects/pack"), key=lambda name: name.endswith(".idx")):
            if name.endswith((".pack", ".idx", ".rev")):
                os.replace(f"{target}/objects/pack/{name}", f"{packs}/{name}")

    def _write_down(self, commits: Mapping[str, str]) -> None:
        """Note that old objects may be left, and by which commits the old history is known again."""
        told = self._run("rev-list", "--all", "--parents").decode()
        first = []
        for line in told.splitlines():
            commit, *parents = line.split()
            if commits.get(commit, commit) != commit and all(commits.get(p, p) == p for p in parents):
                first.append(commit)
        with open(f"{self._state}/{ERASED}", "a", encoding="ascii") as file:
            file.writelines(f"{commit}\n" for commit in first)
        with open(self._unfinished, "w", encoding="ascii") as file:
            file.write("old objects may be left\n")

    def _move(self, names: Mapping[str, str], commits: Mapping[str, str]) -> Rewritten:
        """Move branches, tags and marks to the new history, all at once or not at all."""
        told = self._run("for-each-ref", "--format=%(objectname) %(symref) %(refname)")
        done = Rewritten(commits=sum(old != new for old, new in commits.items()))
        lines = []
        for row in told.decode("utf-8", "surrogateescape").splitlines():
            sha, symref, ref = row.split(" ", 2)
            if ref.startswith("refs/remotes/"):
                done.remotes.append(ref)
                lines.append(f"delete {ref}\n" if symref else f"delete {ref} {sha}\n")
            elif not symref and names.get(ref, sha) != sha:
                done.refs.append(ref)
                lines.append(f"update {ref} {names[ref]} {sha}\n")
        given = "".join(["start\n", *lines, "prepare\n", "commit\n"])
        self._run("update-ref", "--no-deref", "--stdin", given=given.encode("utf-8", "surrogateescape"))
        self._move_notes(commits)
        return done

    def _move_notes(self, commits: Mapping[str, str]) -> None:
        """Have Git's own notes (git-notes(1)) speak of the new commits."""
        told = self._run("for-each-ref", "--format=%(refname)", "refs/notes")
        for ref in told.decode("utf-8", "surrogateescape").split():
            listed = self._run("notes", f"--ref={ref}", "list").decode().split()[1::2]
            moved = [(old, commits[old]) for old in listed if commits.get(old, old) != old]
            if moved:
                pairs = "".join(f"{old} {new}\n" for old, new in moved)
                self._run("notes", f"--ref={ref}", "copy", "--force", "--stdin", given=pairs.encode())
                gone = "".join(f"{old}\n" for old, _ in moved)
                self._run("notes", f"--ref={ref}", "remove", "--stdin", given=gone.encode())

    # -- what is left of the old history

    @property
    def unfinished(self) -> bool:
        """Whether an earlier run was cut off before all of the old history was gone."""
        return os.path.exists(self._unfinished)

    def clear_up(self) -> None:
        """Take away the old objects and all that leads to them. Can be done again at any time."""
        self._sweep()
        self._run("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all", "--stale-fix")
        for name in _PASSING:
            with contextlib.suppress(OSError):
                os.unlink(f"{self._common}/{name}")
        settings = (
            "gc.pruneExpire=now", "gc.reflogExpire=now", "gc.reflogExpireUnreachable=now",
            "gc.bigPackThreshold=0", "gc.cruftPacks=false", "gc.autoDetach=false",
        )  # fmt: skip
        said = [word for setting in settings for word in ("-c", setting)]
        self._run(*said, "gc", "--prune=now", "--quiet", "--force")
        self._run("prune", "--expire=now")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._unfinished)

    def _sweep(self) -> None:
        for name in os.listdir(self._state):
            if name.startswith((_TARGET, INCOMING)):
                shutil.rmtree(f"{self._state}/{name}", ignore_errors=True)


def _commit_map(target: str) -> dict[str, str]:
    """Read which commit became which, as git-filter-repo wrote it down."""
    with open(f"{target}/filter-repo/commit-map", encoding="ascii") as file:
        rows = [line.split() for line in file][1:]
    return {old: new for old, new in rows if set(new) != {"0"}}
