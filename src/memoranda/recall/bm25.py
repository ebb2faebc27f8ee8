"""Okapi BM25: how much the words of a question weigh in a document.

A token weighs its idf, times what its count is worth: the first occurrence the most, the tenth
hardly anything, and less in a document that is longer than others. `K1` and `B` are the values
that collections of short passages are usually ranked with; texts of memory are short. Other values
change little (docs/evaluation.md). Counts and lengths are those that fit into a byte (`lengths`).

Nothing here depends on the order of a mapping or on the C library: floats are added from the most
frequent token to the rarest, so that every machine gives the same. That order is the cheapest for
whoever adds up postings: what is longest is taken as it is, and the rest is added to it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from memoranda.recall.statistics import Statistics
from memoranda.text.lengths import LENGTHS, kind_of

K1: Final = 0.9
"""How soon further occurrences stop to count."""

B: Final = 0.4
"""How much of a document's length is held against it: 0 nothing, 1 all."""


class Weights:
    """The weights of some tokens in the documents of a scope."""

    __slots__ = ("_idf", "_longer", "_short", "bound", "tokens")

    def __init__(
        self, tokens: Sequence[str], statistics: Statistics, *, k1: float = K1, b: float = B
    ) -> None:
        frequencies = statistics.frequencies
        self.tokens = tuple(sorted(tokens, key=lambda token: -frequencies.get(token, 0)))
        """The most frequent first, ties in the order of the question."""
        self._idf = {token: statistics.idf(token) * (k1 + 1) for token in self.tokens}
        self._short = k1 * (1 - b)
        self._longer = k1 * b / statistics.average_length
        self.bound = added(self._idf[token] for token in self.tokens)
        """What no document reaches, however often it has all of the tokens."""

    def weight(self, token: str, count: int, length: int) -> float:
        """What a token weighs that a document of this length has so often."""
        return self.weight_of(token, kind_of(count, length))

    def weight_of(self, token: str, kind: int) -> float:
        """The same, of a count and a length as a posting has them (`lengths.kind_of`)."""
        count, length = kind >> 8, LENGTHS[kind & 0xFF]
        return self._idf[token] * count / (count + (self._short + self._longer * length))

    def of(self, counts: Mapping[str, int], length: int) -> dict[str, float]:
        """What each token that the document has weighs in it, in the order of the tokens."""
        return {
            token: self.weight(token, count, length)
            for token in self.tokens
            if (count := counts.get(token, 0)) > 0
        }


def added(weights: Iterable[float]) -> float:
    """The sum, added one after the other: `sum` adds otherwise from Python 3.12 on."""
    total = 0.0
    for weight in weights:
        total += weight
    return total
