"""How long a journal was then: what was known is what stood in it."""

from datetime import datetime
from typing import Final

from memoranda.journeys.govern.moments import milliseconds_of
from memoranda.kernel.errors import InvalidFilter, InvalidTime, RecordNotFound
from memoranda.kernel.json import MAX_INTEGER
from memoranda.ledger.entry import read_entry
from memoranda.ledger.unit import Ledger

At = datetime | str | int
"""When: a time, or the number of an entry, which stands for everything up to and with it."""


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
    """How many entries there were then."""
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
