import pytest

from vault_mcp.notes.analyse import words
from vault_mcp.notes.question import MAX_LENGTH, asks, read_question, tells_time


def test_a_question_is_read_into_terms_dates_and_what_it_asks() -> None:
    question = read_question("When did Caroline paint the sunrise in May 2023?")
    assert question.terms == ("carolin", "paint", "sunris", "mai", "2023")
    assert question.asks_when
    assert [(asked.year, asked.month) for asked in question.dates] == [(2023, 5)]


@pytest.mark.parametrize("name", ["Caroline", "caroline", "Caroline Smith"])
def test_a_person_is_named_by_the_first_name(name: str) -> None:
    assert read_question("What is Caroline's plan?").names(name)


@pytest.mark.parametrize("name", ["Melanie", "", "!!", "Smith Caroline"])
def test_another_person_is_not_named(name: str) -> None:
    assert not read_question("What is Caroline's plan?").names(name)


@pytest.mark.parametrize("text", ["Are you there?", "你好吗？", 'He said "why?"', "كيف حالك؟", "really? "])
def test_a_text_that_ends_in_a_question_asks(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize("text", ["Is it? Yes.", "", "a?b"])
def test_a_text_that_only_holds_a_question_mark_does_not_ask(text: str) -> None:
    assert not asks(text)


@pytest.mark.parametrize(
    "text", ["We met yesterday.", "on the 5th", "In 2023 she left", "last weekend", "昨天"]
)
def test_a_told_time_is_seen(text: str) -> None:
    assert tells_time(frozenset(words(text)))


def test_a_text_without_a_time_tells_none() -> None:
    assert not tells_time(frozenset(words("She likes to paint the lake, 12 times over.")))


def test_a_question_as_long_as_a_book_is_read_to_its_bound() -> None:
    question = read_question("lake " * 100_000)
    assert question.terms == ("lake",)
    assert len(question.text) == MAX_LENGTH


def test_a_question_of_punctuation_has_no_terms() -> None:
    assert read_question("?!… --").terms == ()
