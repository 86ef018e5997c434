"""Real server processes on real vaults, and the words that tests say to them."""

import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.doors.frames import Frame, Server
from tests.vaults import git

Graph = tuple[dict[str, list[str]], set[tuple[str, str, str]]]
"""Facts by the name of their entity, and relations as (from, type, to)."""


class Served(Server):
    """A server that is let finish when its block ends: what it does in the background is not cut off."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Say that nothing more will come, and wait for the end; after an error the process is killed."""
        try:
            if kind is None and not self._killed and self.process.poll() is None:
                with suppress(BrokenPipeError):
                    self.close_input()
                assert self.ended() == 0, "\n".join(self.log)
        finally:
            super().__exit__(kind, error, trace)


def serve(root: Path, *flags: str, command: Iterable[str] = (), **env: str) -> Served:
    """Start a server on a vault: `python -m vault_mcp serve`, or what `command` says instead."""
    return Served(
        [*(command or (sys.executable, "-m", "vault_mcp")), "serve", "--vault", str(root), *flags], env=env
    )


def greeted(root: Path, *flags: str, agent: str = "raw", **env: str) -> Served:
    """Start a server and shake hands as a client of that name."""
    server = serve(root, *flags, **env)
    try:
        server.greet(name=agent)
    except BaseException:
        server.process.kill()
        server.__exit__(None, None, None)
        raise
    return server


def given(server: Server, tool: str, /, **arguments: object) -> dict[str, Any]:
    """Call a tool, which must not fail, and give its structure."""
    return structure(server.call(tool, **arguments))


def structure(result: Frame) -> dict[str, Any]:
    """Give the structure of a result that is no error."""
    assert result["isError"] is False, result
    shown: dict[str, Any] = result["structuredContent"]
    return shown


def entity(name: str, *observations: str, kind: str = "t") -> dict[str, object]:
    """What `create_entities` takes of one entity."""
    return {"name": name, "entityType": kind, "observations": list(observations)}


def relation(start: str, kind: str, end: str) -> dict[str, object]:
    """What `create_relations` takes of one relation."""
    return {"from": start, "to": end, "relationType": kind}


def added(name: str, *texts: str) -> dict[str, object]:
    """What `add_observations` takes of one entity."""
    return {"entityName": name, "contents": list(texts)}


def make(server: Server, *names: str, kind: str = "t") -> None:
    """Make entities, each with its own name in small letters and a 1 as its fact."""
    given(server, "create_entities", entities=[entity(n, f"{n.lower()}1", kind=kind) for n in names])


def graph(server: Server) -> Graph:
    """Give the whole graph, page by page."""
    facts: dict[str, list[str]] = {}
    relations: set[tuple[str, str, str]] = set()
    cursor = ""
    while True:
        page = given(server, "read_graph", limit=1000, cursor=cursor)
        facts |= facts_of(page)
        relations |= relations_of(page)
        cursor = page.get("next_cursor", "")
        if not cursor:
            return facts, relations


def facts_of(page: Mapping[str, Any]) -> dict[str, list[str]]:
    """Give the texts of an answer's entities by their names."""
    return {one["name"]: [fact["text"] for fact in one["observations"]] for one in page["entities"]}


def relations_of(page: Mapping[str, Any]) -> set[tuple[str, str, str]]:
    """Give an answer's relations as triples."""
    return {(one["from"], one["relationType"], one["to"]) for one in page["relations"]}


def facts(server: Server, name: str) -> list[str]:
    """Give the texts of one entity, which must be there once."""
    ((_, texts),) = facts_of(given(server, "open_nodes", names=[name])).items()
    return texts


def found(server: Server, query: str, **more: object) -> list[str]:
    """Give the paths of the notes that a search finds, best first."""
    return [one["note"] for one in given(server, "search_nodes", query=query, **more)["entities"]]


def ask(server: Server, tool: str, /, **arguments: object) -> int:
    """Send a call without waiting for its answer, and give its id."""
    return server.request("tools/call", {"name": tool, "arguments": arguments})


def answers(server: Server, asked: Iterable[int]) -> dict[int, Frame]:
    """Wait for the answers to calls that were sent, in whatever order they come."""
    waiting = set(asked)
    told: dict[int, Frame] = {}
    while waiting:
        frame = server.next()
        if frame.get("id") in waiting:
            waiting.discard(frame["id"])
            told[frame["id"]] = frame["result"]
    return told


def path_of(server: Server, name: str) -> str:
    """Give the path of the note of one entity."""
    (one,) = given(server, "open_nodes", names=[name])["entities"]
    return str(one["note"])


def head(root: Path) -> str:
    """Give the commit that is checked out."""
    return git(root, "rev-parse", "HEAD").strip()


def count(root: Path) -> int:
    """Count the commits."""
    return int(git(root, "rev-list", "--count", "HEAD"))


def faults(root: Path) -> list[str]:
    """Say what is wrong with a vault at rest: merges, changes without a commit, broken objects, leftovers."""
    wrong = left_behind(root)
    if git(root, "rev-list", "--merges", "HEAD"):
        wrong.append("a merge")
    wrong += git(root, "status", "--porcelain").splitlines()
    # A write that failed, or was cut off, leaves objects that nothing leads to, as a `git add` does.
    fsck = ["git", "fsck", "--strict", "--no-dangling", "--no-progress"]
    told = subprocess.run(fsck, cwd=root, capture_output=True, text=True, check=False)
    return [*wrong, *told.stdout.splitlines(), *told.stderr.splitlines()]


def left_behind(root: Path) -> list[str]:
    """Name the locks and temporary files that stand in a vault or its Git folder."""
    state = root / ".git" / "vault-mcp"
    stay = ("index", "intent", "lock", "log")
    names = [path.name for path in state.iterdir() if path.is_file() and not path.name.startswith(stay)]
    names += [str(p.relative_to(root)) for p in root.rglob("*.lock")]
    names += [str(p.relative_to(root)) for p in root.rglob("*") if p.name.endswith((".tmp", ".part", "~"))]
    intent = state / "intent"
    if intent.exists() and intent.stat().st_size:
        names.append("intent")
    return names
