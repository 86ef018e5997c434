"""Finishing what a killed process left, from its intent record.

What counts is the disk. A file that holds the record's new bytes is the agent's, and must never be committed
as the person's: if any does, the whole commit is made, on whatever HEAD is now. If none does, nothing of it
can be seen, nobody was told that it worked, and the record is dropped; but where every file had been put in
place and a person has edited one since, the agent's words are in it still, and the commit goes into history
below that edit. What a person saved since is left alone in any case. All of this can be interrupted and done
again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator

from vault_mcp.errors import NotFound, PathRefused, RepositoryRefused
from vault_mcp.storage import files
from vault_mcp.storage.git.draft import Words, Write
from vault_mcp.storage.git.index_entries import UnmergedError
from vault_mcp.storage.git.index_image import IndexNotPlainError
from vault_mcp.storage.git.intent import Intent, Step
from vault_mcp.storage.git.message import Ident
from vault_mcp.storage.git.objects import blob_id
from vault_mcp.storage.git.placing import HIDDEN_HOLDER, LEFTOVERS, Placing
from vault_mcp.storage.git.publish import HeadMovedError, Publication, write_image
from vault_mcp.storage.git.swap import ASIDE
from vault_mcp.storage.git.through_git import UNMERGED
from vault_mcp.storage.git.trees import FOLDER
from vault_mcp.storage.git.workshop import Workshop, encoded

KEPT = "kept-"
"""A person's bytes that found no place: a file of this name in the state folder, which `state` tells of."""

_ATTEMPTS = 5


def recover(shop: Workshop, is_ancestor: Callable[[str, str], bool]) -> None:
    """Finish or drop what stands in the intent record. The write lock is held; nothing else is assumed.

    Raises:
        RepositoryRefused: the repository is in a state that must not be written; the record stays.
    """
    intent = shop.intents.read()
    if intent is not None:
        for lock in shop.locks(intent.ref):
            lock.recover()
    if intent is not None:
        _give_back(shop, intent)
        _finish(shop, intent, is_ancestor)
    _sweep(shop, intent)
    shop.intents.clear()


def has_leftovers(shop: Workshop) -> bool:
    """Say whether a killed process may have left something; a living one may just be at it, too."""
    try:
        names = os.listdir(shop.state_dir)
    except FileNotFoundError:
        return False
    return shop.intents.left() or any(name.startswith(LEFTOVERS) for name in names)


def _finish(shop: Workshop, intent: Intent, is_ancestor: Callable[[str, str], bool]) -> None:
    for _ in range(_ATTEMPTS):
        ref, head = shop.refs.head()
        if head is not None and (head == intent.commit or is_ancestor(intent.commit, head)):
            mend_index(shop, intent)
            return
        if not intent.write_files:
            return
        now = {step.path: _on_disk(shop, step) for step in intent.steps}
        if head == intent.parent and _edited_since(shop, intent, now):
            who = Ident(intent.committer, intent.committer_email)
            subject = intent.message.partition("\n")[0]
            shop.git.move(ref, intent.commit, head, f"commit: {subject}", who, intent.at)
            mend_index(shop, intent)
            return
        if not any(now[step.path] == step.raw for step in intent.steps):
            return
        writes = _what_is_left(shop, intent, head)
        if not writes:
            return
        # A merge holds for the commit it was made on and with all of its files. What is left of one is a
        # plain commit, and the next sync merges anew.
        whole = head == intent.parent and len(writes) == len(intent.steps)
        words = Words(
            text=intent.message.encode(),
            tool=intent.tool,
            author=Ident(intent.agent, intent.email),
            committer=Ident(intent.committer, intent.committer_email),
            at=intent.at,
            merged=intent.merged if whole else (),
            made=intent.made if whole else "",
        )
        with contextlib.suppress(HeadMovedError):
            holders = {step.path: step.holder for step in intent.steps}
            Publication(shop, ref, head, write_files=True, holders=holders).run(writes, words)
            return
    raise RepositoryRefused("The branch moves faster than one can write. Stop the other program first.")


def _edited_since(shop: Workshop, intent: Intent, now: dict[str, str | None]) -> bool:
    """Say whether every file of a commit had been put in place, and one has other bytes by now."""
    if all(now[step.path] == step.raw for step in intent.steps):
        return False
    return all(
        now[step.path] == step.raw or _was_in_place(shop, step, now[step.path]) for step in intent.steps
    )


def _was_in_place(shop: Workshop, step: Step, now: str | None) -> bool:
    """Say whether a file had its new bytes once: its holder has the old ones, or gave the new ones away."""
    if now == step.old:
        return False
    with _placing(shop) as placing, contextlib.suppress(PathRefused, FileNotFoundError):
        held = placing.held(step.path, step.holder)
        return now is not None and held is None if step.old is None else _blob_of(held) == step.old
    return False


def _blob_of(content: bytes | None) -> str | None:
    return None if content is None else blob_id(content)


def _on_disk(shop: Workshop, step: Step) -> str | None:
    found = files.read(shop.root, step.path)
    return blob_id(found[0]) if found else None


