"""Many at once on one vault: clients over HTTP and standard streams, a person's editor, a person's own Git.

Every line that anybody writes begins with their name, so that history can be asked whose words each commit
holds. All of them go on until the same moment.
"""

import os
import random
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tests.doors.frames import Frame
from tests.doors.over_http import HttpServer
from tests.serving import added, entity
from tests.vaults import git

SHARED = tuple(f"Shared {number}" for number in range(5))
"""Entities that everybody writes to, the person too."""

NOTE = "---\nentity: t\n---\n\n## Observations\n\n"
HAND = "hand"


class Speaks(Protocol):
    """A client of any kind."""

    def call(self, tool: str, /, **arguments: object) -> Frame:
        """Call a tool and give its result."""


class WithToken:
    """A client of the stateless revision: nothing but a server and a token."""

    def __init__(self, server: HttpServer, token: str) -> None:
        self._server, self._token = server, token

    def call(self, tool: str, /, **arguments: object) -> Frame:
        return self._server.call(tool, token=self._token, meta=None, **arguments)


@dataclass
class Told:
    """What one agent was told, and how long it waited."""

    agent: str
    lines: list[tuple[str, str]] = field(default_factory=list)
    """Each line it wrote with the commit the receipt named, "" where there was none."""
    refused: list[tuple[str, str]] = field(default_factory=list)
    """Each line that was refused, with the error."""
    writes: list[float] = field(default_factory=list)
    reads: list[float] = field(default_factory=list)
    """Seconds of each call."""


class Actor(threading.Thread):
    """Somebody who acts again and again until the end; what goes wrong is raised by `done`."""

    def __init__(self, act: Callable[[int], None], until: float, pause: float = 0.0) -> None:
        super().__init__(daemon=True)
        self._act, self._until, self._pause = act, until, pause
        self._fault: BaseException | None = None
        self._paced = threading.Event()
        self.turns = 0

    def run(self) -> None:
        try:
            while time.monotonic() < self._until:
                self._act(self.turns)
                self.turns += 1
                self._paced.wait(self._pause)
        except BaseException as fault:
            self._fault = fault

    def done(self) -> None:
        """Wait for the end."""
        self.join(max(0.0, self._until - time.monotonic()) + 300)
        assert not self.is_alive()
        if self._fault is not None:
            raise self._fault


class Agent:
    """One client: writes in the notes that all share and in its own, and reads."""

    def __init__(self, client: Speaks, name: str) -> None:
        self._client = client
        self._chance = random.Random(name)
        self.told = Told(name)

    def act(self, turn: int) -> None:
        """Make one call of a random kind."""
        name = self.told.agent
        line = f"{name} says {turn}"
        shared = self._chance.choice(SHARED)
        match self._chance.choices(["add", "create", "key", "file", "read"], [9, 3, 2, 2, 4])[0]:
            case "add":
                self._write(line, "add_observations", observations=[added(shared, line)])
            case "create":
                self._write(line, "create_entities", entities=[entity(f"{name} {turn}", line)])
            case "key":
                self._write(line, "write_memory", key=f"{name}-{turn}", value=line)
            case "file":
                self._write(line, "memory_create", path=f"files/{name}-{turn}.md", file_text=f"{line}\n")
            case _:
                self._read(shared)

    def _write(self, line: str, tool: str, **arguments: object) -> None:
        began = time.monotonic()
        result = self._client.call(tool, **arguments)
        self.told.writes.append(time.monotonic() - began)
        if result["isError"]:
            self.told.refused.append((line, result["content"][0]["text"]))
        else:
            receipt = result.get("structuredContent", {}).get("receipt", {})
            self.told.lines.append((line, receipt.get("commit", "")))

    def _read(self, name: str) -> None:
        began = time.monotonic()
        result = self._client.call("search_nodes", query=f"{self.told.agent} says", limit=5)
        self.told.reads.append(time.monotonic() - began)
        assert result["isError"] is False, result
        assert self._client.call("open_nodes", names=[name])["isError"] is False


class Editor:
    """A person's editor: adds a line of its own to a note and saves, by renaming or in place."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._chance = random.Random(1)
        self.saved: list[tuple[str, str]] = []

    def act(self, turn: int) -> None:
        """Save one line more."""
        line = f"{HAND} types {turn}"
        name = self._chance.choice(["Diary.md", *(f"{shared}.md" for shared in SHARED)])
        path = self._root / name
        # As editors do, it takes in what has changed on the disk before it saves over it.
        while not self._save(path, f"- {line}\n", in_place=bool(turn % 2)):
            pass
        self.saved.append((name, line))

    def _save(self, path: Path, line: str, *, in_place: bool) -> bool:
        seen = path.read_bytes()
        text = seen + line.encode()
        if in_place:
            if path.read_bytes() != seen:
                return False
            path.write_bytes(text)
            return True
        fresh = path.with_name(f".{path.name}.swp")
        fresh.write_bytes(text)
        if path.read_bytes() != seen:
            return False
        os.replace(fresh, path)
        return True


class ObsidianGit:
    """What the plugin of that name does every few minutes, here every moment."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.tries = self.backups = 0

    def act(self, turn: int) -> None:
        """Stage and commit whatever there is; a lock that is held is no reason to wait."""
        self.tries += 1
        if self._try("add", "-A"):
            self.backups += self._try("commit", "-q", "-m", f"vault backup: {turn}")

    def _try(self, *args: str) -> bool:
        command = ["git", "-C", str(self._root), *args]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


@dataclass(frozen=True)
class Commit:
    """One commit: whose, and the lines it adds and takes away."""

    id: str
    author: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


def history_of(root: Path) -> dict[str, Commit]:
    """Read every commit with the lines it changes, in one pass."""
    shown = git(root, "log", "--reverse", "--no-renames", "-p", "-U0", "--format=%x01%H|%an")
    commits = {}
    for part in shown.split("\x01")[1:]:
        head, *rest = part.splitlines()
        identity, author = head.split("|")
        lines = {sign: [] for sign in "+-"}  # type: dict[str, list[str]]
        for line in rest:
            if line[:1] in lines and not line.startswith(("+++", "---")):
                lines[line[0]].append(line[1:].removeprefix("- ").partition(" %%")[0])
        commits[identity] = Commit(identity, author, tuple(lines["+"]), tuple(lines["-"]))
    return commits
