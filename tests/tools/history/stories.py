"""Random histories: calls of every family, hand edits and moves, with the state after each kept beside."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.vaults import CLAUDE, CURSOR, git
from vault_mcp.errors import VaultError
from vault_mcp.timekeeping import Timekeeping
from vault_mcp.tools.files import editing, moving
from vault_mcp.tools.graph import entities, observations, reading, relations
from vault_mcp.tools.keys import writing
from vault_mcp.tools.memories import recalling
from vault_mcp.tools.memories import writing as memories
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Vault

NAMES = ("Ada", "Bob", "Cy", "Dora")
WORDS = ("tea", "mate", "walks", "reads", "sings", "Zürich", "日本", "code")


@dataclass
class Story:
    """A vault to which things happen at random."""

    root: Path
    vault: Vault
    random: Random
    graphs: dict[str, Any] = field(default_factory=dict)
    """What the graph said after each commit, as it was told then."""
    count: int = 0

    def head(self) -> str:
        return git(self.root, "rev-parse", "HEAD").strip()

    def tree(self, revision: str = "HEAD") -> str:
        return git(self.root, "rev-parse", f"{revision}^{{tree}}").strip()

    def words(self) -> str:
        self.count += 1
        return f"{self.random.choice(WORDS)} {self.count}"

    def caller(self) -> Caller:
        return self.random.choice((CLAUDE, CURSOR))

    def run(self, steps: int, among: Sequence[Callable[[Story], None]] | None = None) -> None:
        self.vault.read_past()  # until then nobody has dated what was typed by hand
        # The first always succeeds: chance may have nothing but steps that find nothing to work on.
        for step in (create, *self.random.choices(among or STEPS, k=steps)):
            with contextlib.suppress(VaultError):
                step(self)
            self.graphs[self.head()] = graph_of(self.vault)


@contextlib.contextmanager
def unreached(self: Timekeeping, sha: str | None, seq: int) -> Iterator[None]:
    """Stand for a timeline that is not that far: an index of the moment is made then."""
    yield None


def graph_of(vault: Vault, as_of: str = "") -> Any:
    """Give the whole graph, page by page, without what differs from call to call."""
    told: dict[str, Any] = {"entities": [], "relations": []}
    cursor = ""
    while True:
        more = {"as_of": as_of} if as_of else {}
        page: Any = reading.read_graph(
            vault, CLAUDE, limit=100, include_superseded=True, cursor=cursor, **more
        )
        told["entities"] += page["entities"]
        told["relations"] += page["relations"]
        told["total"] = page["total"]
        told["dangling"] = told.get("dangling", 0) + page.get("dangling", 0)
        cursor = page.get("next_cursor", "")
        if not cursor:
            return told


def note_of(story: Story) -> Path | None:
    notes = sorted(path for path in story.root.rglob("*.md") if ".git" not in path.parts)
    return story.random.choice(notes) if notes else None


def facts_of(story: Story, name: str) -> list[str]:
    found: Any = reading.open_nodes(story.vault, CLAUDE, [name])
    return [fact["text"] for one in found["entities"] for fact in one["observations"]]


def create(story: Story) -> None:
    name = story.random.choice(NAMES)
    rows = [{"name": name, "entityType": "person", "observations": [story.words(), story.words()]}]
    entities.create_entities(story.vault, story.caller(), rows)


def add(story: Story) -> None:
    rows = [{"entityName": story.random.choice(NAMES), "contents": [story.words(), story.words()]}]
    observations.add_observations(story.vault, story.caller(), rows)


def edit(story: Story) -> None:
    name = story.random.choice(NAMES)
    if facts := facts_of(story, name):
        observations.edit_observation(
            story.vault, story.caller(), name, story.random.choice(facts), story.words()
        )


def supersede(story: Story) -> None:
    name = story.random.choice(NAMES)
    if facts := facts_of(story, name):
        observations.supersede_observation(
            story.vault, story.caller(), name, story.random.choice(facts), story.words()
        )


def delete_fact(story: Story) -> None:
    name = story.random.choice(NAMES)
    if facts := facts_of(story, name):
        rows = [{"entityName": name, "observations": [story.random.choice(facts)]}]
        observations.delete_observations(story.vault, story.caller(), rows)


def relate(story: Story) -> None:
    one, other = story.random.sample(NAMES, 2)
    rows = [{"from": one, "to": other, "relationType": story.random.choice(("knows", "likes"))}]
    relations.create_relations(story.vault, story.caller(), rows)


def rename(story: Story) -> None:
    one, other = story.random.sample(NAMES, 2)
    entities.rename_entity(story.vault, story.caller(), one, other)


def merge(story: Story) -> None:
    one, other = story.random.sample(NAMES, 2)
    entities.merge_entities(story.vault, story.caller(), one, other)


def delete(story: Story) -> None:
    entities.delete_entities(story.vault, story.caller(), [story.random.choice(NAMES)])


def key(story: Story) -> None:
    writing.write_memory(story.vault, story.caller(), story.random.choice(("a", "b/c")), story.words())


def remember(story: Story) -> None:
    memories.memory_remember(story.vault, story.caller(), f"{story.words()} of [[Ada]]", "s")


def update_memory(story: Story) -> None:
    number = memory_of(story)
    memories.memory_update(story.vault, story.caller(), number, story.words(), "s", importance=7)


def forget(story: Story) -> None:
    memories.memory_forget(story.vault, story.caller(), memory_of(story))


def memory_of(story: Story) -> int:
    """Give the number of some memory; 0, which is none's, where there are none."""
    told: Any = recalling.memory_recall(story.vault, CLAUDE, "of Ada", family="memories", limit=20)
    return int(story.random.choice([one["id"] for one in told["results"]] or [0]))


