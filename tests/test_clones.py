"""Three machines with one memory: whatever is done on each, and however they sync, they end as one."""

from __future__ import annotations

import contextlib
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.clones import clone, remote_and_clones, sound, tree
from tests.vaults import opened
from vault_mcp.errors import VaultError
from vault_mcp.notes.note import read_note
from vault_mcp.sync import sync
from vault_mcp.tools.files.editing import memory_create
from vault_mcp.tools.files.moving import memory_delete, memory_rename
from vault_mcp.tools.graph.entities import (
    create_entities,
    delete_entities,
    merge_entities,
    rename_entity,
)
from vault_mcp.tools.graph.observations import (
    add_observations,
    delete_observations,
    edit_observation,
    supersede_observation,
)
from vault_mcp.tools.graph.relations import create_relations
from vault_mcp.tools.keys.writing import write_memory
from vault_mcp.tools.memories.writing import memory_remember
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Options, Vault

ROOT = Path(__file__).parents[1]
PLAN = "# Plan\n\nOne.\n\nTwo.\n\nThree.\n"

KILLED = """
import sys
from tests.storage.git.killing import _arm, _die
from vault_mcp.sync import sync
from vault_mcp.vault import Options, Vault
vault = Vault.open(sys.argv[1], Options(embeddings="off"))
vault.wait_until_compared(60)
_arm(int(sys.argv[2]), _die, half=False)
sync(vault)
vault.close()
"""


@dataclass
class Fact:
    """A fact that some machine added: its text now, and what was done to it anywhere."""

    text: str
    edits: int = 0
    deleted: bool = False


