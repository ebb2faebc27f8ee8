"""Times as users give them: a datetime with its zone, an RFC 3339 text, or milliseconds."""

from datetime import datetime

from memoranda.kernel.errors import InvalidTime
from memoranda.kernel.json import MAX_INTEGER
from memoranda.ledger.time import format_time, instant

Moment = datetime | str | int


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
