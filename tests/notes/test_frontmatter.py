import json

import frontmatter as library
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.notes.fronts import NO_YAML, YAML_PIECES, note, strict
from vault_mcp.notes.frontmatter import (
    ObsidianHandler,
    block,
    read,
    split,
)

# -- where front matter is


def test_the_offsets_cut_the_text_into_rule_yaml_and_body() -> None:
    text = "---\ntitle: A\n---  \n\nBODY"
    front = split(text)

    assert text[front.start : front.end] == front.yaml == "title: A\n"
    assert text[front.body_start :] == "\nBODY"
    assert front.present
    assert front.problem is None


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("---\n---\nBODY\n", {}),
        ("---\n# only a comment\n\n---\n", {}),
        ("---\ntitle: A\n---", {"title": "A"}),
        ("\ufeff---\ntitle: A\n---\nBODY\n", {"title": "A"}),
        ("---\r\ntitle: A\r\n---\r\nBODY\r\n", {"title": "A"}),
        ("---\ntitle: A\n---\npara\n\n---\n\nBODY\n\n---\nend\n", {"title": "A"}),
        ("---\ntext: |\n  ---\n  inside\n---\nBODY\n", {"text": "---\ninside\n"}),
        ("---\n{a: 1, b: [x]}\n---\n", {"a": 1, "b": ["x"]}),
        ("---\na: 1\n...\n---\n", {"a": 1}),
    ],
)
def test_front_matter_is_read(text: str, properties: dict[str, object]) -> None:
    assert read(text) == (properties, None)
    assert split(text).present


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Just text\n",
        "\n---\ntitle: A\n---\nBODY\n",
        " ---\ntitle: A\n---\nBODY\n",
        '{\n"title": "A"\n}\n\nBODY\n',
        "+++\ntitle = 'A'\n+++\n",
        "----\ntitle: A\n----\n",
        "---\n\nA rule, and a thought that ends nowhere.\n",
        "---",
    ],
)
def test_text_without_front_matter_is_all_body(text: str) -> None:
    front = split(text)

    assert (front.body_start, front.present, front.properties, front.problem) == (0, False, {}, None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\n\nJust a rule at the top, zebra\n\n---\nBODY\n", "front matter is not a mapping"),
        ("---\n- a\n- b\n---\nBODY\n", "front matter is not a mapping"),
        ("---\nWords, then\nkey: value\n---\nBODY\n", "front matter is not a mapping"),
        ("---\n`code`, then words\n---\nBODY\n", "front matter is not valid YAML"),
        ("---\ntitle: A\nBODY without end\n", "front matter is not closed"),
        ("<<<<<<< HEAD\n---\ntitle: A\n---\n", "conflict markers"),
    ],
)
def test_what_is_no_mapping_stays_in_the_body_with_a_problem(text: str, problem: str) -> None:
    front = split(text)

    assert (front.problem or "").startswith(problem)
    assert (front.body_start, front.present, front.properties) == (0, False, {})


@pytest.mark.parametrize(
    ("front", "problem"),
    [
        ("<<<<<<< HEAD\ntitle: A\n=======\ntitle: B\n>>>>>>> f\n", "conflict markers"),
        ("a: b: c\n", f"{NO_YAML}: mapping values are not allowed in this context in line 2"),
        ("title: A\nat: @home\n", f"{NO_YAML}: found character that cannot start any token in line 3"),
        ("a: 1\n--- b\n", "front matter is more than one YAML document"),
        ("a: &a [*a]\n", "front matter holds the alias a inside itself"),
        ("a: *nobody\n", "front matter has no anchor for the alias nobody"),
        ("a: \x00\n", f"{NO_YAML}: it holds a control character"),
        ("a: \ud800\n", "front matter is not valid Unicode"),
    ],
)
def test_broken_properties_are_a_problem_and_the_body_is_still_the_body(front: str, problem: str) -> None:
    text = note(front)
    found = split(text)

    assert (found.problem, found.properties, found.present) == (problem, {}, True)
    assert text[found.body_start :] == "BODY\n"


@pytest.mark.parametrize(
    ("front", "properties", "key"),
    [
        ("tags: [a]\ntags: [b]\n", {"tags": ["b"]}, "tags"),
        ("a: {x: 1, x: 2}\n", {"a": {"x": 2}}, "x"),
        ("1: a\n'1': b\n", {"1": "b"}, "1"),
    ],
)
def test_a_duplicate_key_is_named(front: str, properties: dict[str, object], key: str) -> None:
    assert read(note(front)) == (properties, f"duplicate key {key}")


