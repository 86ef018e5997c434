"""The commits of a branch, read in one pass of `git log`."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

from vault_mcp.errors import BadArgument, StorageFailed
from vault_mcp.storage.git.environment import GitProgram, end
from vault_mcp.storage.git.refs import is_sha

_NONE = b"0" * 6
_FIELDS = ("%H", "%P", "%at", "%ct", "%an", "%ae", "%s", "%(trailers:key=Tool,valueonly,separator=%x1e)")
_FORMAT = "%x00".join((*_FIELDS, "%(trailers:key=Session,valueonly,separator=%x1e)"))
_BLOBS = (b"100", b"120")
_LOG = (
    "log",
    "--root",
    "--raw",
    "-z",
    "--no-abbrev",
    "--no-renames",
    "--no-relative",
    f"-O{os.devnull}",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-show-signature",
    "--no-notes",
    "--ignore-submodules=all",
    "--encoding=UTF-8",
    "--reverse",
    f"--format=tformat:{_FORMAT}",
)


_ALONG = ("--first-parent", "-m")
_BEHIND = ("--topo-order", "--no-merges")


@dataclass(frozen=True, slots=True)
class HistoryCommit:
    """One commit of the first-parent chain.

    `at` is the author's time and `committed_at` the committer's (seconds since 1970). `changes` are the files
    that differ from the first parent: path, blob before, blob after; None where there is none. `others` are
    the further parents of a merge, and `sides` the commits that it brought, oldest first, without merges.
    """

    sha: str
    parent: str | None
    at: int
    committed_at: int
    author: str
    email: str
    tool: str
    session: str
    subject: str
    changes: tuple[tuple[str, str | None, str | None], ...]
    others: tuple[str, ...] = ()
    sides: tuple[HistoryCommit, ...] = ()


def count_commits(program: GitProgram, old: str | None, new: str) -> int:
    """Count the commits that `read_history` gives."""
    for revision in (old, new):
        if revision is not None and not is_sha(revision):
            raise BadArgument(f"{revision!r} is not the full name of a commit.")
    span = new if old is None else f"{old}..{new}"
    return int(program.run("rev-list", "--first-parent", "--count", span, "--"))


def count_between(program: GitProgram, old: str | None, new: str) -> int:
    """Count the commits that `new` has beyond `old` (None: all), on every line of descent."""
    for revision in (old, new):
        if revision is not None and not is_sha(revision):
            raise BadArgument("A commit is named by its full hash here.")
    span = (new,) if old is None else (f"^{old}", new)
    return int(program.run("rev-list", "--count", *span, "--"))


def recent_subjects(program: GitProgram, sha: str, most: int) -> list[str]:
    """Give the subjects of a commit and of those before it along first parents, the newest first."""
    if not is_sha(sha):
        raise BadArgument(f"{sha!r} is not the full name of a commit.")
    told = program.run("log", "--first-parent", f"--max-count={most}", "--format=%s", sha, "--")
    return told.decode("utf-8", "replace").splitlines()


def is_merge(program: GitProgram, sha: str) -> bool:
    """Say whether a commit has more than one parent."""
    return len(parents_of(program, sha)) > 1


def parents_of(program: GitProgram, sha: str) -> list[str]:
    """Give the parents of a commit, the first one first."""
    if not is_sha(sha):
        raise BadArgument("A commit is named by its full hash here.")
    return program.run("rev-list", "--parents", "--max-count=1", sha, "--").decode().split()[1:]


def been_at(program: GitProgram, branch: str) -> set[str]:
    """Give the commits at which a branch was in this repository, as far back as its reflog tells."""
    code, out, _ = program.attempt(
        "log", "--walk-reflogs", "--no-show-signature", "--format=%H", f"refs/heads/{branch}", "--"
    )
    return set(out.decode().split()) if code == 0 else set()


def read_history(program: GitProgram, old: str | None, new: str) -> Iterator[HistoryCommit]:
    """Give the commits that `new` has beyond `old` (None: all), oldest first, along first parents."""
    for revision in (old, new):
        if revision is not None and not is_sha(revision):
            raise BadArgument("A commit is named by its full hash here.")
    for commit in _read(program, *_ALONG, f"{old}..{new}" if old else new):
        if commit.others:
            known = [f"^{commit.parent}"] if commit.parent else []
            yield replace(commit, sides=tuple(_read(program, *_BEHIND, *commit.others, *known)))
        else:
            yield commit


def _read(program: GitProgram, *span: str) -> Iterator[HistoryCommit]:
    child = program.start(*_LOG, *span, "--")
    assert child.stdin
    assert child.stdout
    assert child.stderr
    child.stdin.close()
    finished = False
    try:
        yield from _commits(_tokens(child.stdout))
        finished = True
        if child.wait():
            raise StorageFailed(f"Git could not tell the history: {program.words(child.stderr.read())}")
    finally:
        if not finished:
            end(child)
        child.stdout.close()
        child.stderr.close()
        child.wait()


def first_parents(program: GitProgram, sha: str) -> Generator[str, None, None]:
    """Give a commit and those before it along first parents, the newest first; to be closed."""
    if not is_sha(sha):
        raise BadArgument("A commit is named by its full hash here.")
    child = program.start("rev-list", "--first-parent", sha, "--")
    assert child.stdin
    assert child.stdout
    assert child.stderr
    child.stdin.close()
    try:
        for line in child.stdout:
            yield line.decode().strip()
    finally:
        end(child)
        child.stdout.close()
        child.stderr.close()


def _tokens(stream: object) -> Iterator[bytes]:
    """Cut the output at its NULs."""
    rest = b""
    while chunk := stream.read(1 << 16):  # type: ignore[attr-defined]  # IO[bytes] of a pipe
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
    if rest:
        yield rest


def _commits(tokens: Iterator[bytes]) -> Iterator[HistoryCommit]:
    token = next(tokens, None)
    while token is not None:
        if not token:  # between the header of a commit and its changes, and after them
            token = next(tokens, None)
            continue
        header = [token.lstrip(b"\n"), *(next(tokens) for _ in range(len(_FIELDS)))]
        changes = []
        token = next(tokens, None)
        while token is not None and token.lstrip(b"\n").startswith(b":"):
            change = _change(token.lstrip(b"\n"), next(tokens))
            if change is not None:
                changes.append(change)
            token = next(tokens, None)
        yield _commit(header, changes)


def _commit(header: list[bytes], changes: list[tuple[str, str | None, str | None]]) -> HistoryCommit:
    sha, parents, at, committed_at, author, email, subject, tool, session = (
        field.decode("utf-8", "replace") for field in header
    )
    return HistoryCommit(
        sha=sha,
        parent=parents.split(" ")[0] or None,
        at=int(at or 0),
        committed_at=int(committed_at or 0),
        author=author,
        email=email,
        tool=_last(tool),
        session=_last(session),
        subject=subject,
        changes=tuple(changes),
        others=tuple(parents.split(" ")[1:]),
    )


def _last(values: str) -> str:
    return values.rstrip("\n").split("\x1e")[-1].strip()


def _change(raw: bytes, path: bytes) -> tuple[str, str | None, str | None] | None:
    """Read `:<mode> <mode> <blob> <blob> <letter>`; submodules are no files of ours."""
    before_mode, after_mode, before, after, _ = raw[1:].split(b" ")
    old = before.decode() if before_mode.startswith(_BLOBS) else None
    new = after.decode() if after_mode.startswith(_BLOBS) else None
    if old is None and new is None:
        return None
    return path.decode("utf-8", "surrogateescape"), old, new
