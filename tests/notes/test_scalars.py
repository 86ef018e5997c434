import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_mcp.notes.scalars import plain_value, quoted, written_scalar, written_text

# What FM-37 of our own list of reported bugs names: a server wrote these and another program read something
# else.
NOT_WHAT_THEY_SEEM = [
    *(
        "no",
        "on",
        "y",
        "1e3",
        "2024-01-01",
        "null",
        "~",
        "0123",
        "1.10",
        "[[x]]",
        "# hash",
        "- dash",
        "a: b",
        "@x",
    ),
    *(
        "`x`",
        "%x",
        "!x",
        "&x",
        "*x",
        ">",
        "|",
        '"q"',
        "'q'",
        "{x}",
        "x:",
        "",
        " x",
        "x ",
        "<<",
        "=",
        "12:30",
        "0x1F",
    ),
    *(
        "0o17",
        "0b1",
        "1_000",
        ".5",
        "5.",
        ".inf",
        "-.NaN",
        "+12",
        "2026-10-05T09:12:33Z",
        "2026-1-5 9:12:33.5 +2",
    ),
    *(
        "a\tb",
        "a\nb",
        "a\r",
        "\x85",
        "\u2028",
        "\ufeff",
        "\x7f",
        "\ufffe",
        "-",
        "?",
        "? x",
        ", x",
        "true",
        "Off",
    ),
]
NUMBERLIKE = st.text(alphabet="0123456789-+.:_eExXoObB TZzn", max_size=10)


def readings(written: str) -> set[object]:
    """What YAML 1.1 and the 1.2 core schema make of it as a property and in lists of both styles."""
    text = f"k: {written}\nl:\n  - {written}\n"
    read = yaml.safe_load(text)
    scalar = next(
        e for e in yaml.parse(f"- {written}\n", Loader=yaml.BaseLoader) if isinstance(e, yaml.ScalarEvent)
    )
    plain = plain_value(scalar.value) if scalar.implicit[0] else scalar.value
    return {read["k"], read["l"][0], plain}


@pytest.mark.parametrize("text", NOT_WHAT_THEY_SEEM)
def test_what_a_reader_would_take_for_something_else_is_quoted(text: str) -> None:
    assert written_text(text)[0] in "'\""
    assert readings(written_text(text)) == {text}


@settings(max_examples=500)
@given(st.one_of(st.text(max_size=12), NUMBERLIKE))
def test_every_text_reads_back_as_itself_in_both_versions_of_yaml(text: str) -> None:
    assert readings(written_text(text)) == {text}
    assert yaml.safe_load(f"[{written_text(text, flow=True)}]") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Ada Lovelace",
        "team/core",
        "v1.2.3",
        "a, b [c]",
        "C++",
        "#",
        "http://x.org/a?b#c",
        "it's",
        "日本語",
        "😀",
        "a-b:c",
    ],
)
def test_quotes_are_used_where_needed_only(text: str) -> None:
    needs = text.startswith("#")

    assert (written_text(text) == text) is not needs


def test_in_brackets_more_needs_quotes() -> None:
    assert written_text("a, b", flow=True) == '"a, b"'
    assert written_text("?x", flow=True) == '"?x"'
    assert written_text("?x") == "?x"


def test_quotes_are_the_ones_obsidian_would_choose() -> None:
    assert quoted("a") == '"a"'
    assert quoted('say "hi"') == "'say \"hi\"'"
    assert quoted('it\'s "x"') == '"it\'s \\"x\\""'
    assert quoted("it's", "'") == "'it''s'"
    assert quoted('a\n"', "'") == '"a\\n\\""'


def test_half_a_surrogate_pair_is_written_as_the_replacement_character() -> None:
    assert written_text("a\ud800") == '"a\ufffd"'


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, ""),
        (True, "true"),
        (12345678901234567890, "12345678901234567890"),
        (0.1, "0.1"),
        (1e22, "1e+22"),
        (float("inf"), '"inf"'),
        ([], "[]"),
        (["a", None, ["b: c"]], '[a, null, ["b: c"]]'),
        ({"a": {"b": [1]}}, '{"a": {"b": [1]}}'),
    ],
)
def test_values_are_written_on_one_line(value: object, written: str) -> None:
    assert written_scalar(value) == written
    json.dumps(plain_value(written))


def test_a_value_that_no_property_holds_is_an_error_of_the_program() -> None:
    with pytest.raises(TypeError, match="no property can hold a object"):
        written_scalar(object())


@given(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_are_read_back_as_the_same_numbers(number: float) -> None:
    read = plain_value(written_scalar(number))

    assert (type(read), repr(read)) == (type(number), repr(number))


def test_only_a_time_of_our_own_is_written_without_quotes() -> None:
    at = "2026-10-05T09:12:33Z"

    assert written_scalar(at, key="created") == at
    assert written_scalar(at, key="entity") == f'"{at}"'
    assert written_scalar("2026-10-05", key="created") == '"2026-10-05"'
