"""The time that a question names: ``in March``, ``on 3 June 2023``, ``last week``, ``작년``.

A small list of forms in English and Korean, and ISO 8601; the first that fits, the most exact ones
tried first. What isn't understood is no error: the question is then about no time. A month without
a year is the last one that had begun when the question was asked. Days are those of UTC.

The words of a date still count as words: a text may name it too.
"""

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

_DAY_MS: Final = 86_400_000
_EPOCH: Final = date(1970, 1, 1).toordinal()

AFTERWARDS: Final = _DAY_MS
"""What happened on a day is also told on the next; and a day begins elsewhere earlier."""

_MONTHS: Final = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_WEEKDAYS: Final = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_NUMBERS: Final = (
    {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
    | {"six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
    | {"한": 1, "두": 2, "세": 3, "네": 4}
)


@dataclass(frozen=True, slots=True)
class Period:
    """From the first millisecond to before the last, and the words that name it."""

    first: int
    until: int
    text: str

    def has(self, moment: int) -> bool:
        return self.first <= moment < self.until + AFTERWARDS

    def each(self, moments: Any) -> Any:
        """The same for an array of moments."""
        return (self.first <= moments) & (moments < self.until + AFTERWARDS)


def period(text: str, *, at: int) -> Period | None:
    """The time that a text names, asked at a moment; None where it names none."""
    today = date.fromordinal(_EPOCH + at // _DAY_MS)
    for pattern, days in _FORMS:
        for found in pattern.finditer(text):
            try:
                first, until = days(found, today)
                bounds = [(day.toordinal() - _EPOCH) * _DAY_MS for day in (first, until)]
            except (ValueError, OverflowError):  # the 31st of June; the year 0
                continue
            return Period(bounds[0], bounds[1], found[0].strip())
    return None


# -------------------------------------------------------------------------- from, until

_Days = tuple[date, date]


def _day(day: date) -> _Days:
    return day, day + timedelta(1)


def _week(day: date) -> _Days:
    monday = day - timedelta(day.weekday())
    return monday, monday + timedelta(7)


def _month(year: int, month: int) -> _Days:
    first = date(year, month, 1)
    return first, first + timedelta(monthrange(year, month)[1])


def _year(year: int) -> _Days:
    return date(year, 1, 1), date(year + 1, 1, 1)


def _months_before(today: date, months: int) -> _Days:
    year, month = divmod(today.year * 12 + today.month - 1 - months, 12)
    return _month(year, month + 1)


def _month_of(name: str) -> int:
    return next(n for n, full in enumerate(_MONTHS, 1) if full.startswith(name.lower()[:3]))


def _number(text: str) -> int:
    return _NUMBERS.get(text.lower()) or int(text)


def _begun(today: date, month: int, day: int = 1) -> int:
    return today.year - ((month, day) > (today.month, today.day))


def _ago(unit: str, number: int, today: date) -> _Days:
    match unit.lower()[0]:
        case "d" | "일":
            return _day(today - timedelta(number))
        case "w" | "주":
            return _week(today - timedelta(7 * number))
        case "m" | "달" | "개":
            return _months_before(today, number)
        case _:
            return _year(today.year - number)


def _last_weekday(name: str, today: date) -> _Days:
    back = (today.weekday() - _WEEKDAYS.index(name.lower()) - 1) % 7 + 1
    return _day(today - timedelta(back))


def _in_month(found: re.Match[str], today: date) -> _Days:
    month = _month_of(found["m"])
    return _month(_begun(today, month), month)


def _on_day(found: re.Match[str], today: date) -> _Days:
    month, day = _month_of(found["m"]), int(found["d"])
    year = int(found["y"]) if found["y"] else _begun(today, month, day)
    return _day(date(year, month, day))


def _korean_month(found: re.Match[str], today: date) -> _Days:
    month = int(found["m"])
    return _month(int(found["y"]) if found["y"] else _begun(today, month), month)


def _korean_day(found: re.Match[str], today: date) -> _Days:
    month, day = int(found["m"]), int(found["d"])
    year = int(found["y"]) if found["y"] else _begun(today, month, day)
    return _day(date(year, month, day))


# ---------------------------------------------------------------------------- the forms

_NAME: Final = (
    "(?P<m>january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_FULL_NAME: Final = f"(?P<m>{'|'.join(_MONTHS)})"
_D: Final = r"(?P<d>[0-3]?\d)(?:st|nd|rd|th)?"
_Y: Final = r"(?P<y>(?:19|20)\d\d)"
_N: Final = rf"(?P<n>\d{{1,3}}|{'|'.join(n for n in _NUMBERS if n.isascii())})"
_KN: Final = r"(?P<n>\d{1,3}|한|두|세|네)"
_UNIT: Final = "(?P<u>day|week|month|year)"

_FORMS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], _Days]], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.ASCII), days)
    for pattern, days in (
        # days
        (
            rf"(?<!\d){_Y}-(?P<m>\d\d)-(?P<d>\d\d)(?!\d)",
            lambda f, _: _day(date(int(f["y"]), int(f["m"]), int(f["d"]))),
        ),
        (rf"\b{_D}(?: of)? {_NAME}\b\.?(?:,? {_Y}\b)?", _on_day),
        (rf"\b{_NAME}\.? {_D}\b(?:,? {_Y}\b)?", _on_day),
        (r"(?:(?P<y>\d{4})년 ?)?(?P<m>1?\d)월 ?(?P<d>[1-3]?\d)일", _korean_day),
        (r"\b(?:today|tonight)\b|오늘", lambda _, today: _day(today)),
        (r"\byesterday\b|어제", lambda _, today: _day(today - timedelta(1))),
        (r"그저께|그제", lambda _, today: _day(today - timedelta(2))),
        (
            rf"\blast (?P<w>{'|'.join(_WEEKDAYS)})\b",
            lambda f, today: _last_weekday(f["w"], today),
        ),
        # months
        (rf"\b{_NAME}\.?,? {_Y}\b", lambda f, _: _month(int(f["y"]), _month_of(f["m"]))),
        (rf"(?<!\d){_Y}-(?P<m>\d\d)(?![-\d])", lambda f, _: _month(int(f["y"]), int(f["m"]))),
        (r"(?:(?P<y>\d{4})년 ?)?(?<!\d)(?P<m>1?\d)월", _korean_month),
        # so long ago
        (rf"\b{_N} {_UNIT}s? ago\b", lambda f, today: _ago(f["u"], _number(f["n"]), today)),
        (
            rf"{_KN} ?(?P<u>일|주일?|달|개월|년) ?전",
            lambda f, today: _ago(f["u"], _number(f["n"]), today),
        ),
        # the last and this one
        (rf"\b(?:last|past|previous) {_UNIT}\b", lambda f, today: _ago(f["u"], 1, today)),
        (rf"\bthis {_UNIT}\b", lambda f, today: _ago(f["u"], 0, today)),
        (r"지난 ?주", lambda _, today: _ago("week", 1, today)),
        (r"이번 ?주", lambda _, today: _ago("week", 0, today)),
        (r"지난 ?달", lambda _, today: _ago("month", 1, today)),
        (r"이번 ?달", lambda _, today: _ago("month", 0, today)),
        (r"작년|지난 ?해", lambda _, today: _ago("year", 1, today)),
        (r"올해", lambda _, today: _ago("year", 0, today)),
        # a month alone is a verb as often (may, march); a number alone is no year
        (rf"\b(?:in|during|since|of|early|late|last|this) {_FULL_NAME}\b", _in_month),
        (rf"\b(?:in|during|since|of|from|year) {_Y}\b", lambda f, _: _year(int(f["y"]))),
        (r"(?<!\d)(?P<y>(?:19|20)\d\d)년", lambda f, _: _year(int(f["y"]))),
    )
)
