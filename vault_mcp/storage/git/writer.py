"""The write lock of a repository, held: what the last commit and the index have, and commits on top."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

from vault_mcp.errors import PathRefused, RepositoryRefused
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.git.disk_words import storage_failed
from vault_mcp.storage.git.draft import Words, Write
from vault_mcp.storage.git.index_entries import UnmergedError
from vault_mcp.storage.git.index_image import IndexNotPlainError
from vault_mcp.storage.git.message import VAULT, Ident, Message
from vault_mcp.storage.git.objects import blob_id
from vault_mcp.storage.git.placing import facts
from vault_mcp.storage.git.publish import HeadMovedError, Publication
from vault_mcp.storage.git.through_git import UNMERGED
from vault_mcp.storage.git.trees import FOLDER
from vault_mcp.storage.git.workshop import Workshop, encoded

__all__ = ["Committed", "HeadMovedError", "Ident", "Message", "Write", "Writer", "blob_id"]

_ATTEMPTS = 20
# `.git` under every name that some system reads as it: core.protectHFS and core.protectNTFS in git-config(1).
_DOT_GIT = re.compile(r"(?:\A|/)(?:\.git|git~[0-9]+)[ .]*(?::[^/]*)?(?:/|\Z)", re.IGNORECASE)
_IGNORED_BY_HFS = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit that is in history. `blobs` and `stats` hold None for a file that is gone.

    `sha` equals `parent` when HEAD held these very bytes already: no empty commit is made.
    """

    sha: str
    parent: str | None
    at: int
    blobs: dict[str, str | None]
    stats: dict[str, FileStat | None]


class Writer:
    """Valid inside `Repository.writing()` only. `head` is the commit the next one goes on top of."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop
        self.ref, self.head = shop.refs.head()
        self.commits = 0
        self._checked = time.monotonic()

    def head_entry(self, path: str) -> tuple[int, str] | None:
        """Give mode and blob of a path in the last commit; None where there is nothing or a folder."""
        if self.head is None:
            return None
        found = self._shop.trees.find(self._shop.root_tree(self.head), encoded(path))
        return (int(found[0], 8), found[1].hex()) if found and found[0] != FOLDER else None

    def staged_blob(self, path: str) -> str | None:
        """Give the blob of a path in the index: what a person has staged, or else what HEAD has."""
        image = self._shop.image
        try:
            image.load()
        except IndexNotPlainError:
            return self._shop.git.staged(path)
        except UnmergedError:
            raise RepositoryRefused(UNMERGED) from None
        entry = image.get(encoded(path))
        return entry[1] if entry else None

    def blob_for(self, path: str, content: bytes) -> str:
        """Give the blob that a commit would record: the `blob_id` of the bytes, unless Git converts them."""
        shop = self._shop
        if shop.probe.conversions([path]) or shop.probe.rules.through_git:
            return shop.git.blob(path, content)
        return blob_id(content)

    def commit(
        self,
        writes: Mapping[str, Write],
        message: Message,
        *,
        author: Ident,
        at: int,
        write_files: bool = True,
        committer: Ident | None = None,
    ) -> Committed:
        """Commit these files on the branch that is checked out, and nothing else.

        With `write_files` the bytes are put into the working tree; without it they are there already (a
        person's own edit) and only go into history. `at` is in seconds since 1970.

        Raises:
            Stale: a file is not what was seen; nothing was changed.
            PathRefused: a path that cannot be a file of this repository.
            RepositoryRefused: a state or a setting of the repository forbids it.
            VaultBusy: another Git program does not let go of its lock.
            StorageFailed: the disk said no; the files are as they were.
        """
        for path in writes:
            refuse_unsafe(path)
        words = Words(message.render(), message.trailer("Tool"), author, committer or VAULT, at)
        for _ in range(_ATTEMPTS):
            with contextlib.suppress(HeadMovedError):
                return self._publish(writes, words, write_files=write_files)
            self.ref, self.head = self._shop.refs.head()
        raise RepositoryRefused("The branch moves faster than one can write. Stop the other program first.")

    def merge(
        self,
        writes: Mapping[str, Write],
        message: Message,
        *,
        author: Ident,
        at: int,
        committer: Ident,
        merged: str = "",
        made: str = "",
    ) -> Committed:
        """Commit these files as the merge of HEAD and the commit `merged`.

        With `made` nothing new is committed: the branch moves forward to that commit, which is what comes of
        the files.

        Raises:
            HeadMovedError: HEAD is elsewhere by now; nothing was changed.
            VaultError: as `commit` does.
        """
        for path in writes:
            refuse_unsafe(path)
        words = Words(
            message.render(),
            message.trailer("Tool"),
            author,
            committer,
            at,
            merged=(merged,) if merged else (),
            made=made,
        )
        try:
            return self._publish(writes, words, write_files=True)
        except HeadMovedError:
            self.ref, self.head = self._shop.refs.head()
            raise

    def _publish(self, writes: Mapping[str, Write], words: Words, *, write_files: bool) -> Committed:
        try:
            checked, self._checked = self._checked, 0.0
            attempt = Publication(self._shop, self.ref, self.head, write_files=write_files, checked=checked)
            draft, found = attempt.run(writes, words)
        except OSError as error:
            raise storage_failed(error, self._shop.root) from error
        self.head = draft.sha
        self.commits += 1
        return Committed(
            draft.sha,
            draft.parent,
            words.at,
            {path: oid.hex() if oid else None for path, oid in draft.oids.items()},
            {path: facts(stat) if stat else None for path, stat in found.items()},
        )


def refuse_unsafe(path: str) -> None:
    """Refuse what can be no path of a working tree: the last line, behind `storage.paths.inside`."""
    parts = path.split("/")
    if "" in parts or "." in parts or ".." in parts or "\0" in path or "\\" in path:
        raise PathRefused("The path does not name a file inside the vault. Give it relative to the vault.")
    if _DOT_GIT.search(path if path.isascii() else _IGNORED_BY_HFS.sub("", path)):
        raise PathRefused(f"{path} lies in Git's own folder. Choose another path.")
