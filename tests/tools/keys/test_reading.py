"""Read, list and search: exact, bounded, and saying how to go on."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.vaults import CLAUDE, commits, make_vault, opened, write_files
from vault_mcp.errors import BadArgument, NoteUnreadable
from vault_mcp.tools.keys.reading import BUDGET, list_memory_keys, read_memory, search_memory
from vault_mcp.tools.keys.writing import write_memory
from vault_mcp.vault import Vault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


def key_note(key: str, value: str) -> str:
    return f"---\nkey: {key}\n---\n\n{value}\n"


def found(vault: Vault, query: str, **more: Any) -> list[dict[str, str]]:
    entries: list[dict[str, str]] = json.loads(search_memory(vault, CLAUDE, query, **more)[0])
    return entries


def cursor_in(blocks: tuple[str, ...]) -> str:
    assert len(blocks) == 2, blocks
    return blocks[1].rpartition(" ")[2]


def test_the_value_comes_alone_and_exactly(root: Path) -> None:
    value = '---\nkey: x\n---\n\r\n```json\n[[a]] {"b": 1}\n```\n &#13; \\&#13;\t\n'
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "k", value)
        assert read_memory(vault, CLAUDE, "k") == value


def test_a_missing_key_is_told_with_those_that_are_nearly_the_same(root: Path) -> None:
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "user/theme", "dark")
        write_memory(vault, CLAUDE, "é", "x")
        assert read_memory(vault, CLAUDE, "nope") == (
            "There is no key “nope”. "
            "list_memory_keys gives the keys, search_memory finds them by their words."
        )
        assert "There is: “user/theme”." in read_memory(vault, CLAUDE, "User/Theme")
        assert "There is: “é”." in read_memory(vault, CLAUDE, "e\u0301")


def test_what_a_person_types_is_read_at_once(root: Path) -> None:
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "k", "one")
        write_files(root, {"keys/k.md": key_note("k", "two")})
        assert read_memory(vault, CLAUDE, "k") == "two"
        write_files(root, {"keys/k.md": "no key any more\n"})
        assert "no key “k”" in read_memory(vault, CLAUDE, "k")
        (root / "keys/k.md").unlink()
        assert "no key “k”" in read_memory(vault, CLAUDE, "k")


def test_a_note_that_cannot_be_read_is_an_error_not_a_missing_key(root: Path) -> None:
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "k", "one")
        (root / "keys/k.md").write_bytes(b"---\nkey: k\n---\ncaf\xe9\n")
        with pytest.raises(NoteUnreadable, match=r"keys/k\.md is not UTF-8"):
            read_memory(vault, CLAUDE, "k")


def test_of_two_notes_of_a_key_the_one_that_is_called_so_counts(root: Path) -> None:
    write_files(root, {"a.md": key_note("theme", "copy"), "keys/theme.md": key_note("theme", "own")})
    with opened(root) as vault:
        assert read_memory(vault, CLAUDE, "theme") == "own"


# -- lists


def test_keys_are_listed_as_json_in_one_text(root: Path) -> None:
    with opened(root) as vault:
        assert list_memory_keys(vault, CLAUDE) == ("[]",)
        for key in ("b", 'quo"te', "東京"):
            write_memory(vault, CLAUDE, key, "v")
        assert list_memory_keys(vault, CLAUDE) == ('["b", "quo\\"te", "東京"]',)


def test_a_list_that_is_cut_says_how_to_go_on(root: Path) -> None:
    write_files(root, {f"keys/{n:03}.md": key_note(f"key {n:03}", "v") for n in range(25)})
    seen: list[str] = []
    with opened(root) as vault:
        blocks = list_memory_keys(vault, CLAUDE, limit=10)
        assert blocks[1].startswith(
            "These are 10 of 25 keys. For the next ones call list_memory_keys with cursor set to "
        )
        seen += json.loads(blocks[0])
        blocks = list_memory_keys(vault, CLAUDE, limit=10, cursor=cursor_in(blocks))
        seen += json.loads(blocks[0])
        blocks = list_memory_keys(vault, CLAUDE, limit=10, cursor=cursor_in(blocks))
        seen += json.loads(blocks[0])
        assert len(blocks) == 1
    assert seen == [f"key {n:03}" for n in range(25)]


def test_a_list_is_bounded_in_characters_too(root: Path) -> None:
    write_files(root, {f"keys/{n}.md": key_note(f"{n:02} {'long ' * 300}x", "v") for n in range(60)})
    seen: list[str] = []
    cursor = ""
    with opened(root) as vault:
        for _ in range(9):
            blocks = list_memory_keys(vault, CLAUDE, cursor=cursor)
            assert len(blocks[0]) <= BUDGET
            seen += json.loads(blocks[0])
            if len(blocks) == 1:
                break
            cursor = cursor_in(blocks)
    assert [key[:2] for key in seen] == [f"{n:02}" for n in range(60)]


def test_a_cursor_of_elsewhere_is_refused(root: Path) -> None:
    with opened(root) as vault:
        for call in (list_memory_keys, search_memory):
            arguments = {"query": ""} if call is search_memory else {}
            with pytest.raises(BadArgument, match="cursor"):
                call(vault, CLAUDE, cursor="nonsense", **arguments)  # type: ignore[arg-type]  # two shapes


# -- search


def test_entries_are_found_by_a_part_of_key_or_value(root: Path) -> None:
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "Color-Pref", "BLUE")
        write_memory(vault, CLAUDE, "other", "grey")
        assert found(vault, "color-p") == found(vault, "blue") == [{"key": "Color-Pref", "value": "BLUE"}]
        assert found(vault, "json") == found(vault, "keys/") == found(vault, ".md") == []


def test_only_keys_are_searched(root: Path) -> None:
    write_files(
        root,
        {"a.md": "zebra\n", "E.md": "---\nentity: t\n---\n- zebra\n", "keys/k.md": key_note("k", "zebra")},
    )
    with opened(root) as vault:
        assert found(vault, "zebra") == [{"key": "k", "value": "zebra"}]


@pytest.mark.parametrize("query", ["", "   ", "\n"])
def test_a_blank_query_gives_every_entry(root: Path, query: str) -> None:
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "a", "1")
        write_memory(vault, CLAUDE, "b", "")
        assert found(vault, query) == [{"key": "a", "value": "1"}, {"key": "b", "value": ""}]


def test_a_search_that_is_cut_states_the_total_and_goes_on(root: Path) -> None:
    write_files(root, {f"keys/{n:02}.md": key_note(f"k{n:02}", "user") for n in range(7)})
    with opened(root) as vault:
        first = search_memory(vault, CLAUDE, "user", limit=3)
        assert first == search_memory(vault, CLAUDE, "user", limit=3)
        assert first[1].startswith(
            "These are 3 of 7 entries. For the next ones call search_memory with cursor"
        )
        second = search_memory(vault, CLAUDE, "user", limit=3, cursor=cursor_in(first))
        last = search_memory(vault, CLAUDE, "user", limit=3, cursor=cursor_in(second))
        assert len(last) == 1
        keys = [entry["key"] for blocks in (first, second, last) for entry in json.loads(blocks[0])]
    assert keys == [f"k{n:02}" for n in range(7)]


def test_long_values_are_cut_around_the_match_and_say_so(root: Path) -> None:
    value = "start " + "x " * 5000 + "the needle lies here " + "y " * 5000
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "k", value)
        (entry,) = found(vault, "NEEDLE  lies")
        assert "the needle lies here" in entry["value"]
        assert len(entry["value"]) < 1000
        assert entry["value"][0] == entry["value"][-1] == "…"
        assert (
            entry["cut"] == f"This is a part of {len(value):,} characters; read_memory gives the whole value."
        )


def test_an_answer_is_bounded_in_characters(root: Path) -> None:
    write_files(root, {f"keys/{n}.md": key_note(f"k{n:03}", "user " + "w" * 900) for n in range(100)})
    with opened(root) as vault:
        blocks = search_memory(vault, CLAUDE, "user", limit=500)
        assert len(blocks[0]) <= BUDGET
        shown = len(json.loads(blocks[0]))
        assert blocks[1].startswith(f"These are {shown} of 100 entries.")
        rest = search_memory(vault, CLAUDE, "user", limit=500, cursor=cursor_in(blocks))
        assert json.loads(rest[0])[0]["key"] == f"k{shown:03}"


def test_a_write_is_found_and_an_overwritten_value_is_not(root: Path) -> None:
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "k", "alpha")
        write_memory(vault, CLAUDE, "k", "beta")
        assert [entry["key"] for entry in found(vault, "beta")] == ["k"]
        assert found(vault, "alpha") == []


def test_reading_changes_nothing(root: Path) -> None:
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "k", "v")
        before = commits(root)
        read_memory(vault, CLAUDE, "k")
        list_memory_keys(vault, CLAUDE)
        search_memory(vault, CLAUDE, "v")
    assert commits(root) == before
