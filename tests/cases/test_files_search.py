"""Cases about search, with `search_memory`: it searches keys and values, and plain notes are not among them.

The cases search files with it; what a note holds is found by `search_nodes` (test_search.py). Here the same
texts are values under keys, each in a note that a person wrote.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.direct import call, done
from tests.vaults import clean, make_vault, opened, write_files
from vault_mcp.vault import Vault

TEXTS = {
    "d1": "multi-agent launcher",
    "d2": "status: done by don't",
    "d3": "GB/s rate",
    "d4": "München Straße café",
    "d5": "東京駅前のメモ",
    "d6": 'a "quoted" phrase AND more',
    "d7": "@nova #tag 50% why? C++ C# x=y",
    "d8": "ISO 9001:2015 node.js snake_case (foo) [br] {b} ^up ~til *st",
    "d9": "emoji 🚀 here",
}


def notes_of(texts: Mapping[str, str]) -> dict[str, str]:
    return {f"{name}.md": f"---\nkey: {name}\n---\n{text}\n" for name, text in texts.items()}


def found(vault: Vault, query: str) -> list[str]:
    entries = json.loads(done(vault, "search_memory", query=query).partition("\nThese are")[0])
    return [entry["key"] for entry in entries]


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with opened(make_vault(tmp_path / "v", notes_of(TEXTS))) as vault:
        yield vault


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("multi-agent", ["d1"]),
        ("don't", ["d2"]),
        ("status: done", ["d2"]),
        ("GB/s", ["d3"]),
        ("c++", ["d7"]),
        ("50%", ["d7"]),
        ("why?", ["d7"]),
        ("@nova", ["d7"]),
        ("(foo) [br] {b}", ["d8"]),
        ("^up", ["d8"]),
        ("~til *st", ["d8"]),
        ("AND", ["d6"]),
        ('"quoted"', ["d6"]),
        ("駅前", ["d5"]),
        ("🚀", ["d9"]),
        ("9001:2015", ["d8"]),
        ("agent multi", []),
    ],
)
def test_SRCH_01_no_character_of_a_query_has_another_meaning(
    vault: Vault, query: str, keys: list[str]
) -> None:
    assert found(vault, query) == keys


@pytest.mark.parametrize("query", ["", "   "])
def test_SRCH_02_a_blank_query_gives_everything_bounded(vault: Vault, query: str) -> None:
    assert found(vault, query) == sorted(TEXTS)
    shown = call(vault, "search_memory", query=query, limit=2).text
    assert "These are 2 of 9 entries." in shown


def test_SRCH_05_wildcards_and_quotes_of_sql_are_characters(tmp_path: Path) -> None:
    with opened(make_vault(tmp_path / "v", notes_of({"p": "100% sure", "q": "plain"}))) as vault:
        assert [found(vault, query) for query in ("%", "_", "'; DROP TABLE notes; --", "100%", "*")] == [
            ["p"], [], [], ["p"], [],
        ]  # fmt: skip


@pytest.mark.parametrize(
    "query", ["münchen", "MÜNCHEN", "straße", "strasse", "οδος", "οδοσ", "izmir", "munchen"]
)
def test_SRCH_06_case_and_accents_do_not_matter(tmp_path: Path, query: str) -> None:
    with opened(make_vault(tmp_path / "v", notes_of({"a": "München STRASSE Straße İzmir ΟΔΟΣ"}))) as vault:
        assert found(vault, query) == ["a"]


def test_SRCH_11_short_words_and_single_letters_are_found(tmp_path: Path) -> None:
    with opened(make_vault(tmp_path / "v", notes_of({"1": "to be or not"}))) as vault:
        assert [found(vault, query) for query in ("to", "the", "b", "e or n")] == [["1"], [], ["1"], ["1"]]


def test_SRCH_14_an_edit_is_found_at_once_and_the_old_words_are_not(tmp_path: Path) -> None:
    with opened(make_vault(tmp_path / "v", notes_of({"a": "alpha"}))) as vault:
        done(vault, "memory_str_replace", path="a.md", old_str="alpha", new_str="beta")
        assert (found(vault, "beta"), found(vault, "alpha")) == (["a"], [])


def test_SRCH_15_a_renamed_note_is_found_once_and_a_deleted_one_not(tmp_path: Path) -> None:
    with opened(make_vault(tmp_path / "v", notes_of({"a": "alpha"}))) as vault:
        done(vault, "memory_rename", old_path="a.md", new_path="b.md")
        assert found(vault, "alpha") == ["a"]
        done(vault, "memory_delete", path="b.md")
        assert found(vault, "alpha") == []


def test_SRCH_16_what_the_server_writes_around_a_value_is_no_hit(tmp_path: Path) -> None:
    with opened(make_vault(tmp_path / "v")) as vault:
        for number in range(20):
            made = [{"name": f"E{number}", "entityType": "person", "observations": ["o"]}]
            done(vault, "create_entities", entities=made)
            done(vault, "write_memory", key=f"k{number}", value=f'{{"n": {number}}}')
        for query in (
            "edited_by",
            "entityType",
            "observations",
            "claude-desktop",
            "key:",
            "---",
            "json",
            "```",
        ):
            assert found(vault, query) == [], query


def test_SRCH_17_a_damaged_or_missing_index_is_made_anew(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", notes_of(TEXTS))
    index = root / ".git/vault-mcp/index.sqlite"
    with opened(root) as vault:
        assert found(vault, "quoted") == ["d6"]
    index.write_bytes(b"\0" * 4096)
    with opened(root) as vault:
        assert found(vault, "quoted") == ["d6"]
    for path in index.parent.glob("index.sqlite*"):
        path.unlink()
    with opened(root) as vault:
        assert found(vault, "quoted") == ["d6"]
    assert clean(root)


def test_SRCH_18_a_common_word_is_bounded_states_the_total_and_keeps_its_order(tmp_path: Path) -> None:
    texts = {f"{number:04}": "user " + "w" * 2000 for number in range(1, 2001)}
    root = make_vault(tmp_path / "v")
    write_files(root, {f"keys/{path}": text for path, text in notes_of(texts).items()})
    with opened(root) as vault:
        first = done(vault, "search_memory", query="user")
        assert first == done(vault, "search_memory", query="user")
    assert len(first) < 45_000
    assert " of 2000 or more entries." in first


def test_SRCH_19_keys_and_values_are_searched_and_no_file_endings(tmp_path: Path) -> None:
    with opened(make_vault(tmp_path / "v")) as vault:
        done(vault, "write_memory", key="Color-Pref", value="BLUE")
        assert [found(vault, query) for query in ("color-p", "blue", "json", ".md", "keys/")] == [
            ["Color-Pref"], ["Color-Pref"], [], [], [],
        ]  # fmt: skip
