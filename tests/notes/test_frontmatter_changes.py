"""Front matter that is changed: its own lines alone, or not at all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.notes.front_matter_files import BLOCKS, FILES, NESTED, PROJECT, WINDOWS
from tests.notes.fronts import YAML_PIECES, changed_lines, note, strict
from vault_mcp.errors import NoteUnreadable
from vault_mcp.notes.frontmatter import (
    add_to_list,
    read,
    remove_property,
    set_property,
    split,
)

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
