"""A commit as objects that nothing leads to yet: blobs, trees, the commit itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vault_mcp.errors import RepositoryRefused, StorageFailed
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.git.message import Ident
from vault_mcp.storage.git.objects import blob_id
from vault_mcp.storage.git.trees import FILES, Edited
from vault_mcp.storage.git.workshop import Workshop, encoded

if TYPE_CHECKING:
    from vault_mcp.storage.git.through_git import Entry


@dataclass(frozen=True, slots=True)
class Write:
    """One file of a commit.

    `content` None takes the file away. `seen` are the disk's facts of the file when the change read it (None:
    there was none) and `seen_blob` the `blob_id` of its bytes then. `mode` is Git's mode to record; without
    it an old file keeps its own, and a new one is 100644.
    """

    content: bytes | None
    seen: FileStat | None = None
    seen_blob: str | None = None
    mode: int | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """Who says what in a commit: `text` is the message as Git stores it.

    `merged` are further parents, of a merge. `made` names a commit that is there already: the branch only
    moves forward to it, and its tree has to be what comes of the files.
    """

    text: bytes
    tool: str
    author: Ident
    committer: Ident
    at: int
    merged: tuple[str, ...] = ()
    made: str = ""

    @property
    def subject(self) -> bytes:
        """The first line."""
        return self.text.split(b"\n", 1)[0]


@dataclass(slots=True)
class Draft:
    """A commit as objects.

    `oids` and `modes` are those of its files; `raws` the `blob_id` of the bytes that Git converted. `edited`
    is None where Git made the tree.
    """

    sha: str
    parent: str | None
    oids: dict[str, bytes | None] = field(default_factory=dict)
    modes: dict[str, bytes] = field(default_factory=dict)
    raws: dict[str, str] = field(default_factory=dict)
    edited: Edited | None = None

    @property
    def empty(self) -> bool:
        """Whether the parent holds the very same: then it is the parent."""
        return self.sha == self.parent

    def entries(self) -> list[Entry]:
        """Give the files as Git's commands take them."""
        return [
            (path, self.modes.get(path, b"").decode(), oid.hex() if oid else None)
            for path, oid in self.oids.items()
        ]


def make_draft(
    shop: Workshop, head: str | None, writes: Mapping[str, Write], words: Words, *, write_files: bool
) -> Draft:
    """Store all objects of a commit on top of `head`."""
    root = shop.root_tree(head) if head else None
    draft = Draft("", head)
    _store_blobs(shop, draft, writes, write_files=write_files)
    wanted = {path: _wanted_mode(shop, write, write_files=write_files) for path, write in writes.items()}
    if shop.probe.rules.through_git:
        draft.modes = {path: wanted[path] or _mode_of(shop, root, path) for path in writes}
        tree = bytes.fromhex(shop.git.tree(head, draft.entries()))
    else:
        draft.edited = shop.trees.edit(
            root, {encoded(path): (wanted[path], oid) if oid else None for path, oid in draft.oids.items()}
        )
        draft.modes = {path: draft.edited.modes[encoded(path)] for path, oid in draft.oids.items() if oid}
        tree = draft.edited.root
    if words.made:
        if tree != shop.root_tree(words.made):
            raise RepositoryRefused(
                "This repository stores files otherwise than they are on disk, so the vault cannot bring it "
                "forward by itself. Do it with: git pull"
            )
        draft.sha = words.made
    elif head and tree == root and not words.merged:
        draft.sha = head
    else:
        draft.sha = _store_commit(shop, tree, head, words)
    shop.remember(draft.sha, tree)
    return draft


def _store_blobs(shop: Workshop, draft: Draft, writes: Mapping[str, Write], *, write_files: bool) -> None:
    contents = {path: write.content for path, write in writes.items() if write.content is not None}
    converted = set(shop.probe.conversions(contents))
    if shop.probe.rules.through_git:
        converted = set(contents)
    stored: dict[str, bytes] = {}
    if converted and not write_files:
        # They are on disk: one child for all. Names with a line break cannot be told to it.
        paths = [path for path in converted if "\n" not in path]
        blobs = shop.git.blobs_on_disk(paths)
        stored = {path: bytes.fromhex(blob) for path, blob in zip(paths, blobs, strict=True)}
    for path, write in writes.items():
        if write.content is None:
            draft.oids[path] = None
            continue
        if path in converted:
            draft.raws[path] = blob_id(write.content)
        if path in stored:
            draft.oids[path] = stored[path]
        elif path in converted:
            draft.oids[path] = bytes.fromhex(shop.git.blob(path, write.content))
        else:
            draft.oids[path] = shop.objects.write(b"blob", write.content)


def _wanted_mode(shop: Workshop, write: Write, *, write_files: bool) -> bytes | None:
    """Give Git's mode as it was asked for or as a person's file has it; None: as in the last commit."""
    if write.mode is not None:
        return b"%o" % write.mode
    if not write_files and write.seen is not None and shop.probe.rules.file_mode:
        return FILES[bool(write.seen.mode & 0o100)]
    return None


def _mode_of(shop: Workshop, root: bytes | None, path: str) -> bytes:
    found = shop.trees.find(root, encoded(path)) if root else None
    return found[0] if found and found[0] in FILES else FILES[0]


def _store_commit(shop: Workshop, tree: bytes, head: str | None, words: Words) -> str:
    probe = shop.probe
    if probe.rules.signed and not probe.unsignable:
        try:
            parents = [head, *words.merged] if head else []
            return shop.git.signed_commit(
                tree.hex(), parents, words.text, words.author, words.committer, words.at
            )
        except StorageFailed as error:
            # Signed when it can be done without asking anybody; `state` tells when it could not.
            probe.unsignable = str(error)
    body = b"tree %s\n%sauthor %s\ncommitter %s\n\n%s" % (
        tree.hex().encode(),
        b"".join(b"parent %s\n" % sha.encode() for sha in (head, *words.merged) if sha),
        words.author.header(words.at),
        words.committer.header(words.at),
        words.text,
    )
    if probe.rules.through_git:
        return shop.git.raw_commit(body)
    return shop.objects.write(b"commit", body).hex()
