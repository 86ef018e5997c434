import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mcp.notes.fold import fold


@pytest.mark.parametrize(
    ("typed", "searched"),
    [
        ("Prefers DARK roast", "prefers dark roast"),
        ("Café Zürich", "cafe zurich"),
        (unicodedata.normalize("NFD", "Café Zürich"), "cafe zurich"),
        ("Straße STRASSE", "strasse strasse"),
        ("Smørrebrød i Łódź", "smorrebrod i lodz"),
        ("ｆｕｌｌ ｗｉｄｔｈ", "full width"),
        ("ﾊﾝｶｸ", "ハンカク"),
        ("東京メモ", "東京メモ"),
        ("が", "が"),
        ("한국어", "한국어"),
        ("İstanbul ıslak", "istanbul islak"),
        ("don’t “quote” — ever", 'don\'t "quote" - ever'),
        ("co\u00adoperate", "cooperate"),
        ("☕\ufe0f", "☕"),
        ("ﬁne", "fine"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_case_accents_width_and_quotes_are_folded(typed: str, searched: str) -> None:
    assert fold(typed) == searched


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_every_single_character_folds_to_a_fixed_form() -> None:
    characters = (chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000)

    unstable = [character for character in characters if fold(fold(character)) != fold(character)]

    assert unstable == []


@given(st.text(alphabet="aÉß東がŁ -’ﬁİ☕\ufe0f"), st.text(alphabet="aÉß東が -"), st.text(alphabet="aÉ ß"))
def test_a_part_of_a_text_is_part_of_its_folded_form(before: str, part: str, after: str) -> None:
    assert fold(part) in fold(before + part + after)


@given(st.text())
def test_composed_and_decomposed_spellings_fold_alike(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))
