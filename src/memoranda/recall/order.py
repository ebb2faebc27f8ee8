"""The order of results: always total and stable."""

from collections.abc import Iterable
from heapq import nsmallest

from memoranda.recall.candidates import Scored


def place_of(one: Scored) -> tuple[float, int]:
    """What results are ordered by: the highest score, then the newest entry.

    The number of an entry is the record's alone, so the order is total; and it stands in every
    posting, so that of fifty thousand equal ones no record need be read to tell the newest.
    """
    return -one.score, -one.seq


def in_order(found: Iterable[Scored], limit: int | None = None) -> list[Scored]:
    """The best first; at most so many."""
    if limit is None:
        return sorted(found, key=place_of)
    return nsmallest(limit, found, key=place_of)