# -- what values mean


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("NO", "NO"),
        ("on", "on"),
        ("y", "y"),
        ("false", False),
        ("True", True),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-12", -12),
        ("12345678901234567890123", 12345678901234567890123),
        ("3.5", 3.5),
        ("1.10", "1.10"),
        ("0123456789", "0123456789"),
        ("007", "007"),
        ("1_000", "1_000"),
        ("0x1F", "0x1F"),
        ("1e3", "1e3"),
        ("09:30", "09:30"),
        (".nan", ".nan"),
        ("-.inf", "-.inf"),
        ("9" * 5000, "9" * 5000),
        ("2026-05-01", "2026-05-01"),
        ("2024-02-30", "2024-02-30"),
        ("0000-00-00T99:99:99Z", "0000-00-00T99:99:99Z"),
        ("!secret api", "api"),
        ("!!python/object/apply:os.system [true]", [True]),
        ("!!str 12", "12"),
        ("!!int 12", 12),
        ("!!binary aGk=", "aGk="),
        ("😀 hi", "😀 hi"),
        ("[[Home]]", [["Home"]]),
        ("{{date}}", {"{date}": None}),
        ("[a, #b\n]", ["a"]),
        ('"1.0"', "1.0"),
        ("'x'", "x"),
        ("<<", "<<"),
        ("=", "="),
    ],
)
def test_values_are_read_as_obsidian_reads_them(written: str, value: object) -> None:
    properties, problem = read(note(f"k: {written}\n"))

    assert problem is None
    assert strict(properties) == strict({"k": value})


def test_keys_become_text_as_they_are_written() -> None:
    keys = ["2024", "true", "2024-01-01", "~", "0x1F", "[a, b]", "<<"]

    assert read(note("".join(f"{key}: v\n" for key in keys))) == (dict.fromkeys(keys, "v"), None)


def test_block_scalars_keep_their_lines() -> None:
    properties, _ = read(note("desc: |+\n  one\n  two\n\nfold: >-\n  a\n  b\n"))

    assert properties == {"desc": "one\ntwo\n\n", "fold": "a b"}


def test_the_library_reads_a_note_through_the_same_handler() -> None:
    post = library.loads("---\ncountry: NO\n---\nBODY", handler=ObsidianHandler())

    assert (post.metadata, post.content) == ({"country": "NO"}, "BODY")
    assert not ObsidianHandler().detect("\n---\na: 1\n---\n")
    assert library.loads("no front matter", handler=ObsidianHandler()).content == "no front matter"


@settings(max_examples=400, deadline=None)
@given(st.one_of(YAML_PIECES, st.text(max_size=60)), st.sampled_from(["", "BODY\n", "---\n"]))
def test_no_text_makes_reading_fail_or_leaves_json(front: str, body: str) -> None:
    text = f"---\n{front}\n---\n{body}"
    found = split(text)

    json.loads(strict(found.properties).encode("utf-8", "surrogatepass"))
    assert text[found.start : found.end] == found.yaml


# -- new front matter


def test_new_front_matter_is_in_obsidians_style() -> None:
    assert block(
        {
            "entity": "person",
            "name": "C#: an intro",
            "aliases": ["C#: an intro"],
            "tags": ["team/core", "2026"],
            "importance": 7,
            "session": "",
            "created": "2026-10-05T09:12:33Z",
            "known": True,
            "empty": None,
            "none": [],
        }
    ) == (
        '---\nentity: person\nname: "C#: an intro"\naliases:\n  - "C#: an intro"\ntags:\n  - team/core\n'
        '  - "2026"\nimportance: 7\nsession: ""\ncreated: 2026-10-05T09:12:33Z\nknown: true\nempty:\n'
        "none: []\n---\n"
    )


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=40), st.text(min_size=1, max_size=40))
def test_any_text_comes_back_from_front_matter_for_every_reader(text: str, key: str) -> None:
    wanted = {key: text, f"{key}s": [text, "x"]}
    written = block(wanted)

    assert read(written) == (wanted, None)
    assert yaml.safe_load(written[4:-4]) == wanted
