"""A vault turned upside down: calls of tools, hand edits, moves and copies, and Git used beside it all.

What its index says in the end has to be what an index made anew says.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests import graph_model
from tests.vaults import CLAUDE, git
from vault_mcp.errors import NoteUnreadable, VaultError
from vault_mcp.tools.families import whole_catalog
from vault_mcp.tools.graph import reading
from vault_mcp.tools.history import blame, looking
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Vault

CATALOG = whole_catalog()
START = 1_800_000_000
CALLERS = (Caller("claude"), Caller("cursor", "s  1"), Caller("a <b> %c%~ d", "x\ny: z"))
STEP = 7
"""Seconds from one step to the next, so that no two commits are of one time."""


@dataclass
class Upheaval:
    """A vault to which anything happens; `log` tells what did, for a test that fails."""

    root: Path
    vault: Vault
    random: Random
    patch: pytest.MonkeyPatch
    log: list[str] = field(default_factory=list)
    count: int = 0

    def run(self, steps: int) -> None:
        """Let so many things happen, each at a time of its own."""
        for _ in range(steps):
            self.tick()
            name, step = self.random.choice(STEPS)
            self.log.append(name)
            try:
                step(self)
            except subprocess.CalledProcessError as refused:  # Git's own no: nothing staged, a name taken
                self.log.append(f"  git refused: {refused.stderr[-200:]}")
        self.tick()
        self.settle()
        self.outside("rest")
        self.settle()
        assert git(self.root, "status", "--porcelain") == ""

    def tick(self) -> None:
        self.count += 1
        at = START + self.count * STEP
        self.patch.setattr("time.time", lambda: float(at))
        for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
            self.patch.setenv(name, f"@{at} +0000")

    def settle(self) -> None:
        """Let the vault see all that happened."""
        self.vault.noticed(None)
        with self.vault.reading():
            pass
        self.vault.read_past()

    def outside(self, subject: str) -> None:
        """Commit everything as another program does, without a word to the vault."""
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "--allow-empty", "-m", f"{subject} {self.count}")

    def notes(self) -> list[Path]:
        return sorted(path for path in self.root.rglob("*.md") if ".git" not in path.parts)

    def note(self) -> Path:
        return self.random.choice(self.notes() or [self._fresh_note()])

    def _fresh_note(self) -> Path:
        path = self.root / f"fresh {self.count}.md"
        path.write_text(f"fresh {self.count}\n", "utf-8")
        return path

    def commit(self) -> str:
        return self.random.choice(git(self.root, "rev-list", "HEAD").split())


def told(vault: Vault) -> dict[str, Any]:
    """Give all that the index tells: the graph, the list of notes, the changes, and who wrote each line."""
    with vault.repository.writing() as _:
        while vault.index.upkeep():
            pass
    pages = list(_pages(vault))
    found: Any = reading.search_nodes(vault, CLAUDE, "", limit=200)
    with vault.remembering() as reader:
        paths = sorted(row[0] for row in reader.files())
    log: Any = looking.history_log(vault, CLAUDE, limit=200)
    answer: dict[str, Any] = {
        "entities": [one for page in pages for one in page["entities"]],
        "relations": sorted((one for page in pages for one in page["relations"]), key=json.dumps),
        "dangling": [page.get("dangling") for page in pages],
        "found": sorted((one["name"], one["entityType"], one["note"]) for one in found["entities"]),
        "files": paths,
        "log": log["changes"],
    }
    for path in paths:
        try:
            lines: Any = blame.history_blame(vault, CLAUDE, path, limit=1000)
        except NoteUnreadable:
            continue
        answer[f"blame of {path}"] = lines["lines"]
        changes: Any = looking.history_log(vault, CLAUDE, note=path, limit=200)
        answer[f"log of {path}"] = [row["change"] for row in changes["changes"]]
    return answer


def _pages(vault: Vault) -> Iterator[dict[str, Any]]:
    cursor = ""
    while True:
        page: Any = reading.read_graph(vault, CLAUDE, limit=1000, include_superseded=True, cursor=cursor)
        yield page
        cursor = page.get("next_cursor", "")
        if not cursor:
            return


# -- what happens


def call(world: Upheaval) -> None:
    """Call one of the tools that write to the graph, which may refuse."""
    graph: Any = reading.read_graph(world.vault, CLAUDE, limit=1000)
    model = graph_model.Model(
        {
            one["name"]: graph_model.Entity(one["entityType"], [fact["text"] for fact in one["observations"]])
            for one in graph["entities"]
        },
        {(one["from"], one["relationType"], one["to"]) for one in graph["relations"]},
    )
    maker = graph_model.Caller(model, world.random, world.count)
    names = sorted(model.entities)
    tool = world.random.choice(graph_model.TOOLS) if len(names) > 2 else "create_entities"
    try:
        name, arguments = getattr(maker, f"_{tool}")(names)
    except IndexError:  # nobody has a fact that it could be about
        name, arguments = maker._create_entities(names)
    _call(world, name, arguments)


def remember(world: Upheaval) -> None:
    _call(world, "memory_remember", {"text": f"memory {world.count} of [[N1-0]]", "session_id": "s"})


def keep(world: Upheaval) -> None:
    _call(world, "write_memory", {"key": world.random.choice("ab"), "value": f"value {world.count}"})


def undo(world: Upheaval) -> None:
    """Take back any change at all, leaving what stands in the way."""
    _call(
        world, "history_undo", {"change": world.commit(), "on_conflict": "skip"}, Caller("Ann", person=True)
    )


def _call(world: Upheaval, name: str, arguments: dict[str, Any], caller: Caller | None = None) -> None:
    tool = CATALOG.tool(name)
    assert tool is not None
    world.log.append(f"  {name} {json.dumps(arguments)}")
    try:
        tool.run(world.vault, caller or world.random.choice(CALLERS), **arguments)
    except VaultError as refused:
        world.log.append(f"  refused: {refused}")


def append(world: Upheaval) -> None:
    path = world.note()
    path.write_text(f"{path.read_text('utf-8')}- by hand {world.count}\n", "utf-8")


def prepend(world: Upheaval) -> None:
    path = world.note()
    head = "## Observations\n\n"
    text = path.read_text("utf-8")
    path.write_text(text.replace(head, f"{head}- on top {world.count}\n", 1), "utf-8")


def write_prose(world: Upheaval) -> None:
    path = world.note()
    path.write_text(f"{path.read_text('utf-8')}\nProse {world.count}.\n", "utf-8")


def drop_line(world: Upheaval) -> None:
    path = world.note()
    lines = path.read_text("utf-8").splitlines(keepends=True)
    facts = [number for number, line in enumerate(lines) if line.startswith("- ")]
    if facts:
        del lines[world.random.choice(facts)]
        path.write_text("".join(lines), "utf-8")


def edit_line(world: Upheaval) -> None:
    path = world.note()
    lines = path.read_text("utf-8").splitlines(keepends=True)
    facts = [number for number, line in enumerate(lines) if line.startswith("- ")]
    if facts:
        at = world.random.choice(facts)
        lines[at] = lines[at].replace("- ", f"- mended {world.count} ", 1)
        path.write_text("".join(lines), "utf-8")


def remove(world: Upheaval) -> None:
    world.note().unlink()


def move(world: Upheaval) -> None:
    path = world.note()
    path.rename(path.with_name(f"moved {world.count}.md"))


def move_away(world: Upheaval) -> None:
    """Move a file to another folder under its own name."""
    path = world.note()
    folder = world.root / world.random.choice(("one", "two"))
    folder.mkdir(exist_ok=True)
    if not (folder / path.name).exists():
        path.rename(folder / path.name)


def move_folder(world: Upheaval) -> None:
    folder = world.note().parent
    if folder != world.root:
        folder.rename(folder.with_name(f"folder {world.count}"))


def copy(world: Upheaval) -> None:
    path = world.note()
    shutil.copy(path, path.with_name(f"{path.stem} {world.count}.md"))


def copy_and_move(world: Upheaval) -> None:
    """Leave a copy under another name and move the file itself, between two commits."""
    path = world.note()
    shutil.copy(path, path.with_name(f"copy {world.count}.md"))
    folder = world.root / f"away {world.count}"
    folder.mkdir()
    path.rename(folder / path.name)


def touch(world: Upheaval) -> None:
    os.utime(world.note())


def commit_outside(world: Upheaval) -> None:
    world.outside("outside")


def amend(world: Upheaval) -> None:
    git(world.root, "commit", "-q", "--amend", "-m", f"amended {world.count}")


def stage(world: Upheaval) -> None:
    git(world.root, "add", "--", str(world.note()))


def switch(world: Upheaval) -> None:
    """Go on from an older commit on a branch of its own."""
    world.settle()
    world.outside("before switching")
    git(world.root, "switch", "-q", "-c", f"branch-{world.count}", world.commit())


def go_back(world: Upheaval) -> None:
    """Commit the tree of an older commit anew."""
    world.settle()
    world.outside("before going back")
    git(world.root, "read-tree", "-u", "--reset", world.commit())
    git(world.root, "commit", "-q", "--allow-empty", "-m", f"back {world.count}")


def merge(world: Upheaval) -> None:
    """Merge a side line that changed a note of its own."""
    world.settle()
    world.outside("before merging")
    branch = git(world.root, "symbolic-ref", "--short", "HEAD").strip()
    git(world.root, "switch", "-q", "-c", f"side-{world.count}", world.commit())
    (world.root / f"side {world.count}.md").write_text(f"- of the side {world.count}\n", "utf-8")
    world.outside("side")
    git(world.root, "switch", "-q", branch)
    git(world.root, "merge", "-q", "--no-ff", "-m", f"merge {world.count}", f"side-{world.count}")


def settle(world: Upheaval) -> None:
    world.settle()


STEPS = tuple(
    (step.__name__, step)
    for step in (
        call, call, call, call, call, call, remember, keep, undo,
        append, append, prepend, write_prose, drop_line, edit_line, edit_line,
        remove, move, move_away, move_folder, copy, copy_and_move, touch,
        commit_outside, commit_outside, amend, stage, switch, go_back, merge, settle, settle,
    )
)  # fmt: skip
