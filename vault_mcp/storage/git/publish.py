"""One commit, made and published: all of it or nothing.

The order, and what a kill at each point leaves:

1. blobs, trees and the commit as objects, new bytes in holders: nothing that counts;
2. the intent record: from here on the next writer can finish;
3. `index.lock` and the branch's lock; HEAD is compared with what the commit was built on;
4. each file is compared with what the change has seen, and replaced;
5. the index as it will be, beside the old one; the reflogs; the branch, which is the commit point; the index;
6. holders and locks go, the record is emptied.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from functools import partial

from vault_mcp.errors import RepositoryRefused, VaultError
from vault_mcp.storage import files, system
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.git.draft import Draft, Words, Write, make_draft
from vault_mcp.storage.git.flush import flush_all, flush_file, flush_folders
from vault_mcp.storage.git.index_entries import UnmergedError
from vault_mcp.storage.git.index_image import IndexNotPlainError
from vault_mcp.storage.git.intent import Intent, Step
from vault_mcp.storage.git.placing import Placing
from vault_mcp.storage.git.probe import refuse_under_way
from vault_mcp.storage.git.refs import log_line
from vault_mcp.storage.git.through_git import UNMERGED
from vault_mcp.storage.git.wal import MOST_BYTES, Put, Record
from vault_mcp.storage.git.workshop import Workshop, encoded

_CHECK_HOLDS = 0.002
"""Seconds for which nothing can have come under way: no command of Git's is done with it sooner."""

# Windows flushes only what is open for writing.
_FLUSHABLE = (os.O_RDWR if system.WINDOWS else os.O_RDONLY) | system.BINARY

Found = dict[str, os.stat_result | None]


class HeadMovedError(Exception):
    """Somebody else committed since the objects were made: make them again."""


