"""Links of one side to a note of its own that has another name after a merge, turned to that name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from vault_mcp.notes import links
from vault_mcp.notes.links import Link
from vault_mcp.notes.note import Note

MOST_NAMED = 5
"""Notes with links to a renamed one that a report names."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """A new note of theirs: its path there, its path here, the files there that a link to it might mean.

    `unique` says whether no other file here has its new name.
    """

    path: str
    at: str
    candidates: tuple[str, ...]
    unique: bool

    def means(self, link: Link, source: str) -> bool:
        """Say whether a link in a note of theirs means it."""
        key = links.stem_key(self.path)
        return (
            links.stem_key(link.target) == key
            and links.resolve(link.target, source, self.candidates) == self.path
        )

    def told(self, linking: Sequence[str]) -> str:
        """Say what became of it, and in which notes links to it are left."""
        told = f"Their {self.path} is {self.at} here: the name was taken."
        if linking and self.path[-3:].lower() == ".md":
            more = f" and {len(linking) - MOST_NAMED} more" if len(linking) > MOST_NAMED else ""
            told += (
                f" Links to it mean another note now, in {', '.join(linking[:MOST_NAMED])}{more}: "
                f"have them name {self.at}."
            )
        return told

    def linked_in(self, notes: Iterable[tuple[str, Note]]) -> Iterator[str]:
        """Give the notes of theirs in which a link means it."""
        for source, note in notes:
            if source != self.path and any(self.means(link, source) for link in note.links):
                yield source

    def turned(self, text: str, source: str, place: str, ours: Note | None) -> tuple[str, bool]:
        """Give a note's text with their links to it turned, and whether that were all of them.

        Args:
            text: The note as it is here.
            source: Its path there.
            place: Its path here.
            ours: The note as our side had it. A link that it has too may be ours, and is left alone.
        """
        known = {link.target for link in ours.links} if ours is not None else set()
        left = False

        def new_target(link: Link) -> tuple[str, str | None] | None:
            nonlocal left
            if not self.means(link, source):
                return None
            if link.target in known:
                left = True
                return None
            if link.markdown:
                return links.markdown_target(link, place, self.at), link.shown
            target = self.at.removesuffix(".md")
            if self.unique and "/" not in link.target:
                target = target.rpartition("/")[2]
            own = link.target.rpartition("/")[2].removesuffix(".md")
            return target, link.shown if link.shown is not None or link.heading or link.embed else own

        return links.rewrite_links(text, new_target), not left
