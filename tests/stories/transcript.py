"""Stories: a call, its answer, the file, the commit, as a person would follow them. Read, run and compared.

A story is a text file. What stands at the left edge is for the reader; what is indented by two spaces is run:

      > tool {"argument": "value"}     a call, over stdio, by the client "claude-desktop"
      $ command                        a command of a shell in the vault, which may also set things up first
      anything else                    what the call or command above it answers

An answer that is an error begins with `! `; several blocks of text are separated by a line `--`. What differs
from run to run is shown as `<commit>`, `<time>`, `<day>`, `<cursor>`, `<size>`, `<score>`. A line `flags: …`
at the left edge gives flags of `serve`. `<memory 1>`, in calls and answers, is the number of the memory that
was met first.

    python -m tests.stories.transcript tests/stories/*.story     write the answers anew, to be looked at
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.doors.frames import Server
from tests.serving import greeted
from tests.vaults import make_vault

MASKS = (
    (re.compile(r"\b[Cc]ommit [0-9a-f]{12}\b"), "Commit <commit>"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "<commit>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "<time>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "<day>"),
    (re.compile(r"\b20\d\d/\d\d/"), "<year>/<month>/"),
    (re.compile(r'("(?:cognitive_)?score":)-?[0-9.e-]+'), r"\1<score>"),
    (re.compile(r"(cursor set to )\S+"), r"\1<cursor>"),
    (re.compile(r"^[0-9.]+[BKMG]\t(?=.*/$)|(?<=node_modules:\n)[0-9.]+[BKMG]\t", re.MULTILINE), "<size>\t"),
)
MEMORY = re.compile(r"\b20\d{14}\b")
AGENT = "claude-desktop"


@dataclass
class Block:
    """A line for the reader, or one call or command with its answer."""

    line: str
    answer: list[str] = field(default_factory=list)

    @property
    def runs(self) -> bool:
        """Whether there is something to run, and so an answer."""
        return self.line.startswith(("  > ", "  $ "))


def read(text: str) -> list[Block]:
    """Read a story."""
    blocks: list[Block] = []
    for line in text.splitlines():
        starts = line.startswith(("  > ", "  $ "))
        if not starts and blocks and blocks[-1].runs and (not line or line.startswith("  ")):
            blocks[-1].answer.append(line[2:])
        else:
            blocks.append(Block(line))
    for block in blocks:
        while block.answer and not block.answer[-1]:
            block.answer.pop()
    return blocks


def written(blocks: list[Block]) -> str:
    """Write a story as it is kept: a blank line behind every answer."""
    lines: list[str] = []
    for block in blocks:
        lines.append(block.line)
        if block.runs:
            lines += [f"  {line}".rstrip(" ") for line in block.answer] + [""]
    return "\n".join(lines).rstrip("\n") + "\n"


def told(blocks: list[Block], folder: Path) -> list[Block]:
    """Run a story in a new vault and give it with the answers that came."""
    return list(_Telling(folder).run(blocks))


class _Telling:
    def __init__(self, folder: Path) -> None:
        self.root = make_vault(folder / "vault")
        self.server: Server | None = None
        self.flags = ["--no-watch"]
        self.memories: list[str] = []

    def run(self, blocks: list[Block]) -> Iterator[Block]:
        try:
            for block in blocks:
                if block.line.startswith("flags: "):
                    self.flags += block.line.removeprefix("flags: ").split()
                if block.line.startswith("  $ "):
                    answer = self._numbered(self._shell(self._filled(block.line[4:])))
                elif block.line.startswith("  > "):
                    answer = self._numbered(self._call(self._filled(block.line[4:])))
                else:
                    answer = ""
                yield Block(block.line, _masked(answer).splitlines())
        finally:
            if self.server is not None:
                self.server.close_input()
                assert self.server.ended() == 0
                self.server.__exit__(None, None, None)

    def _filled(self, line: str) -> str:
        """Put the numbers of memories where a line names them."""
        return re.sub(r"<memory (\d+)>", lambda found: self.memories[int(found[1]) - 1], line)

    def _numbered(self, answer: str) -> str:
        """Name the memories of an answer by the order in which they were met."""

        def name(found: re.Match[str]) -> str:
            if found[0] not in self.memories:
                self.memories.append(found[0])
            return f"<memory {self.memories.index(found[0]) + 1}>"

        return MEMORY.sub(name, answer)

    def _shell(self, command: str) -> str:
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "GIT_PAGER": "cat"}
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.root, env=environment, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    def _call(self, words: str) -> str:
        tool, _, arguments = words.partition(" ")
        if self.server is None:
            self.server = greeted(self.root, *self.flags, agent=AGENT, GIT_CONFIG_GLOBAL="/dev/null")
        result = self.server.call(tool, **json.loads(arguments or "{}"))
        answer = "\n--\n".join(block["text"] for block in result["content"])
        return f"! {answer}" if result["isError"] else answer


def _masked(answer: str) -> str:
    for pattern, shown in MASKS:
        answer = pattern.sub(shown, answer)
    return answer


def main() -> None:
    """Write the answers of the named stories anew."""
    for name in sys.argv[1:]:
        path = Path(name)
        with tempfile.TemporaryDirectory() as folder:
            path.write_text(written(told(read(path.read_text("utf-8")), Path(folder))), "utf-8")


if __name__ == "__main__":
    main()
