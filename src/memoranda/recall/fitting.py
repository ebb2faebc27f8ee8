"""Whether an object of the journal is what a filter asks for, by the filter's own definition."""

from typing import Any

from memoranda.identity import decode
from memoranda.ledger.derive import thread_of
from memoranda.ledger.object import data_of
from memoranda.ledger.unit import Current
from memoranda.records.filter import Judged, MemoryFilter, matches
from memoranda.records.model import StoredMemoryRecord

EVERYTHING = MemoryFilter()
"""The filter that asks for all there is."""


def judged(current: Current) -> Judged:
    """An object as a filter judges it."""
    document: Any = decode(current.body)
    tags = document.get("tags")
    record = StoredMemoryRecord(
        current.id,
        data_of(document),
        current.created_at,
        current.updated_at,
        None if tags is None else tuple(tags),
        document.get("meta"),
    )
    return Judged(record, current.subject, thread_of(document), current.since)


def fits(filter: MemoryFilter, current: Current) -> bool:
    """Whether a filter asks for an object; paging aside."""
    if filter == EVERYTHING:
        return True
    record, subject, thread, _ = judged(current)
    return matches(filter, record, subject, thread)


def fits_by_time(filter: MemoryFilter, created_at: int) -> bool:
    """Whether a filter asks for something of which no more is known than when it was made."""
    rest = filter.model_copy(update={"created_after": None, "created_before": None})
    return (
        rest == EVERYTHING
        and (filter.created_after is None or filter.created_after <= created_at)
        and (filter.created_before is None or created_at <= filter.created_before)
    )
