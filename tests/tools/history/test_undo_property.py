"""Whatever happened: what is undone can be undone again, to the exact tree."""

import contextlib
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.clones import remote_and_clones
from tests.tools.history.stories import Story
from tests.vaults import clean, git, make_vault, opened
from vault_mcp.sync import sync
from vault_mcp.tools.history import restoring
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Options

OWNER = Caller("Ann Person", person=True)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**9))
def test_undo_and_the_undo_of_it_give_back_the_exact_tree(seed: int) -> None:
    random = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        root = make_vault(Path(folder) / "v")
        with opened(root) as vault:
            story = Story(root, vault, random)
            story.run(18)
            before = story.tree()
            newest: Any = restoring.history_undo(vault, OWNER, change=story.head())
            assert story.tree() == story.tree("HEAD~2")
            restoring.history_undo(vault, OWNER, change=newest["receipt"]["commit"])
            assert story.tree() == before
            changes = git(root, "log", "--format=%H").split()
            for change in random.sample(changes[:-1], min(5, len(changes) - 1)):
                before = story.tree()
                done: Any = restoring.history_undo(vault, OWNER, change=change, on_conflict="skip")
                if done["receipt"]["commit"] is None:
                    assert story.tree() == before
                    continue
                restoring.history_undo(vault, OWNER, change=done["receipt"]["commit"])
                assert story.tree() == before
        assert clean(root)


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**9))
def test_so_can_changes_that_came_with_a_merge(seed: int) -> None:
    chance = Random(seed)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        roots = remote_and_clones(Path(folder), files={"Plan.md": "# Plan\n\nOne.\n"})
        options = Options(embeddings="off")
        here, there = (
            Story(root, stack.enter_context(opened(root, options)), Random(chance.random()), count=1000 * at)
            for at, root in enumerate(roots)
        )
        for story in (here, there, here):
            story.run(6)
            sync(story.vault)
        with here.vault.remembering() as reader:
            sides = [row for row in reader.find_changes(200).rows if row.came_with]
        assert sides
        for row in chance.sample(sides, min(4, len(sides))):
            before = here.tree()
            done: Any = restoring.history_undo(here.vault, OWNER, change=row.sha, on_conflict="skip")
            if done["receipt"]["commit"] is None:
                assert (here.tree(), done["undone"]) == (before, [])
                continue
            restoring.history_undo(here.vault, OWNER, change=done["receipt"]["commit"])
            assert here.tree() == before
        assert clean(here.root)
