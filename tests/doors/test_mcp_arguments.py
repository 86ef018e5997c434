import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.doors.dummy_server import ALL_SHAPES
from vault_mcp.doors.mcp_arguments import fit
from vault_mcp.errors import BadArgument
from vault_mcp.tools import schema as s

DEFAULTS = {"text": "", "choice": "a", "integer": 3, "boolean": False, "texts": [], "records": []}
LOOKS_LIKE_JSON = ['{"a":1}', "[1,2]", "null", "true", "12", '"quoted"', "{", "[]", "1e5", ""]


def taken(**arguments: object) -> dict[str, object]:
    return fit("echo", ALL_SHAPES, arguments)


def refused(**arguments: object) -> str:
    with pytest.raises(BadArgument) as caught:
        taken(**arguments)
    return str(caught.value)


def test_what_is_left_out_gets_its_default_and_optional_values_stay_out() -> None:
    assert taken() == DEFAULTS


def test_null_counts_as_left_out() -> None:
    assert taken(text=None, integer=None, number=None, texts=None) == DEFAULTS
    inputs = s.record({"name": s.text()})
    with pytest.raises(BadArgument, match=r"`name` \(text\) is missing"):
        fit("t", inputs, {"name": None})


def test_unknown_arguments_are_refused_by_name_with_the_right_ones() -> None:
    known = "`text`, `choice`, `integer`, `number`, `boolean`, `texts`, `records`, `table`, `anything`"
    assert refused(repo_path="/home/u/.ssh") == f"`repo_path` is no argument of echo. It takes {known}."
    assert refused(a=1, b=2).startswith("`a` and `b` are no arguments of echo.")


def test_a_tool_without_parameters_ignores_what_comes() -> None:
    assert fit("view", s.NOTHING, {"random_string": "x"}) == {}


def test_every_missing_argument_is_named_at_once() -> None:
    inputs = s.record({"names": s.array("", s.text()), "limit": s.integer(), "query": s.text(default="")})
    with pytest.raises(BadArgument) as caught:
        fit("t", inputs, {})
    assert str(caught.value) == "`names` (a list of text) and `limit` (a whole number) are missing."


@pytest.mark.parametrize("value", LOOKS_LIKE_JSON)
def test_text_stays_text_however_much_it_looks_like_json(value: str) -> None:
    assert taken(text=value)["text"] == value
    assert taken(texts=[value])["texts"] == [value]
    assert taken(records=[{"name": value, "tags": [value]}])["records"] == [{"name": value, "tags": [value]}]


@pytest.mark.parametrize(
    ("value", "shown"), [(3, "3"), (True, "true"), (["a"], 'the list ["a"]'), ({}, "the object {}")]
)
def test_what_is_no_text_is_no_text(value: object, shown: str) -> None:
    assert refused(text=value) == f"`text` must be text, not {shown}."


@pytest.mark.parametrize("value", [7, "7", " 7 ", "+7", 7.0, "007"])
def test_a_whole_number_is_taken_however_it_is_spelled(value: object) -> None:
    number = taken(integer=value)["integer"]
    assert number == 7
    assert type(number) is int


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (True, "true"),
        (1.5, "1.5"),
        ("abc", 'the text "abc"'),
        ("1.5", 'the text "1.5"'),
        ("", 'the text ""'),
        ("٣", 'the text "٣"'),
    ],
)
def test_what_is_no_whole_number_is_refused(value: object, shown: str) -> None:
    assert refused(integer=value) == f"`integer` must be a whole number, not {shown}."


def test_bounds_are_named() -> None:
    assert refused(integer=11) == "`integer` must be from 0 to 10, not 11."
    assert refused(integer="-1") == "`integer` must be from 0 to 10, not -1."
    with pytest.raises(BadArgument, match="`n` must be at least 1, not 0"):
        fit("t", s.record({"n": s.integer(minimum=1)}), {"n": 0})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "nan", "-Infinity", True, "much"])
def test_a_number_is_finite_or_none(value: object) -> None:
    assert refused(number=value).startswith("`number` must be a number, not ")
    assert taken(number="1.5")["number"] == 1.5


