"""Postings as both databases store them: a token's entries, in chunks that are read as they are.

A chunk holds up to `CHUNK` postings of one token, by the number of the entry, all of one block of
65,536. It is found by the number of its first entry; its body is the place of each in its block,
then what each is: a byte for the length of its document, one for its count (`text.tokens`). All
are numbers of two bytes, the low one first: numpy reads them as they are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Final, NamedTuple

from memoranda.recall.arrays import np
from memoranda.recall.columns import Numbers
from memoranda.recall.ranking import Postings
from memoranda.text.tokens import MOST

CHUNK: Final = 4_096
"""Postings to a chunk, at most: a version that is replaced has its chunks written anew."""

POSTING_BYTES: Final = 4
BLOCK_BITS: Final = 16
_PLACE: Final = (1 << BLOCK_BITS) - 1
_NUMBER: Final = "<u2"
_BEYOND: Final = 1 << 62


class ChunkDamaged(ValueError):
    """Bytes that are no chunk of postings: something else changed the index."""


class Chunk(NamedTuple):
    """Some postings of a token: the number of the first entry, and all of them."""

    first: int
    body: bytes


def packed(postings: Postings) -> list[Chunk]:
    """The chunks of a token, as few as they can be."""
    return list(_cut(postings))


def postings_in(chunks: Sequence[Chunk]) -> Postings:
    """The postings of some chunks of a token, in order; ChunkDamaged if they can't be any."""
    if len(chunks) == 1:
        return _read(chunks[0])
    found = [_read(chunk) for chunk in chunks]
    seqs = np.concatenate([some.seqs for some in found])
    kinds = np.concatenate([some.kinds for some in found])
    if len(seqs) > 1 and not (seqs[1:] > seqs[:-1]).all():  # of several segments, say
        order = np.argsort(seqs, kind="stable")
        seqs, kinds = seqs[order], kinds[order]
    return Postings(seqs, kinds)


def checked(chunk: Chunk) -> Postings:
    """The postings of a chunk; ChunkDamaged if it is not as `packed` makes them."""
    sizes, seqs, kinds = all_checked([chunk.first], [chunk.body], [0], [_BEYOND])
    if not sizes[0]:
        raise ChunkDamaged(
            "a chunk has postings in order, each once, not too many; the first names it"
        )
    return Postings(seqs, kinds)