def file(story: Story) -> None:
    path = f"notes/{story.random.choice('xyz')}.txt"
    editing.memory_create(story.vault, story.caller(), path, f"{story.words()}\n{story.words()}\n")


def move_file(story: Story) -> None:
    one, other = story.random.sample("xyz", 2)
    moving.memory_rename(story.vault, story.caller(), f"notes/{one}.txt", f"notes/{other}.txt")


def hand_line(story: Story) -> None:
    """Type a fact, or a line of prose, without a stamp."""
    path = note_of(story)
    if path is not None:
        lines = path.read_text("utf-8").split("\n")
        at = story.random.randint(min(6, len(lines)), len(lines))
        lines.insert(at, story.random.choice(("- ", "")) + story.words())
        path.write_text("\n".join(lines), "utf-8")
        story.vault.noticed(None)


def hand_edit(story: Story) -> None:
    """Change words of a list line by hand; a stamp stays where it is."""
    path = note_of(story)
    if path is not None:
        lines = path.read_text("utf-8").split("\n")
        facts = [number for number, line in enumerate(lines) if line.startswith("- ") and "[[" not in line]
        if facts:
            at = story.random.choice(facts)
            lines[at] = lines[at].replace(" ", f" {story.words()} ", 1)
            path.write_text("\n".join(lines), "utf-8")
            story.vault.noticed(None)


def hand_delete(story: Story) -> None:
    path = note_of(story)
    if path is not None:
        lines = path.read_text("utf-8").split("\n")
        if len(lines) > 8:
            del lines[story.random.randint(7, len(lines) - 1)]
            path.write_text("\n".join(lines), "utf-8")
            story.vault.noticed(None)


def hand_move(story: Story) -> None:
    path = note_of(story)
    if path is not None:
        target = story.root / story.random.choice(("a", "b")) / path.name
        target.parent.mkdir(exist_ok=True)
        if not target.exists():
            path.rename(target)
            story.vault.noticed(None)


def binary(story: Story) -> None:
    (story.root / "image.bin").write_bytes(bytes([0, 255, story.random.randint(0, 255)]))
    story.vault.noticed(None)


STAYING = (
    create, create, add, add, edit, edit, supersede, delete_fact, relate, key, remember, update_memory, file,
    hand_line, hand_line, hand_edit, hand_delete,
)  # fmt: skip
"""Steps that take away and move no note."""

STEPS = (
    create, create, create, add, add, add, edit, edit, supersede, delete_fact, relate, relate, rename, merge,
    delete, key, remember, update_memory, forget, file, move_file, hand_line, hand_line, hand_edit,
    hand_delete, hand_move, binary,
)  # fmt: skip
