"""Made-up vaults that look like real ones: entities, memories, keys, a person's own notes, and a past.

    python -m benchmarks.made_vault DIR --notes 10000 --commits 500 [--memories]

Six of ten notes are entities with two to eight facts, some of them typed by hand, and relations; a quarter
are memories of a talk, one of twenty a key, the rest notes that a person wrote, with headings, tasks and
links. With `--memories` all are short memories, so that each note is one passage. Words follow Zipf's law.
The past is one import and then one commit for each line that was added later, by five agents and one person,
written by `git fast-import` and packed, with the commit graph that a well-kept repository has. The same
arguments give the same notes.
"""

from __future__ import annotations

import argparse
import random
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path

from vault_mcp.adopt import adopt
from vault_mcp.notes.entity import new_entity
from vault_mcp.notes.keyed import new_keyed
from vault_mcp.notes.line import Stamp
from vault_mcp.notes.memory import new_memory
from vault_mcp.notes.names import shard

BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
START = 1_900_000_000
"""Seconds since 1970 of the import: behind the commit that makes the vault, whenever that is."""

AGENTS = ("claude-desktop", "cursor", "codex", "gemini", "claude-code")
TYPES = ("person", "project", "organisation", "decision", "book", "module")
RARE = "zyzzyva"
"""A word that one note has, whatever the size of the vault."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass
class Words:
    """Words by Zipf's law, and sentences of them."""

    rng: random.Random
    words: list[str] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        own = random.Random(1)
        made: dict[str, None] = {}
        while len(made) < 20_000:
            made["".join(own.choices(LETTERS, k=own.randint(3, 9)))] = None
        self.words = list(made)
        self.weights = list(accumulate(1 / rank for rank in range(5, len(made) + 5)))

    def some(self, least: int, most: int) -> str:
        """Give so many words."""
        drawn = self.rng.choices(self.words, cum_weights=self.weights, k=self.rng.randint(least, most))
        return " ".join(drawn)


@dataclass(frozen=True)
class MadeVault:
    """What a made vault holds, so that it can be asked for it."""

    entities: Sequence[str]
    entity_paths: Sequence[str]
    keys: Sequence[str]
    memories: Sequence[int]
    sessions: Sequence[str]
    word: str
    """A word of the middle of the list: some hundredth of all notes have it."""


def moment(number: int) -> str:
    """Give a time as stamps write it, later for each number."""
    return f"{BEGIN + timedelta(minutes=7 * number):%Y-%m-%dT%H:%M:%SZ}"


def name_of(number: int) -> str:
    """Give the name of an entity."""
    return f"{TYPES[number % len(TYPES)].title()} {number}"


