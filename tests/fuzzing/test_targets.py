"""A few hundred texts for each reader in every run, and those that once broke one."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzzing.targets import Target, everything, words_from

TEXTS = st.binary(max_size=40).map(words_from) | st.text(max_size=60)

FOUND: tuple[tuple[str, str], ...] = ()
"""Texts that broke a reader once, each with the name of the target."""


@pytest.fixture(scope="module")
def targets() -> Iterator[dict[str, Target]]:
    with everything() as found:
        yield found


@pytest.mark.parametrize("name", ["note", "properties", "line", "edits", "exact", "merging"])
@given(text=TEXTS)
def test_a_reader_of_notes_holds_for_any_text(targets: dict[str, Target], name: str, text: str) -> None:
    targets[name](text)


@pytest.mark.parametrize("name", ["query", "arguments", "lines"])
@settings(max_examples=15)
@given(text=TEXTS)
def test_the_door_holds_for_any_text(targets: dict[str, Target], name: str, text: str) -> None:
    targets[name](text)


def test_what_broke_a_reader_once_does_no_more(targets: dict[str, Target]) -> None:
    for name, text in FOUND:
        targets[name](text)
