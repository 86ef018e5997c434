import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_mcp.notes.links import find_links, resolve, stem_key, written_link
from vault_mcp.notes.names import (
    STEM_BYTES,
    file_stem,
    free_stem,
    is_stem_of,
    key_path,
    memory_stem,
    name_key,
    path_key,
    shard,
)

PIECES = [
    "a",
    "B",
    "é",
    "e\u0301",
    " ",
    ".",
    "/",
    "\\",
    "_",
    "-",
    "#",
    "%%",
    "|",
    "[",
    "]",
    ":",
    "CON",
    "nul",
    "com1",
    ".md",
]
PIECES += [
    "\u200d",
    "\u200b",
    "\ufeff",
    "\u202e",
    "\0",
    "\n",
    "😀",
    "👨‍👩‍👧",
    "東京",
    "ſ",
    "ß",
    "İ",
    "x" * 50,
    "Ω",
    "\u2126",
    "~",
    " 3f2a91c07b",
]
NAMES = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=8).map("".join))


# -- stems


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Ada Lovelace", "Ada Lovelace"),
        ("src/index.ts", "src index.ts"),
        ('C# [v2] | a:b "q" <x> 50%? ^y * z', "C v2 a b q x 50% y z"),
        ("Enable/Disable coupons", "Enable Disable coupons"),
        ("a\\b", "a b"),
        ("  spaced \t out  ", "spaced out"),
        ("...dots...", "dots"),
        ("a %%note%% b", "a note b"),
        ("a\u0000b\nc", "a b c"),
        ("cafe\u0301", "café"),
        ("🧠 brain", "🧠 brain"),
        ("👨‍👩‍👧 family", "👨‍👩‍👧 family"),
        ("東京メモ", "東京メモ"),
        ("a\u202egpj", "a gpj"),
        ("README.md", "README md"),
        ("x .MD", "x MD"),
        ("con", "con note"),
        ("NUL.txt", "NUL note.txt"),
        ("Com1", "Com1 note"),
        ("COM¹", "COM¹ note"),
        ("console", "console"),
        ("-rf", "-rf"),
        ("", "untitled"),
        ("..", "untitled"),
        (" \u200b/\u200d ", "untitled"),
        ("\ud800", "untitled"),
    ],
)
def test_a_stem_reads_like_the_name(name: str, stem: str) -> None:
    assert file_stem(name) == stem


@settings(max_examples=600)
@given(NAMES)
def test_every_stem_is_a_file_name_on_every_system(name: str) -> None:
    stem = file_stem(name)

    assert 0 < len(stem.encode()) <= STEM_BYTES
    assert stem == unicodedata.normalize("NFC", stem)
    assert not re.search(
        r'[#^\[\]|\\/:*?"<>\x00-\x1f\x7f-\x9f\u2028\u2029\u200b\ufeff\u202a-\u202e]|%%|  ', stem
    )
    assert stem.strip(" .") == stem
    assert not re.fullmatch(r"(?i)(con|prn|aux|nul|(com|lpt)[0-9])\s*(\..*)?", stem)
    assert not stem.lower().endswith(".md")
    assert file_stem(stem) == stem


@settings(max_examples=200)
@given(NAMES)
def test_a_link_to_a_stem_leads_to_its_file(name: str) -> None:
    path = f"entities/{file_stem(name)}.md"
    links = find_links(written_link(path, name, unique=True))

    assert [resolve(link.target, "x/From.md", [path]) for link in links] == [path]


@settings(max_examples=100)
@given(st.lists(NAMES, max_size=12))
def test_free_stems_never_differ_by_case_or_unicode_form_only(names: list[str]) -> None:
    taken: set[str] = set()
    for name in names:
        stem = free_stem(name, taken.__contains__)
        assert stem_key(stem) not in taken
        assert len(stem.encode()) <= STEM_BYTES
        taken.add(stem_key(stem))


def test_a_taken_stem_gets_the_next_number() -> None:
    assert free_stem("Log", {"log", "log (2)"}.__contains__) == "Log (3)"
    assert free_stem("x" * 200, {"x" * STEM_BYTES}.__contains__) == "x" * (STEM_BYTES - 4) + " (2)"


def test_names_are_compared_in_one_unicode_form_and_by_case() -> None:
    assert name_key("e\u0301") == "é"
    assert name_key("Log") != name_key("log")
    assert shard("e\u0301") == shard("é")
    assert re.fullmatch("[0-9a-f]{2}", shard("Ada Lovelace"))


def test_paths_are_compared_without_case() -> None:
    assert path_key("Keys/E\u0301.md") == path_key("keys/é.md") == "keys/é.md"


# -- memories


