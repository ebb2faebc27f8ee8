"""Times as users give them: a datetime with its zone, a text, or milliseconds.

What is written down is an RFC 3339 text (`milliseconds`). Whoever asks may also write as people
do (`milliseconds_of`), always in UTC:

- ``2026-11-16``: the start of that day; as the end of a span, its last millisecond
- ``2026-11-16 10:22``, ``2026-11-16 10:22:31``: that very moment
- ``now``, ``today``, ``yesterday``: the last two are days, as above
- ``30s ago``, ``5 minutes ago``, ``2h ago``, ``3 days ago``, ``1w ago``
"""

import re
from datetime import datetime
from typing import Final

from memoranda.kernel.errors import InvalidTime
from memoranda.kernel.json import MAX_INTEGER
from memoranda.ledger.time import format_time, instant

Moment = datetime | str | int
"""A time: a datetime with its zone, a text, or milliseconds since 1970."""

_DAY: Final = 86_400_000
_AGO: Final = re.compile(
    r"(\d{1,9}) ?(?:(s|secs?|seconds?)|(m|mins?|minutes?)|(h|hours?)|(d|days?)|(w|weeks?)) ago",
    re.ASCII | re.IGNORECASE,
)
_UNITS: Final = (1_000, 60_000, 3_600_000, _DAY, 7 * _DAY)
_IN_UTC: Final = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ Tt](\d\d:\d\d)(:\d\d(?:\.\d+)?)?)?", re.ASCII)
_DAYS_AGO: Final = {"today": 0, "yesterday": 1}


def milliseconds(moment: Moment) -> int:
    """Milliseconds since 1970; a datetime without a zone is refused, because it names no moment."""
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise InvalidTime(str(moment), "it has no time zone; say which, such as datetime.UTC")
        return round(moment.timestamp() * 1000)
    if isinstance(moment, str):
        found = instant(moment)
        if found is None:
            raise InvalidTime(moment, "it is not RFC 3339, such as 2026-02-15T10:22:31Z")
        seconds, fraction = found
        return seconds * 1000 + int(fraction[:3].ljust(3, "0"))
    if type(moment) is int and -MAX_INTEGER <= moment <= MAX_INTEGER:
        format_time(moment)  # a time that has no date can't be written
        return moment
    kind = f"a value of the type {type(moment).__name__}"
    raise InvalidTime(kind, "it is neither a datetime, nor RFC 3339, nor milliseconds")


def milliseconds_or_none(moment: Moment | None) -> int | None:
    """The same for a time that may be left out."""
    return None if moment is None else milliseconds(moment)


def milliseconds_of(moment: Moment | None, now: int, *, is_end: bool = False) -> int | None:
    """The same for a time that is asked for; None where it is left out.

    A day stands for its start, and where a span ends for its end: what is asked for until a day
    includes that day.
    """
    if not isinstance(moment, str):
        return None if moment is None else milliseconds(moment)
    text = moment.strip().lower()
    if text == "now":
        return now
    if (ago := _AGO.fullmatch(text)) is not None:
        number, *units = ago.groups()
        unit = next(ms for ms, named in zip(_UNITS, units, strict=True) if named)
        return milliseconds(now - int(number) * unit)
    if text in _DAYS_AGO:
        start = now - now % _DAY - _DAYS_AGO[text] * _DAY
        return start + _DAY - 1 if is_end else start
    if (written := _IN_UTC.fullmatch(text)) is None:
        return _as_a_time(moment)
    day, minute, second = written.groups()
    found = _as_a_time(f"{day}T{minute or '00:00'}{second or ':00'}Z", moment)
    return found + _DAY - 1 if is_end and minute is None else found


def is_relative(moment: object) -> bool:
    """Whether a time depends on when it is read."""
    return isinstance(moment, str) and (
        moment.strip().lower() in {"now", *_DAYS_AGO} or _AGO.fullmatch(moment.strip()) is not None
    )


def _as_a_time(text: str, given: str | None = None) -> int:
    try:
        return milliseconds(text)
    except InvalidTime:
        why = "it is neither a day, nor RFC 3339, nor such as '2h ago'"
        raise InvalidTime(text if given is None else given, why) from None
