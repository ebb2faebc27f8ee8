"""Okapi BM25: how much the words of a question weigh in a document.

A token weighs its idf, times what its count is worth: the first occurrence the most, the tenth
hardly anything, and less in a document that is longer than others. `K1` and `B` are the values
that collections of short passages are usually ranked with; texts of memory are short. Other values
change little (docs/evaluation.md). Counts and lengths are those that fit into a byte (`lengths`).

Nothing here depends on the order of a mapping or on the C library: floats are added from the most
frequent token to the rarest, so that every machine gives the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import frexp
from typing import Any, Final, NamedTuple

from memoranda.recall.arrays import NDArray, np
from memoranda.recall.reasons import Reason
from memoranda.text.tokens import LENGTHS

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

    __slots__ = ("_idf", "_norms", "bound", "tokens")

    def __init__(
        self,
        tokens: Sequence[str],
        statistics: Statistics,
        *,
        others: Sequence[str] = (),
        k1: float = K1,
        b: float = B,
    ) -> None:
        """Of `others`, too, a weight may be asked for; they are no part of the bound."""
        frequencies = statistics.frequencies
        self.tokens = tuple(sorted(tokens, key=lambda token: -frequencies.get(token, 0)))
        """The most frequent first, ties in the order of the question."""
        known = (*self.tokens, *others)
        self._idf = {token: statistics.idf(token) * (k1 + 1) for token in known}
        self._norms = k1 * (1 - b) + k1 * b / statistics.average_length * np.array(
            LENGTHS, np.float64
        )
        self.bound = 0.0
        """What no document reaches, however often it has all of the tokens."""
        for token in self.tokens:  # `sum` adds otherwise from Python 3.12 on
            self.bound += self._idf[token]

    def of(self, token: str, kinds: NDArray[Any]) -> NDArray[Any]:
        """What a token weighs by its count and the length of the document (`kind_of`)."""
        counts = (kinds >> 8).astype(np.float64)
        found: NDArray[Any] = self._idf[token] * counts / (counts + self._norms[kinds & 0xFF])
        return found


class Scored(NamedTuple):
    """A record that was found: how well, how sure, and why."""

    id: str
    seq: int
    created_at: int
    score: float
    confidence: float
    reason: Reason
