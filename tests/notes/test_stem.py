import sqlite3

import pytest

from vault_mcp.notes.stem import stem

_VOCABULARY = """
caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated troubled sized hopping
tanned falling hissing fizzed failing filing happy sky relational conditional rational valenci hesitanci
digitizer conformabli radicalli differentli vileli analogousli vietnamization predication operator
feudalism decisiveness hopefulness callousness formaliti sensitiviti sensibiliti triplicate formative
formalize electriciti electrical hopeful goodness revival allowance inference airliner gyroscopic
adjustable defensible irritant replacement adjustment dependent adoption homologou communism activate
angulariti homologous effective bowdlerize probate rate cease controll roll yes yield syzygy boy employer
crying dying ion oed is a be toys analogies generously
"""
WORDS = _VOCABULARY.split()


@pytest.fixture(scope="module")
def porter() -> dict[str, str]:
    """The stems of the porter tokenizer of SQLite itself."""
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE VIRTUAL TABLE list USING fts5(word, tokenize="porter ascii")')
    connection.executemany("INSERT INTO list (rowid, word) VALUES (?, ?)", enumerate(WORDS))
    connection.execute("CREATE VIRTUAL TABLE term USING fts5vocab(list, instance)")
    stems = {WORDS[row]: term for term, row in connection.execute("SELECT term, doc FROM term")}
    connection.close()
    return stems


@pytest.mark.parametrize("word", WORDS)
def test_a_word_has_the_stem_that_sqlite_gives_it(porter: dict[str, str], word: str) -> None:
    assert stem(word) == porter[word]


@pytest.mark.parametrize("word", ["北京", "2024", "café", "v2", "ab", "", "москву"])
def test_what_is_no_english_word_stays_as_it_is(word: str) -> None:
    assert stem(word) == word
