"""Changes taken back, newest first, each fact by fact where the note has moved on since."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_mcp.notes.takeback import Obstacle, take_back, take_back_all
from vault_mcp.storage import paths
from vault_mcp.storage.git.writer import blob_id
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

    def take_back(self, commit: CommitRow) -> None:
        """Take back one change; the newer ones of several have to come first."""
        for step in self._reader.steps(commit.seq):
            path = step.after.path or step.before.path
            if path is None or step.before == step.after:
                continue
            if paths.is_hidden(path) or paths.is_hidden(step.before.path or path):
                self._stands(path, path, "belongs to another program")
            elif self._is_link(commit, step):
                self._stands(path, path, "is a symbolic link")
            elif step.before.path is None:
                self._made(step)
            elif step.after.path is None:
                self._deleted(commit, step)
            else:
                self._changed(step)

    # -- a file that the change made, deleted or changed

    def _made(self, step: Step) -> None:
        path = self._now(step.lineage)
        raw = self._change.read_bytes(path) if path else None
        if path is None or raw is None:
            return  # it is gone already
        if self._is(path, raw, step.after):
            self._delete(step.lineage, path)
            return
        after, now = _text(self._blob(step.after)), _text(raw)
        if after is None or now is None:
            self._stands(path, path, "was edited later")
            return
        left = take_back_all(after, now)
        if left.empty:
            self._delete(step.lineage, path)
        else:
            self._add(path, left.obstacles)
            self._change.write(path, left.text)

    def _deleted(self, commit: CommitRow, step: Step) -> None:
        path, content = step.before.path, self._blob(step.before)
        if path is None or content is None:
            return
        again = self._now(step.lineage)
        there = self._change.read_bytes(again or path)
        if there is not None:
            if there != content:
                self._stands(again or path, path, "was made anew later")
            return
        parent = commit.parent
        mode = self._repository.mode_at(parent, path) if parent else None
        self._change.write(path, content, mode=mode)
        self._places[step.lineage] = path

    def _changed(self, step: Step) -> None:
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
        target = self._target(step, path)
        if target != path:
            self._change.move(path, target)
            self._places[step.lineage] = target
        if content != raw or target != path:
            self._change.write(target, content)

    def _merged(self, path: str, old: bytes, after: bytes | None, raw: bytes) -> bytes:
        before, then, now = _text(old), _text(after), _text(raw)
        if before is None or then is None or now is None:
            if raw != old:
                self._stands(path, path, "was edited later")
            return raw
        taken = take_back(before, then, now)
        self._add(path, taken.obstacles)
        return taken.text.encode()

    def _target(self, step: Step, path: str) -> str:
        """Give where the file goes: back, if the change moved it and nothing moved it since."""
        before, after = step.before.path, step.after.path
        assert before
        if before == after or path == before:
            return path
        if path != after:
            self._stands(path, path, "was moved later")
        elif self._change.exists(before):
            self._stands(path, before, "is taken by another file")
        else:
            return before
        return path

    # -- small steps

    def _now(self, lineage: int) -> str | None:
        """Give where a file lies as this change leaves it."""
        if lineage not in self._places:
            self._places[lineage] = self._reader.lay(lineage)
        return self._places[lineage]

    def _delete(self, lineage: int, path: str) -> None:
        self._change.delete(path)
        self._places[lineage] = None

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


def _text(raw: bytes | None) -> str | None:
    if raw is None or b"\0" in raw:
        return None
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None
