"""Move files inside a change, and let every link go on meaning the file that it meant.

Obsidian's way: a link that would no longer find its file, or another one, is written anew, as short as it may
be. That concerns links to what is moved, links in it (their own folder is another now), and links that a
moved file comes to stand in the way of. A link that still means the same is left alone to the letter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from vault_mcp import progress
from vault_mcp.errors import NoteUnreadable
from vault_mcp.notes import links
from vault_mcp.notes.links import Link
from vault_mcp.tools.wikilinks import LOOKED_THROUGH

if TYPE_CHECKING:
    from vault_mcp.change import Change

NOTE = ".md"


def move(change: Change, moved: Mapping[str, str], *, rename_links: bool = True) -> int:
    """Move files (old path -> new path) and rewrite links; give how many were."""
    following = _Following(change, moved) if rename_links else None
    for old, new in moved.items():
        change.move(old, new)
    return following.rewrite() if following else 0


class _Following:
    """The links that a move concerns, as they stood before it."""

    def __init__(self, change: Change, moved: Mapping[str, str]) -> None:
        self.change = change
        self.moved = moved
        self.before: dict[str, list[str]] = {}
        self.after: dict[str, list[str]] = {}
        self.arrived: dict[str, list[str]] = {}
        for new in moved.values():
            self.arrived.setdefault(links.stem_key(new), []).append(new)
        keys = {links.stem_key(path) for pair in moved.items() for path in pair}
        with change.vault.snapshot() as reader:
            sources = {source for key in keys for source in reader.linking_to_stem(key)}
            self.canvases = reader.paths_ending(".canvas")
        self.sources = sources | {path for path in moved if path[-3:].lower() == NOTE}

    def rewrite(self) -> int:
        """Rewrite what has to be, in notes and canvases; give how many links and canvases."""
        count = 0
        for number, source in enumerate(sorted(self.sources)):
            progress.tell(number, len(self.sources), LOOKED_THROUGH)
            count += self._note(source)
        return count + sum(map(self._canvas, self.canvases))

    def _note(self, was: str) -> int:
        path = self.moved.get(was, was)
        text = self._text(path)
        count = 0

        def new_target(link: Link) -> tuple[str, str | None] | None:
            nonlocal count
            found = self._new_target(link, was, path)
            count += found is not None
            return found

        rewritten = links.rewrite_links(text, new_target)
        if rewritten != text:
            self.change.follow(path, rewritten)
        return count

    def _text(self, path: str) -> str:
        try:
            return self.change.read(path) or ""
        except NoteUnreadable:
            return ""

    def _new_target(self, link: Link, was: str, path: str) -> tuple[str, str | None] | None:
        key = links.stem_key(link.target)
        meant = links.resolve(link.target, was, self._before(key))
        if meant is None:
            return None
        now = self.moved.get(meant, meant)
        if links.resolve(link.target, path, self._after(key)) == now:
            return None
        if link.markdown:
            return links.markdown_target(link, path, now), self._shown(link, meant, now)
        others = [other for other in self._after(links.stem_key(now)) if other != now]
        written = links.written_link(now, _stem(now), unique=not others)[2:-2].partition("|")[0]
        return written, self._shown(link, meant, now)

    def _shown(self, link: Link, meant: str, now: str) -> str | None:
        """Give the text to show: one that repeated the name of its file follows when that has changed."""
        if link.shown is None or meant == now or link.shown not in (_stem(meant), self._old_name(meant)):
            return link.shown
        name = self._name(now)
        return name if name != _stem(now) or link.markdown else None

    def _old_name(self, path: str) -> str | None:
        with self.change.vault.snapshot() as reader:
            row = reader.note_at(path)
        return row.name if row else None

    def _name(self, path: str) -> str:
        try:
            note = self.change.note(path) if path[-3:].lower() == NOTE else None
        except NoteUnreadable:
            note = None
        return note.name if note else _stem(path)

    def _before(self, key: str) -> list[str]:
        found = self.before.get(key)
        if found is None:
            with self.change.vault.snapshot() as reader:
                found = self.before[key] = reader.paths_with_stem(key)
        return found

    def _after(self, key: str) -> list[str]:
        found = self.after.get(key)
        if found is None:
            stayed = [path for path in self._before(key) if path not in self.moved]
            found = self.after[key] = [*stayed, *self.arrived.get(key, ())]
        return found

    def _canvas(self, was: str) -> int:
        path = self.moved.get(was, was)
        text = self._text(path)
        rewritten = links.rewrite_canvas(text, self.moved)
        if rewritten == text:
            return 0
        self.change.follow(path, rewritten)
        return 1


def _stem(path: str) -> str:
    """Give what a link calls a file: its name, that of a note without its ending."""
    name = path.rpartition("/")[2]
    return name[:-3] if name[-3:].lower() == NOTE else name
