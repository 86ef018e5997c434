"""The properties of two versions of a note made one: a property that one side changed is taken over.

Lists are merged item by item. Of two entities that were made apart, the earlier `created` holds, with its
`agent`. A property that both changed in different ways keeps our value, and a person decides.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from vault_mcp.errors import NoteUnreadable
from vault_mcp.notes import frontmatter
from vault_mcp.notes.merge_facts import Piece
from vault_mcp.notes.merge_marks import marked

_LISTS = ("tags", "aliases", "cssclasses")
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Properties:
    """Our text with the merged front matter; `marked` is that front matter with Git's marks in it."""

    text: str
    marked: str
    pieces: tuple[Piece, ...]


def merge_properties(base: str, ours: str, theirs: str) -> Properties:
    """Merge the front matter of three texts that can all be read; the body is ours."""
    old, mine, other = (frontmatter.split(text) for text in (base, ours, theirs))
    blocks = [text[: front.body_start] for text, front in ((base, old), (ours, mine), (theirs, other))]
    body = ours[mine.body_start :]
    if blocks[2] in (blocks[0], blocks[1]):
        return Properties(ours, blocks[1], ())
    if blocks[1] == blocks[0]:
        text = blocks[2] + body
        if frontmatter.split(text).body_start == len(blocks[2]):
            return Properties(text, blocks[2], ())
    merging = _Merging(ours)
    keys = [*other.properties, *(key for key in old.properties if key not in other.properties)]
    made = "created" not in old.properties and _earlier(mine.properties, other.properties)
    for key in keys:
        if made and key in ("created", "agent"):
            if made == "theirs":
                merging.take(key, other.properties.get(key, _ABSENT))
            continue
        merging.property(
            key, *(front.properties.get(key, _ABSENT) for front in (old, mine, other)), theirs=theirs
        )
    return merging.done()


def _earlier(mine: dict[str, object], other: dict[str, object]) -> str:
    """Say which of two notes made apart was made first; nothing where that cannot be told."""
    one, two = mine.get("created"), other.get("created")
    if not isinstance(one, str) or not isinstance(two, str):
        return ""
    return "theirs" if two < one else "ours"


class _Merging:
    def __init__(self, ours: str) -> None:
        self.text = ours
        self.pieces: list[Piece] = []
        self.open: list[tuple[str, str]] = []

    def property(self, key: str, old: object, mine: object, other: object, *, theirs: str) -> None:
        """Merge one property."""
        if _same(other, old) or _same(other, mine):
            return
        if _same(mine, old):
            if not self.take(key, other):
                self._leave(key, mine, other, theirs)
        elif mine is _ABSENT:
            self.pieces.append(Piece(key, "", _shown(other), "edit"))
            if not self.take(key, other):
                self._leave(key, mine, other, theirs)
        elif other is _ABSENT:
            self.pieces.append(Piece(key, _shown(mine), "", "edit"))
        elif (merged := _lists(key, old, mine, other)) is not None:
            if not self.take(key, merged):
                self._leave(key, mine, other, theirs)
        else:
            self._leave(key, mine, other, theirs)

    def take(self, key: str, value: object) -> bool:
        """Have the property say this; False when that cannot be written without touching others."""
        try:
            if value is _ABSENT:
                self.text = frontmatter.remove_property(self.text, key)
            else:
                self.text = frontmatter.set_property(self.text, key, value)
        except NoteUnreadable:
            return False
        return True

    def _leave(self, key: str, mine: object, other: object, theirs: str) -> None:
        self.pieces.append(Piece(key, _shown(mine), _shown(other)))
        self.open.append((key, theirs))

    def done(self) -> Properties:
        """Give what came of it."""
        front = frontmatter.split(self.text)
        block = self.text[: front.body_start]
        end = "\r\n" if "\r\n" in block else "\n"
        last = (front.end, front.end)
        places = [
            (frontmatter.lines_of_property(block, key) or last, key, theirs) for key, theirs in self.open
        ]
        for (start, stop), key, theirs in sorted(places, reverse=True):
            from_, to = frontmatter.lines_of_property(theirs, key) or (0, 0)
            block = block[:start] + marked(block[start:stop], theirs[from_:to], end) + block[stop:]
        return Properties(self.text, block, tuple(self.pieces))


def _lists(key: str, old: object, mine: object, other: object) -> list[object] | None:
    """Merge lists item by item; None where one of them is none. `tags: one` counts as a list."""
    values = [_as_list(key, value) for value in (old, mine, other)]
    before, ours, theirs = values
    if ours is None or theirs is None:
        return None
    before = before or []
    gone = {_json(item) for item in before} - {_json(item) for item in theirs}
    kept = [item for item in ours if _json(item) not in gone]
    known = {_json(item) for item in before} | {_json(item) for item in kept}
    return [*kept, *(item for item in theirs if _json(item) not in known)]


def _as_list(key: str, value: object) -> list[object] | None:
    if isinstance(value, list):
        return value
    if key in _LISTS:
        return [] if value in (None, _ABSENT) else [value] if isinstance(value, str) else None
    return [] if value is _ABSENT or value is None else None


def _same(one: object, other: object) -> bool:
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return _json(one) == _json(other)


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _shown(value: object) -> str:
    if value is _ABSENT:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