@dataclass
class Machines:
    """Vaults of several machines, and what every fact should have become."""

    vaults: list[Vault]
    random: random.Random
    facts: dict[str, Fact] = field(default_factory=dict)
    killed: int = 0

    def new(self, what: str = "fact") -> str:
        """Give a text that was never said before."""
        name = f"{what}-{len(self.facts):05d};"
        self.facts[name] = Fact(name)
        return name

    def entities(self, vault: Vault) -> list[tuple[str, list[str]]]:
        """Give the entities of one machine with the facts that hold there."""
        found = []
        for path in sorted(Path(vault.root).rglob("*.md")):
            note = read_note(path.name, path.read_text())
            if note.kind == "entity":
                found.append((note.name, [fact.text for fact in note.observations if not fact.superseded]))
        return found

    def fact(self, vault: Vault) -> tuple[str, str]:
        """Pick an entity and one of its facts."""
        choices = [(name, fact) for name, facts in self.entities(vault) for fact in facts if ";" in fact]
        return self.random.choice(choices)

    def of(self, text: str) -> Fact:
        """Give the fact that a text is a form of."""
        found = re.search(r"[a-z]+-\d{5};", text)
        assert found
        return self.facts[found[0]]

    # -- what may be done on a machine

    def creates(self, vault: Vault, who: Caller) -> None:
        name = f"Person {self.random.randrange(12)}"
        facts = [self.new() for _ in range(self.random.randrange(3))]
        done = create_entities(vault, who, [{"name": name, "entityType": "person", "observations": facts}])
        if done["skipped"]:
            for text in facts:
                self.of(text).deleted = True

    def adds(self, vault: Vault, who: Caller) -> None:
        name, _ = self.random.choice(self.entities(vault))
        add_observations(vault, who, [{"entityName": name, "contents": [self.new()]}])

    def edits(self, vault: Vault, who: Caller) -> None:
        name, text = self.fact(vault)
        fact = self.of(text)
        edited = f"{text.partition(';')[0]}; edited {fact.edits + 1} on {who.agent}"
        edit_observation(vault, who, name, text, edited)
        fact.edits += 1
        fact.text = edited

    def supersedes(self, vault: Vault, who: Caller) -> None:
        name, text = self.fact(vault)
        self.of(text).edits += 1
        supersede_observation(vault, who, name, text)

    def deletes(self, vault: Vault, who: Caller) -> None:
        name, text = self.fact(vault)
        self.of(text).deleted = True
        delete_observations(vault, who, [{"entityName": name, "observations": [text]}])

    def forgets(self, vault: Vault, who: Caller) -> None:
        if self.random.random() < 0.3:
            name, facts = self.random.choice(self.entities(vault))
            for text in facts:
                self.of(text).deleted = True
            for path in Path(vault.root).rglob("*.md"):
                note = read_note(path.name, path.read_text())
                if note.name == name:
                    for fact in note.observations:
                        self.of(fact.text).deleted = True
            delete_entities(vault, who, [name])

    def renames(self, vault: Vault, who: Caller) -> None:
        name, _ = self.random.choice(self.entities(vault))
        rename_entity(vault, who, name, f"Person {self.random.randrange(12)} of {who.agent}")

    def joins(self, vault: Vault, who: Caller) -> None:
        names = [name for name, _ in self.entities(vault)]
        source, target = self.random.choice(names), self.random.choice(names)
        held = [fact for name, facts in self.entities(vault) if name == source for fact in facts]
        merge_entities(vault, who, source, target)
        for text in held:
            self.of(text).edits += 1  # carried over: edited elsewhere meanwhile, it stands in both notes

    def relates(self, vault: Vault, who: Caller) -> None:
        names = [name for name, _ in self.entities(vault)]
        one, other = self.random.choice(names), self.random.choice(names)
        create_relations(vault, who, [{"from": one, "to": other, "relationType": "knows"}])

    def remembers(self, vault: Vault, who: Caller) -> None:
        memory_remember(vault, who, f"Remember {self.new('memory')}", "session")

    def keys(self, vault: Vault, who: Caller) -> None:
        write_memory(vault, who, f"key-{self.random.randrange(4)}", str(self.random.randrange(9)))
        value = self.new("value")
        write_memory(vault, who, value.strip(";"), value)

    def files(self, vault: Vault, who: Caller) -> None:
        text = self.new("file")
        name = text.strip(";")
        memory_create(vault, who, f"files/{name}.md", f"# A file\n\n{text}\n")
        chance = self.random.random()
        if chance < 0.3:
            memory_rename(vault, who, f"files/{name}.md", f"moved/{name}.md")
        elif chance < 0.4:
            self.of(text).deleted = True
            memory_delete(vault, who, f"files/{name}.md")

    def types(self, vault: Vault, who: Caller) -> None:
        """Have a person type a fact into an entity's note."""
        notes = sorted(Path(vault.root).rglob("*.md"))
        for path in self.random.sample(notes, min(3, len(notes))):
            text = path.read_text()
            if read_note(path.name, text).kind == "entity" and "## Observations\n\n" in text:
                line = f"- typed by hand {self.new('typed')}\n"
                path.write_text(text.replace("## Observations\n\n", f"## Observations\n\n{line}", 1))
                return

    def writes(self, vault: Vault, who: Caller) -> None:
        """Have a person write prose: what only they can decide when two do so."""
        plan = Path(vault.root, "Plan.md")
        text = plan.read_text() if plan.exists() else PLAN
        old = self.random.choice(["One", "Two", "Three"])
        plan.write_text(text.replace(old, f"{old} {who.agent}", 1))

    def lists(self, vault: Vault, who: Caller) -> None:
        plan = Path(vault.root, "List.md")
        text = plan.read_text() if plan.exists() else "# List\n\n- first\n"
        plan.write_text(f"{text}- {self.new('item')}\n")

    def moves(self, vault: Vault, who: Caller) -> None:
        """Have a person move a note in the file system."""
        notes = sorted(Path(vault.root, "entities").rglob("*.md"))
        if notes:
            note = self.random.choice(notes)
            target = Path(vault.root, "people", note.name)
            if not target.exists():
                target.parent.mkdir(exist_ok=True)
                note.rename(target)
                vault.noticed(None)

    def syncs(self, vault: Vault, who: Caller) -> None:
        assert sync(vault).state == "in step"
        assert sound(Path(vault.root))

    def is_killed(self, vault: Vault) -> None:
        """Sync in a process that dies at some touch of the disk."""
        left = self.random.randrange(1, 250)
        done = subprocess.run(
            [sys.executable, "-c", KILLED, vault.root, str(left)], cwd=ROOT, capture_output=True, check=False
        )
        assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
        self.killed += done.returncode != 0

    def deeds(self) -> Sequence[Callable[[Vault, Caller], None]]:
        often = [self.adds, self.adds, self.adds, self.creates, self.syncs, self.syncs, self.types]
        rest = [
            self.edits,
            self.supersedes,
            self.deletes,
            self.forgets,
            self.renames,
            self.joins,
            self.relates,
            self.remembers,
            self.keys,
            self.files,
            self.writes,
            self.lists,
            self.moves,
        ]
        return often + rest


