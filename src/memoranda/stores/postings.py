"""Postings as both databases store them: a token's entries, in chunks that are read as they are.

A chunk holds up to `CHUNK` postings of one token, by the number of the entry, all of one block
(`recall.postings`). It is found by the number of its first entry; its body is the place of each
in its block, then what each is: a byte for the length of its document, one for its count
(`text.tokens`). All are numbers of two bytes, the low one first: `array` reads them as they
are, a hundred times faster than any code that Python would have to take apart. `CHUNK` is so
small that a row lies in a page of either database beside others, with nothing outside of it.
"""

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import lt
from struct import Struct
from typing import Final, NamedTuple

from memoranda.recall.postings import BLOCK, BLOCK_BITS, PostingRun

CHUNK: Final = 240
"""Postings to a chunk, at most."""

POSTING_BYTES: Final = 4
_ONE_POSTING: Final = Struct("<HH")
_PLACE: Final = BLOCK - 1
_SWAPPED: Final = sys.byteorder == "big"


class ChunkDamaged(ValueError):
    """Bytes that are no chunk of postings: something else changed the index."""


class Posting(NamedTuple):
    """An entry that has a token, and its `lengths.kind_of`."""

    seq: int
    kind: int


class Chunk(NamedTuple):
    """Some postings of a token: the number of the first entry, and all of them."""

    first: int
    body: bytes


def packed(postings: Iterable[Posting]) -> list[Chunk]:
    runs: list[PostingRun] = []
    for seq, kind in postings:
        number = seq >> BLOCK_BITS
        if not runs or runs[-1].block != number:
            runs.append(PostingRun(number, array("H"), array("H")))
        runs[-1].places.append(seq & _PLACE)
        runs[-1].kinds.append(kind)
    return [chunk for run in runs for chunk in _cut(run)]


def run_of(chunk: Chunk) -> PostingRun:
    """The postings of a chunk; ChunkDamaged if its body can't be any."""
    first, body = chunk
    size = len(body) // POSTING_BYTES
    if not size or len(body) != size * POSTING_BYTES:
        raise ChunkDamaged("a chunk has four bytes for each of its postings")
    numbers = array("H", body)
    if _SWAPPED:
        numbers.byteswap()
    return PostingRun(first >> BLOCK_BITS, numbers[:size], numbers[size:])


def size_of(body: bytes) -> int:
    return len(body) // POSTING_BYTES


def checked(first: int, body: bytes) -> tuple[Sequence[int], Sequence[int]]:
    """The entries and kinds of a chunk; ChunkDamaged if it is not as `packed` makes them."""
    if len(body) == POSTING_BYTES:  # as most are
        place, kind = _ONE_POSTING.unpack(body)
        if first < 0 or first & _PLACE != place:
            raise ChunkDamaged("a chunk begins with the entry that it is found by")
        return (first,), (kind,)
    _, places, kinds = run_of(Chunk(first, body))
    if first < 0 or first & _PLACE != places[0]:
        raise ChunkDamaged("a chunk begins with the entry that it is found by")
    if len(places) > CHUNK or not all(map(lt, places, islice(places, 1, None))):
        raise ChunkDamaged("a chunk has its postings in order, each once, and not too many")
    base = first - places[0]
    return (array("q", map(base.__add__, places)) if base else places), kinds


def postings_of(chunk: Chunk) -> list[Posting]:
    """The postings of a chunk, one by one; ChunkDamaged if it is not as `packed` makes them."""
    return list(map(Posting, *checked(*chunk)))


def without(chunk: Chunk, seq: int) -> list[Chunk]:
    """A chunk without the posting of an entry: itself if it has none, nothing if it had no other.

    Its first entry may be another one than before: then it is another row.
    """
    run = run_of(chunk)
    place = seq & _PLACE
    at = bisect_left(run.places, place)
    if seq >> BLOCK_BITS != run.block or at == len(run.places) or run.places[at] != place:
        return [chunk]
    del run.places[at]
    del run.kinds[at]
    return list(_cut(run))


