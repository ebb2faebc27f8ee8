"""When a statement holds: milliseconds inside, RFC 3339 on the wire (GOV-TIME-1, GOV-TIME-2).

Both bounds are inclusive: a statement holds from `valid_from` up to and at `valid_to`; *past*
valid_to it does not. A record that `expires` is gone at that very millisecond, as with every other
expiry date. A bound that is not there is unknown, and says so, or is a declared 'no end'.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final, Literal

from memoranda.kernel.errors import InvalidTime
from memoranda.kernel.json import JsonValue

TemporalScope = Literal["unknown", "bounded", "unbounded"]

_EPOCH: Final = date(1970, 1, 1).toordinal()
_SECONDS_A_DAY: Final = 86_400
_OURS: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{3}))?Z", re.ASCII
)
_RFC3339: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d+))?"
    r"(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))",
    re.ASCII,
)
_DAYS_IN_400_YEARS: Final = 146_097


# ------------------------------------------------------------------------- the wire


@lru_cache(maxsize=1024)
def parse_time(text: str) -> int:
    """The milliseconds of what `format_time` wrote, or of the same without its fraction."""
    found = _OURS.fullmatch(text)
    if found is None:
        raise InvalidTime(text, "it is not RFC 3339 in UTC with Z, in milliseconds")
    day, hour, minute, second, fraction = found.groups()
    seconds = int(hour) * 3600 + int(minute) * 60 + int(second)
    return (_day(day) * _SECONDS_A_DAY + seconds) * 1000 + int(fraction or 0)


def instant(text: str) -> tuple[int, str] | None:
    """Any RFC 3339 time as a value that orders as time does; None when it is no such time.

    For times of others: every offset and precision. A leap second, which only the last second of
    a day in UTC can be, orders with the first moment of the next day.
    """
    found = _RFC3339.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    fraction, sign, hours, minutes = found.groups()[6:]
    offset = (int(hours) * 60 + int(minutes)) * (-1 if sign == "-" else 1) if sign else 0
    try:  # RFC 3339 has a year 0, which is a leap year; `date` has not
        days = date(year or 400, month, day).toordinal() - (0 if year else _DAYS_IN_400_YEARS)
    except ValueError:
        return None
    seconds = (days - _EPOCH) * _SECONDS_A_DAY + hour * 3600 + (minute - offset) * 60 + second
    if second == 60 and seconds % _SECONDS_A_DAY:  # noqa: PLR2004 - a leap second
        return None
    return seconds, (fraction or "").rstrip("0")


def moment(ms: int) -> tuple[int, str]:
    """Milliseconds since 1970, as a value that compares with an `instant`."""
    second, rest = divmod(ms, 1000)
    return second, f"{rest:03d}".rstrip("0")


@lru_cache(maxsize=256)
def _day(text: str) -> int:
    try:
        return date.fromisoformat(text).toordinal() - _EPOCH
    except ValueError:
        raise InvalidTime(text, "there is no such day") from None


# ------------------------------------------------------------------------- validity


@dataclass(frozen=True, slots=True)
class Validity:
    """When a statement holds, by what is known of it.

    ``unknown``: a bound that is None is not known. ``bounded``: both bounds are known (GOV-TIME-1).
    ``unbounded``: it holds from `valid_from` on, without end.
    """

    valid_from: int | None = None
    valid_to: int | None = None
    scope: TemporalScope = "unknown"

    def __post_init__(self) -> None:
        if self.scope != "unknown" and self.valid_from is None:
            raise InvalidTime(None, f"what is {self.scope} needs a valid_from, or say 'unknown'")
        if self.scope == "bounded" and self.valid_to is None:
            raise InvalidTime(None, "what is bounded needs a valid_to")
        if self.scope == "unbounded" and self.valid_to is not None:
            raise InvalidTime(self.valid_to, "what is unbounded has no valid_to")
        if None not in (start := self.valid_from, end := self.valid_to) and start > end:  # type: ignore[operator]
            raise InvalidTime(end, "valid_to is before valid_from")

    @classmethod
    def between(cls, valid_from: int | None = None, valid_to: int | None = None) -> "Validity":
        """Bounded when both bounds are given; else what is missing is unknown, explicitly."""
        known = valid_from is not None and valid_to is not None
        return cls(valid_from, valid_to, "bounded" if known else "unknown")


UNKNOWN: Final = Validity()
"""Nothing is known of when it holds (GOV-TIME-2)."""


def validity_of(document: Mapping[str, JsonValue]) -> Validity:
    """When the statement of an object holds; InvalidTime where it does not say so.

    Both bounds need no scope to be said beside them; a missing one does (GOV-TIME-2).
    """
    start, end = document.get("valid_from"), document.get("valid_to")
    from_ms = None if start is None else parse_time(start)
    to_ms = None if end is None else parse_time(end)
    scope = document.get("temporal_scope")
    if scope is None and (start is None or end is None):
        raise InvalidTime(None, "a bound is missing, and temporal_scope does not say 'unknown'")
    return Validity(from_ms, to_ms, scope or "bounded")


def valid_at(validity: Validity, ms: int) -> bool:
    """Whether nothing that is known says that it does not hold at this time; bounds included."""
    start, end = validity.valid_from, validity.valid_to
    return (start is None or start <= ms) and (end is None or ms <= end)


def most_restrictive(validities: Iterable[Validity]) -> Validity | None:
    """When all of them hold: the intersection, or None when there is no such time (GOV-TIME-3).

    What is unknown in one of them stays unknown in the result, beside the bounds that are known.
    Of nothing at all, everything is unknown.
    """
    met: Validity | None = None
    for validity in validities:
        met = validity if met is None else _met(met, validity)
        if met is None:
            return None
    return met or UNKNOWN


def _met(validity: Validity, other: Validity) -> Validity | None:
    starts = [start for start in (validity.valid_from, other.valid_from) if start is not None]
    ends = [end for end in (validity.valid_to, other.valid_to) if end is not None]
    start, end = max(starts, default=None), min(ends, default=None)
    if start is not None and end is not None and start > end:
        return None
    if "unknown" in (validity.scope, other.scope):
        return Validity(start, end, "unknown")
    return Validity(start, end, "unbounded" if end is None else "bounded")


def is_within(inner: Validity, outer: Validity) -> bool:
    """Whether `inner` claims no time that `outer` does not (GOV-TIME-3).

    A known bound may be drawn tighter, never dropped; an unknown end may get one, but never
    become a declared 'no end'.
    """
    if outer.valid_from is not None and (
        inner.valid_from is None or inner.valid_from < outer.valid_from
    ):
        return False
    if outer.valid_to is not None:
        return inner.valid_to is not None and inner.valid_to <= outer.valid_to
    return outer.scope == "unbounded" or inner.scope != "unbounded"
