"""Blame over random histories: lines as `git blame` has them, facts as their stamps and commits say."""

import contextlib
import re
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.clones import remote_and_clones
from tests.tools.history.stories import STAYING, WORDS, Story
from tests.vaults import CLAUDE, git, make_vault, opened
from vault_mcp.notes.note import read_note
from vault_mcp.sync import sync
from vault_mcp.tools.history import blame
from vault_mcp.vault import Options

MADE_ONCE = re.compile(rf"(?:{'|'.join(WORDS)}) \d+")
"""What `Story.words` gives: no two of them are alike."""


def git_blame(root: Path, path: str) -> list[str]:
    told = git(root, "blame", "--porcelain", "--", path)
    return re.findall(r"^([0-9a-f]{40}) \d+ \d+", told, re.MULTILINE)


def commit_of(root: Path, digits: str) -> tuple[str, str]:
    author, at = git(root, "log", "-1", "--format=%an%x00%at", digits).strip().split("\0")
    return author, at


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**9))
def test_blame_agrees_with_git_and_with_the_stamps(seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = make_vault(Path(folder) / "v")
        with opened(root) as vault:
            story = Story(root, vault, Random(seed))
            story.run(25)
            for path in sorted(p for p in root.rglob("*.*") if ".git" not in p.parts and p.suffix != ".bin"):
                name = path.relative_to(root).as_posix()
                if name.startswith(".git"):
                    continue
                told: Any = blame.history_blame(vault, CLAUDE, name, limit=1000)
                lines = path.read_text("utf-8").split("\n")
                once = Counter(lines)
                with vault.remembering() as reader:
                    lineage = reader.lineage_at(name)
                    assert lineage is not None
                    moved = reader._one("SELECT count(*) FROM places WHERE lineage = ?", (lineage,))[0] > 1
                if not moved:
                    theirs = git_blame(root, name)
                    for row in told["lines"]:
                        if once[lines[row["line"] - 1]] == 1:
                            assert theirs[row["line"] - 1].startswith(row["change"]), (name, row)
                if path.suffix == ".md":
                    _agree_with_stamps(root, name, path.read_text("utf-8"), told["lines"])


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**9))
def test_a_line_that_one_change_brought_is_its_also_after_merges(seed: int) -> None:
    chance = Random(seed)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        roots = remote_and_clones(Path(folder), files={"Plan.md": "# Plan\n\nOne.\n"})
        options = Options(embeddings="off")
        stories = [
            Story(root, stack.enter_context(opened(root, options)), Random(chance.random()), count=1000 * at)
            for at, root in enumerate(roots)
        ]
        for _ in range(3):
            for story in stories:
                story.run(7, STAYING)
            for story in chance.sample(stories, 2):
                sync(story.vault)
        for story in stories:
            _agree_where_one_change_did(story)


def _agree_where_one_change_did(story: Story) -> None:
    """Hold lines that one change alone ever brought or took, in all of history, against that change."""
    touched = touching(story.root)
    for path in sorted(p for p in story.root.rglob("*.md") if ".git" not in p.parts):
        name = path.relative_to(story.root).as_posix()
        if " (conflict " in name:  # made by a merge, of the words of others
            continue
        told: Any = blame.history_blame(story.vault, CLAUDE, name, limit=1000)
        lines = path.read_text("utf-8").split("\n")
        for row in told["lines"]:
            text = lines[row["line"] - 1]
            if MADE_ONCE.search(text) and len(touched[text]) == 1:
                assert touched[text][0].startswith(row["change"]), (name, row, text)
        _agree_with_stamps(story.root, name, path.read_text("utf-8"), told["lines"])


def touching(root: Path) -> dict[str, list[str]]:
    """Give the changes that brought or took each line, anywhere; a merge is none."""
    found: dict[str, list[str]] = defaultdict(list)
    change = ""
    for line in git(root, "log", "--no-merges", "-p", "-U0", "--no-renames", "--format=%x01%H").split("\n"):
        if line.startswith("\x01"):
            change = line[1:]
        elif line.startswith(("+", "-")):
            found[line[1:]].append(change)
    return found


def _agree_with_stamps(root: Path, name: str, text: str, rows: list[dict[str, Any]]) -> None:
    stamps = {fact.line + 1: fact.stamp for fact in read_note(name, text).observations}
    for row in rows:
        stamp = stamps.get(row["line"]) if row["kind"] != "text" else None
        if stamp is None:
            continue
        assert (row["added_by"], row["added_at"]) == (stamp.agent, stamp.added_at)
        if row.get("edited_by") and not row["edited_by_hand"]:
            assert (row["edited_by"], row["edited_at"]) == (stamp.edited_by, stamp.edited_at)
            assert commit_of(root, row["edited_in"])[0] == stamp.edited_by
