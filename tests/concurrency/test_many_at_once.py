"""Many agents, a person and their Git on one vault: every acknowledged call is one commit in the right name.

The long form is that of a busy team: fifty clients over HTTP and three servers of their own for five minutes.
"""

import contextlib
import statistics
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.concurrency.crowd import (
    HAND,
    NOTE,
    SHARED,
    Actor,
    Agent,
    Commit,
    Editor,
    ObsidianGit,
    Speaks,
    Told,
    WithToken,
    history_of,
)
from tests.doors.frames import HANDSHAKES
from tests.doors.over_http import REAL, HttpServer, RawSession
from tests.serving import faults, greeted
from tests.vaults import PERSON, git, make_vault
from tests.waiting import wait_until
from vault_mcp.doors.tokens import Tokens


def summary(kind: str, seconds: Iterable[float]) -> str:
    """Say how long calls took, in milliseconds."""
    ordered = sorted(1000 * value for value in seconds)
    if len(ordered) < 2:
        return f"{kind}: {len(ordered)} calls"
    cuts = statistics.quantiles(ordered, n=100, method="inclusive")
    return (
        f"{kind}: {len(ordered)} calls, median {cuts[49]:.0f} ms, 95 % {cuts[94]:.0f} ms, "
        f"99 % {cuts[98]:.0f} ms, longest {ordered[-1]:.0f} ms"
    )


def clients(server: HttpServer, tokens: Tokens, count: int) -> list[Agent]:
    """Connect clients over HTTP, every other one with a session of a handshake revision."""
    made = []
    for number in range(count):
        name = f"web{number}"
        secret = tokens.add(name)
        speaks: Speaks = WithToken(server, secret)
        if number % 2:
            speaks = RawSession(server, HANDSHAKES[number // 2 % len(HANDSHAKES)], "any client", secret)
        made.append(Agent(speaks, name))
    return made


BUSY = (
    "Another process has been writing to this vault for ",
    "Another Git program has held .git/index.lock for ",  # the person's backup, which waits for its turn too
)


@pytest.mark.parametrize(
    ("over_http", "over_streams", "seconds", "pace"),
    [(8, 2, 5.0, 0.2), pytest.param(50, 3, 300.0, 1.0, marks=pytest.mark.long)],
)
def test_a_crowd_loses_nothing_and_takes_nobodys_words(
    tmp_path: Path, over_http: int, over_streams: int, seconds: float, pace: float
) -> None:
    notes = {f"{name}.md": NOTE for name in SHARED}
    root = make_vault(tmp_path / "vault", {**notes, "Diary.md": "# Diary\n\n"})
    config = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    tokens = Tokens(str(root), config)
    with contextlib.ExitStack() as open_:
        command = [*REAL, "--vault", str(root), "--http", "127.0.0.1:0"]
        server = open_.enter_context(HttpServer(command, config))
        agents = clients(server, tokens, over_http)
        for number in range(over_streams):
            own = open_.enter_context(greeted(root, agent=f"own{number}", **config))
            agents.append(Agent(own, f"own{number}"))
        for agent in agents:  # so that no start is counted as a wait
            agent.act(-1)
        editor, backups = Editor(root), ObsidianGit(root)
        until = time.monotonic() + seconds
        actors = [Actor(agent.act, until, pause=0.05) for agent in agents]
        actors += [Actor(editor.act, until, pause=pace), Actor(backups.act, until, pause=2 * pace)]
        for actor in actors:
            actor.start()
        for actor in actors:
            actor.done()
        # What a backup has staged and could not commit is the person's, and waits for the next one.
        wait_until(lambda: settled(root, backups), 60)
    told = [agent.told for agent in agents]
    report(told, editor, backups)
    check(root, told, editor)
    # How often each came to its turn is the machine's affair; that each did is not.
    assert backups.tries > 0
    assert editor.saved


def settled(root: Path, backups: ObsidianGit) -> bool:
    """Make one more backup, and say whether nothing is left for another."""
    backups.act(0)
    return git(root, "status", "--porcelain") == ""


def report(told: list[Told], editor: Editor, backups: ObsidianGit) -> None:
    """Print how long calls took; `pytest -rP` shows it."""
    for kind, those in (
        ("HTTP", [one for one in told if one.agent.startswith("web")]),
        ("standard streams", [one for one in told if one.agent.startswith("own")]),
    ):
        print(summary(f"writes over {kind}", [value for one in those for value in one.writes]))
        print(summary(f"reads over {kind}", [value for one in those for value in one.reads]))
    refused = sum(len(one.refused) for one in told)
    print(
        f"{len(editor.saved)} saves of the person, {backups.backups} backups, {refused} calls refused as busy"
    )


def check(root: Path, told: list[Told], editor: Editor) -> None:
    """Hold everything that was told against history and files."""
    history = history_of(root)
    check_refusals(history, told)
    check_commits(history, told)
    overwritten = Counter(
        line for commit in history.values() if commit.author == PERSON for line in commit.removed
    )
    now = Counter(
        line.removeprefix("- ").partition(" %%")[0]
        for path in git(root, "ls-files", "-z").split("\0")
        if path.endswith(".md")
        for line in (root / path).read_text(encoding="utf-8").splitlines()
    )
    written = [line for one in told for line, _ in one.lines]
    # Between an editor's last look at a file and its save, somebody may write: what is saved over then was
    # taken away by the person, in their name, and history has it.
    missing = [line for line in written if now[line] != 1]
    assert [line for line in missing if not (now[line] == 0 and overwritten[line] >= 1)] == []
    assert len(missing) <= max(2, len(editor.saved) // 50)
    assert [line for _, line in editor.saved if now[line] != 1] == []
    assert faults(root) == []


def check_refusals(history: dict[str, Commit], told: list[Told]) -> None:
    """Nobody is refused but for want of time, as on a busy machine, and then nothing was saved."""
    refused = [refusal for one in told for refusal in one.refused]
    for _, text in refused:
        assert text.startswith(BUSY), text
        assert text.endswith("Nothing was saved.")
    lines = {line for commit in history.values() for line in commit.added}
    assert [line for line, _ in refused if line in lines] == []
    assert 5 * len(refused) <= sum(len(one.lines) for one in told)


def check_commits(history: dict[str, Commit], told: list[Told]) -> None:
    """One commit for each call, in the name of who made it, with nobody else's words."""
    names = {one.agent for one in told} | {HAND}
    by_line: dict[str, Commit] = {}
    for commit in history.values():
        # A backup may come in the midst of a save, when the editor has emptied the file: the next one then
        # brings back, in the person's name, what the person's save took away.
        back = {line for line in commit.added if line in by_line and commit.author == PERSON}
        whose = {line.split()[0] for line in {*commit.added} - back if line.split()}
        assert whose & names <= {HAND if commit.author == PERSON else commit.author}, commit
        for line in commit.added:
            by_line.setdefault(line, commit)
    identities = []
    for one in told:
        for line, identity in one.lines:
            assert line in by_line, f"{line} is in no commit"
            commit = by_line[line]
            assert commit.author == one.agent
            assert identity in ("", commit.id)
            identities.append(commit.id)
    assert len(set(identities)) == len(identities)
