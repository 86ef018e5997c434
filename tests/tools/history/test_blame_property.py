"""Blame over random histories: lines as `git blame` has them, facts as their stamps and commits say."""

import re
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools.history.stories import Story
from tests.vaults import CLAUDE, git, make_vault, opened
from vault_mcp.notes.note import read_note
from vault_mcp.tools.history import blame


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