def play(tmp_path: Path, seed: int, steps: int, kills: int) -> Machines:
    roots = remote_and_clones(tmp_path, "abc", {"Plan.md": PLAN, "List.md": "# List\n\n- first\n"})
    chance = random.Random(seed)
    with contextlib.ExitStack() as stack:
        vaults = [stack.enter_context(opened(root, Options(embeddings="off"))) for root in roots]
        for vault in vaults:
            vault.wait_until_compared(60)
        machines = Machines(vaults, chance)
        deeds = machines.deeds()
        dying = set(chance.sample(range(steps), kills))
        for step in range(steps):
            number = chance.randrange(3)
            vault, who = vaults[number], Caller(f"agent-{'abc'[number]}")
            if step in dying:
                machines.is_killed(vault)
            known = len(machines.facts)
            try:
                chance.choice(deeds)(vault, who)
            except (VaultError, IndexError):
                # There was nothing to edit yet, or a name was taken: nothing was saved.
                for fact in list(machines.facts.values())[known:]:
                    fact.deleted = True
        for _ in range(2):
            for vault in vaults:
                assert sync(vault).state == "in step"
        check(machines, roots)
        compare_index(tmp_path, vaults[0])
    return machines


def check(machines: Machines, roots: list[Path]) -> None:
    assert len({tree(root) for root in roots}) == 1
    for root in roots:
        assert sound(root)
    held = "\n".join(path.read_text() for path in roots[0].rglob("*.md") if " (conflict " not in path.name)
    for name, fact in machines.facts.items():
        if not fact.deleted and fact.edits < 2:
            count = held.count(fact.text)
            assert count == 1, f"{name} stands {count} times"
    assert "<<<<<<<" not in held


def compare_index(tmp_path: Path, vault: Vault) -> None:
    """Hold what the index knows of the past against one that is made from a clone."""
    vault.read_past()
    with opened(clone(tmp_path / "remote.git", tmp_path / "fresh"), Options(embeddings="off")) as fresh:
        fresh.wait_until_compared(60)
        fresh.read_past()
        with vault.reading() as one, fresh.reading() as other:
            assert one.find_commits(10_000).rows == other.find_commits(10_000).rows
            paths = sorted(row[0] for row in other.files())
            assert sorted(row[0] for row in one.files()) == paths
            for path in paths:
                mine, theirs = (
                    {(v.kind, v.text, v.added) for v in r.fact_versions(path) if not v.last}
                    for r in (one, other)
                )
                assert mine == theirs, path


def test_three_machines_end_as_one(tmp_path: Path) -> None:
    machines = play(tmp_path, seed=1, steps=40, kills=2)
    assert len(machines.facts) > 10


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_three_machines_end_as_one_after_a_long_time(tmp_path: Path, seed: int) -> None:
    assert play(tmp_path, seed, steps=150, kills=10).killed > 0
