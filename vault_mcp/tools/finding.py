"""One thing that `doctor` found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from vault_mcp.storage import paths

Level = Literal["fine", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found.

    Attributes:
        check: what was looked at, in a word or two.
        level: "problem" wants somebody to act, "note" is worth knowing, "fine" is as it should be.
        text: what is the case, a sentence.
        do: what to do about it, a sentence; "" where nothing has to be done.
        path: the file or folder it is about, as it can be printed; "" for the whole vault.
        fix: what `mend` would do by itself: "lines", "index", "commit" or "upkeep".
    """

    check: str
    level: Level
    text: str
    do: str = ""
    path: str = ""
    fix: Literal["", "lines", "index", "timeline", "commit", "upkeep"] = ""


def listed(found: Iterable[str], most: int = 3) -> str:
    """Name the first few of some paths, as they can be printed."""
    shown = [paths.shown(path) for path in found]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more
