"""The vault brought in step with another copy: fetched, merged, pushed.

The merge is worked out in memory without the lock, and published like any change of ours: all files and the
commit, or nothing. So the vault is never in the middle of a merge, and a call waits as for any other
call. What only a person can decide does not stop it (`merging`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from vault_mcp.change import VAULT_IDENT, stamp_time, trailers
from vault_mcp.errors import PathRefused, RepositoryRefused, Stale, VaultBusy
from vault_mcp.follow import now
from vault_mcp.merging import merge_sides
from vault_mcp.receipt import Receipt
from vault_mcp.sides import Blobs, Merged, Side, Told
from vault_mcp.storage import files, paths
from vault_mcp.storage.git.cut_off import exchanging
from vault_mcp.storage.git.difference import Files, changed_files, merge_bases
from vault_mcp.storage.git.erasing import brings_back, has_erased, looked_at_first
from vault_mcp.storage.git.history import count_between
from vault_mcp.storage.git.message import Message
from vault_mcp.storage.git.remote import OfflineError, Remote, fetch, find_remote, follow, other_branch, push
from vault_mcp.storage.git.writer import HeadMovedError, Write, Writer, blob_id, refuse_unsafe

if TYPE_CHECKING:
    from vault_mcp.vault import Vault

TOOL = "sync"
"""The `Tool:` trailer of a merge."""

ATTEMPTS = 8
"""Rounds after which others push, or the vault is written, faster than one can merge."""

DIGITS = 7

SHOWN = 40
"""Lines about what both sides changed that a commit message holds."""

_FILES = (0o100644, 0o100755)

State = Literal["in step", "offline"]


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync did.

    Attributes:
        remote: The remote, as it can be shown.
        branch: The branch there.
        state: "offline" where the remote could not be reached: what was merged or committed here waits.
        received: Commits that came.
        sent: Commits that went.
        commit: The commit that both are at now; None in a vault without any.
        told: What both sides changed at once, and what came of it.
        conflicts: The conflict notes that it left for a person.
        why: Git's words, where the remote could not be reached.
    """

    remote: str
    branch: str
    state: State
    received: int = 0
    sent: int = 0
    commit: str | None = None
    told: tuple[Told, ...] = ()
    conflicts: tuple[str, ...] = ()
    why: str = ""


@dataclass(slots=True)
class _Plan:
    """What bringing theirs in takes: `files` are to be put on top of `ours`."""

    ours: str | None
    theirs: str
    files: Files
    forward: bool
    blobs: Blobs
    merged: Merged = field(default_factory=Merged)


def sync(vault: Vault, said: str = "", *, driver: Sequence[str] = ()) -> Synced:
    """Bring a vault in step with a remote: its branch's own, or the one that is said.

    Args:
        vault: The vault; what was edited by hand is committed first.
        said: A remote's name, an address or a folder.
        driver: The command that Git is to call in this clone to merge notes.

    Raises:
        NotFound: There is no remote.
        BadArgument: Its address is none that may be used.
        RepositoryRefused: What it holds, or the state of this repository, forbids it.
        StorageFailed: The remote refuses us.
        VaultBusy: Others write faster than one can merge.
    """
    with exchanging(vault.repository.state_dir, vault.repository.common_dir) as keep:
        return _sync(vault, said, driver, keep)


def _sync(vault: Vault, said: str, driver: Sequence[str], keep: tuple[int, ...]) -> Synced:
    repository, program = vault.repository, vault.repository.program
    branch = repository.branch()
    if driver:
        repository.register_driver(driver)
    vault.noticed(None)
    remote = find_remote(program, said, branch, keep)
    told: list[Told] = []
    conflicts: list[str] = []
    received = sent = 0
    try:
        for _ in range(ATTEMPTS):
            theirs = _fetch(vault, remote)
            if theirs is None and (other := other_branch(program, remote)) not in ("", remote.branch):
                remote = replace(remote, branch=other)
                theirs = _fetch(vault, remote)
            if theirs is not None:
                received += _behind(vault, theirs)
                merged = _take_in(vault, theirs, remote)
                told += merged.told
                conflicts += merged.conflicts
            head = repository.head()
            if head is None or head == theirs:
                break
            sent = count_between(program, theirs, head)
            if push(program, remote, head):
                break
        else:
            raise VaultBusy("Others push to the remote faster than one can merge. Sync again in a while.")
    except OfflineError as error:
        return Synced(
            remote.shown,
            remote.branch,
            "offline",
            received,
            0,
            repository.head(),
            tuple(told),
            tuple(conflicts),
            str(error),
        )
    follow(program, remote, branch)
    return Synced(remote.shown, remote.branch, "in step", received, sent, head, tuple(told), tuple(conflicts))


