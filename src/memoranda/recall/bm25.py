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
from dataclasses import dataclass
from math import frexp
from typing import Final, NamedTuple

from memoranda.recall.reasons import Reason
from memoranda.text.tokens import LENGTHS, kind_of

# ------------------------------------------------------------------------------------------------
# What a scope knows of its words: how many documents, how long, how many have which token.
#
# One scope's statistics are its own: no row of another scope changes an order here. A store keeps
# them in the transaction that changes the index, so that both databases rank alike.

_LN2: Final = 0.6931471805599453
_ROOT_OF_A_HALF: Final = 0.7071067811865476
_ODD: Final = tuple(range(23, 0, -2))


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of one scope: documents, their length in tokens, and how many documents have each token.

    Frequencies of the tokens that are asked for are enough; a token that is not in them is in no
    document.
    """

    documents: int
    length: int
    frequencies: Mapping[str, int]

    @property
    def average_length(self) -> float:
        """Tokens of a document; 1 where there are none, so that nothing is divided by zero."""
        return self.length / self.documents if self.documents and self.length else 1.0

    def idf(self, token: str) -> float:
        """How much a token tells: ln(1 + (N - n + 1/2) / (n + 1/2)), never negative."""
        having = min(self.frequencies.get(token, 0), self.documents)
        return logarithm(1 + (self.documents - having + 0.5) / (having + 0.5))


def logarithm(x: float) -> float:
    """The natural logarithm of a positive number, the same on every machine.

    The C library's may differ in its last bit between platforms; additions, multiplications and
    divisions don't (IEEE 754). x is m times a power of two, with m near 1, and
    ln m = 2 (z + z^3/3 + z^5/5 + ...) with z = (m - 1) / (m + 1): twelve terms reach the last bit.
    """
    fraction, power = frexp(x)
    if fraction < _ROOT_OF_A_HALF:
        fraction, power = fraction * 2, power - 1
    z = (fraction - 1) / (fraction + 1)
    square = z * z
    series = 0.0
    for odd in _ODD:
        series = series * square + 1 / odd
    return 2 * z * series + power * _LN2


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


# ------------------------------------------------------------------------------------------------
# What a ranking is given, and what it gives back: values, whatever store they come from.

_NOBODY: Final[frozenset[str]] = frozenset()


class Candidate(NamedTuple):
    """A record as a ranking sees it.

    `seq` is the number of the entry that led to this version of it: no two have the same, and the
    highest is the newest. `counts` holds how often it has each token that is asked for (others may
    be in it); `length` is the number of all its tokens. `thread` is the conversation or the source
    that it is a part of and `place` its place in time there, each place once; a record of no
    thread stands alone. `speaker` holds the tokens of whoever says it.
    """

    id: str
    seq: int
    created_at: int
    counts: Mapping[str, int]
    length: int
    place: int = 0
    thread: str | None = None
    speaker: frozenset[str] = _NOBODY


class Scored(NamedTuple):
    """A record that was found: how well, how sure, and why."""

    id: str
    seq: int
    created_at: int
    score: float
    confidence: float
    reason: Reason
