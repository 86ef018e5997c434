"""Two commits of one vault made one, file by file, in memory: nothing on disk is read or written.

The rules are those of `docs/sync.md`. What one side alone did is taken over. A note that both changed is
merged by `notes.merge`. A file that one side moved is merged where it lies now; one that a side deleted stays
if the other edited it. Where two things want one place, theirs gets another name. What only a person can
decide stays as ours has it, and theirs is told in a conflict note beside it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from vault_mcp.carrying import Versions, carried, carry, joined_into
from vault_mcp.errors import NoteUnreadable
from vault_mcp.follow import is_note, note_of
from vault_mcp.notes import links
from vault_mcp.notes.conflict import conflict_note
from vault_mcp.notes.entity import remove_observations, set_name
from vault_mcp.notes.frontmatter import set_property
from vault_mcp.notes.merge import merge
from vault_mcp.notes.merge_facts import Piece
from vault_mcp.notes.names import name_key
from vault_mcp.notes.note import Note, facts
from vault_mcp.sides import Blobs, Entry, Merged, Side, Told, What, above, is_file, kept_words
from vault_mcp.storage import paths
from vault_mcp.storage.index.descent import FileChange, moved_files
from vault_mcp.turning import Renamed


def merge_sides(
    base: Callable[[str], Entry | None],
    ours: Side,
    theirs: Side,
    blobs: Blobs,
    *,
    all_ours: Callable[[], Iterable[str]],
    number_taken: Callable[[int], bool],
    change: str,
) -> Merged:
    """Merge theirs into ours.

    Args:
        base: Gives a file of what both come from.
        ours: What stays where only a person can decide.
        theirs: The other side.
        blobs: Contents; those of merged files are added.
        all_ours: Gives every path of ours; asked for when a new file might be a twin of another.
        number_taken: Says whether a memory of ours has this number.
        change: The first digits of their commit, for the names of conflict notes.
    """
    merging = _Merging(base, ours, theirs, blobs, all_ours, number_taken, change)
    merging.run()
    return merging.merged


@dataclass(slots=True)
class _Fate:
    """What became of a file of the base on one side: where it is now (None: gone) and what it holds."""

    path: str | None
    entry: Entry | None


class _Merging:
    def __init__(
        self,
        base: Callable[[str], Entry | None],
        ours: Side,
        theirs: Side,
        blobs: Blobs,
        all_ours: Callable[[], Iterable[str]],
        number_taken: Callable[[int], bool],
        change: str,
    ) -> None:
        self.base, self.ours, self.theirs = base, ours, theirs
        self.blobs = blobs
        self.all_ours, self.number_taken, self.change = all_ours, number_taken, change
        self.merged = Merged()
        self._twins: dict[str, str] | None = None
        self._folders: set[str] = set()
        self._mine, self._mine_new = self._fates(ours)
        self._their, self._their_new = self._fates(theirs)
        self._made = self._made_here()
        self._placed: dict[str, str] = {}  # new files of theirs that have another name here

    # -- what each side did

    def _fates(self, side: Side) -> tuple[dict[str, _Fate], dict[str, Entry]]:
        """Give what became of each touched file of the base, and what is new."""
        changes = [
            FileChange(
                path,
                old[1] if (old := self.base(path)) else None,
                new[1] if new else None,
            )
            for path, new in side.changes.items()
        ]
        moved: dict[str, str] = {}
        come = [c for c in changes if c.old_blob is None and c.new_blob is not None]
        gone = [c for c in changes if c.old_blob is not None and c.new_blob is None]
        if come and gone:
            moved = moved_files([self._with_facts(change) for change in (*come, *gone)])
        fates: dict[str, _Fate] = {}
        fresh: dict[str, Entry] = {}
        for change in changes:
            entry = side.changes[change.path]
            if change.old_blob is not None:
                fates.setdefault(change.path, _Fate(change.path if entry else None, entry))
            elif entry is not None and change.path not in moved:
                fresh[change.path] = entry
        for path, source in moved.items():
            fates[source] = _Fate(path, side.changes[path])
        return fates, fresh

    def _with_facts(self, change: FileChange) -> FileChange:
        old, new = self._note(change.path, change.old_blob), self._note(change.path, change.new_blob)
        return replace(change, old=facts(old) if old else (), new=facts(new) if new else ())

    def _note(self, path: str, blob: str | None) -> Note | None:
        return note_of(path, self.blobs(blob)) if blob and is_note(path) else None

    def _made_here(self) -> dict[tuple[str, str], str]:
        """Give the entities and keys that our side made, by kind and name."""
        made: dict[tuple[str, str], str] = {}
        if self._their_new:
            for path, (mode, blob) in self._mine_new.items():
                note = self._note(path, blob) if is_file(mode) else None
                if note is not None and note.kind in ("entity", "key"):
                    made.setdefault((note.kind, _name(note)), path)
        return made

    # -- the files

    def run(self) -> None:
        """Merge every file that theirs changed."""
        alone = []
        for path, fate in sorted(self._their.items()):
            mine = self._mine.get(path) or _Fate(path, self.base(path))
            if (mine.path is None) != (fate.path is None):
                alone.append((path, mine, fate))
            else:
                self._file(path, mine, fate)
        for path, mine, fate in alone:  # the note that one was joined to has been merged by now
            self._file(path, mine, fate)
        for path, entry in sorted(self._their_new.items()):
            self._new(path, entry)
        self._turn_links()
        self._numbers()

    def _file(self, path: str, mine: _Fate, other: _Fate) -> None:
        base = self.base(path)
        if other.path is None or other.entry is None:
            self._they_deleted(path, mine, base)
        elif mine.path is None or mine.entry is None:
            if self._followed(path, other.entry, self.ours):
                return
            at = self._put_free(other.path, self._without_carried(path, other.entry, self.ours))
            self._tell(at, "kept", f"{at} was deleted here and edited there, so it is kept.")
        else:
            self._both_have(path, mine, other, base)

    def _they_deleted(self, path: str, mine: _Fate, base: Entry | None) -> None:
        if mine.path is None:
            return
        if mine.path == path and mine.entry == base:
            self._set(path, None)
        elif mine.entry is not None:
            if self._followed(path, mine.entry, self.theirs):
                self._set(mine.path, None)
                return
            kept = self._without_carried(path, mine.entry, self.theirs)
            if kept != mine.entry:
                self._set(mine.path, kept)
            self._tell(mine.path, "kept", f"{mine.path} was edited here and deleted there, so it is kept.")

    def _followed(self, path: str, edited: Entry, joined_by: Side) -> bool:
        """Have what one side changed in an entity follow it to the note that the other joined it to."""
        base = self.base(path)
        gone = self._note(path, base[1] if base else None)
        if base is None or gone is None or gone.kind != "entity" or not is_file(edited[0]):
            return False
        target = joined_into(gone, self._notes_of(joined_by))
        there = self._there(target) if target else None
        old, new = self._text(base[1]), self._text(edited[1])
        into = self._text(there[1]) if there else None
        if target is None or there is None or old is None or new is None or into is None:
            return False
        text = carry(old, new, into, target.rpartition("/")[2].removesuffix(".md"))
        if text is None:
            return False
        self._set(target, (there[0], self.blobs.add(text.encode())))
        told = f"{gone.name} was joined to {target} on one side; what the other changed in it is there now."
        self._tell(target, "followed", told)
        return True

    def _without_carried(self, path: str, kept: Entry, deleted_by: Side) -> Entry:
        """Take out of a note that is kept the facts that the side which deleted it has in other notes now.

        So two entities that one side joined do not say everything twice because the other added a fact.
        """
        base = self.base(path)
        before, now = self._note(path, base[1] if base else None), self._note(path, kept[1])
        if before is None or now is None or now.kind != "entity":
            return kept
        texts = carried(before, now, self._notes_of(deleted_by))
        with contextlib.suppress(NoteUnreadable):
            if texts:
                text = remove_observations(self.blobs(kept[1]).decode(), texts)
                return kept[0], self.blobs.add(text.encode())
        return kept

    def _notes_of(self, side: Side) -> Iterator[Versions]:
        """Give each note that a side changed: its path, as the side has it, and as it was before."""
        for path, entry in side.changes.items():
            old = self.base(path)
            yield path, self._note(path, entry and entry[1]), self._note(path, old and old[1])

    def _both_have(self, path: str, mine: _Fate, other: _Fate, base: Entry | None) -> None:
        assert mine.path
        assert mine.entry
        assert other.path
        assert other.entry
        at = mine.path
        if other.path not in (path, mine.path):
            if mine.path == path:
                at = other.path
            else:
                self._tell(
                    mine.path, "moved", f"{path} was moved to {mine.path} here and to {other.path} there."
                )
        if at != mine.path:
            if paths.place_key(at) != paths.place_key(mine.path):
                at = self._free(at)
            self._set(mine.path, None)
        entry = self._content(at, base, mine.entry, other.entry)
        if at != mine.path or entry != mine.entry:
            self._set(at, entry)

    def _content(self, path: str, base: Entry | None, mine: Entry, other: Entry) -> Entry:
        """Merge what one file holds."""
        mode = other[0] if base is not None and mine[0] == base[0] else mine[0]
        before = base[1] if base else None
        if other[1] in (before, mine[1]):
            return mode, mine[1]
        if mine[1] == before:
            return mode, other[1]
        texts = [self._text(blob) if blob else "" for blob in (before, mine[1], other[1])]
        old, here, there = texts
        if not is_note(path) or old is None or here is None or there is None:
            self._beside(path, other)
            return mode, mine[1]
        merged = merge(old, here, there)
        for piece in merged.pieces:
            if piece.kept:
                self._tell(path, piece.kept, kept_words(path, piece))
        if merged.open:
            self._conflict(path, merged.open)
        return mode, self.blobs.add(merged.text.encode())

    def _text(self, blob: str) -> str | None:
        raw = self.blobs(blob)
        try:
            return None if b"\0" in raw else raw.decode()
        except UnicodeDecodeError:
            return None

    # -- new files

    def _new(self, path: str, entry: Entry) -> None:
        there = self._there(path)
        if there == entry:
            return
        note = self._note(path, entry[1]) if is_file(entry[0]) else None
        same = self._made.get((note.kind, _name(note))) if note and note.kind in ("entity", "key") else None
        if same is None and path in self._mine_new and self._is_the_same(path, note):
            same = path
        if same is not None and self._there(same) is not None:
            mine = self._there(same)
            assert mine is not None
            self._set(same, self._content(same, None, mine, entry))
            if note is not None and note.kind == "entity":
                self._tell(same, "joined", f"{note.name} was made on both sides; {same} holds what both say.")
            return
        at = self._put_free(path, entry)
        if at != path:
            self._placed[path] = at

    def _turn_links(self) -> None:
        """Have what theirs wrote link to their notes by the names that these have here."""
        notes = [
            (source, note)
            for source, entry in sorted(self.theirs.changes.items())
            if entry is not None and (note := self._note(source, entry[1])) is not None and is_file(entry[0])
        ]
        for path, at in sorted(self._placed.items()):
            known = {*self.all_ours(), *self.ours.changes, *self.theirs.changes}
            key, new_key = links.stem_key(path), links.stem_key(at)
            candidates = (p for p in known if links.stem_key(p) == key and self.theirs.entry(p) is not None)
            here = {
                p for p in {*known, *self.merged.files} if links.stem_key(p) == new_key and self._there(p)
            }
            renamed = Renamed(path, at, tuple(candidates), here == {at})
            linking = [one for one in renamed.linked_in(notes) if not self._turned(renamed, one)]
            self._tell(at, "renamed", renamed.told(linking))

    def _turned(self, renamed: Renamed, source: str) -> bool:
        """Turn the links of one note as far as they are theirs; say whether none is left."""
        place = self._placed.get(source, source)
        there, mine = self._there(place), self.ours.entry(place)
        text = self._text(there[1]) if there is not None else None
        if there is None or text is None:
            return False
        text, all_of_them = renamed.turned(text, source, place, self._note(place, mine and mine[1]))
        self._set(place, (there[0], self.blobs.add(text.encode())))
        return all_of_them

    def _is_the_same(self, path: str, note: Note | None) -> bool:
        """Say whether two files made at one path on both sides are one thing, to be merged."""
        if note is None:
            return not is_note(path)
        there = self._there(path)
        mine = self._note(path, there[1]) if there else None
        return mine is not None and mine.kind == note.kind == "note"

    def _put_free(self, path: str, entry: Entry) -> str:
        there = self._there(path)
        at = path if there == entry else self._free(path)
        self._set(at, self._still_named(path, at, entry))
        return at

    def _still_named(self, path: str, at: str, entry: Entry) -> Entry:
        """Have an entity that lies under another file name say the name it had."""
        stem = at.rpartition("/")[2].removesuffix(".md")
        note = self._note(path, entry[1]) if at != path and is_file(entry[0]) else None
        if note is None or note.kind != "entity" or note.name == stem:
            return entry
        with contextlib.suppress(NoteUnreadable, UnicodeDecodeError):
            text = set_name(self.blobs(entry[1]).decode(), note.name, stem)
            return entry[0], self.blobs.add(text.encode())
        return entry

    def _free(self, path: str) -> str:
        """Give a path where no file is, nor one that some system would take for it."""
        number, at = 1, path
        folder, _, name = path.rpartition("/")
        stem, dot, ending = name.rpartition(".")
        while self._taken(at):
            number += 1
            called = f"{stem} ({number}).{ending}" if dot and stem else f"{name} ({number})"
            at = f"{self._clear(folder)}/{called}" if folder else called
        return at

    def _clear(self, folder: str) -> str:
        """Give a folder that is no file of ours."""
        parts = folder.split("/")
        for at in range(len(parts)):
            if self._there("/".join(parts[: at + 1])) is not None:
                parts[at] += " (2)"
        return "/".join(parts)

    def _taken(self, path: str) -> bool:
        twins = self._known()
        known = twins.get(paths.place_key(path))
        if known is not None and self._there(known) is not None:
            return True
        if path in self._folders and any(
            other.startswith(f"{path}/") and self._there(other) for other in twins.values()
        ):
            return True
        return any(self._there(part) is not None for part in above(path.rpartition("/")[0]))

    def _known(self) -> dict[str, str]:
        if self._twins is None:
            self._twins = {paths.place_key(path): path for path in self.all_ours()}
            self._folders = {part for path in self._twins.values() for part in above(path.rpartition("/")[0])}
            for path in self.merged.files:
                self._twins.setdefault(paths.place_key(path), path)
        return self._twins

    def _there(self, path: str) -> Entry | None:
        """Give a file as it will be."""
        return self.merged.files[path] if path in self.merged.files else self.ours.entry(path)

    def _set(self, path: str, entry: Entry | None) -> None:
        self.merged.files[path] = entry
        if entry is not None and self._twins is not None:
            self._twins[paths.place_key(path)] = path
            self._folders.update(above(path.rpartition("/")[0]))

    # -- what is left to a person

    def _conflict(self, path: str, pieces: Iterable[Piece]) -> None:
        """Put a note beside one in which something is left to a person; it holds what theirs says."""
        self._put_conflict(path, conflict_note(path, self.change, pieces))

    def _beside(self, path: str, other: Entry) -> None:
        """Keep their version of a file that cannot be merged beside ours."""
        stem, dot, ending = path.rpartition(".")
        called = f"{stem} (conflict {self.change})" if dot else f"{path} (conflict {self.change})"
        copy = self._free(f"{called}.{ending}" if dot else called)
        self._set(copy, other)
        self._put_conflict(path, conflict_note(path, self.change, (), copy))

    def _put_conflict(self, path: str, text: str) -> None:
        stem = path.removesuffix(".md")
        at = self._free(f"{stem} (conflict {self.change}).md")
        self._set(at, (0o100644, self.blobs.add(text.encode())))
        self.merged.conflicts.append(at)
        self._tell(path, "decide", f"Both sides changed {path} in a way only you can decide: see {at}.")

    def _tell(self, path: str, what: What, text: str) -> None:
        self.merged.told.append(Told(path, what, text))

    # -- numbers of memories

    def _numbers(self) -> None:
        """Give another number to a memory of ours that has the one of theirs, which others know already."""
        other = {number: self._placed.get(path, path) for number, path in self._numbered(self._their_new)}
        if not other:
            return
        for number, path in list(self._numbered(self._mine_new)):
            entry = self._there(path)
            if number not in other or other[number] == path or entry is None:
                continue
            free = number + 1
            while free in other or self.number_taken(free):
                free += 1
            text = set_property(self.blobs(entry[1]).decode(), "id", free)
            self._set(path, (entry[0], self.blobs.add(text.encode())))
            self._tell(path, "number", f"{path} is memory {free} now: {number} was given on both sides.")
            other[free] = path

    def _numbered(self, files: dict[str, Entry]) -> Iterator[tuple[int, str]]:
        for path, (mode, blob) in sorted(files.items()):
            note = self._note(path, blob) if is_file(mode) else None
            if note is not None and note.kind == "memory" and note.id is not None:
                yield note.id, path


def _name(note: Note) -> str:
    return name_key(note.name) if note.kind == "entity" else note.name
