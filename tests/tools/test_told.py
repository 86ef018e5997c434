import pytest

from vault_mcp.errors import BadArgument
from vault_mcp.receipt import Receipt, Replaced, Whose
from vault_mcp.tools.told import SHOWN, committed, counted, one_line, refuse_unstorable, replaced_words


def receipt(*replaced: Replaced, commit: str | None = "a" * 40) -> Receipt:
    return Receipt(commit, "2026-10-05T09:12:33Z", "cursor", "memory_insert", replaced=replaced)


def words(text: str, by: str = "Ann", kind: Whose = "person") -> Replaced:
    return Replaced(text, by, "2026-10-04T08:00:00Z", kind)


def test_a_commit_is_named_by_twelve_digits() -> None:
    assert committed(receipt()) == "Commit aaaaaaaaaaaa."


def test_numbers_of_things_read_as_people_say_them() -> None:
    assert [counted(n, "link") for n in (0, 1, 2)] == ["no links", "1 link", "2 links"]
    assert counted(2, "entity", "entities") == "2 entities"


def test_no_change_is_no_commit() -> None:
    assert committed(receipt(commit=None)) == "Nothing changed, so no commit was made."


def test_words_of_others_are_told_with_who_wrote_them_and_when() -> None:
    told = committed(receipt(words("tea"), words("mine", "cursor", "self"), words("milk", "codex", "agent")))
    assert told.splitlines() == [
        "Commit aaaaaaaaaaaa.",
        "It replaced “tea”, written by Ann (a person) at 2026-10-04T08:00:00Z.",
        "It replaced “milk”, written by codex at 2026-10-04T08:00:00Z.",
    ]


def test_of_many_only_some_are_told() -> None:
    told = committed(receipt(*(words(f"fact {n}") for n in range(9))))
    assert told.splitlines()[4:] == ["It replaced 6 more facts of others."]


def test_what_nobody_knows_is_not_made_up() -> None:
    assert replaced_words(Replaced("tea", "", "", "agent")) == "“tea”"


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\n\n  b\tc", "a b c"), ("", ""), ("x" * SHOWN, "x" * SHOWN), ("x" * 201, "x" * 199 + "…")],
)
def test_a_text_is_shown_in_one_short_line(text: str, line: str) -> None:
    assert one_line(text) == line


def test_a_long_text_is_not_read_to_its_end() -> None:
    assert one_line("a" + " " * 10_000_000 + "b") == "a…"


@pytest.mark.parametrize("text", ["a\0", "\ud800", "\udfff b"])
def test_what_no_file_can_hold_is_named(text: str) -> None:
    with pytest.raises(BadArgument, match="`value` holds"):
        refuse_unstorable(text, "value")
    refuse_unstorable("fine \r\n\x07", "value")
