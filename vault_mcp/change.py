"""One call that changes something: files in memory, then one commit and the index, or nothing at all."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from vault_mcp import follow
from vault_mcp.errors import AlreadyThere, NoteUnreadable, NotFound, PathRefused, Stale
from vault_mcp.notes.line import address_part, clean_agent
from vault_mcp.notes.note import Note, read_note
from vault_mcp.protection import File, Moves, Versions, refuse_losses
from vault_mcp.receipt import (
    Changed,
    Difference,
    FactIn,
    Receipt,
    Replaced,
    Whose,
    difference,
    in_lines,
    moved_facts,
)
from vault_mcp.storage import files, paths
from vault_mcp.storage.git.message import Ident, Message, one_line, subject_line
from vault_mcp.storage.git.writer import Write, Writer, blob_id

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from vault_mcp.storage.files import FileStat
    from vault_mcp.vault import Vault


@dataclass(slots=True)
class _Seen:
    raw: bytes | None
    stat: FileStat | None


class Change:
    """The files of one call, held in memory until the block ends without an exception.

    Entering takes the vault's one write lock, finishes what a killed process left, and brings the index in
    step, so whatever the block reads is true until it ends. Leaving commits; an exception leaves no trace.
    `receipt` is there after the block.
    """

    receipt: Receipt
    pending: dict[str, bytes | None]
    """The files as this change leaves them: path -> bytes, None for a file that is gone."""
    made: dict[tuple[str, str], str]
    """Notes that this change made and the index cannot know yet: (kind, name key) -> path."""
    stems: set[str]
    """Stem keys that this change has taken."""
    placed: Counter[str]
    """How many new notes this change has given a place in each folder."""

    def __init__(
        self,
        vault: Vault,
        tool: str,
        *,
        by: str,
        session: str,
        subject: str,
        if_version: str | None = None,
        person: bool = False,
    ) -> None:
        self.vault = vault
        self.tool = tool
        self.by = clean_agent(by)
        self.session = session
        self.subject = subject
        self.person = person
        self._versions = Versions(if_version)
        self._moves = Moves()
        self.epoch = int(time.time())
        self.at = stamp_time(self.epoch)
        self._seen: dict[str, _Seen] = {}
        self.pending: dict[str, bytes | None] = {}
        self.made: dict[tuple[str, str], str] = {}
        self.stems: set[str] = set()
        self.placed: Counter[str] = Counter()
        self._looked_again = False
        self._modes: dict[str, int] = {}
        self._parsed: dict[tuple[str, bytes], Note] = {}
        self._lock: AbstractContextManager[Writer] | None = None
        self._writer: Writer | None = None

    # -- the block

    def __enter__(self) -> Change:
        if self._protects:
            self.vault.read_past()
        self._lock = self.vault.repository.writing(self.vault.options.lock_wait)
        self._writer = self._lock.__enter__()
        try:
            self.vault.catch_up(self._writer)
        except BaseException as error:
            self._release(error)
            raise
        self.epoch = int(time.time())
        self.at = stamp_time(self.epoch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._publish()
        except BaseException as failure:
            self._release(failure)
            raise
        self._release(error)
        if error is None and self.receipt.commit:
            self.vault.committed(self.receipt)

    def _release(self, error: BaseException | None) -> None:
        lock, self._lock, self._writer = self._lock, None, None
        if lock is not None:
            lock.__exit__(type(error) if error else None, error, error.__traceback__ if error else None)

    @property
    def writer(self) -> Writer:
        """The lock that this change holds."""
        if self._writer is None:
            raise RuntimeError("a change is used inside its with block")
        return self._writer

    # -- files as this call leaves them

    def read_bytes(self, path: str) -> bytes | None:
        """Give a file's bytes as this change leaves them; None when there is no such file."""
        if path in self.pending:
            return self.pending[path]
        return self._look(path).raw

    def read(self, path: str) -> str | None:
        """Give a file's text as this change leaves it, exactly (BOM and CRLF kept); None when it is missing.

        Raises:
            NoteUnreadable: the file is not UTF-8.
        """
        raw = self.read_bytes(path)
        if raw is None:
            return None
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise NoteUnreadable(
                f"{path} is not UTF-8 text. Convert the file to UTF-8, or leave it to other programs."
            ) from None

    def note(self, path: str) -> Note | None:
        """Read a Markdown file of this change as a note."""
        text = self.read(path)
        return None if text is None else self._note(path, text.encode())

    def write(self, path: str, content: str | bytes, *, mode: int | None = None) -> None:
        """Have the file hold `content` when the change is committed.

        `mode` is Git's, for a file that is put back; else an old file keeps its own.
        """
        raw = content.encode() if isinstance(content, str) else content
        self._look(path)
        self.pending[path] = raw
        if mode is not None:
            self._modes[path] = mode

    def delete(self, path: str) -> None:
        """Have the file gone when the change is committed."""
        if self.read_bytes(path) is None:
            raise NotFound(f"{path} does not exist.")
        self.pending[path] = None

    def move(self, old: str, new: str) -> None:
        """Have the bytes of `old` stand at `new` when the change is committed."""
        raw = self.read_bytes(old)
        if raw is None:
            raise NotFound(f"{old} does not exist.")
        if self.read_bytes(new) is not None and not same_file(self.vault.root, old, new):
            raise AlreadyThere(f"{new} already exists. Choose another name.")
        self.pending[old] = None
        self.take_over(old, new)
        self.write(new, raw)

    def take_over(self, old: str, new: str) -> None:
        """Say that what the file `old` says goes on in `new`, so that it does not count as lost."""
        self._moves.taken_over.pop(new, None)
        self._moves.taken_over[old] = new

    def follow(self, path: str, content: str) -> None:
        """Write a file in which nothing has changed but where links lead: they follow what was moved."""
        self._moves.follow(path, self.read(path) or "", content)
        self.write(path, content)

    def exists(self, path: str) -> bool:
        """Say whether a file stands at `path` as this change leaves it."""
        return self.read_bytes(path) is not None

    def look_again(self) -> bool:
        """Notice what was edited by hand a moment ago; True when that was worth doing (once in a change)."""
        if self._looked_again:
            return False
        self._looked_again = True
        self.vault.look_again(self.writer)
        for path in [p for p in self._seen if p not in self.pending]:
            del self._seen[path]
        return True

    def expect(self, path: str) -> None:
        """Fail unless the note is still of the version that the caller saw, where it named one.

        Raises:
            Stale: the note has other bytes by now.
        """
        raw = self.read_bytes(path)
        now = version_of(raw) if raw is not None else ""
        if self._versions.named and not self._versions.name(now):
            raise Stale(
                f"{path} has changed since version {' '.join(self._versions.named)}; "
                f"it is at {now or 'deleted'} now. Read it again."
            )

    def _look(self, path: str) -> _Seen:
        seen = self._seen.get(path)
        if seen is None:
            if paths.is_hidden(path):
                raise PathRefused(f"{path} is hidden or belongs to another program. Choose another path.")
            found = follow.read_saved(self.vault, path)
            seen = self._seen[path] = _Seen(*found) if found else _Seen(None, None)
        return seen

    def _note(self, path: str, raw: bytes) -> Note:
        note = self._parsed.get((path, raw))
        if note is None:
            note = self._parsed[path, raw] = read_note(path, raw.decode())
        return note

    def _note_or_none(self, path: str, raw: bytes | None) -> Note | None:
        if raw is None or not is_note(path):
            return None
        try:
            return self._note(path, raw)
        except UnicodeDecodeError:
            return None

    # -- publishing

    def _publish(self) -> None:
        work = {p: raw for p, raw in self.pending.items() if raw != self._look(p).raw}
        if not work:
            self.receipt = Receipt(None, self.at, self.by, self.tool, self.subject)
            return
        self.vault.refuse_ignored(self.writer, [p for p, raw in work.items() if raw is not None])
        self._commit_hand_edits(work)
        told = self._differences(work)
        self.receipt = self._receipt(work, told)
        self._refuse(work)
        writes = {
            p: Write(
                raw, seen=self._seen[p].stat, seen_blob=_blob(self._seen[p].raw), mode=self._modes.get(p)
            )
            for p, raw in work.items()
        }
        author = self.vault.person if self.person else agent_ident(self.by)
        done = self.writer.commit(
            writes,
            self._message(told),
            author=author,
            at=self.epoch,
            committer=VAULT_IDENT,
        )
        self.receipt = Receipt(
            done.sha,
            self.at,
            self.by,
            self.tool,
            self.subject,
            tuple(sorted(work)),
            self.receipt.added,
            self.receipt.changed,
            self.receipt.removed,
            self.receipt.replaced,
            {p: (blob[:12] if blob else None) for p, blob in done.blobs.items()},
        )
        self.vault.record(
            self.writer,
            done,
            author=author.clean_name(),
            tool=self.tool,
            session=one_line(self.session),
            subject=self._subject(),
            notes={
                p: (self._note_or_none(p, self._seen[p].raw), self._note_or_none(p, raw))
                for p, raw in work.items()
            },
        )

    def _commit_hand_edits(self, work: dict[str, bytes | None]) -> None:
        """Commit, in the person's name, what a person left uncommitted in the files this change writes."""
        hand: dict[str, Write] = {}
        for path in work:
            seen = self._seen[path]
            head = self.writer.head_entry(path)
            if (head[1] if head else None) != _blob(seen.raw):
                hand[path] = Write(seen.raw, seen=seen.stat, seen_blob=_blob(seen.raw))
        if hand:
            self.vault.commit_hand_edits(self.writer, hand)

    def _differences(self, work: dict[str, bytes | None]) -> dict[str, Difference]:
        return {
            path: difference(self._note_or_none(path, self._seen[path].raw), self._note_or_none(path, raw))
            for path, raw in work.items()
        }

    def _receipt(self, work: dict[str, bytes | None], told: dict[str, Difference]) -> Receipt:
        added = [FactIn(p, f.kind, f.text) for p, d in told.items() for f in d.added]
        removed = [FactIn(p, f.kind, f.text) for p, d in told.items() for f in d.removed]
        moved = moved_facts(told)
        return Receipt(
            None,
            self.at,
            self.by,
            self.tool,
            self.subject,
            added=tuple(f for f in added if (f.kind, f.text) not in moved),
            changed=tuple(Changed(p, o.kind, o.text, n.text) for p, d in told.items() for o, n in d.changed),
            removed=tuple(f for f in removed if (f.kind, f.text) not in moved),
            replaced=tuple(self._replaced(told, moved)),
        )

    def _replaced(self, told: dict[str, Difference], moved: set[tuple[str, str]]) -> Iterator[Replaced]:
        for path, d in told.items():
            old = [f for f in d.removed if (f.kind, f.text) not in moved] + [o for o, _ in d.changed]
            if not old:
                continue
            known = self.vault.provenance(path, [(f.kind, f.text) for f in old])
            for fact in old:
                by, at, by_hand = known.get((fact.kind, fact.text), ("", "", False))
                if not by and fact.stamp is not None:
                    by = fact.stamp.edited_by or fact.stamp.agent
                    at = fact.stamp.edited_at or fact.stamp.added_at
                elif not by and fact.kind in ("observation", "relation"):
                    by, by_hand = self.vault.person.name, True
                yield Replaced(fact.text, by, at, self._whose(by, by_hand), path)

    @property
    def _protects(self) -> bool:
        return self.vault.options.protect_person and not self.person and self.tool != OWNERS

    def _refuse(self, work: dict[str, bytes | None]) -> None:
        """Refuse versions that no file of the change has, and to take away protected words of a person.

        Raises:
            Stale: a version is not current, or none was named of a note from which such words would go.
            VaultBusy: whose words they are has still to be read.
        """
        versions = {path: version_of(raw) for path in work if (raw := self._seen[path].raw) is not None}
        self._versions.refuse_stale(versions.values())
        if self._protects:
            files = {
                path: File(
                    self._seen[path].raw,
                    raw,
                    self._note_or_none(path, self._seen[path].raw),
                    self._note_or_none(path, raw),
                )
                for path, raw in work.items()
            }
            refuse_losses(self.vault, self.writer.head, files, self._moves, versions, self._versions)

    def _whose(self, by: str, by_hand: bool) -> Whose:
        if self.person and by == self.by:
            return "self"
        if by_hand or by == self.vault.person.name:
            return "person"
        return "self" if by == self.by else "agent"

    def _message(self, told: dict[str, Difference]) -> Message:
        return Message(self._subject(), in_lines(told), trailers(self.tool, self.by, self.at, self.session))

    def _subject(self) -> str:
        return subject_line(f"{self.tool}: {self.subject}" if self.subject else self.tool)


