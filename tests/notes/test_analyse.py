import re
import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_mcp.notes.analyse import MAX_TERMS, STOP_WORDS, fold, indexed, terms, words
from vault_mcp.notes.stem import stem

NOTES = {
    "snake": "The function parse_config_file() reads the settings",
    "dotted": "import vault_mcp.index.store and call it",
    "camel": "class MemoryIndexWriter handles HTTPServer requests",
    "path": "edit src/vault_mcp/tools/search.py now",
    "version": "upgrade to v2.1.3-beta on Monday",
    "accent": "Café Zoë, naïve résumé in São Paulo",
    "long accent": "Übergrößenträger façade",
    "Chinese": "我昨天在北京大学图书馆借了一本关于机器学习的书",
    "traditional Chinese": "臺灣的天氣很熱",
    "Japanese": "東京タワーで友達とラーメンを食べました",
    "half-width kana": "ﾃﾞｰﾀﾍﾞｰｽの設定",
    "Korean": "서울에서 친구를 만났습니다",
    "emoji": "party 🎉 was great 👍🏽",
    "hash": "tagged #project-x and @alice",
    "wikilink": "see [[Project Alpha|the project]] for details",
    "C++": "written in C++ and C#",
    "mail": "mail bob.smith@example.com",
    "German": "Die Straße nach München",
    "Thai": "ฉันชอบกินข้าวผัด",
    "number": "the invoice 2024-05-17 total 1,250.00",
    "kebab": "use docker-compose up",
    "apostrophe": "don't forget O'Brien's birthday",
    "Russian": "Мы ездили в Москву летом",
    "Hindi": "मुझे हिन्दी किताबें पसंद हैं",
}

QUERIES = [
    *((query, "snake") for query in ("parse_config_file", "config file", "config")),
    *((query, "dotted") for query in ("vault_mcp.index.store", "index store", "vault_mcp")),
    *(
        (query, "camel")
        for query in ("MemoryIndexWriter", "memory index", "http server", "memoryindexwriter")
    ),
    *((query, "path") for query in ("search.py", "src/vault_mcp")),
    *((query, "version") for query in ("v2.1.3", "2.1.3-beta")),
    *((query, "accent") for query in ("cafe", "Café", "sao paulo", "naive")),
    *((query, "long accent") for query in ("ubergrossentrager", "Übergrößenträger", "facade")),
    *((query, "Chinese") for query in ("北京", "北京大学", "机器学习", "书", "图书馆")),
    *((query, "traditional Chinese") for query in ("台灣", "天氣")),
    *((query, "Japanese") for query in ("東京", "タワー", "ラーメン", "友達")),
    *((query, "half-width kana") for query in ("データベース", "設定")),
    *((query, "Korean") for query in ("서울", "친구", "만났습니다")),
    *((query, "emoji") for query in ("🎉", "👍", "👍🏽")),
    *((query, "hash") for query in ("project-x", "#project-x", "alice")),
    *((query, "wikilink") for query in ("Project Alpha",)),
    *((query, "C++") for query in ("C++", "C#")),
    *((query, "mail") for query in ("bob.smith@example.com", "example.com")),
    *((query, "German") for query in ("strasse", "Straße", "munchen", "muenchen", "München")),
    *((query, "Thai") for query in ("ข้าวผัด", "ผัด", "ข้")),
    *((query, "number") for query in ("2024-05-17", "1250", "1,250.00")),
    *((query, "kebab") for query in ("docker-compose", "docker")),
    *((query, "apostrophe") for query in ("O'Brien", "O’Brien", "obrien", "dont", "don't")),
    *((query, "Russian") for query in ("Москву", "москву")),
    *((query, "Hindi") for query in ("हिन्दी",)),
]


