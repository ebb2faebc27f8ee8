"""The order of results: always total and stable."""

from collections.abc import Iterable
from heapq import nsmallest

from recollect.recall.candidates import Scored


def place_of(one: Scored) -> tuple[float, int, str]:
    """What results are ordered by: the highest score, then the newest, then the id."""
    return -one.score, -one.created_at, one.id


def in_order(found: Iterable[Scored], limit: int | None = None) -> list[Scored]:
    """The best first; at most so many."""
    if limit is None:
        return sorted(found, key=place_of)
    return nsmallest(limit, found, key=place_of)