def _fetch(vault: Vault, remote: Remote) -> str | None:
    """Fetch; where words were erased here, only after a look at what comes, in a place that goes again.

    Raises:
        RepositoryRefused: it is the history that holds them; nothing of it came into this repository.
    """
    repository, program = vault.repository, vault.repository.program
    if not has_erased(repository.state_dir):
        return fetch(program, remote)
    with looked_at_first(program, repository.common_dir, repository.state_dir) as place:
        theirs = fetch(program, remote, into=place)
        if theirs is None:
            return None
        _refuse_erased(vault, theirs, at=place)
        return fetch(program, replace(remote, address=place))


def _refuse_erased(vault: Vault, theirs: str, *, at: str = "") -> None:
    if brings_back(vault.repository.program, vault.repository.state_dir, theirs, at=at):
        raise RepositoryRefused(
            "The remote still has the history from which words were erased here; merging it would bring them "
            "back. Replace it with `git push --force --all` and `git push --force --tags`, then sync again."
        )


def _behind(vault: Vault, theirs: str) -> int:
    return count_between(vault.repository.program, vault.repository.head(), theirs)


def _take_in(vault: Vault, theirs: str, remote: Remote) -> Merged:
    """Merge a commit into the vault, or move forward to it."""
    for _ in range(ATTEMPTS):
        plan = _plan(vault, theirs)
        if plan is None:
            return Merged()
        with vault.repository.writing(vault.options.lock_wait) as writer:
            vault.catch_up(writer)
            if writer.head != plan.ours:
                continue
            writes, hand = _writes(vault, writer, plan)
            if hand:
                _commit(vault, writer, hand)
                continue
            try:
                receipt = _publish(vault, writer, plan, writes, remote)
            except (HeadMovedError, Stale):
                continue
        vault.committed(receipt)
        return plan.merged
    raise VaultBusy("The vault is written to faster than one can merge. Sync again in a while.")


def _commit(vault: Vault, writer: Writer, hand: dict[str, Write]) -> None:
    """Commit what a person has not committed yet, in their name; hidden files too, which no index knows.

    Raises:
        RepositoryRefused: Git ignores one, so it is not ours to put into history.
    """
    fresh = [path for path in hand if writer.head_entry(path) is None]
    for path in sorted(vault.repository.ignored(fresh)):
        raise RepositoryRefused(
            f"{paths.shown(path)} is ignored by Git here, and the remote brings a file of this name. "
            "Move yours away, then sync again."
        )
    vault.commit_bytes(writer, hand)
    vault.catch_up(writer)


def _publish(vault: Vault, writer: Writer, plan: _Plan, writes: dict[str, Write], remote: Remote) -> Receipt:
    person, at = vault.person, now()
    message = _message(vault, plan, remote, at)
    done = writer.merge(
        writes,
        message,
        author=person,
        at=at,
        committer=VAULT_IDENT,
        merged="" if plan.forward else plan.theirs,
        made=plan.theirs if plan.forward else "",
    )
    vault.catch_up(writer)
    return Receipt(done.sha, stamp_time(at), person.name, TOOL, message.subject, tuple(sorted(writes)))


def _message(vault: Vault, plan: _Plan, remote: Remote, at: int) -> Message:
    count = count_between(vault.repository.program, plan.ours, plan.theirs)
    subject = f"{TOOL}: {count} {'change' if count == 1 else 'changes'} from {remote.shown}"
    if plan.merged.conflicts:
        subject += f", to decide: {', '.join(path.rpartition('/')[2] for path in plan.merged.conflicts)}"
    lines = [told.text for told in plan.merged.told]
    if len(lines) > SHOWN:
        lines[SHOWN:] = [f"... and {len(lines) - SHOWN} more"]
    return Message(subject, "\n".join(lines), trailers(TOOL, vault.person.name, stamp_time(at)))


# -- what comes of the two


