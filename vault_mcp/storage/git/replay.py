"""After a loss of power: the commits that the log tells of, made again.

A commit is a function of what its record holds, so it comes back under the same name. Its objects are made
anew in any case: what a file system leaves of one that it had not written yet is an empty file. The branch
moves to it if it is what comes next there. Then files and index are put right, as far as they are as they
were before: what a person saved since stays. A record that no longer fits is laid aside, for
`doctor` to name.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable

from vault_mcp.errors import NotFound, PathRefused, Stale, VaultError
from vault_mcp.storage import files
from vault_mcp.storage.git.flush import flush_all
from vault_mcp.storage.git.intent import Intent, Step
from vault_mcp.storage.git.message import VAULT
from vault_mcp.storage.git.objects import blob_id
from vault_mcp.storage.git.placing import Placing
from vault_mcp.storage.git.recovery import mend_index
from vault_mcp.storage.git.wal import Put, Record, boot
from vault_mcp.storage.git.workshop import Workshop, encoded

ASIDE = "aside-"
"""A record that no longer fits: a file of this name in the state folder, which `state` tells of."""

_SMALLEST_INDEX = 32


class Replay:
    """What the log holds, brought back in two steps. The write lock is held."""

    def __init__(self, shop: Workshop, is_ancestor: Callable[[str, str], bool]) -> None:
        self._shop = shop
        self._is_ancestor = is_ancestor
        self._records: list[Record] = []
        self._lost = False
        self._reflog: list[bytes] = []
        self._rewound = False

    def commits(self) -> None:
        """Make the commits again, and move the branch to the last that fits; have an index in any case."""
        self._commits()
        if broken_index(self._shop) or self._rewound:
            _, head = self._shop.refs.head()
            self._shop.git.new_index(head)
            self._shop.image.forget()

    def _commits(self) -> None:
        shop = self._shop
        records = shop.log.records() if shop.log.left() else []
        if not records and not broken_branch(shop) and not lost_tip(shop):
            return
        for lock in shop.locks(shop.refs.branch()):
            lock.recover()
        self._lost = any(record.boot != boot() for record in records)
        self._reflog = self._read_reflog(shop.refs.branch())
        self._mend_ref(records)
        ref, head = shop.refs.head()
        shop.objects.flush = True
        try:
            made = [record for record in records if self._make(record)]
        finally:
            shop.objects.flush = shop.durability == "fsync"
        there = {record.commit for record in made if head and self._is_ancestor(record.commit, head)}
        tip = head
        for record in records:
            if record.commit in there:
                self._records.append(record)
            elif record in made and record.ref == ref and record.parent == tip:
                if self._left_behind(record, head):
                    continue
                tip = record.commit
                self._records.append(record)
            elif not self._left_behind(record, head):
                self._lay_aside(record)
        if tip is not None and tip != head:
            self._lost = True
            last = self._records[-1]
            shop.git.move(ref, tip, head, "commit: again, after a loss of power", VAULT, last.time // 10**9)

    def files(self) -> None:
        """Put files and index right, and empty the log once the disk has it all."""
        shop = self._shop
        if not shop.log.left():
            return
        if self._lost:
            known: dict[str, set[str | None]] = {}
            last: dict[str, tuple[Put, int]] = {}
            for record in self._records:
                for put in record.puts:
                    # What a file may be that was not written again since.
                    states = known.setdefault(put.path, set())
                    states |= {put.seen, self._committed(record.parent, put.path), _blob(put.content)}
                    last[put.path] = put, record.time
            for path, (put, at) in last.items():
                with contextlib.suppress(Stale, PathRefused, NotFound):
                    self._put_right(put, known[path], at)
            for record in self._records:
                mend_index(shop, _as_intent(shop, record))
        flush_all(shop.places())
        shop.log.empty()

    def _make(self, record: Record) -> bool:
        """Make a commit's objects; say whether they are those that it had."""
        shop = self._shop
        try:
            root = shop.root_tree(record.parent) if record.parent else None
            contents = [put.path for put in record.puts if put.content is not None]
            converted = set(shop.probe.conversions(contents))
            changes: dict[bytes, tuple[bytes | None, bytes] | None] = {}
            for put in record.puts:
                entry = None
                if put.content is not None:
                    oid = (
                        bytes.fromhex(shop.git.blob(put.path, put.content))
                        if put.path in converted
                        else shop.objects.write(b"blob", put.content)
                    )
                    entry = put.mode.encode(), oid
                changes[encoded(put.path)] = entry
            tree = shop.trees.edit(root, changes).root
            if not record.body.startswith(b"tree %s\n" % tree.hex().encode()):
                return False
            return shop.objects.write(b"commit", record.body).hex() == record.commit
        except VaultError:
            return False

    def _mend_ref(self, records: list[Record]) -> None:
        """Give a branch that cannot be read any more a commit that it had and that is whole.

        What the files hold is newer then, and is taken in as it is found.
        """
        refs = self._shop.refs
        ref = refs.branch()
        if not broken_branch(self._shop):
            if not lost_tip(self._shop):
                return
            tip = refs.read(ref)
            _drop_empty_objects(f"{refs.common_dir}/objects")
            if any(record.commit == tip for record in records) or (tip and self._shop.git.is_whole(tip)):
                return  # it is made again, or a pack has it
            self._rewound = True
        self._lost = True
        first = next((record for record in records if record.ref == ref), None)
        # It had the parent of each record once: take the newest that is there.
        bases = [record.parent for record in reversed(records) if record.ref == ref and record.parent]
        names = [line[41:81].decode("ascii", "replace") for line in reversed(self._reflog)]
        whole = self._shop.git.is_whole if self._rewound else self._is_whole
        old = next(filter(whole, bases or names), None)
        if first is None and old is None:
            self._rewound = False
            return  # nobody knows; `refs` says so
        os.unlink(refs.path(ref))
        _drop_empty_objects(f"{refs.common_dir}/objects")
        if old is not None:
            now = int(time.time())
            self._shop.git.move(ref, old, refs.read(ref), "reset: after a loss of power", VAULT, now)
        if self._rewound:
            self._shop.git.forget_lost()

    def _is_whole(self, commit: str) -> bool:
        with contextlib.suppress(VaultError):
            self._shop.trees.tree(self._shop.root_tree(commit))
            return True
        return False

    def _read_reflog(self, ref: str) -> list[bytes]:
        with contextlib.suppress(OSError), open(f"{self._shop.refs.common_dir}/logs/{ref}", "rb") as file:
            return file.read().splitlines()
        return []

    def _left_behind(self, record: Record, head: str | None) -> bool:
        """Say whether the branch was at a commit and was set elsewhere since, as by `git reset`."""
        news = [line[41:81].decode("ascii", "replace") for line in self._reflog]
        return bool(news) and news[-1] == head and record.commit in news

    def _lay_aside(self, record: Record) -> None:
        path = f"{self._shop.state_dir}/{ASIDE}{record.commit[:12]}"
        with open(f"{path}.part", "wb") as file:
            file.write(record.packed())
        os.replace(f"{path}.part", path)

    def _committed(self, commit: str | None, path: str) -> str | None:
        found = self._shop.trees.find(self._shop.root_tree(commit), encoded(path)) if commit else None
        return found[1].hex() if found else None

    def _put_right(self, put: Put, known: set[str | None], at: int) -> None:
        shop = self._shop
        found = files.read(shop.root, put.path)
        now = _blob(found[0] if found else None)
        if now == _blob(put.content):
            return
        torn = found is not None and not found[0].strip(b"\0")
        if not torn and (now not in known or (found is not None and found[1].mtime_ns > at)):
            return  # a person's, since
        placing = Placing(shop.root, shop.state_dir, shop.device, [put.path] if put.content is None else [])
        try:
            executable = put.mode == "100755" if put.mode else None
            placing.prepare(put.path, put.content, found[1] if found else None, now, executable=executable)
            placing.place()
            placing.finish()
        except BaseException:
            placing.undo()
            raise
        finally:
            placing.close()


