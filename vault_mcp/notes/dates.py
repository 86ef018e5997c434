"""Dates in a question: "on 5 May 2023", "in May", "last week", "2023年5月".

A date is kept as far as it was said. Without a year it means that month or day of any year, since people
ask "what did we decide in May" years later and years apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

_MONTH_NAMES = """
january february march april may june july august september october november december
januar februar märz april mai juni juli august september oktober november dezember
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
jan feb mar apr may jun jul aug sep oct nov dec
"""
_MONTHS = {name: at % 12 + 1 for at, name in enumerate(_MONTH_NAMES.split())}
_MONTHS["sept"] = 9
# Words that are a month only behind "in", "since" and the like, or beside a day or a year.
_DOUBTFUL = frozenset(("may", "march", "mars", "jan", "mar", "jun", "sep", "dec", "august"))
_NAME = "|".join(sorted(_MONTHS, key=len, reverse=True))
_LEAD = r"in|of|during|since|until|till|by|before|after|from|early|late|mid|last|this|next|im|seit|bis|en|de"

_ISO = re.compile(
    r"(?<!\d)((?:19|20)\d\d)(?:[-/年](\d{1,2})(?:[-/月](\d{1,2}))?|\.(\d{1,2})\.(\d{1,2}))(?!\d)"
)
_CJK_MONTH = re.compile(r"(?<!\d)(\d{1,2})月(?:(\d{1,2})[日号])?")
_DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.)?(?: (?:of|de))? ({_NAME})\b\.?,?(?: (?:de )?(\d{{4}})\b)?"
)
_MONTH_DAY = re.compile(rf"\b({_NAME})\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}})\b)?")
_MONTH = re.compile(rf"(?:\b({_LEAD}) )?\b({_NAME})\b\.?,?(?: (?:of |de )?(\d{{4}})\b)?")
_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?![\d.,]\d|\d)")

_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365}
_NUMBERS = "one two three four five six seven eight nine ten".split()  # noqa: SIM905 - a line of words reads better
_COUNTS = {"a": 1, "an": 1, "a couple of": 2, **{word: at for at, word in enumerate(_NUMBERS, 1)}}
_AGO = re.compile(
    rf"\b(\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))}) (day|week|month|year)s? ago\b"
)
_NEAR = re.compile(r"\b(today|tonight|yesterday|day before yesterday)\b")
_PERIOD = re.compile(r"\b(last|past|previous|this|next) (week|month|year|weekend)\b")
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905 - as above
_WEEKDAY = re.compile(rf"\b(?:last|this|on) ({'|'.join(_WEEKDAYS)})\b")


@dataclass(frozen=True, slots=True)
class AskedDate:
    """A date as far as a question names it: a day, a month or a year, or a span of days."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    first: date | None = None
    last: date | None = None

    def span(self) -> tuple[date, date] | None:
        """Give the first and the last day that is meant; None when no year is."""
        if self.first and self.last:
            return self.first, self.last
        if not self.year:
            return None
        try:
            first = date(self.year, self.month or 1, self.day or 1)
            if self.day:
                return first, first
            following = date(self.year + (not self.month or self.month == 12), (self.month or 0) % 12 + 1, 1)
        except ValueError:
            return None
        return first, following - timedelta(1)

    def closeness(self, when: date) -> float:
        """Say from 0 to 1 how well a day answers: 1 the day itself, 0.8 its month, 0.3 only its year."""
        if self.first and self.last:
            return _by_gap(max((self.first - when).days, (when - self.last).days, 0))
        if self.year and self.year != when.year and not self.day:
            return 0.0
        if self.month and self.day:
            return _by_gap(min(_gaps(when, self.year, self.month, self.day), default=1000))
        if self.month:
            return 0.8 if self.month == when.month else 0.0
        return 0.3 if self.year else 0.0


def _gaps(when: date, year: int | None, month: int, day: int) -> list[int]:
    gaps = []
    for candidate in [year] if year else (when.year - 1, when.year, when.year + 1):
        try:
            gaps.append(abs((when - date(candidate, month, day)).days))
        except ValueError:  # 29 February of a common year, or a year 0
            continue
    return gaps


def _by_gap(days: int) -> float:
    """What is told of a day is mostly written on it or soon after."""
    return 1.0 if days <= 1 else 0.6 if days <= 7 else 0.3 if days <= 21 else 0.0


def find_dates(question: str, now: date | None = None) -> list[AskedDate]:
    """Return the dates a question names; relative ones ("last week") only when `now` is given."""
    text = question.lower()
    found: list[AskedDate] = []
    for pattern, read in _READERS:
        for match in list(pattern.finditer(text)):
            asked = read(match)
            if asked:
                found.append(asked)
                # What was read is blanked, so that a shorter pattern does not read a part of it again.
                text = text[: match.start()] + " " * len(match[0]) + text[match.end() :]
    if now:
        found += _relative(text, now)
    return list(dict.fromkeys(found))


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _dated(year: str | None, month: int, day: str | None = None) -> AskedDate | None:
    days = _number(day)
    if not 1 <= month <= 12 or (days is not None and not 1 <= days <= 31):
        return None
    return AskedDate(_number(year), month, days)


def _month_alone(match: re.Match[str]) -> AskedDate | None:
    lead, name, year = match.groups()
    if name in _DOUBTFUL and not (lead or year):
        return None
    return _dated(year, _MONTHS[name])


_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], AskedDate | None]], ...] = (
    (_ISO, lambda match: _dated(match[1], int(match[2] or match[4]), match[3] or match[5])),
    (_CJK_MONTH, lambda match: _dated(None, int(match[1]), match[2])),
    (_DAY_MONTH, lambda match: _dated(match[3], _MONTHS[match[2]], match[1])),
    (_MONTH_DAY, lambda match: _dated(match[3], _MONTHS[match[1]], match[2])),
    (_MONTH, _month_alone),
    (_YEAR, lambda match: AskedDate(int(match[0]))),
)


def _relative(text: str, now: date) -> list[AskedDate]:
    spans = []
    for match in _NEAR.finditer(text):
        back = {"today": 0, "tonight": 0, "yesterday": 1}.get(match[1], 2)
        spans.append((now - timedelta(back), now - timedelta(back)))
    for match in _AGO.finditer(text):
        unit = _UNITS[match[2]]
        count = int(match[1]) if match[1].isdigit() else _COUNTS[match[1]]
        middle = now - timedelta(count * unit)
        spans.append((middle - timedelta(unit // 2), middle + timedelta(unit // 2)))
    for match in _PERIOD.finditer(text):
        spans.append(_period(match[1], match[2], now))
    for match in _WEEKDAY.finditer(text):
        back = (now.weekday() - _WEEKDAYS.index(match[1])) % 7 or 7
        spans.append((now - timedelta(back), now - timedelta(back)))
    return [AskedDate(first=first, last=last) for first, last in spans]


def _period(which: str, unit: str, now: date) -> tuple[date, date]:
    """The calendar week, weekend, month or year before, of, or after `now`."""
    step = {"this": 0, "next": 1}.get(which, -1)
    if unit in {"week", "weekend"}:
        monday = now - timedelta(now.weekday()) + timedelta(7 * step)
        return (monday + timedelta(5 if unit == "weekend" else 0), monday + timedelta(6))
    if unit == "year":
        return date(now.year + step, 1, 1), date(now.year + step, 12, 31)
    months = now.year * 12 + now.month - 1 + step
    first, after = (date(at // 12, at % 12 + 1, 1) for at in (months, months + 1))
    return first, after - timedelta(1)