def _plan(vault: Vault, theirs: str) -> _Plan | None:
    """Work out what bringing a commit in takes; None where it is in already."""
    repository, program = vault.repository, vault.repository.program
    ours = repository.head()
    blobs = Blobs(repository.blob)
    if ours == theirs or (ours is not None and repository.is_ancestor(theirs, ours)):
        return None
    _refuse_erased(vault, theirs)
    if ours is None or repository.is_ancestor(ours, theirs):
        come = changed_files(program, ours, theirs)
        _refuse_hostile(come)
        return _Plan(ours, theirs, come, True, blobs)
    bases = merge_bases(program, ours, theirs)
    base = _Version(vault, blobs, bases[0] if bases else None)
    for other in bases[1:]:
        base = _merged_bases(vault, blobs, base, other)
    mine, other_side = base.changes(ours), base.changes(theirs)
    _refuse_hostile(other_side)
    merged = merge_sides(
        base.entry,
        Side(mine, lambda path: repository.entry_at(ours, path)),
        Side(other_side, lambda path: repository.entry_at(theirs, path)),
        blobs,
        all_ours=lambda: (path for path, _, _ in repository.tree_paths(ours)),
        number_taken=lambda number: _number_taken(vault, number),
        change=theirs[:DIGITS],
    )
    return _Plan(ours, theirs, dict(merged.files), False, blobs, merged)


@dataclass(slots=True)
class _Version:
    """A commit with some files otherwise: what two histories share that met more than once."""

    vault: Vault
    blobs: Blobs
    commit: str | None
    instead: Files = field(default_factory=dict)

    def entry(self, path: str) -> tuple[int, str] | None:
        """Give a file."""
        if path in self.instead:
            return self.instead[path]
        return self.vault.repository.entry_at(self.commit, path) if self.commit else None

    def changes(self, sha: str) -> Files:
        """Give what a commit has otherwise."""
        repository = self.vault.repository
        found = changed_files(repository.program, self.commit, sha)
        for path in self.instead:
            entry = repository.entry_at(sha, path)
            if entry == self.instead[path]:
                found.pop(path, None)
            else:
                found[path] = entry
        return found


def _merged_bases(vault: Vault, blobs: Blobs, one: _Version, other: str) -> _Version:
    """Merge two common ancestors, so that what came to each is in the base of both sides."""
    repository = vault.repository
    assert one.commit
    above = merge_bases(repository.program, one.commit, other)
    base = _Version(vault, blobs, above[0] if above else None)
    mine = base.changes(one.commit) | one.instead
    merged = merge_sides(
        base.entry,
        Side(mine, one.entry),
        Side(base.changes(other), lambda path: repository.entry_at(other, path)),
        blobs,
        all_ours=lambda: (path for path, _, _ in repository.tree_paths(one.commit or "")),
        number_taken=lambda number: False,
        change=other[:DIGITS],
    )
    return _Version(vault, blobs, one.commit, one.instead | merged.files)


def _number_taken(vault: Vault, number: int) -> bool:
    with vault.snapshot() as reader:
        return reader.memory(number) is not None


def _refuse_hostile(come: Files) -> None:
    """Refuse what must not reach the disk: links, other repositories, places outside of the vault.

    Raises:
        RepositoryRefused: the remote holds something of the kind; nothing was changed.
    """
    for path, entry in come.items():
        if entry is None:
            continue
        shown = paths.shown(path)
        what = ""
        try:
            refuse_unsafe(path)
        except PathRefused:
            what = "a file outside of the vault"
        if entry[0] == 0o120000:
            what = "a symbolic link"
        elif entry[0] not in _FILES:
            what = "another repository"
        elif path.rpartition("/")[2].lower() == ".gitmodules":
            what = "a list of other repositories"
        if what:
            raise RepositoryRefused(
                f"The remote has {what}, {shown}, which a vault does not take in. Nothing was changed here. "
                "Remove it there, or merge by hand."
            )


# -- the files on disk


def _writes(vault: Vault, writer: Writer, plan: _Plan) -> tuple[dict[str, Write], dict[str, Write]]:
    """Give what is to be written, and what a person has in these files that is in no commit yet."""
    writes: dict[str, Write] = {}
    hand: dict[str, Write] = {}
    for path, entry in plan.files.items():
        found = files.read(vault.root, path)
        raw, stat = found if found is not None else (None, None)
        there = blob_id(raw) if raw is not None else None
        head = writer.head_entry(path)
        known = head[1] if head else None
        if there != known and (raw is None or writer.blob_for(path, raw) != known):
            hand[path] = Write(raw, seen=stat, seen_blob=there)
        content = plan.blobs(entry[1]) if entry else None
        writes[path] = Write(content, seen=stat, seen_blob=there, mode=entry[0] if entry else None)
    return writes, hand
