from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_mcp.notes.dates import AskedDate, find_dates

NOW = date(2026, 10, 7)  # a Wednesday


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What happened on 5 May 2023?", AskedDate(2023, 5, 5)),
        ("What happened on the 5th of May, 2023?", AskedDate(2023, 5, 5)),
        ("What did she say on May 5, 2023?", AskedDate(2023, 5, 5)),
        ("What did she say on August 14th?", AskedDate(None, 8, 14)),
        ("the meeting of 2024-05-17", AskedDate(2024, 5, 17)),
        ("Where were we in June 2023?", AskedDate(2023, 6)),
        ("Where were we in may?", AskedDate(None, 5)),
        ("Where were we in 2019?", AskedDate(2019)),
        ("Was haben wir im März 2022 beschlossen?", AskedDate(2022, 3)),
        ("¿Qué pasó el 3 de enero de 2021?", AskedDate(2021, 1, 3)),
        ("2023年5月17日发生了什么？", AskedDate(2023, 5, 17)),
        ("5月17日に何をしましたか", AskedDate(None, 5, 17)),
    ],
)
def test_a_date_is_read_as_far_as_it_is_said(question: str, asked: AskedDate) -> None:
    assert find_dates(question) == [asked]


@pytest.mark.parametrize(
    "question",
    [
        "May I see the march plan?",
        "Room 2024.5 costs 1,999",
        "version 19.04",
        "What did I jan up?",
        "last week",
    ],
)
def test_what_is_no_date_is_left_alone(question: str) -> None:
    assert find_dates(question) == []


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("what did I do yesterday", date(2026, 10, 6), date(2026, 10, 6)),
        ("what did we decide last week", date(2026, 9, 28), date(2026, 10, 4)),
        ("what did we decide last month", date(2026, 9, 1), date(2026, 9, 30)),
        ("who visited last year", date(2025, 1, 1), date(2025, 12, 31)),
        ("where was I three days ago", date(2026, 10, 4), date(2026, 10, 4)),
        ("where was I two weeks ago", date(2026, 9, 20), date(2026, 9, 26)),
        ("what about last Friday", date(2026, 10, 2), date(2026, 10, 2)),
        ("plans for next weekend", date(2026, 10, 17), date(2026, 10, 18)),
    ],
)
def test_a_relative_date_counts_from_now(question: str, first: date, last: date) -> None:
    assert find_dates(question, NOW) == [AskedDate(first=first, last=last)]


def test_the_day_itself_is_closest_then_its_week_then_nothing() -> None:
    asked = AskedDate(2023, 5, 5)
    shares = [asked.closeness(day) for day in (date(2023, 5, 5), date(2023, 5, 10), date(2023, 7, 5))]
    assert shares[0] == 1.0 > shares[1] > shares[2] == 0.0


def test_a_day_at_the_end_of_a_month_is_near_the_first_of_the_next() -> None:
    assert AskedDate(None, 1, 1).closeness(date(2022, 12, 31)) == 1.0


def test_a_month_without_a_year_is_that_of_any_year() -> None:
    assert (
        AskedDate(None, 5).closeness(date(2019, 5, 20)) == AskedDate(2019, 5).closeness(date(2019, 5, 1)) > 0
    )
    assert AskedDate(2020, 5).closeness(date(2019, 5, 20)) == 0


def test_a_day_that_does_not_exist_is_near_nothing() -> None:
    assert AskedDate(2023, 2, 30).closeness(date(2023, 2, 28)) == 0.0


@settings(max_examples=150, deadline=None)
@given(st.text() | st.from_regex(r"\d{1,4}[-/. ](may|5|45|月)[-/. ]\d{1,9}( ago| weeks ago)?"), st.dates())
def test_no_question_breaks_the_reader(question: str, when: date) -> None:
    for asked in find_dates(question, date(2026, 10, 7)):
        assert 0.0 <= asked.closeness(when) <= 1.0


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("on 5 May 2023", "2023-05-05", "2023-05-05"),
        ("in May 2023", "2023-05-01", "2023-05-31"),
        ("in December 2023", "2023-12-01", "2023-12-31"),
        ("in 2024", "2024-01-01", "2024-12-31"),
        ("yesterday", "2026-10-04", "2026-10-04"),
    ],
)
def test_a_date_with_a_year_spans_its_days(question: str, first: str, last: str) -> None:
    (asked,) = find_dates(question, date(2026, 10, 5))
    assert asked.span() == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize("question", ["in May", "on 5 May", "on 30 February 2023"])
def test_a_date_without_a_year_or_off_the_calendar_spans_nothing(question: str) -> None:
    (asked,) = find_dates(question)
    assert asked.span() is None
