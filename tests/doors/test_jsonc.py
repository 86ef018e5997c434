"""Settings files in JSON with comments: what must change changes, and every other character stays."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mcp.doors.jsonc import NotJsonError, drop, put, read

PATH = ["mcpServers", "vault"]
SERVER = {"command": "/bin/vault-mcp", "args": ["serve", "--vault", "/home/ada/notes"]}


def test_an_empty_file_gets_an_object() -> None:
    assert put("", PATH, SERVER) == (
        "{\n"
        '  "mcpServers": {\n'
        '    "vault": {\n'
        '      "command": "/bin/vault-mcp",\n'
        '      "args": ["serve", "--vault", "/home/ada/notes"]\n'
        "    }\n"
        "  }\n"
        "}\n"
    )


ZED = """\
// Zed settings
{
    "theme": "One Dark", // the dark one
    /* servers that
       the agent may call */
    "context_servers": {
        "github": {"command": "gh-mcp", "args": ["--x",],}, // mine
        // "old": {}
    },
    "vim_mode": true,
}
"""


def test_comments_trailing_commas_and_layout_stay() -> None:
    after = put(ZED, ["context_servers", "vault"], {"source": "custom", "args": []})
    assert after == ZED.replace(
        '}, // mine\n        // "old": {}\n',
        '}, // mine\n        "vault": {\n            "source": "custom",\n            "args": []\n'
        '        },\n        // "old": {}\n',
    )
    assert drop(after, ["context_servers", "vault"]) == ZED


def test_a_value_that_is_there_is_changed_in_its_place() -> None:
    text = '{"a": {"x": 1, /* two */ "x2": 2}, "b": 3}'
    assert put(text, ["a", "x"], "new") == '{"a": {"x": "new", /* two */ "x2": 2}, "b": 3}'


def test_a_file_on_one_line_stays_on_one_line() -> None:
    text = '{"numStartups":3,"projects":{"/home/ada":{"x":1}}}'
    after = put(text, PATH, SERVER)
    assert after.startswith(text[:-1])
    assert "\n" not in after
    assert read(after) == {**json.loads(text), "mcpServers": {"vault": SERVER}}


def test_the_last_member_without_a_comma_gets_one_in_front_of_its_comment() -> None:
    text = '{\n  "a": 1 // one\n}\n'
    after = put(text, ["b"], 2)
    assert after == '{\n  "a": 1, // one\n  "b": 2\n}\n'
    assert drop(after, ["b"]) == text


def test_line_ends_of_windows_and_a_byte_order_mark_stay() -> None:
    text = '\ufeff{\r\n\t"a": 1\r\n}\r\n'
    assert put(text, ["b"], {"c": 2}) == '\ufeff{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": 2\r\n\t}\r\n}\r\n'


def test_a_brace_that_closes_on_the_line_of_the_last_member_is_not_lost() -> None:
    after = put('{\n  "a": 1 }', ["b"], 2)
    assert read(after) == {"a": 1, "b": 2}


def test_of_members_named_alike_the_last_counts_and_all_are_dropped() -> None:
    text = '{"a": 1, "b": 0, "a": 2}'
    assert read(put(text, ["a"], 3)) == {"a": 3, "b": 0}
    assert read(drop(text, ["a"])) == {"b": 0}


def test_signs_of_comments_inside_texts_are_words() -> None:
    text = '{"url": "http://x/*y*/", "note": "say \\"//\\" {"}'
    assert read(text) == {"url": "http://x/*y*/", "note": 'say "//" {'}
    assert read(put(text, ["new"], 1)) == {"url": "http://x/*y*/", "note": 'say "//" {', "new": 1}


def test_dropping_what_is_not_there_changes_nothing() -> None:
    assert drop(ZED, PATH) == ZED
    assert drop(ZED, ["context_servers", "vault"]) == ZED


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": 1', 1),
        ('{"a": 1,\n "b" 2}', 2),
        ("{'a': 1}", 1),
        ('{"a": 01}', 1),
        ('{"a": tru}', 1),
        ('{"a": "x\n"}', 1),
        ('{"a": 1}\n}', 2),
        ("[" * 101, 1),
        ('{"a": /* never closed', 1),
    ],
)
def test_what_is_no_json_is_told_with_its_line(text: str, line: int) -> None:
    with pytest.raises(NotJsonError, match=rf"line {line} "):
        read(text)
    with pytest.raises(NotJsonError, match=rf"line {line} "):
        put(text, ["b"], 1)
    with pytest.raises(NotJsonError, match=rf"line {line} "):
        drop(text, ["b"])


@pytest.mark.parametrize("text", ["[]", '{"mcpServers": []}', '{"mcpServers": "none"}'])
def test_a_value_that_should_be_an_object_is_not_overwritten(text: str) -> None:
    with pytest.raises(NotJsonError, match="should be an object"):
        put(text, PATH, SERVER)


# -- any file, with any comments

KEYS = st.sampled_from(["a", "b", "mcpServers", "vault", "é", 'q"uote', ""])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('a"\\/é*\n', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
GAPS = st.sampled_from(["", " ", "\n", "\t", " // {,}\n", "/* [ */", "\n\n  ", "\r\n"])


@st.composite
def written(draw: st.DrawFn, value: object) -> str:
    """Write a value with comments and white space anywhere, and commas behind the last member."""

    def gap() -> str:
        return draw(GAPS)

    end = draw(st.sampled_from(["", ",", ",\n"]))
    if isinstance(value, dict) and value:
        members = [
            f"{gap()}{json.dumps(key)}{gap()}:{gap()}{draw(written(item))}{gap()}"
            for key, item in value.items()
        ]
        return "{" + ",".join(members) + end + gap() + "}"
    if isinstance(value, list) and value:
        return "[" + ",".join(draw(written(item)) for item in value) + end + gap() + "]"
    return json.dumps(value)


def comments(text: str) -> int:
    return text.count("// {,}") + text.count("/* [ */")


@given(st.data(), OBJECTS, st.lists(KEYS, min_size=1, max_size=3), VALUES)
def test_an_edit_changes_one_value_and_loses_no_comment(
    data: st.DataObject, before: dict[str, object], path: list[str], value: object
) -> None:
    text = data.draw(GAPS) + data.draw(written(before)) + data.draw(GAPS)
    wanted = copy.deepcopy(before)
    inner: object = wanted
    for key in path[:-1]:
        inner = inner.setdefault(key, {}) if isinstance(inner, dict) else None
    if not isinstance(inner, dict):
        with pytest.raises(NotJsonError):
            put(text, path, value)
        return
    fresh = path[-1] not in inner
    inner[path[-1]] = value
    after = put(text, path, value)
    assert read(after) == wanted
    if fresh:
        assert comments(after) == comments(text)
    gone = drop(after, path)
    del inner[path[-1]]
    assert read(gone) == wanted
    if fresh:
        assert comments(gone) == comments(text)
