import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.notes.texts import TEXTS
from vault_mcp.notes.frontmatter import read
from vault_mcp.notes.keyed import new_keyed, read_value, replace_value
from vault_mcp.notes.links import find_links

HEAD = "---\nkey: user/theme\n---\n"


@pytest.mark.parametrize(
    ("value", "body"),
    [
        ("dark", "\ndark\n"),
        ("two\n\nlines **bold** #tag", "\ntwo\n\nlines **bold** #tag\n"),
        ("true", "\ntrue\n"),
        ("", ""),
        ('{"a": 1}', '\n```json\n{"a": 1}\n```\n'),
        ("{not json", "\n```\n{not json\n```\n"),
        ("[[1, 2], [3]]", "\n```json\n[[1, 2], [3]]\n```\n"),
        ('"text"', '\n```json\n"text"\n```\n'),
        ("see [[Note]]", "\n```\nsee [[Note]]\n```\n"),
        ("---\nkey: x\n---\n", "\n```\n---\nkey: x\n---\n\n```\n"),
        ("```\ncode\n```", "\n````\n```\ncode\n```\n````\n"),
        ("~~~\ncode", "\n```\n~~~\ncode\n```\n"),
        ("a [[x]] ````` b", "\n``````\na [[x]] ````` b\n``````\n"),
        (" edge", "\n```\n edge\n```\n"),
        ("\n", "\n```\n\n\n```\n"),
        ("a\r\nb", "\na&#13;\nb\n"),
        (" a\r\n", "\n```\n a&#13;\n\n```\n"),
        ("a &#13; b", "\na \\&#13; b\n"),
        ("[" * 100_000, f"\n```\n{'[' * 100_000}\n```\n"),
    ],
)
def test_a_value_is_plain_words_where_it_can_be_and_fenced_where_it_must(value: str, body: str) -> None:
    note = new_keyed("user/theme", value)

    assert note == HEAD + body
    assert read_value(note) == value
    assert find_links(note) == []


@settings(max_examples=500)
@given(st.text(min_size=1), TEXTS, TEXTS, st.booleans())
def test_any_key_and_value_come_back_exactly(key: str, value: str, new: str, crlf: bool) -> None:
    note = new_keyed(key, value)
    assert read(note) == ({"key": key}, None)
    if crlf:
        note = note.replace("\n", "\r\n")
    replaced = replace_value(note, new)

    assert read_value(note) == value
    assert read_value(replaced) == new
    assert replaced.replace("\r\n", "\n") == new_keyed(key, new).replace("\r\n", "\n")
    assert not crlf or "\n" not in replaced.replace("\r\n", "")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(JSON)
def test_json_comes_back_exactly(value: object) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=2)):
        assert read_value(new_keyed("k", text)) == text


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("dark\n", "dark"),
        ("\n\n  dark  \n\n\n", "dark"),
        ("", ""),
        ("\n```\n```\n", ""),
        ("\n~~~~ yaml title\n  a: 1\n~~~\n~~~~~\n", "  a: 1\n~~~"),
        ("\n```json\n{}\n ```  \n", "{}"),
        ("\n```\nx\n```\n\nand words\n", "```\nx\n```\n\nand words"),
        ("\n```\nx\n```\n```\ny\n```\n", "```\nx\n```\n```\ny\n```"),
        ("\n```\nnever closed\n", "```\nnever closed"),
        ("\n```a`b\nx\n```\n", "```a`b\nx\n```"),
        ("\n# Title\n\n- [[link]]\n", "# Title\n\n- [[link]]"),
    ],
)
def test_a_value_edited_by_hand_reads_as_meant(body: str, value: str) -> None:
    assert read_value(HEAD + body) == value
    assert read_value((HEAD + body).replace("\n", "\r\n")) == value
    assert read_value(replace_value(HEAD + body, "new")) == "new"


def test_what_a_person_added_to_the_front_matter_stays() -> None:
    note = "---\n# mine\nkey: user/theme\ntags: [a,   b]\n---\nold\n"

    assert replace_value(note, "new") == note.replace("old", "new")
    assert replace_value(note, "old") is note
    assert replace_value(note, "") == note.removesuffix("old\n")
    assert replace_value("---\nkey: k\n---", "v") == "---\nkey: k\n---\nv\n"


def test_a_value_of_a_megabyte_is_fast() -> None:
    value = json.dumps({"text": "é [[x]] ` \\ &#13; \r\n" * 60_000}, ensure_ascii=False) + "\r\n" * 10_000
    start = time.process_time()

    assert read_value(replace_value(new_keyed("k", ""), value)) == value
    assert time.process_time() - start < 5
