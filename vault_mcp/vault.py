"""The vault: storage opened together, the index kept in step, changes handed out."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from vault_mcp import follow
from vault_mcp.bygones import Bygones
from vault_mcp.change import VAULT_IDENT, Change, stamp_time, trailers
from vault_mcp.errors import PathRefused, RepositoryRefused, StorageFailed, VaultBusy, VaultError
from vault_mcp.follower import Follower
from vault_mcp.meaning import Meaning
from vault_mcp.notes.note import Note
from vault_mcp.receipt import Receipt
from vault_mcp.storage.git.flush import Durability
from vault_mcp.storage.git.history import count_commits
from vault_mcp.storage.git.message import Ident, Message
from vault_mcp.storage.git.repository import Repository
from vault_mcp.storage.git.writer import Committed, Write, Writer
from vault_mcp.storage.index import FILE_NAME, Index, IndexDamaged, Reader
from vault_mcp.storage.watcher import Watcher
from vault_mcp.timekeeping import Timekeeping

log = logging.getLogger(__name__)

REFRESH_WAIT = 2.0
"""Seconds that a read waits for a writer that is about to bring the index in step with its commit."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a vault behaves; the doors fill this in from settings.

    `lock_wait` is in seconds; `index_wait` is how long a read waits for a first index before it says so.
    `protect_person` has agents name the version they read before they change a person's words, `undo_others`
    lets an agent take back what others did.
    """

    hand_edits: Literal["commit", "leave"] = "commit"
    rename_links: bool = True
    graph_observations: Literal["objects", "strings"] = "objects"
    embeddings: Literal["on", "off"] = "on"
    embedding_url: str = ""
    embedding_model: str = ""
    protect_person: bool = False
    undo_others: bool = False
    durability: Durability = "git"
    trusted: bool = False
    lock_wait: float = 10.0
    index_wait: float = 30.0


class Beside(Protocol):
    """Work in the background: a server's sync."""

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End."""


class Vault:
    """One folder of notes with its Git repository and its index. Safe to use from several threads.

    Attributes:
        root: the folder, absolute.
        repository: its Git repository.
        index: its index.
        bygones: the vault as it was at moments that are asked about.
        timekeeping: the timeline, which answers for any moment.
        options: how it behaves.
        listeners: called, from any thread, when what the vault holds has changed, whoever changed it.
        troubles: what went wrong in the background, a sentence each, for `doctor`.
        owed: files that were changed by hand while nothing could be committed, as in the middle of a merge.
    """

    def __init__(self, root: str, repository: Repository, index: Index, options: Options) -> None:
        self.root = root
        self.repository = repository
        self.index = index
        self.options = options
        self.listeners: list[Callable[[], None]] = []
        self._told_head: str | None = None
        self.troubles: list[str] = []
        self.owed: set[str] = set()
        self._signature: object = None
        self.bygones = Bygones(self)
        self.timekeeping = Timekeeping(self)
        self._closed = False
        self.meaning = Meaning(self)
        self._follower = Follower(self)
        self._watcher: Watcher | None = None
        self._beside: list[Beside] = []
        self._passing: tempfile.TemporaryDirectory[str] | None = None

    @classmethod
    def open(
        cls, root: str, options: Options | None = None, *, anew: bool = False, follow: bool = True
    ) -> Vault:
        """Open the vault at `root`; it must be a Git repository of its own (see `adopt`).

        The comparison of the files with the index begins in the background at once, unless `follow` says that
        all is to stay as it is. With `anew` the index is thrown away first.

        Raises:
            RepositoryRefused: no repository, a bare one, one inside another, or no git program.
        """
        options = options or Options()
        root = os.path.realpath(root)
        repository = Repository.open(root, trusted=options.trusted, durability=options.durability)
        passing = None
        try:
            index = Index.open(os.path.join(repository.state_dir, FILE_NAME))
        except (StorageFailed, OSError):
            # A vault that may not be written can be read all the same, with an index of this process alone.
            passing = tempfile.TemporaryDirectory(prefix="vault-mcp-")
            index = Index.open(os.path.join(passing.name, FILE_NAME))
        if anew:
            index.mend(anew=True)
        vault = cls(root, repository, index, options)
        vault._passing = passing
        if follow:
            vault._follower.start()
        return vault

    def wait_until_compared(self, longest: float) -> bool:
        """Wait until the files have been compared with the index; say whether they have."""
        return self._follower.wait_until_compared(longest)

    def watch(self) -> None:
        """Begin to notice files that are edited by hand."""
        if self._watcher is None:
            self._watcher = Watcher(self.root, self.noticed, on_trouble=self.trouble)
            self._watcher.start()

    @property
    def watching(self) -> str:
        """How hand edits are noticed: "events", "polling" or "off"."""
        return self._watcher.mode if self._watcher else "off"

    def run_beside(self, work: Beside) -> None:
        """Begin work in the background that ends with the vault."""
        self._beside.append(work)
        work.start()

    def close(self) -> None:
        """Stop the watcher and the background work, and let go of Git and the index."""
        self._closed = True
        for work in self._beside:
            work.stop()
        if self._watcher:
            self._watcher.stop()
        self.meaning.close()
        self._follower.stop()
        self.bygones.close()
        self.timekeeping.close()
        self.index.close()
        self.repository.close()
        if self._passing is not None:
            self._passing.cleanup()

    @property
    def person(self) -> Ident:
        """Whom hand edits are committed as."""
        return self.repository.person()

    # -- reading

    @contextlib.contextmanager
    def reading(self) -> Iterator[Reader]:
        """Give one snapshot of the index, in step with every acknowledged write of every process.

        Raises:
            VaultBusy: the first index is still being made.
        """
        self._follower.wait_until_readable(self.options.index_wait)
        try:
            self._refresh()
            with self.index.reading():
                pass
        except IndexDamaged:  # or thrown away by `vault-mcp reindex`: worth waiting for
            self._follower.rebuild()
            self._follower.wait_until_readable(self.options.index_wait)
            self._refresh()
        with self.snapshot() as reader:
            yield reader

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Reader]:
        """Give a snapshot of the index as it is, for whoever holds the lock."""
        try:
            with self.index.reading() as reader:
                yield reader
        except IndexDamaged:
            self._follower.rebuild()
            raise VaultBusy(
                "The index was damaged and is being made anew. Call again in a few seconds."
            ) from None

    @contextlib.contextmanager
    def remembering(self) -> Iterator[Reader]:
        """Give a snapshot as `reading` does, in which the whole past is known too.

        Raises:
            VaultBusy: a long past is still being read.
        """
        self.read_past()
        with self.reading() as reader:
            yield reader

    def read_past(self) -> None:
        """Bring the history tables in step with the last commit.

        Raises:
            VaultBusy: a long past is still being read.
        """
        with self.reading():
            pass
        if self.index.history_head == self.repository.head() and not self.index.undated:
            return
        try:
            done = self._follower.replay(self.options.index_wait)
        except RepositoryRefused:
            return  # in the midst of a merge the past is known as far as it was read
        if not done:
            raise VaultBusy(
                f"The past is being read for the first time; {self.commits_behind()} commits are left. "
                "Call again in a few seconds."
            )

    def _refresh(self) -> None:
        """Bring the index in step with commits made since the last look, ours in the making among them."""
        signature = self.repository.head_signature()
        if signature == self._signature:
            return
        if self.repository.head() != self.index.head:
            try:
                with self.repository.writing(REFRESH_WAIT) as writer:
                    self.catch_up(writer)
            except (RepositoryRefused, StorageFailed, OSError):
                # A state we must not write in, such as a merge or a closed folder, is no reason not to read.
                follow.look_at_files(self, None)
            except VaultError:
                return  # nor is a long import of somebody else
        self._signature = signature

    # -- changing

    def change(
        self,
        tool: str,
        *,
        by: str,
        session: str = "",
        subject: str = "",
        if_version: str | None = None,
        person: bool = False,
    ) -> Change:
        """Begin one change: `with vault.change("add_observations", by=agent) as change: …`.

        `if_version` are the versions of notes that the caller has read, None where the tool takes none. With
        `person` the change is the owner's own, made at the command line.
        """
        self._follower.wait_until_readable(self.options.index_wait)
        return Change(
            self, tool, by=by, session=session, subject=subject, if_version=if_version, person=person
        )

    def catch_up(self, writer: Writer) -> None:
        """Bring the index in step with HEAD; for whoever holds the lock."""
        try:
            in_step = writer.head == self.index.head
        except IndexDamaged:
            self.index.mend()
            in_step = False
        if not in_step:
            follow.follow_head(self, writer)
            self.tell()

    def look_again(self, writer: Writer) -> None:
        """Notice hand edits right now: for a call that did not find what it was told to change."""
        follow.follow_files(self, writer, None)

    def refuse_ignored(self, writer: Writer, paths: Sequence[str]) -> None:
        """Fail when a new file would be one that Git ignores: it could never be committed.

        Raises:
            PathRefused: one of them is ignored and not tracked.
        """
        fresh = [path for path in paths if writer.head_entry(path) is None]
        for path in sorted(self.repository.ignored(fresh)) if fresh else ():
            raise PathRefused(
                f"{path} is ignored by Git (.gitignore), so it could not be committed. Choose another path."
            )

    def commit_hand_edits(self, writer: Writer, edits: Mapping[str, Write]) -> None:
        """Commit bytes that a person left on disk, in the person's name, and index them."""
        follow.save_hand_edits(self, writer, edits)

    def commit_bytes(self, writer: Writer, edits: Mapping[str, Write]) -> Committed:
        """Commit bytes that are on disk already, in the person's name."""
        person, at = self.person, follow.now()
        message = Message(
            follow.hand_edit_subject(edits), "", trailers(follow.HAND_EDIT, person.name, stamp_time(at))
        )
        return writer.commit(edits, message, author=person, at=at, committer=VAULT_IDENT, write_files=False)

    def trouble(self, text: str) -> None:
        """Keep a sentence about something that went wrong in the background, for `doctor` and the log."""
        if self._closed:
            return  # what is cut short by the end is no trouble: the next start goes on with it
        if text not in self.troubles:
            self.troubles.append(text)
        log.warning("%s", text)

    def record(
        self,
        writer: Writer,
        done: Committed,
        *,
        author: str,
        tool: str,
        session: str,
        subject: str,
        notes: Mapping[str, tuple[Note | None, Note | None]],
    ) -> None:
        """Put a commit of ours into the index; a failure here costs nothing but a later catch-up."""
        try:
            follow.record_commit(
                self, done, author=author, tool=tool, session=session, subject=subject, notes=notes
            )
        except IndexDamaged:
            self._follower.rebuild()
        except Exception:
            # The commit stands, and the caller is to hear so; the next look brings the index in step.
            log.exception("the index could not take in commit %s", done.sha)
            self._signature = None
            return
        self._signature = self.repository.head_signature()

    def reindex(self) -> None:
        """Make the index anew, here and now: all that the notes say and what history knows of them.

        Raises:
            RepositoryRefused: the repository is in a state that must not be written.
        """
        with self.repository.writing(self.options.lock_wait) as writer:
            self.index.mend(anew=True)
            self.catch_up(writer)
        self._follower.replay()

    def commits_behind(self) -> int:
        """Count the commits that the index has still to read."""
        head, known = self.repository.head(), self.index.history_head
        if head is None or head == known:
            return 0
        return count_commits(self.repository.program, known, head)

    def history_behind(self) -> None:
        """Have the background work read the part of history that the index lacks."""
        self._follower.wake()

    def settled(self) -> None:
        """Hear that the word index is in step, so that what is new can get its vectors."""
        self.meaning.notice()

    def index_turn(self, timeout: float) -> contextlib.AbstractContextManager[object]:
        """Take the lock under which the index may be written; an index of this process alone needs none."""
        return contextlib.nullcontext() if self.alone else self.repository.writing(timeout)

    @property
    def alone(self) -> bool:
        """Whether the index is this process's own, since the vault may not be written."""
        return self._passing is not None

    def settle_words(self, most: int) -> int:
        """Bring the word index in step before a question is asked; gives how many units still wait.

        A vault that somebody else is writing to is asked as it is.
        """
        with self.snapshot() as reader:
            waiting = reader.unworded()
        if waiting and waiting <= most:
            with contextlib.suppress(VaultError):
                with self.index_turn(REFRESH_WAIT), self.index.writing() as index:
                    index.words.settle_words(most)
                self.settled()
                with self.snapshot() as reader:
                    waiting = reader.unworded()
        return waiting

    def committed(self, receipt: Receipt) -> None:
        """Take note of a change that is in history."""
        self._follower.count_commit()
        self.tell()

    def tell(self) -> None:
        """Tell the listeners that something has changed."""
        with contextlib.suppress(IndexDamaged):  # just being made anew: whoever looks again will say so
            self._told_head = self.index.head
        for listener in self.listeners:
            listener()

    def tell_of_others(self) -> None:
        """Tell the listeners if another server has followed the branch further than we have told."""
        if self.index.head != self._told_head:
            self.tell()

    @property
    def readable(self) -> bool:
        """Whether reading need not wait for a first index."""
        return self._follower.readable

    def provenance(
        self, path: str, facts: Iterable[tuple[str, str]]
    ) -> dict[tuple[str, str], tuple[str, str, bool]]:
        """Say who wrote facts of a note, when, and whether by hand: {(kind, text): (by, at, hand)}."""
        try:
            with self.index.reading() as reader:
                return reader.provenance(path, facts)
        except IndexDamaged:
            return {}

    # -- hand edits

    def let_rest(self, paths: Iterable[str]) -> bool:
        """Have the watcher tell of these files once they rest; False when nothing watches."""
        if self._watcher is None:
            return False
        self._watcher.look_again(paths)
        return True

    def noticed(self, paths: frozenset[str] | None) -> None:
        """Take in files that somebody else changed; None means that any may have changed."""
        self._follower.noticed(paths)