def test_true_and_false_may_come_as_words_but_not_as_numbers() -> None:
    assert taken(boolean="True")["boolean"] is True
    assert taken(boolean="false")["boolean"] is False
    assert refused(boolean=1) == "`boolean` must be true or false, not 1."
    assert refused(boolean="yes") == '`boolean` must be true or false, not the text "yes".'


def test_a_choice_names_its_words() -> None:
    assert refused(choice="d") == '`choice` must be one of: a, b, c, not the text "d".'


def test_lists_and_objects_may_come_as_json_text() -> None:
    assert taken(texts='["A", "B"]')["texts"] == ["A", "B"]
    assert taken(records='[{"name": "A"}]')["records"] == [{"name": "A", "tags": []}]
    assert taken(records=['{"name": "A", "tags": "[\\"t\\"]"}'])["records"] == [{"name": "A", "tags": ["t"]}]
    assert taken(table='{"a": "3"}')["table"] == {"a": 3}


def test_a_bare_word_for_a_list_says_that_a_list_is_needed() -> None:
    assert refused(texts="A") == '`texts` must be a list of text, such as ["A"], not the text "A".'
    assert refused(texts='{"a": 1}') == '`texts` must be a list of text, not the object {"a": 1}.'
    assert refused(texts="[1") == '`texts` must be a list of text, such as ["[1"], not the text "[1".'


def test_what_is_wrong_inside_is_named_by_its_place() -> None:
    assert refused(records=[{"name": "a"}, {"tags": []}]) == "`records[1].name` (text) is missing."
    assert refused(records=[{"name": "a", "tags": ["x", 3]}]) == "`records[0].tags[1]` must be text, not 3."
    assert (
        refused(records=[{"name": "a", "tagz": []}])
        == "`records[0]` has no field `tagz`. It takes `name`, `tags`."
    )


def test_lengths_are_held() -> None:
    inputs = s.record(
        {
            "a": s.text(min_length=1, max_length=3, default="x"),
            "b": s.array("", s.text(), max_items=2, default=[]),
        }
    )
    cases: list[tuple[dict[str, object], str]] = [
        ({"a": ""}, "`a` must not be empty."),
        ({"a": "four"}, "`a` has 4 characters, more than the 3 it may have."),
        ({"b": ["1", "2", "3"]}, "`b` has 3 items, more than the 2 one call may have. Make several calls."),
    ]
    for arguments, words in cases:
        with pytest.raises(BadArgument) as caught:
            fit("t", inputs, arguments)
        assert str(caught.value) == words


def test_errors_stay_short_whatever_came() -> None:
    deep: object = "x"
    for _ in range(200):
        deep = [deep]
    for value in ("x" * 100_000, [["y" * 100_000]], {"k" * 5000: 1}, deep, "[" * 100_000):
        assert len(refused(integer=value)) < 200
        assert len(refused(texts=value)) < 250
    assert len(refused(**{"u" * 50_000: 1})) < 300


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(LOOKS_LIKE_JSON),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "tags", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*ALL_SHAPES.fields, "unknown"]), json_values, max_size=4))
def test_what_is_taken_is_what_the_schema_promises_and_text_is_never_changed(
    arguments: dict[str, Any],
) -> None:
    try:
        fitted = fit("echo", ALL_SHAPES, arguments)
    except BadArgument:
        return
    jsonschema.validate(fitted, s.json_schema(ALL_SHAPES, closed=True))
    json.dumps({name: value for name, value in fitted.items() if name != "anything"}, allow_nan=False)
    if arguments.get("text") is not None:
        assert fitted["text"] == arguments["text"]


@given(st.dictionaries(st.sampled_from(list(ALL_SHAPES.fields)), json_values, max_size=4))
def test_whatever_fits_the_schema_is_taken(arguments: dict[str, Any]) -> None:
    try:
        jsonschema.validate(arguments, s.json_schema(ALL_SHAPES, closed=True))
    except jsonschema.ValidationError:
        return
    if any(value in (float("inf"), float("-inf")) or value != value for value in arguments.values()):
        return  # no JSON number, though the library lets them pass
    fit("echo", ALL_SHAPES, arguments)
