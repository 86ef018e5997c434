"""A commit that was cut off goes into history below what a person has since made of its files."""

from functools import partial
from pathlib import Path

import pytest

from tests.storage.git.killing import copies, dies_at
from tests.storage.git.vaults import Vault
from vault_mcp.storage.git.repository import Repository

Changes = dict[str, bytes | str | None]


@pytest.mark.parametrize(
    "changes", [{"a.md": "A\n"}, {"new/c.md": "c\n"}, {"a.md": "A\n", "new/c.md": "c\n"}], ids=str
)
def test_what_a_person_adds_to_an_agents_words_after_the_crash_is_all_that_is_theirs(
    vault: Vault, memory: Path, changes: Changes
) -> None:
    edited = 0
    for number, copy in enumerate(copies(vault, memory), 1):
        if not dies_at(number, partial(copy.commit, changes, "agent")):
            break
        there = copy.there()
        in_place = [path for path, text in changes.items() if there.get(path) == str(text).encode()]
        last = list(changes)[-1]
        mine = there[last].decode() + "person\n" if last in there else None
        if mine is not None:
            copy.save(last, mine)
        Repository.open(str(copy.root)).close()

        assert mine is None or copy.text(last) == mine, number
        told = copy.git("log", "--format=%an: %s").splitlines()[:-1]
        assert told == (["claude: agent"] if in_place else []), number
        if len(in_place) == len(changes):
            # All had been there: all of it is the agent's, and the rest is the person's to commit.
            assert {path: copy.git("show", f"HEAD:{path}") for path in changes} == changes, number
            edited += 1
        copy.assert_sound(clean=False)
    assert edited > 5
