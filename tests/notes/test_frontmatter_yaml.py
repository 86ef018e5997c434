import pytest
import yaml

from tests.notes.front_matter_files import FILES
from vault_mcp.notes import frontmatter_yaml
from vault_mcp.notes.frontmatter import split
from vault_mcp.notes.frontmatter_yaml import DEPTH, EXPANSION, UnreadableError, read_document

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
