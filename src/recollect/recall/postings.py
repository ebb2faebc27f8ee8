"""BM25 straight from postings: what a store does with a hundred thousand hits for ten results.

No value is made for a hit. The sums are those of `ranked` to the last bit, since both add in the
order of the question's tokens: so a store reads the records of these few alone, and hands them on.
"""

from collections.abc import Callable, Iterable
from heapq import nlargest

from recollect.recall.bm25 import Weights

Posting = tuple[int, int, int]
"""A document's number in its store, how often it has the token, its length in tokens."""


def heaviest(
    weights: Weights, postings: Callable[[str], Iterable[Posting]], limit: int
) -> list[tuple[int, float]]:
    """The documents of the highest sums, with their sums, the highest first.

    Those that are equal to the last one are among them, so that it may be more than the limit:
    which of these are newest, their records say.
    """
    sums: dict[int, float] = {}
    so_far = sums.get
    for token in weights.tokens:
        known: dict[tuple[int, int], float] = {}
        for number, count, length in postings(token):
            weight = known.get((count, length))
            if weight is None:
                weight = known[count, length] = weights.weight(token, count, length)
            sums[number] = so_far(number, 0.0) + weight
    best = nlargest(limit, sums.values())
    if not best:
        return []
    found = [(number, weight) for number, weight in sums.items() if weight >= best[-1]]
    return sorted(found, key=lambda one: (-one[1], one[0]))
