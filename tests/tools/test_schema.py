import json

import jsonschema
import pytest

from vault_mcp.tools import schema as s

INPUTS = s.record(
    {
        "names": s.array("Names.", s.text("A name.", min_length=1), min_items=1, max_items=50),
        "query": s.text("What to look for.", default=""),
        "mode": s.choice("How.", ["fresh", "adopt"]),
        "limit": s.integer("How many.", default=10, minimum=1, maximum=100),
        "weight": s.number("How strong.", minimum=0.0, optional=True),
        "deep": s.boolean("All of it.", default=False),
    }
)


def test_a_record_becomes_a_closed_object_that_requires_what_has_no_default() -> None:
    assert s.json_schema(INPUTS, closed=True) == {
        "type": "object",
        "properties": {
            "names": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "description": "A name."},
                "minItems": 1,
                "maxItems": 50,
                "description": "Names.",
            },
            "query": {"type": "string", "description": "What to look for."},
            "mode": {"type": "string", "enum": ["fresh", "adopt"], "description": "How."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 100,
                "description": "How many.",
                "default": 10,
            },
            "weight": {"type": "number", "minimum": 0.0, "description": "How strong."},
            "deep": {"type": "boolean", "description": "All of it.", "default": False},
        },
        "required": ["names", "mode"],
        "additionalProperties": False,
    }


def test_results_stay_open_and_may_hold_null_where_they_say_so() -> None:
    result = s.record({"commit": s.text(nullable=True), "counts": s.table(s.integer()), "raw": s.anything()})
    shown = s.json_schema(result, closed=False)
    assert shown == {
        "type": "object",
        "properties": {
            "commit": {"type": ["string", "null"]},
            "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
            "raw": {},
        },
    }
    jsonschema.validate({"commit": None, "counts": {"a": 1}, "raw": None, "more": 1}, shown)


def test_items_and_records_of_a_result_that_are_told_in_words_have_no_schema() -> None:
    rows = s.array("name and count.", s.record({}))
    assert s.json_schema(rows, closed=False) == {"type": "array", "description": "name and count."}
    assert s.json_schema(s.record({}), closed=False) == {"type": "object"}
    assert s.json_schema(rows, closed=True)["items"] == {"type": "object", "properties": {}}


def test_a_tool_that_takes_nothing_lets_anything_come() -> None:
    assert s.json_schema(s.NOTHING, closed=True) == {"type": "object", "properties": {}}


def test_no_word_is_used_that_clients_stumble_over() -> None:
    written = json.dumps(s.json_schema(INPUTS, closed=True))
    for word in ("$ref", "$defs", "anyOf", "oneOf", "allOf", '"title"'):
        assert word not in written


def test_every_schema_is_valid_itself() -> None:
    jsonschema.Draft202012Validator.check_schema(s.json_schema(INPUTS, closed=True))


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (s.text(), "text"),
        (s.choice("", ["a", "b"]), "one of: a, b"),
        (s.integer(), "a whole number"),
        (s.array("", s.text()), "a list of text"),
        (s.array("", s.integer()), "a list of whole numbers"),
        (s.array("", s.record({})), "a list of objects"),
        (s.boolean(), "true or false"),
        (s.record({}), "an object"),
    ],
)
def test_what_is_wanted_is_said_in_plain_words(schema: s.Schema, words: str) -> None:
    assert s.wanted(schema) == words