def _committed(shop: Workshop, commit: str | None, path: str) -> tuple[bytes, bytes] | None:
    """Give mode and blob of a path in a commit; None where there is nothing or a folder."""
    found = shop.trees.find(shop.root_tree(commit), encoded(path)) if commit else None
    return found if found and found[0] != FOLDER else None


def _blob(entry: tuple[bytes, bytes] | None) -> str | None:
    return entry[1].hex() if entry else None


def _what_is_left(shop: Workshop, intent: Intent, head: str | None) -> dict[str, Write]:
    """Give the files of the commit that still are as the record says, before or after."""
    writes = {}
    for step in intent.steps:
        found = files.read(shop.root, step.path)
        there = blob_id(found[0]) if found else None
        if there not in (step.old, step.raw):
            continue  # a person's, since
        before = _blob(_committed(shop, intent.parent, step.path))
        if there != step.raw and _blob(_committed(shop, head, step.path)) not in (before, step.new):
            continue  # somebody has committed something else since, and none of the agent's bytes are there
        content = None
        if step.raw is not None:
            content = found[0] if found and there == step.raw else _new_bytes(shop, step)
            if content is None:
                continue
        writes[step.path] = Write(content, found[1] if found else None, there)
    return writes


def _new_bytes(shop: Workshop, step: Step) -> bytes | None:
    """Find the bytes that a file was to have: in its holder, or in the blob if that is the same."""
    with _placing(shop) as placing:
        held = placing.held(step.path, step.holder)
    if held is not None and blob_id(held) == step.raw:
        return held
    if step.new is not None and step.new == step.raw:
        with contextlib.suppress(NotFound):
            return shop.reader.read(step.new)[1]
    return None


@contextlib.contextmanager
def _placing(shop: Workshop) -> Iterator[Placing]:
    placing = Placing(shop.root, shop.state_dir, shop.device)
    try:
        yield placing
    finally:
        placing.close()


def _give_back(shop: Workshop, intent: Intent) -> None:
    """Put back what a person saved in the very instant before the kill: a holder has it."""
    for number, step in enumerate(intent.steps):
        for holder in (step.holder, step.holder + ASIDE) if step.holder else ():
            with _placing(shop) as placing, contextlib.suppress(PathRefused, FileNotFoundError):
                held = placing.held(step.path, holder)
                there = _on_disk(shop, step)
                if held is None:
                    continue
                missing = there is None and step.raw is not None and holder.endswith(ASIDE)
                if blob_id(held) in (step.old, step.raw) and not missing:
                    continue
                if there is None or there == step.raw:
                    placing.give_back(step.path, holder, instead=there is not None)
                else:
                    kept = f"{shop.state_dir}/{KEPT}{int(time.time())}-{number}"
                    with open(kept, "xb") as file:
                        file.write(held)


def mend_index(shop: Workshop, intent: Intent) -> None:
    """Have the index say of the commit's files what the commit says, but where a person staged more."""
    index, _ = shop.locks(intent.ref)
    try:
        index.take()
        try:
            shop.image.load()
        except IndexNotPlainError:
            shop.git.prepare_index(_stale_entries(shop, intent, shop.git.staged), len(intent.commit))
            shop.git.publish_index()
            return
        except UnmergedError:
            raise RepositoryRefused(UNMERGED) from None
        stale = _stale_entries(shop, intent, lambda path: _staged(shop, path))
        for path, mode, blob in stale:
            shop.image.forget_folders(encoded(path))
            if blob is None:
                shop.image.remove(encoded(path))
            else:
                shop.image.put(encoded(path), int(mode, 8), bytes.fromhex(blob), None)
        if stale:
            written = write_image(shop, index.fd)
            index.publish()
            shop.image.written(index.hand_over(), written)
    except BaseException:
        shop.image.forget()
        raise
    finally:
        index.release()


def _staged(shop: Workshop, path: str) -> str | None:
    entry = shop.image.get(encoded(path))
    return entry[1] if entry else None


def _stale_entries(
    shop: Workshop, intent: Intent, staged: Callable[[str], str | None]
) -> list[tuple[str, str, str | None]]:
    """Give the files of which the index still says what it said before the commit, first those to go."""
    stale = []
    for step in intent.steps:
        now = staged(step.path)
        if now != step.new and now == _blob(_committed(shop, intent.parent, step.path)):
            entry = _committed(shop, intent.commit, step.path)
            stale.append((step.path, entry[0].decode() if entry else "", _blob(entry)))
    return sorted(stale, key=lambda entry: entry[2] is not None)  # a file may stand where a folder was


def _sweep(shop: Workshop, intent: Intent | None) -> None:
    """Remove what is left of ours; everything in it is known to be elsewhere."""
    for name in os.listdir(shop.state_dir):
        if name.startswith(LEFTOVERS):
            path = f"{shop.state_dir}/{name}"
            if os.path.isdir(path):
                shutil.rmtree(path, ignore_errors=True)
                continue
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
    for step in intent.steps if intent else ():
        if step.holder.startswith(HIDDEN_HOLDER):
            with _placing(shop) as placing, contextlib.suppress(PathRefused, OSError):
                placing.drop(step.path, step.holder)
