"""Which file of a commit is which before it."""

import pytest

from vault_mcp.notes.note import Fact
from vault_mcp.storage.index.descent import FileChange, moved_files

A, B = "a" * 40, "b" * 40


def facts(*texts: str) -> tuple[Fact, ...]:
    return tuple(Fact("observation", text, None) for text in texts)


@pytest.mark.parametrize("other", ["one/A copy.md", "two/Zoe.md", "Ada 2.md"])
def test_of_a_file_and_its_copy_the_one_that_kept_the_name_was_moved(other: str) -> None:
    changes = [
        FileChange("one/Ada.md", A, None),
        FileChange(other, None, A),
        FileChange("two/Ada.md", None, A),
    ]
    for order in (changes, changes[::-1]):
        assert moved_files(order) == {"two/Ada.md": "one/Ada.md"}


def test_the_name_counts_too_where_the_bytes_differ() -> None:
    changes = [
        FileChange("one/Ada.md", A, None, facts("tea", "chess")),
        FileChange("a/copy.md", None, B, (), facts("tea", "chess")),
        FileChange("two/Ada.md", None, "c" * 40, (), facts("tea", "chess", "more")),
    ]
    assert moved_files(changes) == {"two/Ada.md": "one/Ada.md"}


def test_the_same_bytes_count_before_the_name() -> None:
    changes = [
        FileChange("one/Ada.md", A, None, facts("tea")),
        FileChange("x/Ada.md", None, B, (), facts("tea", "more")),
        FileChange("x/Bob.md", None, A, (), facts("tea")),
    ]
    assert moved_files(changes) == {"x/Bob.md": "one/Ada.md"}


def test_each_file_that_went_is_found_once() -> None:
    gone = [FileChange(f"one/{name}.md", A, None) for name in "xyz"]
    come = [FileChange(f"two/{name}.md", None, A) for name in "zyw"]
    assert moved_files([*gone, *come]) == {
        "two/z.md": "one/z.md",
        "two/y.md": "one/y.md",
        "two/w.md": "one/x.md",
    }
