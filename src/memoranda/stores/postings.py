"""Postings as both databases store them: a token's entries, in chunks that are read as they are.

A chunk holds up to `CHUNK` postings of one token, by the number of the entry, all of one block
(`recall.postings`). It is found by the number of its first entry; its body is the place of each
in its block, then what each is: a byte for the length of its document, one for its count
(`text.lengths`). All are numbers of two bytes, the low one first: `array` reads them as they
are, a hundred times faster than any code that Python would have to take apart. `CHUNK` is so
small that a row lies in a page of either database beside others, with nothing outside of it.
"""

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from memoranda.recall.postings import BLOCK, BLOCK_BITS, Run

CHUNK: Final = 240
"""Postings to a chunk, at most."""

POSTING_BYTES: Final = 4
_PLACE: Final = BLOCK - 1
_SWAPPED: Final = sys.byteorder == "big"


class ChunkDamaged(ValueError):
    """Bytes that are no chunk of postings: the index was changed beside memoranda."""


class Posting(NamedTuple):
    """An entry that has a token, and its `lengths.kind_of`."""

    seq: int
    kind: int


class Chunk(NamedTuple):
    """Some postings of a token: the number of the first entry, and all of them."""

    first: int
    body: bytes


def packed(postings: Iterable[Posting]) -> list[Chunk]:
    """Postings in order, as chunks."""
    runs: list[Run] = []
    for seq, kind in postings:
        number = seq >> BLOCK_BITS
        if not runs or runs[-1].block != number:
            runs.append(Run(number, array("H"), array("H")))
        runs[-1].places.append(seq & _PLACE)
        runs[-1].kinds.append(kind)
    return [chunk for run in runs for chunk in _cut(run)]


def run_of(chunk: Chunk) -> Run:
    """The postings of a chunk; ChunkDamaged if its body can't be any."""
    first, body = chunk
    size = len(body) // POSTING_BYTES
    if not size or len(body) != size * POSTING_BYTES:
        raise ChunkDamaged("a chunk has four bytes for each of its postings")
    places, kinds = array("H"), array("H")
    places.frombytes(body[: 2 * size])
    kinds.frombytes(body[2 * size :])
    if _SWAPPED:
        places.byteswap()
        kinds.byteswap()
    return Run(first >> BLOCK_BITS, places, kinds)


def size_of(body: bytes) -> int:
    """How many postings a chunk has."""
    return len(body) // POSTING_BYTES


def postings_of(chunk: Chunk) -> list[Posting]:
    """The postings of a chunk, one by one; ChunkDamaged if it is not as `packed` makes them."""
    block, places, kinds = run_of(chunk)
    if not chunk.first >= 0 or chunk.first & _PLACE != places[0]:
        raise ChunkDamaged("a chunk begins with the entry that it is found by")
    if len(places) > CHUNK or any(one >= after for one, after in pairwise(places)):
        raise ChunkDamaged("a chunk has its postings in order, each once, and not too many")
    base = block << BLOCK_BITS
    return [Posting(base | place, kind) for place, kind in zip(places, kinds, strict=True)]


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
    runs: list[Run] = []
    for chunk in chunks:
        run = run_of(chunk)
        if runs and runs[-1].block == run.block:
            runs[-1].places.extend(run.places)
            runs[-1].kinds.extend(run.kinds)
        else:
            runs.append(run)
    return [chunk for run in runs for chunk in _cut(run)]


def _cut(run: Run) -> Iterator[Chunk]:
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