@pytest.fixture(scope="module")
def index() -> Iterator[sqlite3.Connection]:
    """The index as the vault makes it: analysed words, marks kept on their letters."""
    connection = sqlite3.connect(":memory:")
    tokenizer = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
    connection.execute(f'CREATE VIRTUAL TABLE note USING fts5(name UNINDEXED, words, tokenize="{tokenizer}")')
    connection.executemany(
        "INSERT INTO note VALUES (?, ?)", [(name, " ".join(words(text))) for name, text in NOTES.items()]
    )
    yield connection
    connection.close()


@pytest.mark.parametrize(("query", "name"), QUERIES)
def test_a_query_in_any_script_finds_its_note_by_all_its_terms(
    index: sqlite3.Connection, query: str, name: str
) -> None:
    every_term = " AND ".join(f'"{term}"' for term in terms(query))
    found = {found for (found,) in index.execute("SELECT name FROM note WHERE note MATCH ?", (every_term,))}
    assert name in found
    assert len(found) <= 2, "a query this exact must not find half of the vault"


def test_an_identifier_is_found_by_its_parts_and_as_a_whole() -> None:
    assert words("MemoryIndexWriter") == ["memori", "index", "writer", "memoryindexwrit"]
    assert words("parse_config") == ["pars", "config", "parseconfig"]
    assert words("HTTPServer2") == ["http", "server2", "httpserver2"]


def test_a_number_beside_letters_is_found_alone_too() -> None:
    assert words("v2 python3 5pm") == ["v2", "2", "python3", "python", "3", "5pm", "5"]
    assert terms("v2 5pm") == ["v2", "5pm"]


def test_a_possessive_is_the_name_itself() -> None:
    assert words("Caroline's dog’s") == ["carolin", "dog"]


def test_forms_of_an_english_word_meet_in_its_stem() -> None:
    assert terms("hiking") == words("hiked") == ["hike"]
    assert terms("John Doe") == ["john", "doe"], "a name is no stop word because its stem is one"


def test_stop_words_are_dropped_only_when_something_is_left() -> None:
    assert terms("What is the name of the dog?") == ["name", "dog"]
    assert terms("who are you") == ["who", "ar", "you"]
    assert terms("?!... --- ''") == []


def test_terms_come_once_and_are_bounded() -> None:
    assert terms("dog Dog DOG") == ["dog"]
    assert len(terms(" ".join(f"word{number}" for number in range(20_000)))) == MAX_TERMS


def test_one_character_of_chinese_is_indexed_but_a_longer_query_asks_for_pairs() -> None:
    assert words("北京大") == ["北京", "京大", "北", "京", "大"]
    assert terms("北京大") == ["北京", "京大"]
    assert terms("书") == ["书"]


def test_scripts_run_together_are_taken_apart() -> None:
    assert words("GPUで学習") == ["gpu", "で学", "学習", "で", "学", "習"]


def test_arabic_and_hebrew_are_found_without_their_vowel_points() -> None:
    assert words("كِتَابٌ") == words("كتاب")
    assert words("שָׁלוֹם") == words("שלום")


def test_a_flag_is_one_sign_and_a_skin_tone_none() -> None:
    assert words("🇩🇪 👍🏽") == ["emoji1f1e91f1ea", "emoji1f44d"]


def test_stop_words_are_written_as_the_analyser_writes_them() -> None:
    assert all(words(word) == [stem(word)] for word in STOP_WORDS)


@settings(max_examples=150, deadline=None)
@given(st.text())
def test_any_text_becomes_words_the_tokenizer_leaves_whole(text: str) -> None:
    for word in words(text) + terms(text):
        assert word
        assert not re.search(r"""[\s"']""", word)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(), st.sampled_from(sorted(NOTES.values()))))
def test_the_index_is_given_the_words_joined(text: str) -> None:
    assert indexed(text) == " ".join(words(text))


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.characters(categories=["L", "N"]), max_size=20))
def test_what_is_asked_is_always_indexed(text: str) -> None:
    assert set(terms(text)) <= set(words(text))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=20))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)
