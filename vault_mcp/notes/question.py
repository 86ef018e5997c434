"""What a question asks for beside its words: names, dates, a time as its answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from vault_mcp.notes.analyse import terms, words
from vault_mcp.notes.dates import AskedDate, find_dates

_ASKS_WHEN = re.compile(
    r"\bwhen\b|\bhow long\b|\b(?:what|which) (?:date|day|month|year|time)"
    r"|\bhow many (?:days|weeks|months|years)|\bwann\b|\bwie lange\b|\bquand\b|\bcuándo\b|\bquando\b"
    r"|\bкогда\b|什么时候|什麼時候|何时|哪一年|いつ|언제",
    re.IGNORECASE,
)
_TIME_WORDS = """
yesterday today tonight tomorrow ago recently since day week weekend month year
monday tuesday wednesday thursday friday saturday sunday
january february march april june july august september october november december
gestern heute woche monat jahr ayer mañana día semana año hier aujourd'hui demain jour semaine année
вчера сегодня завтра неделя месяц год 昨天 今天 明天 昨日 今日 明日 先週 上周 어제 오늘 내일
"""
_TIME_STEMS = frozenset(word for word in words(_TIME_WORDS) if len(word) > 1)
_DATE = re.compile(r"(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th)")
MAX_LENGTH = 4000
"""Characters of a question that are read."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read once and put to every passage.

    Attributes:
        text: As it was asked.
        terms: The stems to look for, stop words left out.
        dates: The dates it names.
        asks_when: Its answer is a time.
        all_words: Every stem of it, for names.
    """

    text: str
    terms: tuple[str, ...]
    dates: tuple[AskedDate, ...]
    asks_when: bool
    all_words: frozenset[str]

    def names(self, person: str) -> bool:
        """Say whether a person's or an entity's whole name, or the first part of it, is in the question."""
        parts = words(person)
        return bool(parts) and (
            parts[0] in self.all_words if len(parts[0]) > 2 else set(parts) <= self.all_words
        )


def read_question(text: str, now: date | None = None) -> Question:
    """Read a question; `now` is the day from which "last week" counts."""
    text = text[:MAX_LENGTH]
    when = bool(_ASKS_WHEN.search(text))
    dates = tuple(find_dates(text, now))
    return Question(text, tuple(terms(text)), dates, when, frozenset(words(text)))


def asks(text: str) -> bool:
    """Say whether a passage ends in a question, in any script."""
    return text.rstrip(" \n\t\"'”’)*_").endswith(("?", "？", "؟", "⁇"))


def tells_time(found: frozenset[str]) -> bool:
    """Say whether the analysed words of a passage hold a date or an expression of time."""
    if not _TIME_STEMS.isdisjoint(found):
        return True
    return any(word[0].isdigit() and _DATE.fullmatch(word) for word in found)
