"""What a merge of two commits is given and gives: sides, contents, files, and words about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from vault_mcp.notes.merge_facts import Piece
from vault_mcp.storage.git.difference import Files
from vault_mcp.storage.git.writer import blob_id

What = Literal["both", "edit", "decide", "kept", "moved", "joined", "followed", "renamed", "number"]
"""What a report is about: a fact kept in both forms, an edit that won over a deletion, something for a person
to decide, a file that one side deleted and the other edited, one moved to two places, an entity made on both
sides, facts of an entity that was joined to another, a file that got another name, a memory that got another
number."""

Entry = tuple[int, str]
"""Mode and blob of a file."""


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that both sides did at once: where, what came of it, and a sentence for a person."""

    path: str
    what: What
    text: str


@dataclass(slots=True)
class Merged:
    """What has to change in our files to be both: None for a file that goes."""

    files: dict[str, Entry | None] = field(default_factory=dict)
    told: list[Told] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    """The conflict notes among the files."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side: what it has otherwise than the base, and how to ask for any file of it."""

    changes: Files
    entry: Callable[[str], Entry | None]


class Blobs:
    """Contents by blob: those of the repository, and those that a merge made."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = lru_cache(maxsize=2_000)(read)
        self.made: dict[str, bytes] = {}

    def __call__(self, blob: str) -> bytes:
        """Give the bytes of a blob."""
        return self.made[blob] if blob in self.made else self._read(blob)

    def add(self, content: bytes) -> str:
        """Keep bytes; give the blob they would be."""
        blob = blob_id(content)
        self.made[blob] = content
        return blob


def above(folder: str) -> Iterator[str]:
    """Give a folder and those that it lies in, but for the root."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]


def is_file(mode: int) -> bool:
    """Say whether a mode of Git's is a regular file's."""
    return mode & 0o170000 == 0o100000


def kept_words(path: str, piece: Piece) -> str:
    """Give a sentence about a fact that both sides did something to."""
    if piece.kept == "both":
        both = f"{_shown(piece.ours)} and {_shown(piece.theirs)}"
        return f"{path}: both sides changed one {piece.what}, so both are kept: {both}."
    what = _shown(piece.ours or piece.theirs)
    return f"{path}: {what} was edited on one side and deleted on the other, so it is kept."


def _shown(text: str, most: int = 80) -> str:
    line = " ".join(text.split())
    return f"“{line if len(line) <= most else line[: most - 1] + '…'}”"
