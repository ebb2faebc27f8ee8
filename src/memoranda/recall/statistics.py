"""What a scope knows of its words: how many documents, how long, how many have which token.

One scope's statistics are its own: no row of another scope changes an order here. A store keeps
them in the transaction that changes the index, so that both databases rank alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import frexp
from typing import Final

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
