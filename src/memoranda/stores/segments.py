"""Segments of a word index: postings that were written together, and when they are merged.

Each batch of entries that is merged into the index becomes a segment of level 0: rows side by
side, written in the order of their keys. `FANOUT` of a level that follow each other become one of
the next level, in spare time: so a posting is written as often as there are levels, never a page
for each word of each record, and a search looks into a few segments only.

A merge goes token by token, in short transactions: the new segment is there from the first of
them, and each moves the postings of some tokens from the old ones into it. At every moment every
posting is in one segment. Whoever goes on, after a crash too, sees from the rows what is left.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

FANOUT: Final = 8
"""Segments of one level that become one of the next."""


class Segment(NamedTuple):
    """The postings of the entries from `first` up to `until`, or a part of them."""

    number: int
    first: int
    until: int
    level: int


class Merge(NamedTuple):
    """Segments that become one; it is there already if the merge was begun."""

    into: Segment
    of: Sequence[Segment]
    is_begun: bool


def next_number(segments: Iterable[Segment]) -> int:
    """A number that no segment has."""
    return max((one.number for one in segments), default=0) + 1


def due(segments: Iterable[Segment]) -> Merge | None:
    """What is to be merged next: what was begun, else the lowest level that is full."""
    known = sorted(segments, key=lambda one: (one.first, -one.level))
    for one in known:
        if inside := _inside(one, known):
            return Merge(one, inside, is_begun=True)
    for level in sorted({one.level for one in known}):
        beside: list[Segment] = []
        for one in known:
            beside = [*beside, one] if one.level == level else []
            if len(beside) == FANOUT:
                number = next_number(known)
                into = Segment(number, beside[0].first, beside[-1].until, level + 1)
                return Merge(into, beside, is_begun=False)
    return None


def wrong(segments: Iterable[Segment], indexed: int) -> str | None:
    """What is wrong with the segments of an index of so many entries; None if nothing is.

    Those that are not inside another one, which they are being merged into, follow each other
    from entry 0 up to the last one.
    """
    known = sorted(segments, key=lambda one: (one.first, -one.level))
    end = 0
    for one in known:
        if one.until <= one.first or one.level < 0:
            return f"segment {one.number} has no entries"
        if any(one in _inside(other, known) for other in known):
            continue
        if one.first != end:
            return f"segment {one.number} begins at entry {one.first:,}, not at {end:,}"
        end = one.until
    if end != indexed:
        return f"its segments end at entry {end:,}, and it has the words of {indexed:,}"
    return None


def _inside(one: Segment, known: Iterable[Segment]) -> list[Segment]:
    return [
        other
        for other in known
        if other.level == one.level - 1 and one.first <= other.first and other.until <= one.until
    ]
