"""Rankings straight from postings: what a store does with a hundred thousand hits for ten results.

No value is made for a hit: numbers are added up. The sums are those of `ranked` to the last bit,
since both add in the order of `Weights.tokens`; equal ones are ordered by the number of the entry,
the newest first. So nothing but postings decides who the best are, and a store reads the records
of these few alone.

Entries are numbered in blocks of 65,536, so that two bytes say where one stands in its block.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableSequence, Sequence
from heapq import nlargest
from itertools import chain
from typing import Final, NamedTuple

from memoranda.recall.bm25 import Weights
from memoranda.text import Query, QueryWord

BLOCK_BITS: Final = 16
BLOCK: Final = 1 << BLOCK_BITS
_PLACE: Final = BLOCK - 1
_GROWTH: Final = 4


class PostingRun(NamedTuple):
    """Postings of one token in one block, by place: where, and how often in how long a document."""

    block: int
    places: MutableSequence[int]
    """Where in the block, each once, in order."""
    kinds: MutableSequence[int]
    """Counts and lengths, as `lengths.kind_of` has them."""


Runs = Mapping[str, Sequence[PostingRun]]
"""The postings of each token that is asked for."""


class Hits:
    """Entries with what they scored: nothing in it but numbers."""

    def __init__(self, blocks: dict[int, dict[int, float]]) -> None:
        self._blocks = blocks

    def __len__(self) -> int:
        return sum(map(len, self._blocks.values()))

    def drop(self, seqs: Iterable[int]) -> None:
        for seq in seqs:
            block = self._blocks.get(seq >> BLOCK_BITS)
            if block is not None:
                block.pop(seq & _PLACE, None)

    def keep(self, seqs: Collection[int]) -> None:
        kept: dict[int, dict[int, float]] = {}
        for seq in seqs:
            block = self._blocks.get(seq >> BLOCK_BITS)
            if block is not None and (score := block.get(seq & _PLACE)) is not None:
                kept.setdefault(seq >> BLOCK_BITS, {})[seq & _PLACE] = score
        self._blocks = kept

    def best(self, limit: int) -> list[tuple[int, float]]:
        """The entries of the highest scores with these, the highest and then the newest first."""
        scores = chain.from_iterable(block.values() for block in self._blocks.values())
        line = min(nlargest(limit, scores), default=None)
        if line is None:
            return []
        reached = [
            (score, number << BLOCK_BITS | place)
            for number, block in self._blocks.items()
            for place, score in block.items()
            if score >= line
        ]
        above = sorted((one for one in reached if one[0] > line), reverse=True)
        newest = nlargest(limit - len(above), (seq for score, seq in reached if score == line))
        return [(seq, score) for score, seq in above] + [(seq, line) for seq in newest]

    def in_order(self, at_once: int) -> Iterator[tuple[int, float]]:
        """All of them, the best first; few are looked for as long as no more are wanted."""
        done, limit = 0, max(at_once, 1)
        while found := self.best(limit)[done:]:
            yield from found
            done, limit = limit, limit * _GROWTH


class _Known(dict[int, float]):
    """The weights of one token, each computed once: there are few kinds of postings."""

    __slots__ = ("_token", "_weights")

    def __init__(self, weights: Weights, token: str) -> None:
        super().__init__()
        self._weights, self._token = weights, token

    def __missing__(self, kind: int) -> float:
        weight = self[kind] = self._weights.weight_of(self._token, kind)
        return weight


def weighed(weights: Weights, runs: Runs) -> Hits:
    """Every entry with the sum of what its tokens weigh: BM25."""
    blocks: dict[int, dict[int, float]] = {}
    for token in weights.tokens:
        known = _Known(weights, token)
        first_here: set[int] = set()
        for number, places, kinds in runs.get(token, ()):
            pairs = zip(places, map(known.__getitem__, kinds), strict=True)
            block = blocks.get(number)
            if block is None:
                block = blocks[number] = {}
                first_here.add(number)
            if number in first_here:
                block.update(pairs)  # nothing to add to: at the speed of C
                continue
            so_far = block.get
            for place, weight in pairs:
                block[place] = so_far(place, 0.0) + weight
    return Hits(blocks)


def counted(words: Iterable[QueryWord], runs: Runs) -> Hits:
    """Every entry with the number of words that it has: the seeds' rule, with our tokens."""
    blocks: dict[int, dict[int, float]] = {}
    for word in words:
        for number, places in having(word, runs).items():
            block = blocks.get(number)
            if block is None:
                blocks[number] = dict.fromkeys(places, 1.0)
                continue
            so_far = block.get
            for place in places:
                block[place] = so_far(place, 0.0) + 1.0
    return Hits(blocks)


def having(word: QueryWord, runs: Runs) -> dict[int, set[int]]:
    """Where in each block an entry has a word: all tokens of one of its alternatives."""
    found: dict[int, set[int]] = {}
    for needed in word.alternatives:
        every: dict[int, set[int]] | None = None
        for token in needed:
            own: dict[int, set[int]] = {}
            for number, places, _ in runs.get(token, ()):
                own.setdefault(number, set()).update(places)
            if every is not None:
                own = {number: own[number] & every[number] for number in own.keys() & every.keys()}
            every = own
        for number, having_all in (every or {}).items():
            if having_all:
                found.setdefault(number, set()).update(having_all)
    return found


def matching(query: Query, runs: Runs, *, every: bool) -> set[int]:
    """The entries that have every word of a query, or any: what `text.matches` says of them."""
    found: dict[int, set[int]] | None = None
    for word in query.words:
        own = having(word, runs)
        if found is None:
            found = own
        elif every:
            found = {number: found[number] & own[number] for number in found.keys() & own.keys()}
        else:
            for number, places in own.items():
                found.setdefault(number, set()).update(places)
    return {
        number << BLOCK_BITS | place for number, places in (found or {}).items() for place in places
    }


class Located:
    """Postings by entry: no two runs of a token reach over the same entries."""

    def __init__(self, runs: Runs) -> None:
        self._runs = {token: sorted(own, key=_first) for token, own in runs.items()}
        self._firsts = {token: list(map(_first, own)) for token, own in self._runs.items()}

    def kinds_at(self, seq: int) -> dict[str, int]:
        """What an entry has of each token: its count, and how long it is."""
        found: dict[str, int] = {}
        for token, firsts in self._firsts.items():
            before = bisect_right(firsts, seq)
            if not before:
                continue
            block, places, kinds = self._runs[token][before - 1]
            at = bisect_left(places, seq & _PLACE)
            if block == seq >> BLOCK_BITS and at < len(places) and places[at] == seq & _PLACE:
                found[token] = kinds[at]
        return found


def _first(run: PostingRun) -> int:
    return run.block << BLOCK_BITS | run.places[0]
