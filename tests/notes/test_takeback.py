"""One change taken back from a text that has moved on."""

import pytest

from vault_mcp.notes.takeback import take_back, take_back_all

A = "- a %%+2026-01-01T00:00:00Z x%%\n"
A2 = "- a2 %%+2026-01-01T00:00:00Z x ~2026-02-01T00:00:00Z y%%\n"
A3 = "- a3 %%+2026-01-01T00:00:00Z x ~2026-03-01T00:00:00Z z%%\n"
B = "- b %%+2026-01-02T00:00:00Z x%%\n"
C = "- c %%+2026-01-03T00:00:00Z x%%\n"
HEAD = "---\nentity: t\n---\n\n## Observations\n\n"


@pytest.mark.parametrize(
    ("before", "after", "now", "result", "in_the_way"),
    [
        (A, A + B, A + B + C, A + C, []),
        (A + B, A, A + C, A + B + C, []),
        (A, A2, A2 + C, A + C, []),
        (A, A2, A3 + C, A3 + C, [("a3", "was edited later")]),
        (A, A2, C, C, [("a2", "was edited later")]),
        (A, A + B, A + C, A + C, []),
        (A + B, A, A + B + C, A + B + C, []),
        ("one\n", "two\n", "two\nthree\n", "one\nthree\n", []),
        ("one\n", "two\n", "TWO\n", "TWO\n", [("two", "was edited later")]),
        ("- x\n", "- y\n", "- y\n- z\n", "- x\n- z\n", []),
        ("a\n", "a\nb", "a\nb", "a\n", []),
    ],
)
def test_pieces(before: str, after: str, now: str, result: str, in_the_way: list[tuple[str, str]]) -> None:
    taken = take_back(HEAD + before, HEAD + after, HEAD + now)
    assert taken.text == HEAD + result
    assert [(one.text, one.why) for one in taken.obstacles] == in_the_way


def test_a_heading_stays_for_what_came_under_it_later() -> None:
    section = "\n## Relations\n\n- knows [[B]] %%+2026-01-02T00:00:00Z x%%\n"
    later = "- likes [[C]] %%+2026-01-03T00:00:00Z y%%\n"
    taken = take_back(HEAD + A, HEAD + A + section, HEAD + A + section + later)
    assert taken.text == HEAD + A + "\n## Relations\n\n" + later
    assert take_back(HEAD + A, HEAD + A + section, HEAD + A + section).text == HEAD + A


def test_a_file_is_gone_unless_something_came_to_it() -> None:
    assert take_back_all(HEAD + A + B, HEAD + B).empty
    left = take_back_all(HEAD + A, HEAD + A + C)
    assert not left.empty
    assert left.text == HEAD + C
    assert [(one.text, one.why) for one in left.obstacles] == [("c", "was added later")]
