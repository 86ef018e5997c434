"""Changes taken back, newest first, each fact by fact where the note has moved on since."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_mcp.notes.links import without_targets
from vault_mcp.notes.takeback import Obstacle, take_back, take_back_all, without_own
from vault_mcp.storage import files, paths
from vault_mcp.storage.git.writer import blob_id
from vault_mcp.storage.index.descent import MOVES
from vault_mcp.storage.index.rows import Place, Step

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.storage.index import CommitRow, Reader

LINK = 0o120000
"""Git's mode of a symbolic link, which the vault leaves alone."""


@dataclass(frozen=True, slots=True)
class InTheWay:
    """Something that later edits changed, so it is not taken back: the words, where, and what happened."""

    note: str
    text: str
    why: str


class TakingBack:
    """Changes being taken back inside one new change."""

    def __init__(self, change: Change, reader: Reader) -> None:
        self._change = change
        self._reader = reader
        self._repository = change.vault.repository
        self._places: dict[int, str | None] = {}
        self.obstacles: list[InTheWay] = []
        self._did = False

    def take_back(self, commit: CommitRow) -> bool:
        """Take back one change; the newer ones of several have to come first.

        Says whether there was anything of it to take back.
        """
        self._did = False
        for step in self._reader.steps_of(commit):
            path = step.after.path or step.before.path
            if path is None or step.before == step.after:
                continue
            if paths.is_hidden(path) or paths.is_hidden(step.before.path or path):
                self._stands(path, path, "belongs to another program")
            elif self._is_link(commit, step):
                self._stands(path, path, "is a symbolic link")
            elif step.before.path is None:
                self._made(commit, step)
            elif step.after.path is None:
                self._deleted(commit, step)
            else:
                self._changed(commit, step)
        return self._did

    # -- a file that the change made, deleted or changed

    def _made(self, commit: CommitRow, step: Step) -> None:
        path = self._now(step.lineage)
        raw = self._change.read_bytes(path) if path else None
        if path is None or raw is None:
            return  # it is gone already
        ours = self._before_merge(commit, step)
        if ours is None and self._is(path, raw, step.after):
            self._delete(step.lineage, path)
            return
        after, now = _text(self._blob(step.after)), _text(raw)
        if after is None or now is None:
            self._stands(path, path, "was edited later")
            return
        if ours is not None:  # both sides made it: theirs alone is taken back
            taken = take_back(without_own(after, _text(ours) or ""), after, now)
            self._add(path, taken.obstacles)
            self._write(path, taken.text.encode(), raw)
            return
        left = take_back_all(after, now)
        if left.empty:
            self._delete(step.lineage, path)
        else:
            self._add(path, left.obstacles)
            self._write(path, left.text.encode(), raw)

    def _deleted(self, commit: CommitRow, step: Step) -> None:
        path, content = step.before.path, self._blob(step.before)
        if path is None or content is None:
            return
        again = self._now(step.lineage)
        if commit.came_with and self._reader.lay(step.lineage, commit.seq) is not None:
            return  # the merge kept it
        there = self._change.read_bytes(again or path)
        if there is not None:
            if there != content:
                self._stands(again or path, path, "was made anew later")
            return
        parent = commit.parent
        mode = self._repository.mode_at(parent, path) if parent else None
        if self._is_free(path, path):
            self._change.write(path, content, mode=mode)
            self._places[step.lineage] = path
            self._did = True

    def _changed(self, commit: CommitRow, step: Step) -> None:
        path = self._now(step.lineage)
        raw = self._change.read_bytes(path) if path else None
        old = self._blob(step.before)
        assert step.before.path
        assert step.after.path
        if path is None or raw is None or old is None:
            self._stands(step.after.path, step.after.path, "was deleted later")
            return
        content = raw
        if self._is(path, raw, step.after):
            content = old
        elif step.before.blob != step.after.blob:
            content = self._merged(path, old, self._blob(step.after), raw)
        target = self._target(commit, step, path)
        if target != path:
            self._change.move(path, target)
            self._places[step.lineage] = target
            self._did = True
        self._write(target, content, raw, moved=commit.tool in MOVES)

    def _merged(self, path: str, old: bytes, after: bytes | None, raw: bytes) -> bytes:
        before, then, now = _text(old), _text(after), _text(raw)
        if before is None or then is None or now is None:
            if raw != old:
                self._stands(path, path, "was edited later")
            return raw
        taken = take_back(before, then, now)
        self._add(path, taken.obstacles)
        return taken.text.encode()

    def _target(self, commit: CommitRow, step: Step, path: str) -> str:
        """Give where the file goes: back, if the change moved it and nothing moved it since."""
        before, after = step.before.path, step.after.path
        assert before
        if before == after or path == before or self._stayed(commit, step, path):
            return path
        if path != after:
            self._stands(path, path, "was moved later")
        elif self._change.exists(before):
            self._stands(path, before, "is taken by another file")
        elif self._is_free(path, before):
            return before
        return path

    def _stayed(self, commit: CommitRow, step: Step, path: str) -> bool:
        """Say whether a merge left a file where our side had it."""
        lay = self._reader.lay
        return bool(commit.came_with) and path == lay(step.lineage, commit.seq - 1) != step.after.path

    def _before_merge(self, commit: CommitRow, step: Step) -> bytes | None:
        """Give the file as our side had made it before a merge brought theirs."""
        if not commit.came_with:
            return None
        place = self._reader.place(step.lineage, commit.seq - 1)
        return self._blob(place) if place.path is not None else None

    # -- small steps

    def _now(self, lineage: int) -> str | None:
        """Give where a file lies as this change leaves it."""
        if lineage not in self._places:
            self._places[lineage] = self._reader.lay(lineage)
        return self._places[lineage]

    def _delete(self, lineage: int, path: str) -> None:
        self._change.delete(path)
        self._places[lineage] = None
        self._did = True

    def _write(self, path: str, content: bytes, raw: bytes, *, moved: bool = False) -> None:
        """Write a file anew; `moved` says that links in it may have followed a note that goes back now."""
        if content == raw:
            return
        before, after = _text(raw), _text(content)
        if moved and before and after and without_targets(before) == without_targets(after):
            self._change.follow(path, after)
        else:
            self._change.write(path, content)
        self._did = True

    def _is_free(self, note: str, path: str) -> bool:
        """Say whether a file can be put at a path where there is none; else name what stands there."""
        there = in_the_way(self._change, path)
        if there:
            self._stands(note, path, there)
        return not there

    def _is(self, path: str, raw: bytes, place: Place) -> bool:
        return place.blob in (blob_id(raw), self._change.writer.blob_for(path, raw))

    def _blob(self, place: Place) -> bytes | None:
        return self._repository.blob(place.blob) if place.blob else None

    def _is_link(self, commit: CommitRow, step: Step) -> bool:
        ends = ((commit.sha, step.after.path), (commit.parent, step.before.path))
        return any(sha and path and self._repository.mode_at(sha, path) == LINK for sha, path in ends)

    def _add(self, path: str, obstacles: tuple[Obstacle, ...]) -> None:
        self.obstacles += [InTheWay(path, obstacle.text, obstacle.why) for obstacle in obstacles]

    def _stands(self, note: str, text: str, why: str) -> None:
        self.obstacles.append(InTheWay(note, text, why))


def in_the_way(change: Change, path: str) -> str:
    """Say what keeps a file from being put at a path where no file is; "" where nothing does."""
    root = change.vault.root
    parts = path.split("/")
    for length in range(1, len(parts)):
        above = "/".join(parts[:length])
        if change.exists(above):
            return f"cannot come back, as {paths.shown(above)} is a file now"
    if files.kind(root, path) == "folder" and not _goes(change, path):
        return "cannot come back, as a folder of that name is there now"
    return ""


def _goes(change: Change, folder: str) -> bool:
    """Say whether a change takes away all that is in a folder."""
    inside = [path for path, _ in files.walk(change.vault.root) if path.startswith(f"{folder}/")]
    return bool(inside) and all(not change.exists(path) for path in inside)


def _text(raw: bytes | None) -> str | None:
    if raw is None or b"\0" in raw:
        return None
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None
