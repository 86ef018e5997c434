"""Whatever happened: what is undone can be undone again, to the exact tree."""

import tempfile
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools.history.stories import Story
from tests.vaults import clean, git, make_vault, opened
from vault_mcp.tools.history import restoring
from vault_mcp.tools.tool import Caller

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
