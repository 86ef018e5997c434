"""What `doctor` says about the repository: how commits are made and why, and what stands in their way."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from vault_mcp.errors import RepositoryRefused, VaultError
from vault_mcp.storage.git.erasing import UNFINISHED
from vault_mcp.storage.git.index_entries import UnmergedError
from vault_mcp.storage.git.index_image import IndexImage, IndexNotPlainError
from vault_mcp.storage.git.probe import refuse_under_way
from vault_mcp.storage.git.recovery import KEPT
from vault_mcp.storage.git.replay import ASIDE
from vault_mcp.storage.git.through_git import UNMERGED
from vault_mcp.storage.git.workshop import Workshop

_OLD_LOCK = 60.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know: `topic` in a word or two, `text` as a sentence with what to do."""

    topic: str
    level: Literal["fine", "note", "problem"]
    text: str


def findings(shop: Workshop) -> Iterator[Finding]:
    """Look at the repository without changing anything."""
    try:
        refuse_under_way(shop.git_dir)
        shop.refs.branch()
        shop.probe.look()
    except RepositoryRefused as error:
        yield Finding("writing", "problem", str(error))
    except VaultError as error:
        yield Finding("configuration", "problem", str(error))
        return
    yield from _commit_path(shop)
    yield from _leftovers(shop)
    yield from _upkeep(shop)


def _upkeep(shop: Workshop) -> Iterator[Finding]:
    """Count as `git gc --auto` does (gc.auto and gc.autoPackLimit in git-config(1)): by a 256th of all."""
    config, folder = shop.probe.config, f"{shop.refs.common_dir}/objects"
    most_loose, most_packs = config.number("gc.auto", 6700), config.number("gc.autopacklimit", 50)
    loose = 256 * len(_names(f"{folder}/17", 38))
    packs = {name[:-5] for name in _names(f"{folder}/pack") if name.endswith(".pack")}
    packs -= {name[:-5] for name in _names(f"{folder}/pack") if name.endswith(".keep")}
    if most_loose <= 0:
        return  # a person keeps it tidy
    if loose > most_loose or 0 < most_packs < len(packs):
        yield Finding(
            "upkeep", "note", f"Git's upkeep is due: about {loose:,} loose objects, {len(packs)} packs."
        )


def _names(folder: str, length: int = 0) -> list[str]:
    with contextlib.suppress(OSError):
        return [name for name in os.listdir(folder) if not length or len(name) == length]
    return []


def _commit_path(shop: Workshop) -> Iterator[Finding]:
    rules = shop.probe.rules
    image = IndexImage(f"{shop.git_dir}/index")
    try:
        image.load()
        why = rules.through_git
    except IndexNotPlainError as error:
        why = rules.through_git or str(error)
    except UnmergedError:
        why = rules.through_git
        yield Finding("writing", "problem", UNMERGED)
    finally:
        image.forget()
    if why:
        yield Finding("commits", "note", f"Commits are made through Git itself, which is slower: {why}.")
    else:
        yield Finding("commits", "fine", "Commits are made directly, without running Git.")
    if shop.probe.converting:
        yield Finding(
            "line ends",
            "note",
            "Git converts some files when they are committed (.gitattributes or core.autocrlf), so their "
            "blobs are made through Git. A line `* -text` in .gitattributes has it keep every byte.",
        )
    if rules.signed:
        yield Finding("signing", "note", _signing(shop.probe.unsignable))


def _signing(trouble: str) -> str:
    if trouble:
        return f"Commits are to be signed (commit.gpgsign) but are made without a signature. {trouble}"
    return "Commits are signed (commit.gpgsign), as long as that takes no passphrase and no more than 4 s."


def _leftovers(shop: Workshop) -> Iterator[Finding]:
    if shop.intents.left():
        yield Finding(
            "unfinished", "note", "A write is under way, or was cut off: the next write finishes it."
        )
    if os.path.exists(f"{shop.state_dir}/{UNFINISHED}"):
        yield Finding(
            "erasing",
            "problem",
            "An erasure was cut off, and the old history may still be in the Git folder. Run the same "
            "`vault-mcp erase` again.",
        )
    lock = f"{shop.git_dir}/index.lock"
    try:
        age = time.time() - os.stat(lock).st_mtime
    except OSError:
        age = 0.0
    if age > _OLD_LOCK:
        yield Finding(
            "lock",
            "problem",
            f"index.lock in the Git folder is {int(age)} s old. If no Git program is running, remove it.",
        )
    if os.path.isdir(shop.state_dir):
        for name in sorted(os.listdir(shop.state_dir)):
            if name.startswith(ASIDE):
                yield Finding(
                    "lost",
                    "problem",
                    f"vault-mcp/{name} in the Git folder is a change from before a loss of power that does "
                    "not fit the branch any more. It holds the words and the whole files: write again what "
                    "is of use, then remove it.",
                )
            if name.startswith(KEPT):
                yield Finding(
                    "kept",
                    "note",
                    f"vault-mcp/{name} in the Git folder is a text that somebody saved in the very moment of "
                    "a crash. Look whether it is of use, then remove it.",
                )