def joined(chunks: Iterable[Chunk]) -> list[Chunk]:
    """The chunks of a token, by their first entries, as few as they can be."""
    runs: list[PostingRun] = []
    for chunk in chunks:
        run = run_of(chunk)
        if runs and runs[-1].block == run.block:
            runs[-1].places.extend(run.places)
            runs[-1].kinds.extend(run.kinds)
        else:
            runs.append(run)
    return [chunk for run in runs for chunk in _cut(run)]


def _cut(run: PostingRun) -> Iterator[Chunk]:
    base = run.block << BLOCK_BITS
    for start in range(0, len(run.places), CHUNK):
        part = slice(start, start + CHUNK)
        body = _bytes(run.places[part]) + _bytes(run.kinds[part])
        yield Chunk(base | run.places[start], body)


def _bytes(numbers: Sequence[int]) -> bytes:
    own = array("H", numbers)
    if _SWAPPED:
        own.byteswap()
    return own.tobytes()


# ------------------------------------------------------------------------------------------------
# Segments of a word index: postings that were written together, and when they are merged.
#
# Each batch of entries that is merged into the index becomes a segment of level 0: rows side by
# side, written in the order of their keys. `FANOUT` of a level that follow each other become one of
# the next level, in spare time: so a posting is written as often as there are levels, never a page
# for each word of each record, and a search looks into a few segments only.
#
# A merge goes token by token, in short transactions: the new segment is there from the first of
# them, and each moves the postings of some tokens from the old ones into it. At every moment every
# posting is in one segment. Whoever goes on, after a crash too, sees from the rows what is left.

FANOUT: Final = 8
"""Segments of one level that become one of the next."""


class Segment(NamedTuple):
    """The postings of the entries from `first` up to `until`, or a part of them."""

    number: int
    first: int
    until: int
    level: int


class SegmentMerge(NamedTuple):
    """Segments that become one; it is there already if the merge was begun."""

    into: Segment
    of: Sequence[Segment]
    is_begun: bool


def next_number(segments: Iterable[Segment]) -> int:
    return max((segment.number for segment in segments), default=0) + 1


def due(segments: Iterable[Segment]) -> SegmentMerge | None:
    """What is to be merged next: what was begun, else the lowest level that is full."""
    known = sorted(segments, key=lambda one: (one.first, -one.level))
    for segment in known:
        if inside := _inside(segment, known):
            return SegmentMerge(segment, inside, is_begun=True)
    for level in sorted({segment.level for segment in known}):
        adjacent: list[Segment] = []
        for segment in known:
            adjacent = [*adjacent, segment] if segment.level == level else []
            if len(adjacent) == FANOUT:
                number = next_number(known)
                into = Segment(number, adjacent[0].first, adjacent[-1].until, level + 1)
                return SegmentMerge(into, adjacent, is_begun=False)
    return None


def wrong(segments: Iterable[Segment], indexed: int) -> str | None:
    """What is wrong with the segments of an index of so many entries; None if nothing is.

    Those that are not inside another one, which they are being merged into, follow each other
    from entry 0 up to the last one.
    """
    known = sorted(segments, key=lambda one: (one.first, -one.level))
    end = 0
    for segment in known:
        if segment.until <= segment.first or segment.level < 0:
            return f"segment {segment.number} has no entries"
        if any(segment in _inside(other, known) for other in known):
            continue
        if segment.first != end:
            return f"segment {segment.number} begins at entry {segment.first:,}, not at {end:,}"
        end = segment.until
    if end != indexed:
        return f"its segments end at entry {end:,}, and it has the words of {indexed:,}"
    return None


def _inside(segment: Segment, known: Iterable[Segment]) -> list[Segment]:
    return [
        other
        for other in known
        if other.level == segment.level - 1
        and segment.first <= other.first
        and other.until <= segment.until
    ]