def make_notes(count: int, *, memories: bool = False) -> tuple[dict[str, str], MadeVault]:
    """Give the notes of a vault, text by path, and what is in them."""
    words = Words(random.Random(count))
    notes: dict[str, str] = {}
    entities: list[tuple[str, str]] = []
    keys: list[str] = []
    numbers: list[int] = []
    for number in range(count):
        kind = 7 if memories else number % 20
        if kind < 5 or 8 <= kind < 15:
            path = f"entities/{TYPES[number % 6]}/{shard(name_of(number))}/{name_of(number)}.md"
            notes[path] = _entity(words, number, count)
            entities.append((name_of(number), path))
        elif kind < 8 or 15 <= kind < 17:
            path, numbered, notes[path] = _memory(words, number)
            numbers.append(numbered)
        elif kind == 17:
            keys.append(f"settings/{number}")
            notes[f"keys/{shard(str(number))}/{number}.md"] = new_keyed(keys[-1], words.some(3, 60))
        else:
            at = moment(number)
            notes[f"Notes/{at[:4]}/{at[5:7]}/Note {number}.md"] = _own_note(words, number, count)
    if entities:
        path = entities[len(entities) // 2][1]
        notes[path] = notes[path].rstrip("\n") + f"\n- knows a word that nobody has: {RARE}\n"
    made = MadeVault(
        [name for name, _ in entities],
        [path for _, path in entities],
        keys,
        numbers,
        sorted({f"session {number // 50}" for number in range(0, count, 50)}),
        words.words[300],
    )
    return notes, made


def _entity(words: Words, number: int, count: int) -> str:
    rng = words.rng
    stamps = [Stamp(moment(number + n), AGENTS[(number + n) % 5]) for n in range(8)]
    related = [
        (
            rng.choice(("knows", "works on", "depends on", "part of")),
            f"[[{name_of(_another(rng, count))}]]",
            stamps[n],
        )
        for n in range(rng.randint(1, 3))
    ]
    said = new_entity(
        name_of(number), name_of(number), TYPES[number % 6], at=moment(number), agent=AGENTS[number % 5],
        observations=[(words.some(5, 16), stamps[n]) for n in range(rng.randint(2, 8))],
        relations=related, tags=[words.some(1, 1)] if number % 3 else (),
    )  # fmt: skip
    if number % 4:
        return said
    head, mark, rest = said.partition("## Observations\n")
    return f"{head}{mark}\n- {words.some(4, 12)}\n{rest.lstrip()}" if mark else said  # typed by hand


def _another(rng: random.Random, count: int) -> int:
    while True:
        number = rng.randrange(count)
        if number % 20 < 5 or 8 <= number % 20 < 15:
            return number


def _memory(words: Words, number: int) -> tuple[str, int, str]:
    at = BEGIN + timedelta(minutes=7 * number)
    numbered = int(f"{at:%Y%m%d%H%M%S}01")
    said = new_memory(
        words.some(8, 40) + ".", type="episodic", id=numbered, importance=number % 10 + 1,
        session=f"session {number // 50}", tags=(), created=f"{at:%Y-%m-%dT%H:%M:%SZ}",
        agent=AGENTS[number % 5],
    )  # fmt: skip
    return f"memories/{at:%Y/%m}/{number // 400:03}/{at:%Y-%m-%d} {number}.md", numbered, said


def _own_note(words: Words, number: int, count: int) -> str:
    rng = words.rng
    link = name_of(_another(rng, count))
    paragraphs = [words.some(30, 90) + "." for _ in range(rng.randint(1, 4))]
    lines = ["---", f"tags: [{words.some(1, 1)}]", "---", "", f"# {words.some(2, 5)}", "", paragraphs[0], ""]
    for paragraph in paragraphs[1:]:
        lines += [f"## {words.some(1, 3)}", "", f"{paragraph} See [[{link}]]. #{words.some(1, 1)}", ""]
    lines += [f"- [ ] {words.some(3, 8)}", f"- [x] {words.some(3, 8)} ✅ {moment(number)[:10]}", ""]
    return "\n".join(lines)


def later_lines(notes: dict[str, str], made: MadeVault, commits: int) -> Iterator[tuple[str, str, str]]:
    """Add a line to one entity after the other, by chance; give (who, path, the text then)."""
    words = Words(random.Random(commits))
    paths = made.entity_paths or list(notes)
    for step in range(commits):
        path = paths[words.rng.randrange(len(paths))]
        who = "human" if step % 6 == 5 else AGENTS[step % 5]
        stamp = "" if who == "human" or not made.entity_paths else f" %%+{moment(step)} {who}%%"
        text = notes[path]
        line = f"- {words.some(4, 12)}{stamp}\n"
        head, mark, rest = text.partition("\n## Relations")
        notes[path] = f"{head.rstrip()}\n{line}{mark and chr(10)}{mark}{rest}"
        yield who, path, notes[path]


def make_vault(root: Path, count: int, commits: int, *, memories: bool = False) -> MadeVault:
    """Make a vault with its past: committed, checked out and packed, and with no index yet."""
    notes, made = make_notes(count, memories=memories)
    adopt(str(root))

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    branch, parent = git("symbolic-ref", "HEAD"), git("rev-parse", "HEAD")
    command = ["git", "-C", str(root), "fast-import", "--quiet", "--force"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
        assert child.stdin
        write = child.stdin.write
        _commit(write, branch, "vault-mcp", START, "import: made up", notes, parent)
        for step, (who, path, text) in enumerate(later_lines(notes, made, commits)):
            tool = "hand-edit" if who == "human" else "add_observations"
            _commit(write, branch, who, START + 60 * (step + 1), f"{tool}: {path}", {path: text})
        child.stdin.close()
    git("reset", "-q", "--hard")
    git("repack", "-adq")
    git("prune-packed", "-q")
    git("commit-graph", "write", "--reachable", "--changed-paths")
    return made


def _commit(
    write: Callable[[bytes], object],
    branch: str,
    who: str,
    at: int,
    subject: str,
    files: dict[str, str],
    source: str = "",
) -> None:
    tool = subject.partition(":")[0]
    stamp = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    message = f"{subject}\n\nTool: {tool}\nEdited-By: {who}\nEdited-At: {stamp}\n".encode()
    ident = f"{who} <{who}@agent.invalid> {at} +0000"
    write(f"commit {branch}\nauthor {ident}\ncommitter {ident}\ndata {len(message)}\n".encode() + message)
    write(f"from {source}\n".encode() if source else b"")
    for path, text in files.items():
        raw = text.encode()
        write(f'M 100644 inline "{path}"\ndata {len(raw)}\n'.encode() + raw + b"\n")


def main() -> None:
    """Make one."""
    parser = argparse.ArgumentParser(description="Make a vault that looks like a real one.")
    parser.add_argument("dir", type=Path)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--commits", type=int, default=500)
    parser.add_argument("--memories", action="store_true", help="short memories alone")
    chosen = parser.parse_args()
    make_vault(chosen.dir, chosen.notes, chosen.commits, memories=chosen.memories)


if __name__ == "__main__":
    main()
