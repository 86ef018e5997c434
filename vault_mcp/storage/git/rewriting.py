"""All of a history written anew without some words or files: a process of its own.

It reads a plan (JSON) from standard input, so that what is to be erased stands in no list of processes and in
no file, and lets git-filter-repo read one repository and write another, bare one. No commit is left out: one
that loses all it did stays, empty.
"""

import base64
import json
import re
import sys
from typing import Any, BinaryIO

import git_filter_repo

BINARY = 8192
"""Bytes in which a NUL makes a file a binary one, which is left as it is; Git looks as far."""

_TRAILER = re.compile(rb"(Tool|Edited-By|Edited-At|Session): .*")
_SIGNATURE = re.compile(rb"^-----BEGIN [A-Z ]*(?:SIGNATURE|MESSAGE)-----$", re.MULTILINE)
_ELLIPSIS = "…".encode()
_SHORTEST = 4
"""Letters that a message cut short must have in common with the words, to have been cut out of them."""


class Rewriting:
    """What is to go, and what stands there then."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.words = [base64.b64decode(one) for one in plan["words"]]
        self.instead = base64.b64decode(plan["instead"])
        self.paths = {base64.b64decode(one) for one in plan["paths"]}

    def without(self, raw: bytes) -> bytes:
        """Give bytes without the words."""
        for word in self.words:
            raw = raw.replace(word, self.instead)
        return raw

    def blob(self, blob: Any, _: object) -> None:
        """Change one version of a file."""
        if b"\0" not in blob.data[:BINARY]:
            blob.data = self.without(blob.data)

    def commit(self, commit: Any, _: object) -> None:
        """Change one commit: its files, its message, and whoever made it."""
        kept = [change for change in commit.file_changes if change.filename not in self.paths]
        if len(kept) < len(commit.file_changes):
            commit.message = self._bare(commit.message)
            commit.file_changes = kept
        if any(change.filename is not None and self._named(change.filename) for change in kept):
            commit.file_changes = self._renamed(kept)
        commit.message = self.message(commit.message)
        for field in ("author_name", "author_email", "committer_name", "committer_email"):
            setattr(commit, field, self.without(getattr(commit, field)))

    def tag(self, tag: Any, _: object) -> None:
        """Change one tag; a signature that holds no longer goes, also one that Git's own export leaves."""
        tag.message = self.message(_SIGNATURE.split(tag.message, maxsplit=1)[0])
        tag.tagger_name = self.without(tag.tagger_name)

    def message(self, message: bytes) -> bytes:
        """Give a message without the words, also where they were cut short."""
        return b"\n".join(self._line(line) for line in self.without(message).split(b"\n"))

    def _line(self, line: bytes) -> bytes:
        ends = [at.start() for at in re.finditer(_ELLIPSIS, line)]
        for end in reversed(ends):
            begun = max((self._cut(line[:end], word) for word in self.words), default=0)
            if begun:
                line = line[: end - begun] + self.instead + line[end:]
        return line

    def _cut(self, head: bytes, word: bytes) -> int:
        """Give how many of a word's first bytes are the last of a text, which was cut there."""
        flat = b" ".join(word.split())
        lengths = range(min(len(flat) - 1, len(head)), _SHORTEST - 1, -1)
        return next((length for length in lengths if head.endswith(flat[:length])), 0)

    def _bare(self, message: bytes) -> bytes:
        """Give a message without what it says of files that are to go: the tool and the trailers stay."""
        subject, *rest = message.rstrip(b"\n").split(b"\n")
        tool = subject.partition(b":")[0] if b":" in subject else b""
        trailers = [line for line in rest if _TRAILER.fullmatch(line)]
        lines = [(tool + b": " if tool else b"") + self.instead, *([b"", *trailers] if trailers else [])]
        return b"\n".join(lines) + b"\n"

    def _named(self, path: bytes) -> bool:
        return any(word in path for word in self.words)

    def _renamed(self, changes: list[Any]) -> list[Any]:
        """Give a commit's changes under other names; a file that was only renamed so is no deletion."""
        for change in changes:
            if change.filename is not None:
                change.filename = self.without(change.filename)
        made = {change.filename for change in changes if change.type == b"M"}
        return [change for change in changes if change.type == b"M" or change.filename not in made]


def main(given: BinaryIO) -> None:
    """Read the plan and carry it out."""
    plan = json.loads(given.read())
    rewriting = Rewriting(plan)
    options = git_filter_repo.FilteringOptions.parse_args(
        [
            "--force", "--quiet", "--prune-empty", "never", "--prune-degenerate", "never",
            "--source", plan["source"], "--target", plan["target"],
        ],
        error_on_empty=False,
    )  # fmt: skip
    filtering = git_filter_repo.RepoFilter(
        options,
        blob_callback=rewriting.blob,
        commit_callback=rewriting.commit,
        tag_callback=rewriting.tag,
    )
    filtering.run()


if __name__ == "__main__":
    main(sys.stdin.buffer)
