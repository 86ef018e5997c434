"""Links between notes inside a change: which note one means, who links where, and following a moved note."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from vault_mcp import progress
from vault_mcp.errors import NoteUnreadable
from vault_mcp.notes import links
from vault_mcp.notes.links import Link
from vault_mcp.notes.note import Note

if TYPE_CHECKING:
    from vault_mcp.change import Change

LOOKED_THROUGH = "notes looked through for links"


def resolve(change: Change, target: str, from_path: str) -> str | None:
    """Give the path a link means, by Obsidian's rule, with the files as this change leaves them."""
    key = links.stem_key(target)
    return links.resolve(target, from_path, _candidates(change, key))


def _candidates(change: Change, key: str) -> list[str]:
    with change.vault.snapshot() as reader:
        known = reader.paths_with_stem(key)
    made = [path for path, raw in change.pending.items() if raw is not None and links.stem_key(path) == key]
    gone = {path for path, raw in change.pending.items() if raw is None}
    return sorted({*known, *made} - gone)


def linking_to(change: Change, path: str) -> list[str]:
    """Give the notes that hold a link or relation which means `path`, as they stood before this change."""
    key = links.stem_key(path)
    with change.vault.snapshot() as reader:
        sources = reader.linking_to_stem(key)
        candidates = reader.paths_with_stem(key)
    found = []
    for source in sources:
        note = change.note(source)
        ends = [link.target for link in note.links] + [r.target for r in note.relations] if note else []
        if any(links.stem_key(t) == key and links.resolve(t, source, candidates) == path for t in ends):
            found.append(source)
    return found


def link_to(change: Change, note: Note) -> str:
    """Write the wikilink to a note: the bare file name while that is unique in the vault, else its path."""
    others = [path for path in _candidates(change, links.stem_key(note.path)) if path != note.path]
    return links.written_link(note.path, note.name, unique=not others)


def point_to(change: Change, moved: Mapping[str, Note], old_names: Mapping[str, str]) -> int:
    """Make every link to a moved note point to where it is now, as Obsidian does after a rename.

    Args:
        change: the change that moved them.
        moved: the path that each note had -> the note that links to it shall mean.
        old_names: the path that each note had -> the name that it had, to mend display texts that repeat it.

    Returns:
        How many links were rewritten.
    """
    before: dict[str, list[str]] = {}
    with change.vault.snapshot() as reader:
        for path in moved:
            key = links.stem_key(path)
            before.setdefault(key, reader.paths_with_stem(key))
        sources = {source for key in before for source in reader.linking_to_stem(key)}
        canvases = reader.paths_ending(".canvas")
    targets = {old: _link_parts(change, note) for old, note in moved.items()}
    places = {old: note.path for old, note in moved.items()}
    count = 0
    for number, source in enumerate(sorted(sources)):
        progress.tell(number, len(sources), LOOKED_THROUGH)
        count += _rewrite(change, places.get(source, source), source, before, targets, old_names)
    for canvas in canvases:
        count += _rewrite_canvas(change, canvas, places)
    return count


def _link_parts(change: Change, note: Note) -> tuple[str, str]:
    """Give (target as written, name) of a note's link."""
    written = link_to(change, note)
    inner = written[2:-2]
    return inner.partition("|")[0], note.name


def _rewrite(
    change: Change,
    path: str,
    was: str,
    before: Mapping[str, Iterable[str]],
    targets: Mapping[str, tuple[str, str]],
    old_names: Mapping[str, str],
) -> int:
    text = change.read(path)
    if text is None:
        return 0
    done = 0

    def new_target(link: Link) -> tuple[str, str | None] | None:
        nonlocal done
        key = links.stem_key(link.target)
        old = links.resolve(link.target, was, before[key]) if key in before else None
        if old is None or old not in targets:
            return None
        done += 1
        written, name = targets[old]
        return written, _shown(link, written, name, old, old_names[old])

    rewritten = links.rewrite_links(text, new_target)
    if rewritten != text:
        change.follow(path, rewritten)
    return done if rewritten != text else 0


def _shown(link: Link, written: str, name: str, old_path: str, old_name: str) -> str | None:
    """Give the display text after a rename: one that repeated the old name follows, others stay."""
    stem = written.rpartition("/")[2]
    old_stem = old_path.rpartition("/")[2][:-3]
    if link.shown is None or link.shown in (old_name, old_stem):
        return None if name == stem or (link.heading and link.shown is None) else name
    return link.shown


def _rewrite_canvas(change: Change, path: str, places: Mapping[str, str]) -> int:
    try:
        text = change.read(path)
    except NoteUnreadable:
        return 0
    if text is None:
        return 0
    rewritten = links.rewrite_canvas(text, places)
    if rewritten == text:
        return 0
    change.follow(path, rewritten)
    return 1
