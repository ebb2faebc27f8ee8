"""Times as users give them, and how long a journal was then.

A time is a datetime with its zone, a text, or milliseconds.

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

from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import InvalidFilter, InvalidTime, RecordNotFound
from memoranda.kernel.json import MAX_INTEGER
from memoranda.ledger.entry import read_entry
from memoranda.ledger.port import Ledger
from memoranda.ledger.time import instant

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

    A day is taken for its start, or for its end where a span ends: what is asked for until a day
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


At = datetime | str | int
"""When: a time, or the number of an entry: everything up to it, and that entry."""


_MILLISECONDS: Final = 100_000_000_000
"""From here on a number is taken for milliseconds, of 1973 or later: no journal is so long."""


def entry_or_time(at: At, now: int) -> tuple[int | None, int | None]:
    """The number of the last entry that is asked for, or the last millisecond; one is None."""
    if isinstance(at, int):
        if type(at) is not int or not 0 <= at < MAX_INTEGER:
            raise InvalidFilter("at", "an entry's number is a whole number from 0")
        if at >= _MILLISECONDS:
            why = "a number is that of an entry; give a time as a datetime or as a text"
            raise InvalidFilter("at", why)
        return at, None
    if not isinstance(at, datetime | str):
        raise InvalidFilter("at", f"it is a time or an entry's number, not {type(at).__name__}")
    try:
        return None, milliseconds_of(at, now)
    except InvalidTime as refused:
        raise InvalidFilter("at", f"{refused.why}; an entry's number is an int") from None


async def size_of(ledger: Ledger, at: At, now: int) -> int:
    entry, ms = entry_or_time(at, now)
    if entry is not None:
        return entry + 1
    assert ms is not None  # noqa: S101 - one of them is there
    return await size_at(ledger, ms, (await ledger.head()).size)


async def size_at(ledger: Ledger, ms: int, size: int) -> int:
    """How many of the first `size` entries there were at a time: they lie in its order."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        found = await ledger.bytes_at([middle])
        if middle not in found:
            raise RecordNotFound(f"entry {middle}")
        if read_entry(found[middle]).at <= ms:
            low = middle + 1
        else:
            high = middle
    return low