def all_checked(
    firsts: Sequence[int],
    bodies: Sequence[bytes],
    starts: Sequence[int | None],
    ends: Sequence[int | None],
) -> tuple[Numbers, Numbers, Numbers]:
    """How many postings each of some chunks has, then the postings of all of them.

    A chunk has none if it is damaged (`checked`), or goes beyond its segment, which begins and
    ends at these entries.
    """
    lengths = np.array(list(map(len, bodies)), np.int64)
    sizes = lengths // POSTING_BYTES
    good = (lengths > 0) & (lengths == sizes * POSTING_BYTES) & (sizes <= CHUNK)
    if not good.all():  # nothing can be read of some
        kept = [
            body if is_good else b"" for body, is_good in zip(bodies, good.tolist(), strict=True)
        ]
        bodies, sizes = kept, np.where(good, sizes, 0)
    numbers = np.frombuffer(b"".join(bodies), _NUMBER)
    behind = np.cumsum(sizes)
    before = behind - sizes
    places = np.arange(len(numbers) // 2) + np.repeat(before, sizes)
    base = np.array(firsts, np.int64)
    seqs = numbers[places] + np.repeat(base & ~_PLACE, sizes)
    kinds = numbers[places + np.repeat(sizes, sizes)]
    # A chunk begins with the entry that it is found by, has its postings in order, each once, and
    # none before or behind those of its segment.
    there = np.flatnonzero(good)
    low = np.array([-1 if start is None else start for start in starts], np.int64)
    high = np.array([0 if end is None else end for end in ends], np.int64)
    first, last = before[there], behind[there] - 1
    fits = (seqs[first] == base[there]) & (base[there] >= 0)
    fits &= (low[there] <= seqs[first]) & (seqs[last] < high[there])
    rises = np.ones(len(seqs) + 1, np.bool_)
    rises[1:-1] = seqs[1:] > seqs[:-1]
    rises[before[there]] = True
    falls = np.cumsum(~rises)
    fits &= falls[last] == falls[first]
    if fits.all():
        return sizes, seqs, kinds
    fitting = np.zeros(len(sizes), np.bool_)
    fitting[there[fits]] = True
    kept_ones = np.repeat(fitting, sizes)
    return np.where(fitting, sizes, 0), seqs[kept_ones], kinds[kept_ones]


def without(chunk: Chunk, seqs: Iterable[int]) -> list[Chunk]:
    """A chunk without the postings of some entries: itself if it has none of them.

    Its first entry may be another one than before: then it is another row.
    """
    found = _read(chunk)
    left = ~np.isin(found.seqs, list(seqs))
    if left.all():
        return [chunk]
    return packed(Postings(found.seqs[left], found.kinds[left]))


def joined(chunks: Sequence[Chunk]) -> list[Chunk]:
    """The chunks of a token, each after the one before, as few as they can be."""
    first, size = chunks[0].first, sum(len(chunk.body) for chunk in chunks)
    is_one_block = first >> BLOCK_BITS == chunks[-1].first >> BLOCK_BITS
    if not is_one_block or size > CHUNK * POSTING_BYTES:
        return packed(postings_in(chunks))
    # Most are of rare words, and short: their bytes are put together as they are.
    halves = [(chunk.body, len(chunk.body) // 2) for chunk in chunks]
    places = b"".join(body[:half] for body, half in halves)
    return [Chunk(first, places + b"".join(body[half:] for body, half in halves))]


class TokenNumbers(dict[str, int]):
    """A number for each token, from 0 on."""

    def __missing__(self, token: str) -> int:
        number = self[token] = len(self)
        return number


class PostingColumns(NamedTuple):
    """Postings of several tokens: the number of the token, the entry, the kind."""

    tokens: Numbers
    seqs: Numbers
    kinds: Numbers

    def at(self, places: Numbers) -> "PostingColumns":
        return PostingColumns(*(column[places] for column in self))


WordCounts = tuple[int, Mapping[str, int], int]
"""The words of a document: its entry, its counts, and the class of its length."""


def columns_of_words(documents: Sequence[WordCounts], numbers: TokenNumbers) -> PostingColumns:
    """The postings of documents, which come by their entry, in the order of these."""
    sizes = [len(counts) for _, counts, _ in documents]
    total = sum(sizes)
    names = chain.from_iterable(counts for _, counts, _ in documents)
    counted = chain.from_iterable(counts.values() for _, counts, _ in documents)
    tokens = np.fromiter(map(numbers.__getitem__, names), np.int32, total)
    seqs = np.repeat(np.array([seq for seq, _, _ in documents], np.int64), sizes)
    lengths = np.repeat(np.array([length for _, _, length in documents], np.uint16), sizes)
    kinds = np.minimum(np.fromiter(counted, np.int64, total), MOST).astype(np.uint16)
    return PostingColumns(tokens, seqs, kinds << 8 | lengths)


class NewChunks(NamedTuple):
    """Chunks side by side, as they are written: by token."""

    tokens: list[str]
    firsts: list[int]
    bodies: list[bytes]


def chunks_by_token(documents: Iterable[WordCounts]) -> NewChunks:
    """The chunks of documents, which come by their entry."""
    numbers = TokenNumbers()
    found = columns_of_words(list(documents), numbers)
    made = NewChunks([], [], [])
    if not numbers:
        return made
    names = sorted(numbers)
    places = np.empty(len(names), np.int32)
    places[[numbers[name] for name in names]] = np.arange(len(names), dtype=np.int32)
    found = found._replace(tokens=places[found.tokens])
    tokens, seqs, kinds = found.at(np.argsort(found.tokens, kind="stable"))
    blocks = seqs >> BLOCK_BITS
    new = (tokens[1:] != tokens[:-1]) | (blocks[1:] != blocks[:-1])
    starts = [0, *(np.flatnonzero(new) + 1).tolist(), len(seqs)]
    in_block, kind_of_each = (
        (seqs & _PLACE).astype(_NUMBER).tobytes(),
        kinds.astype(_NUMBER).tobytes(),
    )
    named, firsts = tokens.tolist(), seqs.tolist()
    for start, end in pairwise(starts):
        for first in range(start, end, CHUNK):
            part = slice(2 * first, 2 * min(first + CHUNK, end))
            made.tokens.append(names[named[first]])
            made.firsts.append(firsts[first])
            made.bodies.append(in_block[part] + kind_of_each[part])
    return made


def _read(chunk: Chunk) -> Postings:
    first, body = chunk
    size = len(body) // POSTING_BYTES
    if not size or len(body) != size * POSTING_BYTES:
        raise ChunkDamaged("a chunk has four bytes for each of its postings")
    numbers = np.frombuffer(body, _NUMBER)
    return Postings(numbers[:size] + np.int64(first & ~_PLACE), numbers[size:])


def _cut(postings: Postings) -> Iterator[Chunk]:
    seqs, kinds = postings
    blocks = seqs >> BLOCK_BITS
    starts = [0, *(np.flatnonzero(blocks[1:] != blocks[:-1]) + 1).tolist(), len(seqs)]
    for start, end in pairwise(starts):
        for first in range(start, end, CHUNK):
            part = slice(first, min(first + CHUNK, end))
            places = (seqs[part] & _PLACE).astype(_NUMBER)
            yield Chunk(int(seqs[first]), places.tobytes() + kinds[part].astype(_NUMBER).tobytes())


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