class Publication:
    """One attempt at one commit on a branch."""

    def __init__(
        self,
        shop: Workshop,
        ref: str,
        head: str | None,
        *,
        write_files: bool,
        holders: Mapping[str, str] | None = None,
        checked: float = 0.0,
    ) -> None:
        """Prepare an attempt; with the `holders` of a record that stands already, that one covers it.

        `checked` is when (monotonic seconds) the repository was last seen with nothing under way.
        """
        self._shop = shop
        self._ref = ref
        self._head = head
        self._write_files = write_files
        self._holders = holders
        self._checked = checked
        self._index, self._branch = shop.locks(ref)
        self._index_through_git = False
        self._image_changed = False
        self._settled = False
        self._flushes = shop.durability == "fsync"
        self._logged = False
        self._flush_whole = False

    def run(self, writes: Mapping[str, Write], words: Words) -> tuple[Draft, Found]:
        """Make the commit; give it with the disk's facts of its files.

        Raises:
            HeadMovedError: the branch is elsewhere by now; nothing was changed.
        """
        going = [path for path, write in writes.items() if write.content is None]
        shop = self._shop
        self._placing = Placing(shop.root, shop.state_dir, shop.device, going, flush=self._flushes)
        try:
            return self._run(writes, words)
        finally:
            self._branch.release()
            self._index.release()
            self._placing.close()
            # The record goes last: as long as it stands, what a kill leaves is looked for.
            if self._settled:
                with contextlib.suppress(OSError):
                    self._shop.intents.clear()

    def _run(self, writes: Mapping[str, Write], words: Words) -> tuple[Draft, Found]:
        try:
            draft = make_draft(self._shop, self._head, writes, words, write_files=self._write_files)
            self._prepare(draft, writes, words)
            if self._shop.durability != "git":
                self._flush_foreign(draft)
            self._lock()
            found = self._place(writes)
            self._make_index(draft, found)
            if self._shop.durability != "git":
                self._secure(draft, writes, words)
            self._move_branch(draft, words)
        except BaseException:
            if self._logged:
                self._shop.log.retract()
            if self._image_changed:
                self._shop.image.forget()
            self._placing.undo()
            self._settled = self._holders is None
            raise
        try:
            self._finish(draft)
            self._settled = True
        except (OSError, VaultError):
            # It is in history all the same. What is left to do stands in the record, for the next writer.
            self._shop.image.forget()
        return draft, found

    def _prepare(self, draft: Draft, writes: Mapping[str, Write], words: Words) -> None:
        """Lay the new bytes ready and write down what is about to be done."""
        steps = []
        for path, write in writes.items():
            oid = draft.oids[path]
            new = oid.hex() if oid else None
            holder = ""
            if self._write_files:
                standing = self._holders[path] if self._holders is not None else None
                holder = self._placing.prepare(
                    path,
                    write.content,
                    write.seen,
                    write.seen_blob,
                    executable=None if write.mode is None else bool(write.mode & 0o100),
                    standing=standing,
                ).holder
            mode = write.seen.mode & 0o7777 if write.seen else None
            steps.append(Step(path, write.seen_blob, draft.raws.get(path, new), new, mode, holder))
        if self._holders is None:
            self._shop.intents.write(
                Intent(
                    commit=draft.sha,
                    parent=draft.parent,
                    ref=self._ref,
                    agent=words.author.name,
                    email=words.author.email,
                    committer=words.committer.name,
                    committer_email=words.committer.email,
                    tool=words.tool,
                    at=words.at,
                    message=words.text.decode(),
                    write_files=self._write_files,
                    steps=tuple(steps),
                    merged=words.merged,
                    made=words.made,
                )
            )

    def _lock(self) -> None:
        shop = self._shop
        self._index.take()
        if not shop.probe.rules.through_git:
            self._branch.take()
        if shop.refs.head() != (self._ref, self._head):
            raise HeadMovedError
        if time.monotonic() - self._checked > _CHECK_HOLDS:
            refuse_under_way(shop.git_dir)
        try:
            shop.image.load()
        except IndexNotPlainError:
            self._index_through_git = True
        except UnmergedError:
            raise RepositoryRefused(UNMERGED) from None
        self._index_through_git |= bool(shop.probe.rules.through_git)

    def _place(self, writes: Mapping[str, Write]) -> Found:
        placing = self._placing
        if self._write_files:
            placing.place()
            return {file.path: file.put for file in placing.files}
        return {path: placing.look(path, write.seen, write.seen_blob) for path, write in writes.items()}

    def _make_index(self, draft: Draft, found: Found) -> None:
        if self._index_through_git:
            self._shop.git.prepare_index(draft.entries(), len(draft.sha))
            return
        image = self._shop.image
        self._image_changed = True
        for path, oid in draft.oids.items():
            if oid is None:
                image.remove(encoded(path))
        for path, oid in draft.oids.items():
            stat = found[path]
            if oid is not None and stat is not None:
                image.put(encoded(path), int(draft.modes[path], 8), oid, stat)
        if draft.edited is not None:
            image.follow(draft.edited)
        self._written = write_image(self._shop, self._index.fd)

    def _secure(self, draft: Draft, writes: Mapping[str, Write], words: Words) -> None:
        """Have the disk keep what the setting asks for, before the commit counts."""
        shop = self._shop
        if self._flushes:
            shop.objects.flush_names()
            if not self._write_files:
                self._flush_a_persons(writes)
        if draft.empty:
            return
        # What Git or a fetch has stored, no record can bring back.
        self._flush_whole = bool(shop.probe.rules.through_git or words.merged or words.made)
        self._flush_whole |= self._flushes and bool(shop.probe.rules.signed or draft.raws)
        if self._flushes or self._flush_whole:
            return
        if sum(len(write.content or b"") for write in writes.values()) > MOST_BYTES:
            self._flush_whole = True
            return
        puts = [
            Put(path, draft.modes.get(path, b"").decode(), write.seen_blob, write.content)
            for path, write in writes.items()
        ]
        body = shop.reader.read(draft.sha)[1]
        shop.log.append(Record.of(draft.sha, draft.parent, self._ref, body, puts))
        self._logged = True

    def _flush_foreign(self, draft: Draft) -> None:
        """Have the disk keep what the commit builds on, if another program made that."""
        log = self._shop.log
        if not self._flushes:
            log.read_on()
        if draft.parent != log.tip and not draft.empty:
            flush_all(self._shop.places())
            log.tip = draft.parent

    def _flush_a_persons(self, writes: Mapping[str, Write]) -> None:
        """Have the disk keep what somebody else's program has written."""
        folders = {os.path.dirname(f"{self._shop.root}/{path}") for path in writes}
        for path, write in writes.items():
            if write.content is not None:
                fd = os.open(
                    f"{self._shop.root}/{path}",
                    (os.O_RDWR if system.WINDOWS else os.O_RDONLY) | getattr(os, "O_NOFOLLOW", 0),
                )
                try:
                    flush_file(fd)
                finally:
                    os.close(fd)
        flush_folders(filter(os.path.isdir, folders))

    def _move_branch(self, draft: Draft, words: Words) -> None:
        shop = self._shop
        if draft.empty:
            return
        first = b"" if draft.parent else b" (initial)"
        reason = b"commit%s: %s" % (b" (merge)" if words.merged else first, words.subject)
        if words.made:
            reason = words.subject
        if shop.probe.rules.through_git:
            shop.git.move(self._ref, draft.sha, draft.parent, reason.decode(), words.committer, words.at)
            return
        if draft.parent is None:
            shop.refs.refuse_in_the_way(self._ref)
        who = words.committer.header(words.at)
        shop.refs.log(self._ref, log_line(draft.parent, draft.sha, who, reason), create=shop.probe.rules.logs)
        self._branch.write(draft.sha.encode() + b"\n")
        if self._flushes:
            flush_file(self._branch.fd)
        self._branch.publish()  # the commit point: nothing that can fail may follow here

    def _finish(self, draft: Draft) -> None:
        if self._branch.published:
            self._shop.refs.moved(self._ref, self._branch.hand_over(), draft.sha)
        if self._index_through_git:
            self._shop.git.publish_index()
            self._shop.image.forget()
        else:
            self._index.publish()
            self._shop.image.written(self._index.hand_over(), self._written)
        self._placing.finish()
        if self._flush_whole:
            flush_all(self._shop.places())
        elif self._flushes:
            flush_folders([self._shop.git_dir, os.path.dirname(self._shop.refs.path(self._ref))])
        if self._flush_whole or self._flushes:
            self._shop.log.tip = draft.sha


def write_image(shop: Workshop, fd: int) -> os.stat_result:
    """Write the index image into its lock; give what the disk says of it."""
    created = os.fstat(fd)
    second = created.st_mtime_ns // 10**9
    shop.image.settle(second, partial(_read, shop.root))
    shop.image.write(fd)
    if shop.durability == "fsync":
        flush_file(fd)
    written = os.fstat(fd)
    if written.st_mtime_ns // 10**9 != second:
        # The entries were checked against the second in which we began: an index that says it is younger
        # would call files clean that changed since.
        place = fd if system.STEPWISE else f"{shop.git_dir}/index.lock"
        os.utime(place, ns=(created.st_atime_ns, created.st_mtime_ns))
        written = os.fstat(fd)
    return written


def _read(root: str, path: bytes) -> tuple[bytes, FileStat] | None:
    return files.read(root, path.decode("utf-8", "surrogateescape"))
