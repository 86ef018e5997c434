"""The story that `vault-mcp demo` plays: every part of it is told, and held against the vault."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from vault_mcp.errors import VaultError
from vault_mcp.storage.git.environment import GitProgram

if TYPE_CHECKING:
    from vault_mcp.doors.mcp_client import Connection

BOOK = "Tide book of 1848"
NOTE = f"entities/book/{BOOK}.md"
MISSING = "Missing from the shelf since before anybody counted"
GREEN = "Bound in green cloth, says the register of 1850"
RED = "Bound in red cloth: the register of 1850 was written by lamplight"
FOUND = "found it! It props up the short leg of the cupboard in the reading room"
BACK = "Back on its shelf; the cupboard stands on the dictionary now"
LIBRARY, ROOM = "Harbour Library", "Harbour Reading Room"

HAND_EDIT_WAIT = 15.0
"""Seconds in which the server must have seen what was typed."""

DIFF_LINES = 12
"""Lines of a change that are shown."""

COMMIT = "%h %s%n author     %an%n committer  %cn%n %(trailers:only,separator=%n )"


class NotAsToldError(VaultError):
    """Something is not as the story says."""


class Story:
    """The story on one vault, a fresh copy of the sample."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.git = GitProgram(root)
        self.chapter = 0
        self.you = ""

    def play(self) -> None:
        """Tell it from beginning to end.

        Raises:
            NotAsToldError: something is not as the story says.
        """
        # A second to import, which help, that only names this command, need not spend.
        from vault_mcp.doors.mcp_client import connected  # noqa: PLC0415

        self._git("config", "commit.gpgsign", "false")  # a demo asks nobody for a passphrase
        with ExitStack() as stack:
            claude = stack.enter_context(connected(self.root, "claude-desktop"))
            cursor = stack.enter_context(connected(self.root, "cursor"))
            click.echo("  two real servers run on it, one for each of two agents")
            self._an_agent_remembers(claude)
            self._another_knows_better(cursor)
            self._you_know_best()
            self._anyone_finds_it(cursor)
            self._what_no_longer_holds_is_kept(claude)
            self._links_follow_a_new_name(cursor)
            self._who_said_what(claude)
        self._the_story_is_in_git()

    # -- chapters

    def _an_agent_remembers(self, claude: Connection) -> None:
        self._heading("An agent hears of a book, and writes it down")
        made = {"name": BOOK, "entityType": "book", "observations": [MISSING, GREEN]}
        self._call(claude, "create_entities", entities=[made])
        self._hold("the note has both facts", all(fact in self._text(NOTE) for fact in (MISSING, GREEN)))
        looks_for = {"from": LIBRARY, "to": BOOK, "relationType": "looks for"}
        self._call(claude, "create_relations", relations=[looks_for])
        library = self._text(f"entities/organisation/{LIBRARY}.md")
        self._hold("the relation is a link between two notes", f"- looks for [[{BOOK}]]" in library)

    def _another_knows_better(self, cursor: Connection) -> None:
        self._heading("Another agent, on a server of its own, knows better")
        self._call(cursor, "edit_observation", entityName=BOOK, oldText=GREEN, newText=RED)
        line = next((line for line in self._text(NOTE).splitlines() if RED in line), "")
        self._hold(
            "the line still says who added it, and when", " %%+20" in line and " claude-desktop ~" in line
        )
        self._hold("and now also who edited it", line.endswith(" cursor%%"))

    def _you_know_best(self) -> None:
        self._heading("You open the note, type a line, and save")
        before = self._git("rev-parse", "HEAD")
        place = os.path.join(self.root, *NOTE.split("/"))
        with open(place, "a", encoding="utf-8") as file:
            file.write(f"- {FOUND}\n")
        click.echo("  No tool is called. The servers see that the file rests, and one commits it as yours.")
        self._wait("your line is committed", lambda: self._git("rev-parse", "HEAD") != before)
        self._show_commit()
        self._hold("the commit is a hand edit", "Tool: hand-edit" in self._git("log", "-1", "--format=%B"))
        self.you = self._git("log", "-1", "--format=%an").strip()
        self._hold("and no agent's", self.you not in ("", "claude-desktop", "cursor", "vault-mcp"))

    def _anyone_finds_it(self, cursor: Connection) -> None:
        self._heading("Now every agent finds it, by any part of any word")
        found = self._call(cursor, "search_nodes", query="upboard leg", limit=3)
        for hit in found["hits"]:
            click.echo(f"    {hit['rank']}. {hit['entityName']}: {_first_line(str(hit['observation']))}")
        hits = [(hit["entityName"], hit["observation"]) for hit in found["hits"]]
        self._hold("your words are among the first", (BOOK, FOUND) in hits)

    def _what_no_longer_holds_is_kept(self, claude: Connection) -> None:
        self._heading("What no longer holds steps aside, and is kept")
        self._call(claude, "supersede_observation", entityName=BOOK, oldText=MISSING, newText=BACK)
        above, _, below = self._text(NOTE).partition("## Superseded")
        self._hold("the new fact holds, the old one does not", BACK in above and MISSING not in above)
        self._hold("the old one says what took its place", MISSING in below and f'>"{BACK}"' in below)

    def _links_follow_a_new_name(self, cursor: Connection) -> None:
        self._heading("A new name, and every link that follows it, are one commit")
        self._call(cursor, "rename_entity", entityName=LIBRARY, newName=ROOM)
        touched = self._git("show", "--name-only", "--format=", "HEAD").splitlines()
        self._hold(
            "notes of people followed, and the canvas",
            {"Daily/2026-10-05.md", "Reading list.md", "Lantern board.canvas"} <= {*touched},
        )
        left = self._git("grep", "--name-only", "-F", f"[[{LIBRARY}", "HEAD", fine=(0, 1))
        self._hold("no link was left behind", left == "")

    def _who_said_what(self, claude: Connection) -> None:
        self._heading("Who said what")
        opened = self._call(claude, "open_nodes", names=[BOOK], include_superseded=True)
        facts = {fact["text"]: fact for fact in opened["entities"][0]["observations"]}
        for text, fact in facts.items():
            who = [f"{fact['agent']}"]
            who += [f"edited by {fact['edited_by']}"] if "edited_by" in fact else []
            who += [f"superseded by {fact['superseded_by']}"] if "superseded_by" in fact else []
            click.echo(f"    {text}")
            click.secho(f"      {', '.join(who)}", dim=True)
        self._hold("what you typed is yours", facts[FOUND]["agent"] == self.you)
        self._hold("what was edited names both", facts[RED]["agent"] == "claude-desktop")

    def _the_story_is_in_git(self) -> None:
        self._heading("The whole story is in Git, and Git is content")
        for line in self._git("log", "--format=%h  %<(16,trunc)%an %s").splitlines():
            click.echo(f"    {line}")
        self._hold("git fsck finds no fault", self._git("fsck", "--strict", "--no-progress") == "")
        self._hold("git status finds no note uncommitted", self._git("status", "--porcelain", "*.md") == "")

    # -- telling

    def _heading(self, text: str) -> None:
        self.chapter += 1
        click.secho(f"\n{self.chapter}. {text}", bold=True)

    def _call(self, agent: Connection, tool: str, **arguments: Any) -> dict[str, Any]:
        """Make a call and show it; if it changed something, show that too."""
        click.echo(f"  {agent.name} calls {click.style(tool, fg='cyan')}")
        for name, value in arguments.items():
            click.echo(f"    {name}: {json.dumps(value, ensure_ascii=False)}")
        try:
            result = agent.call(tool, **arguments)
        except RuntimeError as error:
            raise NotAsToldError(f"{tool} was refused: {error}") from error
        if result.get("receipt", {}).get("commit"):
            self._show_commit()
        return result

    def _show_commit(self) -> None:
        """Show what the newest commit changed, and the commit."""
        shown = list(_changes(self._git("show", "--format=", "--unified=0", "-M", "HEAD")))
        for line, colour in shown[:DIFF_LINES]:
            click.secho(f"    {line}", fg=colour)
        if len(shown) > DIFF_LINES:
            click.echo(f"    and {len(shown) - DIFF_LINES} more lines")
        for line in self._git("log", "-1", f"--format={COMMIT}").splitlines():
            click.secho(f"    {line}", dim=True)

    def _hold(self, what: str, holds: bool) -> None:
        """Say that something is so, if it is.

        Raises:
            NotAsToldError: it is not.
        """
        if not holds:
            raise NotAsToldError(f"This is not as it should be: {what}. See the folder with --keep.")
        click.echo(f"  {click.style('ok', fg='green')} {what}")

    # -- looking

    def _wait(self, what: str, condition: Callable[[], bool]) -> None:
        ends = time.monotonic() + HAND_EDIT_WAIT
        while not condition():
            if time.monotonic() > ends:
                raise NotAsToldError(f"This has not come true within {HAND_EDIT_WAIT:g} s: {what}.")
            time.sleep(0.05)

    def _text(self, path: str) -> str:
        with open(os.path.join(self.root, *path.split("/")), encoding="utf-8") as file:
            return file.read()

    def _git(self, *arguments: str, fine: tuple[int, ...] = (0,)) -> str:
        return self.git.run("-c", "core.quotePath=false", *arguments, fine=fine).decode("utf-8", "replace")


def _changes(diff: str) -> Iterator[tuple[str, str | None]]:
    """Give the lines of a diff that a person reads, each with its colour."""
    for line in diff.splitlines():
        if line.startswith("+++ b/"):
            yield line.removeprefix("+++ b/").rstrip("\t"), None
        elif line.startswith("rename to "):
            yield f"the file is {line.removeprefix('rename to ')} now", None
        elif line.startswith("+") and not line.startswith("+++"):
            yield f"  + {line[1:]}", "green"
        elif line.startswith("-") and not line.startswith("---"):
            yield f"  - {line[1:]}", "red"


def _first_line(text: str) -> str:
    return text.partition("\n")[0]
