import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.notes.front_matter_files import FILES
from vault_mcp.notes import frontmatter_yaml
from vault_mcp.notes.frontmatter import split
from vault_mcp.notes.frontmatter_yaml import (
    DEPTH,
    EXPANSION,
    UnreadableError,
    plain_properties,
    read_document,
)

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "a: &a " + "x" * 100_000 + "\nb: [" + "*a, " * 100 + "]\n",
        "a: &a [b, &b [*a]]\n",
        "a: &a {b: *a}\n",
        "a: " + "[" * 100_000 + "\n",
        "a: " + "[" * (DEPTH + 1) + "]" * (DEPTH + 1) + "\n",
        "a:\n  " + "- " * 10_000 + "x\n",
        "a:\n  " + "? " * 10_000 + "x\n",
        "? " * 10_000 + "x\n",
    ],
)
def test_what_grows_without_end_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_document(text)


def test_ordinary_aliases_are_followed() -> None:
    read = read_document("base: &base {a: 1}\nother: *base\nname: &n Ada\n*n : key\n")

    assert read.properties() == {"base": {"a": 1}, "other": {"a": 1}, "name": "Ada", "Ada": "key"}
    assert len(read_document("a: &a x\nb: [" + "*a, " * (EXPANSION - 1) + "]\n").properties()) == 2


def test_each_property_is_found_where_it_stands() -> None:
    text = "plain: a # c\n'q': \"b\"\nlist: [x, 'y']\nblock:\n- x\n-\n# c\nnone:\nlines: |\n  t\n\n"
    text += "map:\n  k: v # c\n\n"
    entries = {entry.key: entry for entry in read_document(text).entries}

    spans = {
        key: (text[entry.key_start : entry.key_end], text[entry.start : entry.end], entry.style)
        for key, entry in entries.items()
    }
    assert spans == {
        "plain": ("plain", "a", ""),
        "q": ("'q'", '"b"', '"'),
        "list": ("list", "[x, 'y']", "["),
        "block": ("block", "- x\n-", "-"),
        "none": ("none", "", ""),
        "lines": ("lines", "|\n  t\n\n", "|"),
        "map": ("map", "k: v", ":"),
    }
    assert [text[a:b] for a, b in entries["list"].items] == ["x", "'y'"]


@pytest.mark.parametrize("name", FILES)
def test_python_without_libyaml_reads_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = split(FILES[name]).yaml
    fast = read_document(text)
    monkeypatch.setattr(frontmatter_yaml, "EventReader", yaml.BaseLoader)

    assert read_document(text) == fast


@pytest.mark.parametrize("text", ['a: "\\ud800"\n', "a: \ud800\n", "a: \x01\n"])
def test_what_is_no_unicode_text_is_refused_with_and_without_libyaml(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnreadableError):
        read_document(text)
    monkeypatch.setattr(frontmatter_yaml, "EventReader", yaml.BaseLoader)
    with pytest.raises(UnreadableError):
        read_document(text)


# What a line of plain front matter is made of, and what turns it into something else.
PIECES = st.sampled_from(
    [
        *(
            "a",
            "B",
            "key",
            "name",
            "7",
            "1.0",
            "007",
            "1e3",
            "true",
            "No",
            "null",
            "é",
            "漢",
            "_",
            "/",
            "(",
            ".",
        ),
        *(
            "2026-10-05T09:12:33Z",
            "12:30",
            ":",
            ": ",
            " :",
            " #",
            "#",
            " ",
            "  ",
            "- ",
            "---",
            "...",
            "-",
            "?",
        ),
        *(", ", ",", "[", "]", "{", "}", "&a ", "*a", "|", ">", "%", "@", "`", "!", '"', "'", "\\", "~", "="),
        *("\n", "\nk: ", "\n  - ", "\n- ", "\n    ", "\t", "\r", "\x85", "\u2028", "\ufeff", "\xad", "\xa0"),
    ]
)


@settings(max_examples=1000, deadline=None)
@given(st.lists(PIECES, max_size=12), st.sampled_from(["k: ", "k:\n  - ", "k: [", ""]))
@example(["a: x\n", "a: y"], "")
@example(["x", "\n  - ", "y"], "k: ")
@example(["a", ", ", "7", "]"], "k: [")
def test_plain_properties_are_those_that_yaml_has(pieces: list[str], start: str) -> None:
    text = f"{start}{''.join(pieces)}\n"
    plain = plain_properties(text)
    if plain is not None:
        document = read_document(text)
        assert (repr(plain), None) == (repr(document.properties()), document.problem)


def test_what_tools_write_needs_no_yaml() -> None:
    text = "entity: person\naliases:\n  - Ada\ntags: [a, b/c]\nid: 7\ncreated: 2026-10-05T09:12:33Z\nempty:\n"
    assert plain_properties(text) == {
        "entity": "person",
        "aliases": ["Ada"],
        "tags": ["a", "b/c"],
        "id": 7,
        "created": "2026-10-05T09:12:33Z",
        "empty": None,
    }
    assert plain_properties("a: 'quoted'\n") is plain_properties("a: b: c\n") is plain_properties("a") is None
