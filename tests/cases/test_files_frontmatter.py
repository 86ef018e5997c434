"""Cases about front matter, for edits by text: what is not replaced keeps every byte.

The cases that ask for a change of a property (`META` in them) are shown with the tools of the graph in
test_frontmatter.py; here a value is written into a person's own note of a key, which is such a change too.
"""

import json
from pathlib import Path

import pytest

from tests.direct import done, refused
from tests.vaults import clean, make_vault, opened
from vault_mcp.vault import Vault

NOTES = {
    "FM-09": "---\r\ntitle: A\r\n---\nBODY\nx\r\n",
    "FM-10": "\ufeff---\ntitle: A\n---\nBODY\n",
    "FM-12": "---\ntags: [a]\ntags: [b]\n---\nBODY\n",
    "FM-13": "---\ntitle: A\n---\npara\n\n---\n\nBODY\n\n---\nend\n",
    "FM-14": "---\n\nJust a rule at the top, zebra\n\n---\nBODY\n",
    "FM-16": "---\ntitle: A\nBODY without end\n",
    "FM-17": "---\n---\nBODY\n",
    "FM-18": "---\n- a\n- b\n---\nBODY\n",
    "FM-28": "---\ntoken: !secret api\n---\nBODY zebra\n",
    "FM-32": "---\n2024: year\ntrue: yes\n2024-01-01: d\n---\nBODY zebra\n",
    "FM-33": "---\nd: 2024-02-30\n---\nBODY zebra\n",
    "FM-39": "\n---\ntitle: A\n---\nBODY\n",
    "FM-40": '{\n"title": "A"\n}\n\nBODY\n',
    "FM-41": "---\n<<<<<<< HEAD\ntitle: A\n=======\ntitle: B\n>>>>>>> f\n---\nBODY zebra\n",
}


@pytest.mark.parametrize("text", [pytest.param(text, id=case) for case, text in NOTES.items()])
def test_an_edit_of_the_body_leaves_every_other_byte(tmp_path: Path, text: str) -> None:
    root = make_vault(tmp_path / "v", {"n.md": text})
    with opened(root) as vault:
        done(vault, "memory_str_replace", path="n.md", old_str="BODY", new_str="BODY2")
        done(vault, "memory_view", path="n.md")
    assert (root / "n.md").read_bytes() == text.replace("BODY", "BODY2").encode()
    assert clean(root)


def title_of(vault: Vault, path: str) -> object:
    with vault.change("test", by="t") as change:
        note = change.note(path)
    assert note is not None
    return note.properties.get("title")


@pytest.mark.parametrize("case", ["FM-09", "FM-10", "FM-13"])
def test_the_properties_are_read_as_before(tmp_path: Path, case: str) -> None:
    with opened(make_vault(tmp_path / "v", {"n.md": NOTES[case]})) as vault:
        done(vault, "memory_str_replace", path="n.md", old_str="BODY", new_str="BODY2")
        assert title_of(vault, "n.md") == "A"


@pytest.mark.parametrize("case", ["FM-14", "FM-28", "FM-32", "FM-33", "FM-41"])
def test_a_note_with_odd_front_matter_is_still_found(tmp_path: Path, case: str) -> None:
    with opened(make_vault(tmp_path / "v", {"n.md": NOTES[case]})) as vault:
        found = json.loads(done(vault, "search_nodes", query="zebra"))
    assert [one["note"] for one in found["entities"]] == ["n.md"]


def test_FM_12_a_note_with_a_property_twice_says_so(tmp_path: Path) -> None:
    with opened(make_vault(tmp_path / "v", {"n.md": NOTES["FM-12"]})) as vault:
        done(vault, "memory_str_replace", path="n.md", old_str="BODY", new_str="BODY2")
        with vault.reading() as reader:
            assert [(row.path, row.problems) for row in reader.notes_with_problems()] == [
                ("n.md", ("duplicate key tags",))
            ]