OWNERS = "import"
"""A tool of the command line alone: it is the owner who calls it, though its commits are the import's."""

VAULT_IDENT = Ident("vault-mcp", "vault-mcp@vault-mcp.invalid")
"""Committer of every commit the vault makes; the author is whoever changed something."""


def agent_ident(name: str) -> Ident:
    """Give the author of an agent's commit: its name as sent, and an address that can never be a person's."""
    return Ident(name, f"{address_part(name)}@agent.invalid")


def trailers(tool: str, by: str, at: str, session: str = "") -> tuple[tuple[str, str], ...]:
    """Give the trailers of a commit, the same for tools and hand edits."""
    rows = (("Tool", tool), ("Edited-By", by), ("Edited-At", at))
    return (*rows, ("Session", session)) if session else rows


def stamp_time(epoch: int) -> str:
    """Write a second as RFC 3339 in UTC, the form of stamps and trailers."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))


def version_of(raw: bytes) -> str:
    """Give the version of a note's bytes: the first twelve digits of its Git blob."""
    return blob_id(raw)[:12]


def is_note(path: str) -> bool:
    """Say whether a file is read as a note."""
    return path[-3:].lower() == ".md"


def same_file(root: str, old: str, new: str) -> bool:
    """Say whether two paths that differ only in spelling are one file (case-insensitive file systems)."""
    if old.casefold() != new.casefold():
        return False
    a, b = files.stat(root, old), files.stat(root, new)
    return a is not None and b is not None and a.ino == b.ino


def _blob(raw: bytes | None) -> str | None:
    return None if raw is None else blob_id(raw)
