"""Lines matched as Git matches them."""

import subprocess
from itertools import pairwise
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault_mcp.notes.linediff import hunks, lines_of, matches

LINES = st.lists(st.sampled_from([f"{letter}\n" for letter in "abcdefghijkl"]), max_size=14)


def longest(old: list[str], new: list[str]) -> int:
    """Give the length of a longest common subsequence, by the book."""
    table = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, mine in enumerate(old):
        for j, theirs in enumerate(new):
            table[i + 1][j + 1] = table[i][j] + 1 if mine == theirs else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@given(LINES, LINES)
def test_a_matching_is_in_order_and_as_long_as_can_be(old: list[str], new: list[str]) -> None:
    pairs = matches(old, new)
    assert all(old[a] == new[b] for a, b in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    assert len(pairs) == longest(old, new)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    LINES.map(lambda lines: list(dict.fromkeys(lines))), LINES.map(lambda lines: list(dict.fromkeys(lines)))
)
def test_lines_that_occur_once_are_gone_and_new_where_git_says_so(
    tmp_path: Path, old: list[str], new: list[str]
) -> None:
    for name, lines in (("old", old), ("new", new)):
        (tmp_path / name).write_text("".join(lines))
    command = ["git", "diff", "--no-index", "--no-color", "-U0", "old", "new"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    body = told.partition("@@")[2].splitlines()
    pairs = matches(old, new)
    stay = {a for a, _ in pairs}
    assert [line[1:] + "\n" for line in body if line.startswith("-")] == [
        line for at, line in enumerate(old) if at not in stay
    ]


@given(LINES, LINES)
def test_hunks_and_matches_are_the_whole_of_both(old: list[str], new: list[str]) -> None:
    pairs = matches(old, new)
    found = list(hunks(old, new, pairs))
    assert sum(b - a for a, b, _, _ in found) + len(pairs) == len(old)
    assert sum(d - c for _, _, c, d in found) + len(pairs) == len(new)


@given(st.text("ab\n\r"))
def test_lines_lose_nothing(text: str) -> None:
    assert "".join(lines_of(text)) == text
    assert all(line.endswith("\n") for line in lines_of(text)[:-1])


def test_long_texts_with_nothing_in_order_still_end() -> None:
    old = [f"{number}\n" for number in range(4_000)]
    pairs = matches(old, old[::-1])
    assert len(pairs) >= 1
    assert all(old[a] == old[::-1][b] for a, b in pairs)
