"""Whatever happened to a vault, its index says what an index made anew says."""

import difflib
import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.upheaval import Upheaval, told
from tests.vaults import git, make_vault, opened

SEEDS = st.integers(0, 10**9)


def difference(mine: Any, theirs: Any) -> list[str]:
    one, other = (json.dumps(side, ensure_ascii=False, indent=1).splitlines() for side in (mine, theirs))
    return list(difflib.unified_diff(one, other, "followed", "anew", lineterm="", n=12))


def check(seed: int) -> None:
    random = Random(seed)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        root = make_vault(Path(folder) / "v", {"n.md": "zebra [[N1-0]]\n"})
        with opened(root) as vault:
            world = Upheaval(root, vault, random, patch)
            world.run(random.randrange(8, 30))
            followed = told(vault)
            vault.reindex()
            anew = told(vault)
            for what in {**followed, **anew}:
                mine, theirs = followed.get(what), anew.get(what)
                assert mine == theirs, "\n".join((*world.log, what, *difference(mine, theirs)))
        assert git(root, "fsck", "--strict", "--no-dangling", "--no-progress") == ""


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(SEEDS)
def test_an_index_that_followed_everything_is_the_one_made_anew(seed: int) -> None:
    check(seed)


@pytest.mark.long
@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(SEEDS)
def test_an_index_that_followed_a_great_many_things_is_the_one_made_anew(seed: int) -> None:
    check(seed)