MINE = [
    pytest.param(
        '---\nzeta: 1   # why\n# about alpha\nalpha: [type/x, status/y]\nkey: k\n\nmid: "q"\n---\n',
        id="FM-03",
    ),
    pytest.param("---\na: \"1.0\"\nb: 'x'\nc: 1.10\nd: 0123456789\ne: 007\nkey: k\n---\n", id="FM-04"),
    pytest.param("---\ntitle: 😀 hi\nkey: 'k'\n---\n", id="FM-06"),
    pytest.param("---\nkey: k\n---\n\n\n", id="FM-07"),
    pytest.param("\ufeff---\nkey: k\n---\n", id="FM-10"),
    pytest.param("---\ncountry: NO\nswitch: on\nflag: no\nreal: false\ny: y\nkey: k\n---\n", id="FM-19"),
    pytest.param("---\na: 1e3\nb: 1_000\nc: 014\nd: 0x1F\ne: 0o14\nkey: k\n---\n", id="FM-20"),
    pytest.param("---\nid: 12345678901234567890123\nkey: k\n---\n", id="FM-21"),
    pytest.param('---\nup: [[Home]]\nrel:\n  - "[[B]]"\n  - [[C|see]]\nkey: k\n---\n', id="FM-22"),
    pytest.param("---\ndesc: |+\n  one\n  two\n\nfold: >-\n  a\n  b\nkey: k\n---\n", id="FM-24"),
    pytest.param("---\ntoken: !secret api\nkey: k\n---\n", id="FM-28"),
    pytest.param("---\n2024: year\ntrue: yes\n2024-01-01: d\nkey: k\n---\n", id="FM-32"),
    pytest.param("---\nd: 2024-02-30\nkey: k\n---\n", id="FM-33"),
    pytest.param("---\ntitle: 2024\ntype: null\nkey: k\n---\n", id="FM-36"),
    pytest.param("---\na: .nan\nb: .inf\nkey: k\n---\n", id="FM-43"),
]


@pytest.mark.parametrize("front", MINE)
def test_a_value_is_replaced_below_front_matter_that_stays_to_the_letter(tmp_path: Path, front: str) -> None:
    root = make_vault(tmp_path / "v", {"n.md": front + "BODY\n"})
    with opened(root) as vault:
        assert done(vault, "read_memory", key="k") == "BODY"
        done(vault, "write_memory", key="k", value="other")
        assert done(vault, "read_memory", key="k") == "other"
    assert (root / "n.md").read_bytes() == f"{front}other\n".encode()
    assert clean(root)


VALUES = [
    *(
        "no",
        "on",
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
        "`x`",
    ),
    *(
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
        " lead",
        "trail ",
        "",
        "a\nb",
        "\ttab",
        "10:00",
    ),
    *(
        ".inf",
        "<<",
        "---",
        "---\nkey: other\n---\n\nvalue",
        "```\ncode\n```",
        "%% hidden %%",
        "\r\n",
        "&#13;",
    ),
]


def test_FM_37_words_that_yaml_or_markdown_would_read_otherwise_come_back(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    with opened(root) as vault:
        for value in VALUES:
            done(vault, "write_memory", key=f"key of {value}", value=value)
            if value.strip():
                done(vault, "write_memory", key=value, value=value)
    with opened(root) as vault:
        for value in VALUES:
            assert done(vault, "read_memory", key=f"key of {value}") == value
            if value.strip():
                assert done(vault, "read_memory", key=value) == value
    assert clean(root)


def test_FM_41_a_key_in_a_note_with_conflict_markers_is_not_overwritten(tmp_path: Path) -> None:
    text = "---\n<<<<<<< HEAD\nkey: k\n=======\nkey: l\n>>>>>>> f\n---\nBODY zebra\n"
    root = make_vault(tmp_path / "v", {"keys/k.md": text})
    with opened(root) as vault:
        done(vault, "write_memory", key="k", value="v")
        assert done(vault, "read_memory", key="k") == "v"
        assert "did not appear" in refused(
            vault, "memory_str_replace", path="keys/k.md", old_str="no such", new_str="x"
        )
    assert (root / "keys/k.md").read_text() == text
