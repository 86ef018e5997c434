import json
from difflib import ndiff

import frontmatter as library
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.notes.front_matter_files import BLOCKS, FILES, NESTED, PROJECT, WINDOWS
from vault_mcp.errors import NoteUnreadable
from vault_mcp.notes.frontmatter import (
    ObsidianHandler,
    add_to_list,
    block,
    read,
    remove_property,
    set_property,
    split,
)

NO_YAML = "front matter is not valid YAML"


def note(front: str, body: str = "BODY\n") -> str:
    return f"---\n{front}---\n{body}"


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that went and lines that came, byte by byte."""
    marks = list(ndiff(before.splitlines(keepends=True), after.splitlines(keepends=True)))
    return [m[2:] for m in marks if m[0] == "-"], [m[2:] for m in marks if m[0] == "+"]


def strict(properties: object) -> str:
    return json.dumps(properties, allow_nan=False, ensure_ascii=False)


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


PIECES = ["a", "b", "tags", "- ", "  ", "\n", "\n", "\n", ": ", ":", " ", "[", "]", "{", "}", ","]
PIECES += [
    "'",
    '"',
    "|",
    ">",
    "+",
    "# c",
    "&x",
    "*x",
    "!t ",
    "<<",
    "?",
    "---",
    "...",
    "1",
    "1.10",
    "no",
    "~",
    "\t",
    "\r\n",
    "é",
]
YAML_PIECES = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)


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


# -- changes

VALUES: list[object] = [
    "plain words",
    "needs: quotes",
    "no",
    "2026-10-05",
    "two\nlines",
    "",
    7,
    2.5,
    True,
    None,
    ["a", "b: c"],
    [],
]
CASES = [(name, key) for name, text in FILES.items() for key in split(text).properties]


def test_the_sample_files_are_read_without_problems() -> None:
    assert {name: split(text).problem for name, text in FILES.items()} == dict.fromkeys(FILES)
    assert len(CASES) * len(VALUES) > 880  # edits in the next test


@pytest.mark.parametrize(("name", "key"), CASES)
def test_setting_a_property_changes_its_own_lines_only(name: str, key: str) -> None:
    text = FILES[name]
    before = split(text)
    others = remove_property(text, key) if key != "defaults" else None  # others refer to it
    for value in VALUES:
        try:
            edited = set_property(text, key, value)
        except NoteUnreadable:
            assert key == "defaults"
            continue
        after = split(edited)
        assert strict(after.properties) == strict(before.properties | {key: value})
        assert edited[after.body_start :] == text[before.body_start :]
        assert edited.count("\n") - edited.count("\r\n") == (0 if name == "windows" else edited.count("\n"))
        assert others is None or remove_property(edited, key) == others
        assert set_property(edited, key, value) == edited


@pytest.mark.parametrize(("name", "key"), [case for case in CASES if case[1] != "defaults"])
def test_removing_a_property_takes_its_lines_and_nothing_else(name: str, key: str) -> None:
    text = FILES[name]
    removed = remove_property(text, key)
    gone, came = changed_lines(text, removed)

    assert came == []
    assert gone[0].lstrip('\ufeff"').startswith(key)
    assert not any(line.startswith("#") for line in gone)
    expected = {k: v for k, v in split(text).properties.items() if k != key}
    assert strict(split(removed).properties) == strict(expected)


@pytest.mark.parametrize("name", FILES)
def test_a_new_property_adds_lines_at_the_end(name: str) -> None:
    edited = set_property(FILES[name], "session", "s-1")
    gone, came = changed_lines(FILES[name], edited)

    assert (gone, [line.rstrip() for line in came]) == ([], ["session: s-1"])


@pytest.mark.parametrize("name", FILES)
def test_adding_a_tag_touches_no_line_that_says_something_else(name: str) -> None:
    text = FILES[name]
    edited = add_to_list(text, "tags", "new")
    gone, came = changed_lines(text, edited)

    assert "new" in read(edited)[0]["tags"]  # type: ignore[operator]  # a list
    assert all(line.startswith("tags:") for line in gone)
    assert len(came) <= 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tags: [a, b] # c\n", "tags: [a, b, new] # c\n"),
        ("tags: [a,\n  b,\n]\n", "tags: [a,\n  b, new,\n]\n"),
        ("tags:\n- a\n- b # c\n\nz: 1\n", "tags:\n- a\n- b # c\n- new\n\nz: 1\n"),
        ("tags:\n    - a\n# after\nz: 1\n", "tags:\n    - a\n    - new\n# after\nz: 1\n"),
        ("tags: a # why\nz: 1\n", "tags: # why\n  - a\n  - new\nz: 1\n"),
        ("tags:\nz: 1\n", "tags:\n  - new\nz: 1\n"),
        ("tags: # later\nz: 1\n", "tags: # later\n  - new\nz: 1\n"),
        ("tags: []\n", "tags:\n  - new\n"),
        ("  tags:\n    - a\n  z: 1\n", "  tags:\n    - a\n    - new\n  z: 1\n"),
        ("{z: 1}\n", '{z: 1, "tags": [new]}\n'),
        ("{}\n", '{"tags": [new]}\n'),
        ("z: 1\n", "z: 1\ntags:\n  - new\n"),
        ("# todo\n", "# todo\ntags:\n  - new\n"),
        ("", "tags:\n  - new\n"),
    ],
)
def test_adding_to_a_list_keeps_its_style(before: str, after: str) -> None:
    assert add_to_list(note(before), "tags", "new") == note(after)


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("k: a # why\n", "b", "k: b # why\n"),
        ("k: 'a'\n", "b", "k: 'b'\n"),
        ('k: "a"\n', "it's", 'k: "it\'s"\n'),
        ("k: 'a'\n", "x\ny", 'k: "x\\ny"\n'),
        ("k:   a\n", "b", "k:   b\n"),
        ("k:\n", "b", "k: b\n"),
        ("k: # why\n", "b", "k: b # why\n"),
        ("k: a # why\n", None, "k: # why\n"),
        ("k: |\n  one\n  two\n\nz: 1\n", "b", "k: b\n\nz: 1\n"),
        ("k: long\n  text\nz: 1\n", "b", "k: b\nz: 1\n"),
        ("k: [a, b]\n", "b", "k: b\n"),
        ("k:\n  - a\n  - b\nz: 1\n", "b", "k: b\nz: 1\n"),
        ("k: [a, 'b', c] # d\n", ["a", "c"], "k: [a, c] # d\n"),
        ("k: [a, 'b', c]\n", ["b", "x", "y, z"], "k: ['b', x, \"y, z\"]\n"),
        ("k:\n  - a\n  # about b\n  - 'b'\n  - c\n", ["b", "d"], "k:\n  # about b\n  - 'b'\n  - d\n"),
        ("k:\n  - a\n  - b\n", [], "k: []\n"),
        ("'k': a\n", ["b"], "'k':\n  - b\n"),
        ("k: {a: 1}\n", {"a": [1, "x"], "b": None}, 'k: {"a": [1, x], "b": null}\n'),
        ("{k: a, z: 1}\n", "b, c", '{k: "b, c", z: 1}\n'),
        ("? k\n: a\n", "b", "? k\n: b\n"),
        ("created: 2026-10-05T09:12:33Z\n", "2026-10-06T10:00:00Z", "created: 2026-10-06T10:00:00Z\n"),
        ("created: yesterday\n", "2026-10-06", 'created: "2026-10-06"\n'),
    ],
)
def test_setting_a_property_changes_no_more_than_needed(before: str, value: object, after: str) -> None:
    key = next(iter(read(note(before))[0]))

    assert set_property(note(before), key, value) == note(after)


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("BODY\n", "---\nk: v\n---\nBODY\n"),
        ("", "---\nk: v\n---\n"),
        ("\ufeffBODY\n", "\ufeff---\nk: v\n---\nBODY\n"),
        ("one\r\ntwo\n", "---\r\nk: v\r\n---\r\none\r\ntwo\n"),
        ("\n---\ntitle: A\n---\nBODY\n", "---\nk: v\n---\n\n---\ntitle: A\n---\nBODY\n"),
        ('{\n"title": "A"\n}\n', '---\nk: v\n---\n{\n"title": "A"\n}\n'),
        ("---\n\nA rule first.\n", "---\nk: v\n---\n---\n\nA rule first.\n"),
    ],
)
def test_a_note_without_front_matter_gets_one_above_its_text(text: str, edited: str) -> None:
    assert set_property(text, "k", "v") == edited


@pytest.mark.parametrize(
    "text",
    [
        note("tags: [a]\ntags: [b]\n"),
        note("- a\n- b\n"),
        note("\nJust a rule at the top, zebra\n\n"),
        note("<<<<<<< HEAD\ntitle: A\n=======\ntitle: B\n>>>>>>> f\n"),
        note("a: b: c\n"),
        "---\ntitle: A\nBODY without end\n",
    ],
)
def test_front_matter_with_a_problem_is_not_changed(text: str) -> None:
    with pytest.raises(NoteUnreadable, match=r"^The properties of this note cannot be changed: "):
        set_property(text, "k", "v")
    with pytest.raises(NoteUnreadable, match=r"Mend the top of the note first\.$"):
        add_to_list(text, "tags", "v")
    with pytest.raises(NoteUnreadable):
        remove_property(text, "title")


def test_a_change_that_another_property_depends_on_is_refused() -> None:
    words = r"^The property defaults cannot be changed without touching others"

    with pytest.raises(NoteUnreadable, match=words):
        remove_property(NESTED, "defaults")
    with pytest.raises(NoteUnreadable, match=words):
        set_property(NESTED, "defaults", 1)


def test_a_mapping_is_no_list_to_add_to() -> None:
    with pytest.raises(NoteUnreadable, match=r"^The property links is not a list"):
        add_to_list(PROJECT, "links", "x")


def test_a_change_that_changes_nothing_leaves_the_text() -> None:
    assert set_property(PROJECT, "version", "1.10") is PROJECT
    assert add_to_list(PROJECT, "tags", "project") is PROJECT
    assert remove_property(PROJECT, "nothing") is PROJECT
    assert set_property(BLOCKS, "steps", ("one\ntwo\n", "three")) is BLOCKS


def test_one_and_true_and_its_text_are_different_values() -> None:
    assert set_property(note("k: 1\n"), "k", True) == note("k: true\n")
    assert set_property(note("k: 1\n"), "k", "1") == note('k: "1"\n')
    assert add_to_list(note("k: [1]\n"), "k", "1") == note('k: [1, "1"]\n')


def test_line_ends_stay_what_they_were() -> None:
    edited = add_to_list(set_property(WINDOWS, "title", "T"), "tags", "three")

    assert edited.replace("\r\n", "").count("\n") == 0


@settings(max_examples=200, deadline=None)
@given(YAML_PIECES, st.sampled_from(["tags", "a", "new"]), st.sampled_from(VALUES))
def test_an_edit_of_any_front_matter_is_right_or_refused(front: str, key: str, value: object) -> None:
    text = note(f"{front}\n")
    before = split(text)
    try:
        edited = set_property(text, key, value)
    except NoteUnreadable:
        return
    after = split(edited)

    assert strict(after.properties) == strict(before.properties | {key: value})
    assert edited[after.body_start :] == text[before.body_start :]