def broken_index(shop: Workshop) -> bool:
    """Say whether the index is a file that was never written out: shorter than any index is."""
    with contextlib.suppress(OSError):
        return os.stat(f"{shop.git_dir}/index").st_size < _SMALLEST_INDEX
    return False


def lost_tip(shop: Workshop) -> bool:
    """Say whether the newest commit, or its folder of files, is an object file that was never written out."""
    with contextlib.suppress(OSError, VaultError):
        tip = shop.refs.commit()
        for _ in range(2):
            path = f"{shop.refs.common_dir}/objects/{tip[:2]}/{tip[2:]}" if tip else ""
            with open(path, "rb") as file:
                if not file.read(2).strip(b"\0"):
                    return True
            found = shop.objects.read(tip or "")
            if found is None or not found[1].startswith(b"tree "):
                return False
            tip = found[1][5 : found[1].index(b"\n")].decode()
    return False


def broken_branch(shop: Workshop) -> bool:
    """Say whether the branch that is checked out is a file that was never written out."""
    try:
        with open(f"{shop.git_dir}/HEAD", encoding="utf-8", errors="surrogateescape") as file:
            head = file.read()
        if not head.startswith("ref: refs/heads/") or ".." in head:
            return False
        with open(shop.refs.path(head[5:].strip()), "rb") as file:
            return not file.read(64).strip(b"\0")
    except OSError:
        return False


def _drop_empty_objects(folder: str) -> None:
    """Remove object files without a byte: Git stumbles over them, even where a pack has the object."""
    for name in os.listdir(folder):
        if len(name) == 2:
            with os.scandir(f"{folder}/{name}") as entries:
                for entry in entries:
                    if not entry.stat(follow_symlinks=False).st_size:
                        os.unlink(entry.path)


def _blob(content: bytes | None) -> str | None:
    return None if content is None else blob_id(content)


def _as_intent(shop: Workshop, record: Record) -> Intent:
    steps = []
    for put in record.puts:
        found = shop.trees.find(shop.root_tree(record.commit), encoded(put.path))
        steps.append(
            Step(put.path, put.seen, _blob(put.content), found[1].hex() if found else None, None, "")
        )
    return Intent(record.commit, record.parent, record.ref, "", "", "", "", "", 0, "", True, tuple(steps))