@pytest.mark.parametrize(
    ("text", "stem"),
    [
        ("Ada decided to ship.", "2026-10-05 Ada decided to ship"),
        ("\n\n# A title: with signs\n\nand more", "2026-10-05 A title with signs"),
        ("- [ ] call **Bob** about `x`", "2026-10-05 call Bob about x"),
        ("See [[Ada Lovelace|Ada]]", "2026-10-05 See Ada Lovelace Ada"),
        ("word " * 40, "2026-10-05 word word word word word word word word word word word word"),
        ("東" * 100, "2026-10-05 " + "東" * 36),
        ("", "2026-10-05"),
        ("...", "2026-10-05"),
    ],
)
def test_a_memory_is_named_by_its_day_and_first_words(text: str, stem: str) -> None:
    assert memory_stem(text, "2026-10-05T09:12:33Z") == stem


@given(NAMES)
def test_any_memory_has_a_name(text: str) -> None:
    stem = memory_stem(text, "2026-10-05")

    assert stem.startswith("2026-10-05")
    assert file_stem(stem) == stem


# -- keys

LIST_OF_KEYS = [
    "a/b",
    "a_b",
    "a-b",
    "a b",
    "a\\b",
    "A_B",
    "a.b",
    "a.json",
    "a",
    "ä",
    "a\u0308",
    "ключ",
    "k?",
    "k*",
]
LIST_OF_KEYS += [
    ".k",
    "k.",
    "CON",
    "con",
    "..",
    "../x",
    "",
    "/",
    "a//b",
    "a/b/",
    "x" * 300,
    "X" * 300,
    "a.md",
    "a.md/b",
]


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("user/theme", "keys/user/theme.md"),
        ("a b", "keys/a b.md"),
        ("ключ", "keys/ключ.md"),
        ("a.json", "keys/a.json.md"),
    ],
)
def test_an_ordinary_key_is_its_path(key: str, path: str) -> None:
    assert key_path(key) == path
    assert key_path(key, lambda _: False) == path


def test_a_free_path_is_pleasant_even_for_a_key_that_is_no_file_name() -> None:
    free = {
        key: key_path(key, lambda _: False) for key in ("Color-Pref", "a\\b", ".k", "CON", "..", "a/../b")
    }

    assert free == {
        "Color-Pref": "keys/Color-Pref.md",
        "a\\b": "keys/a b.md",
        ".k": "keys/k.md",
        "CON": "keys/CON note.md",
        "..": "keys/untitled.md",
        "a/../b": "keys/a .. b.md",
    }


@pytest.mark.parametrize("name", ["", "Alice", "src/index.ts", "NUL", "x" * 300, "Cafe\u0301", "Plan (2)"])
def test_a_stem_is_known_as_that_of_its_name_numbered_or_not(name: str) -> None:
    taken: set[str] = set()
    for _ in range(12):
        stem = free_stem(name, taken.__contains__)
        taken.add(stem_key(stem))
        assert is_stem_of(stem, name)
        assert is_stem_of(stem.upper(), name)
    assert len(taken) == 12


@pytest.mark.parametrize(("stem", "name"), [("Bob", "Alice"), ("Alice 2", "Alice"), ("Alice (b)", "Alice")])
def test_another_stem_is_not_taken_for_a_names(stem: str, name: str) -> None:
    assert not is_stem_of(stem, name)


def test_a_taken_path_gets_a_mark_that_is_always_the_same() -> None:
    path = key_path("Log", {"keys/log.md"}.__contains__)

    assert re.fullmatch(r"keys/Log [0-9a-f]{10}\.md", path)
    assert path == key_path("Log")
    longer = key_path("Log", {"keys/log.md", path_key(path)}.__contains__)
    assert re.fullmatch(r"keys/Log [0-9a-f]{64}\.md", longer)


def safe_path(path: str) -> bool:
    folder, *parts = path.removesuffix(".md").split("/")
    return folder == "keys" and all(part == file_stem(part) for part in parts) and len(path.encode()) < 400


def test_keys_that_look_alike_have_files_of_their_own() -> None:
    taken: set[str] = set()
    for key in LIST_OF_KEYS:
        path = key_path(key, taken.__contains__)
        assert path_key(path) not in taken
        assert safe_path(path)
        taken.add(path_key(path))
    assert len({path_key(key_path(key)) for key in LIST_OF_KEYS}) == len(LIST_OF_KEYS)


@settings(max_examples=400)
@given(st.lists(NAMES, min_size=2, max_size=6, unique=True))
def test_two_keys_never_share_a_file(keys: list[str]) -> None:
    paths = [key_path(key) for key in keys]

    assert len({path_key(path) for path in paths}) == len(keys)
    assert all(safe_path(path) for path in paths)
