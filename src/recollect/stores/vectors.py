"""What both databases do with vectors: how many at once, and the digest of all of them."""

from typing import Final

from recollect.identity import sha256
from recollect.recall.vectors import Contents

AT_ONCE: Final = 2_048
"""Vectors that are compared in one go: three megabytes of 384 dimensions."""

_MODULUS: Final = 1 << 256


class VectorDigest:
    """A digest over vectors, in whatever order they come: as `ledger.words.IndexDigest`."""

    def __init__(self) -> None:
        self._vectors = 0
        self._sum = 0

    def feed(self, seq: int, vector: bytes) -> None:
        """Add the vector of an entry."""
        self._vectors += 1
        self._sum += int.from_bytes(sha256(b"%d:%b" % (seq, vector)))

    @property
    def contents(self) -> Contents:
        """How many there were, and the sum of their sha256, 256 bits of it."""
        return Contents(self._vectors, (self._sum % _MODULUS).to_bytes(32).hex())
