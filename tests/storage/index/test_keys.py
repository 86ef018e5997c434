"""Keys and values: listed and searched page by page, each in the order of keys."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.storage.index.build import plain, put
from tests.storage.index.conftest import Indexed
from vault_mcp.errors import BadArgument
from vault_mcp.notes.note import Note
from vault_mcp.storage.index import Index, Reader
from vault_mcp.storage.index import keys as module
from vault_mcp.storage.index.keys import COUNTED
from vault_mcp.storage.index.searchable import searchable


def key(name: str, value: str, path: str = "", **more: object) -> Note:
    note = plain(path or f"keys/{name}.md", kind="key", value=value)
    return Note(note.path, "key", name, value=value, **more)  # type: ignore[arg-type]  # fields of a note


def listed(reader: Reader, size: int) -> list[str]:
    names: list[str] = []
    cursor: str | None = None
    while True:
        page = reader.keys(size, cursor)
        assert len(page.rows) <= size
        names += page.rows
        cursor = page.cursor
        if cursor is None:
            return names


def searched(reader: Reader, query: str, size: int = 3) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    cursor: str | None = None
    while True:
        page, _ = reader.search_keys(query, size, cursor)
        found += [(row.key, row.value) for row in page.rows]
        cursor = page.cursor
        if cursor is None:
            return found


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_keys_come_in_their_order_whatever_the_page(indexed: Indexed, size: int) -> None:
    names = ["b", "a/c", "Z", "ä", "a\u0308", "a", "emoji 🚀"]
    index = indexed(*(key(name, "v", f"keys/{n}.md") for n, name in enumerate(names)))
    with index.reading() as reader:
        found = listed(reader, size)
        assert sorted(found) == sorted(names)
        assert found == sorted(found, key=lambda name: found.index(name))
        assert found[:4] == ["Z", "a", "a/c", "b"]
        assert reader.count_keys() == len(names)


def test_a_key_that_two_notes_bear_is_listed_once(indexed: Indexed) -> None:
    index = indexed(key("k", "one", "keys/k.md"), key("k", "two", "keys/k copy.md"), key("l", "three"))
    with index.reading() as reader:
        for size in (1, 2, 5):
            assert listed(reader, size) == ["k", "l"]
        assert reader.count_keys() == 2
        assert searched(reader, "", 1) == [("k", "one"), ("k", "two"), ("l", "three")]


def test_only_keys_are_found_and_no_archived_ones(indexed: Indexed) -> None:
    index = indexed(
        key("k", "zebra"),
        key("old", "zebra", "archive/old.md"),
        plain("zebra.md", "zebra"),
        plain("m.md", "zebra"),
    )
    with index.reading() as reader:
        assert searched(reader, "zebra") == searched(reader, "") == [("k", "zebra")]
        assert listed(reader, 9) == ["k"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("color-p", ["Color-Pref"]),
        ("BLUE", ["Color-Pref", "sky"]),
        ("e sky", ["sky"]),
        ("%", ["rate"]),
        ("_", []),
        ("100%", ["rate"]),
        ("'; DROP TABLE notes; --", []),
        ('"blue"', ["sky"]),
        ("ß", ["town"]),
        ("STRASSE", ["town"]),
        ("munchen", ["town"]),
        ("京", ["city"]),
        ("東京", ["city"]),
        ("b", ["Color-Pref", "sky"]),
        ("tag-of-mine", []),
        ("alias-of-mine", []),
        ("md", []),
        ("key", []),
    ],
)
def test_a_text_is_found_in_keys_and_values_as_a_whole(
    indexed: Indexed, query: str, found: list[str]
) -> None:
    index = indexed(
        key("Color-Pref", "BLUE", tags=("tag-of-mine",), aliases=("alias-of-mine",)),
        key("sky", 'the  sky is\n"blue"  sky'),
        key("rate", "100% sure"),
        key("town", "München Straße"),
        key("city", "東京駅前"),
        key("plain", "nothing to see"),
    )
    with index.reading() as reader:
        assert [name for name, _ in searched(reader, query)] == found


@pytest.fixture(params=["few", "many", "waiting"])
def any_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let every search go each of the ways that it could."""
    if request.param == "many":
        monkeypatch.setattr(module, "FEW", -1)
    return str(request.param)


def test_each_way_of_searching_finds_the_same(indexed: Indexed, any_way: str) -> None:
    notes = [key(f"k{n:03}", f"value {n} " + "xyz " * (n % 3)) for n in range(50)]
    index = indexed(*notes)
    if any_way != "waiting":
        with index.writing() as writer:
            writer.settle()
    with index.reading() as reader:
        for query in ("xyz", "xy", "x", "value 7", "7", "k01", "nothing"):
            wanted = [(n.name, n.value) for n in notes if query in n.name or query in (n.value or "")]
            for size in (1, 7, 100):
                assert searched(reader, query, size) == wanted, query


def test_the_count_is_exact_up_to_a_bound(indexed: Indexed) -> None:
    index = indexed(*(key(f"k{n}", "user") for n in range(COUNTED + 5)))
    with index.reading() as reader:
        assert reader.search_keys("k1", 1)[1] == sum(str(n).startswith("1") for n in range(COUNTED + 5))
        assert reader.search_keys("user", 1)[1] == COUNTED
        assert reader.search_keys("", 1)[1] == COUNTED


def test_a_page_goes_on_where_the_last_ended_although_keys_come_and_go(indexed: Indexed) -> None:
    index = indexed(*(key(name, "v") for name in "bdfh"))
    with index.reading() as reader:
        page = reader.keys(2)
    assert page.rows == ("b", "d")
    with index.writing() as writer:
        writer.remove("keys/b.md")
        put(writer, key("a", "v"), key("e", "v"))
    with index.reading() as reader:
        assert reader.keys(9, page.cursor).rows == ("e", "f", "h")


@pytest.mark.parametrize("cursor", ["nonsense", "WyJrZXlzIl0", "é"])
def test_a_cursor_of_another_list_is_refused(indexed: Indexed, cursor: str) -> None:
    index = indexed(key("a", "v"), key("b", "v"))
    with index.reading() as reader:
        for given_cursor in (cursor, reader.search_keys("", 1)[0].cursor):
            with pytest.raises(BadArgument, match="cursor"):
                reader.keys(1, given_cursor)
        with pytest.raises(BadArgument, match="cursor"):
            reader.search_keys("", 1, reader.keys(1).cursor)


@given(
    st.dictionaries(st.text(min_size=1, max_size=6), st.text(max_size=12), max_size=8),
    st.text(max_size=4),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_part_of_a_folded_key_or_value_is_found(
    tmp_path: Path, entries: dict[str, str], query: str
) -> None:
    index = Index.open(str(tmp_path / f"index{abs(hash((json.dumps(entries), query)))}"))
    with index.writing() as writer:
        put(writer, *(key(name, value, f"keys/{n}.md") for n, (name, value) in enumerate(entries.items())))
    sought = searchable(query)
    wanted = {
        n for n, v in entries.items() if sought in f" {searchable(n)} " or sought in f" {searchable(v)} "
    }
    with index.reading() as reader:
        assert {name for name, _ in searched(reader, query)} == wanted
    index.close()
