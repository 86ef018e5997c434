import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from vault_mcp.tools.files.lines import (
    OCCURRENCES,
    insert,
    line_numbers,
    numbered,
    places,
    replace,
    split_lines,
)

texts = st.text(st.sampled_from("ab \t\r\n\u2028é"), max_size=20)
plain = st.text(st.sampled_from("ab\n"), max_size=12)


def once(text: str, old: str, new: str) -> str:
    (place,) = places(text, old)
    return replace(text, place, new).text


# -- lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\n\nb", ["a", "", "b"]),
        ("\ufeffa\n", ["a"]),
        ("\ufeff", []),
        ("a\r\nb\r", ["a", "b\r"]),
        ("a\u2028b\x0cc\x85d\re\n", ["a\u2028b\x0cc\x85d\re"]),
    ],
)
def test_lines_end_in_lf_or_crlf_and_nothing_else(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


def test_numbers_are_six_wide_with_a_tab_behind() -> None:
    assert numbered(["a", "", "c"], 9, 1000) == ("     9\ta\n    10\t\n    11\tc", 3)


def test_what_does_not_fit_is_left_out_line_by_line() -> None:
    assert numbered(["aaaa", "bbbb", "cccc"], 1, 24) == ("     1\taaaa\n     2\tbbbb", 2)


def test_a_first_line_that_is_too_long_is_cut_and_says_so() -> None:
    assert numbered(["x" * 1000, "b"], 7, 17) == (
        f"     7\t{'x' * 10}… (cut: line 7 has 1,000 characters)",
        1,
    )


# -- finding


@pytest.mark.parametrize(
    ("text", "sought", "found"),
    [
        ("aaa\n", "aa", [(0, 2), (1, 3)]),
        ("a.b (c) [d]", "(c) [d]", [(4, 11)]),
        ("one\r\ntwo", "one\ntwo", [(0, 8)]),
        ("one\ntwo", "one\r\ntwo", [(0, 7)]),
        ("one\r\ntwo\nthree", "two\n", [(5, 9)]),
        ("a\nb\r\na\r\nb", "a\nb", [(0, 3)]),
        ("x\r\ny", "\ny", [(1, 4)]),
        ("x\r\ny", "x\r", []),
        ("\r\n\r\n", "\n", [(0, 2), (2, 4)]),
        ("nothing", "some\nthing", []),
    ],
)
def test_a_text_is_found_to_the_letter_or_else_line_by_line(
    text: str, sought: str, found: list[tuple[int, int]]
) -> None:
    assert places(text, sought) == found


def test_repeats_are_counted_up_to_a_bound() -> None:
    assert len(places("a" * 1_000_000, "a")) == OCCURRENCES


@given(plain, st.text(st.sampled_from("ab\n"), min_size=1, max_size=4))
def test_every_overlapping_place_is_found(text: str, sought: str) -> None:
    pattern = re.compile(f"(?={re.escape(sought)})")
    assert [start for start, _ in places(text, sought)] == [m.start() for m in pattern.finditer(text)]


@given(plain, st.text(st.sampled_from("ab\n"), min_size=1, max_size=4))
def test_a_crlf_file_is_searched_as_if_it_had_lf(text: str, sought: str) -> None:
    crlf = text.replace("\n", "\r\n")
    found = [crlf[start:end] for start, end in places(crlf, sought)]
    assert found == [sought.replace("\n", "\r\n")] * len(places(text, sought))


def test_lines_of_places_are_named_once_each() -> None:
    text = "aa aa\nb\naa\n"
    assert line_numbers(text, places(text, "aa")) == [1, 3]


# -- replacing


@pytest.mark.parametrize(
    ("text", "old", "new", "result"),
    [
        ("one\r\ntwo\r\n", "one\ntwo", "ONE\nTWO", "ONE\r\nTWO\r\n"),
        ("one\r\ntwo\r\n", "one", "1\n1", "1\r\n1\r\ntwo\r\n"),
        ("one\ntwo\n", "one", "1\r\n1", "1\n1\ntwo\n"),
        ("one\r\ntwo", "two", "2\n2", "one\r\n2\r\n2"),
        ("one", "one", "1\n1\r\n1", "1\n1\r\n1"),
        ("a\nb\r\nc", "b", "x\ny", "a\nx\r\ny\r\nc"),
        ("one\ntwo", "two", "TWO", "one\nTWO"),
        ("one\ntwo\n", "two\n", "", "one\n"),
        ("x\r\ny", "\ny", "\nz", "x\r\nz"),
        ("x\ny", "y", "a\r\r\nb", "x\na\nb"),
        ("price: P (a)\n", "P", "$& \\1 \\g<0> %s {0}", "price: $& \\1 \\g<0> %s {0} (a)\n"),
    ],
)
def test_a_replacement_takes_the_line_ends_of_its_place(text: str, old: str, new: str, result: str) -> None:
    assert once(text, old, new) == result


@given(texts, st.text(st.sampled_from("ab \r\n"), min_size=1, max_size=3), texts)
def test_nothing_beside_the_place_changes(text: str, old: str, new: str) -> None:
    for place in places(text, old):
        edited = replace(text, place, new)
        assert edited.text.startswith(text[: place[0]])
        assert edited.text.endswith(text[place[1] :])
        assert 1 <= edited.first <= edited.last


@given(plain, st.text(st.sampled_from("ab\n"), min_size=1, max_size=3), plain)
def test_a_file_never_comes_to_have_mixed_line_ends(text: str, old: str, new: str) -> None:
    crlf = (text + "\n").replace("\n", "\r\n")
    for place in places(crlf, old):
        assert not re.search(r"(?<!\r)\n|\r(?!\n)", replace(crlf, place, new).text)


# -- inserting


@pytest.mark.parametrize(
    ("text", "line", "inserted", "result"),
    [
        ("one\ntwo\n", 0, "zero\n", "zero\none\ntwo\n"),
        ("one\ntwo\n", 1, "half", "one\nhalf\ntwo\n"),
        ("one\ntwo\n", 2, "end", "one\ntwo\nend\n"),
        ("one\ntwo", 2, "three", "one\ntwo\nthree"),
        ("one\ntwo", 2, "three\n", "one\ntwo\nthree\n"),
        ("one\r\ntwo\r\n", 1, "a\nb", "one\r\na\r\nb\r\ntwo\r\n"),
        ("one\r\ntwo", 2, "three", "one\r\ntwo\r\nthree"),
        ("one\ntwo\r\n", 1, "x\r\n", "one\nx\ntwo\r\n"),
        ("one\ntwo\r\nx", 2, "y", "one\ntwo\r\ny\r\nx"),
        ("", 0, "x\n", "x\n"),
        ("", 0, "x", "x"),
        ("", 0, "", ""),
        ("one", 0, "zero", "zero\none"),
        ("one", 0, "zero\r\n", "zero\r\none"),
        ("\ufeffone\n", 0, "zero", "\ufeffzero\none\n"),
        ("\ufeff", 0, "zero", "\ufeffzero"),
        ("one\n", 0, "", "\none\n"),
        ("a\n\n\nb\n", 2, "x", "a\n\nx\n\nb\n"),
    ],
)
def test_lines_go_behind_the_line_that_is_named(text: str, line: int, inserted: str, result: str) -> None:
    assert insert(text, line, inserted).text == result


@given(texts, st.integers(0, 20), texts)
@example("a", 1, "")
def test_an_insertion_keeps_every_line_and_adds_its_own(text: str, line: int, inserted: str) -> None:
    # A carriage return by itself becomes a line end when one that is put behind it makes it so.
    assume(not any("\r" in words.replace("\r\n", "") for words in (text, inserted)))
    before = split_lines(text)
    line = min(line, len(before))
    edited = insert(text, line, inserted)
    after = split_lines(edited.text)
    added = len(after) - len(before)
    assert after[:line] == before[:line]
    assert after[line + added :] == before[line:]
    assert edited.first == line + 1
    if inserted.strip("\r\n"):
        assert after[edited.first - 1 : edited.last] == split_lines(inserted)
