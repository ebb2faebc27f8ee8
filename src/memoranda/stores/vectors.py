"""What both databases do with vectors: how many at once, and the digest of all of them."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from memoranda.identity import sha256
from memoranda.recall.vectors import NO_VECTOR, Contents, Unembedded, unembedded
from memoranda.stores.compared import Compared

AT_ONCE: Final = 2_048
"""Vectors that are compared in one go: three megabytes of 384 dimensions."""

_MODULUS: Final = 1 << 256


def unembedded_in(compared: Compared, rows: Iterable[tuple[Any, ...]]) -> Iterator[Unembedded]:
    """What rows of ids, entries and bodies give to embed.

    What is damaged gets no vector, and is counted as one that has none.
    """
    for id, *row in rows:
        for seq, body in compared.bodies([row], []):
            yield unembedded(id, seq, body)


class VectorDigest:
    """A digest over vectors, in whatever order they come: as `ledger.words.IndexDigest`."""

    def __init__(self) -> None:
        self._vectors = 0
        self._sum = 0

    def feed(self, seq: int, vector: bytes) -> None:
        """Add the vector of an entry; what has none, and is to have none, is passed over."""
        if vector == NO_VECTOR:
            return
        self._vectors += 1
        self._sum += int.from_bytes(sha256(b"%d:%b" % (seq, vector)))

    @property
    def contents(self) -> Contents:
        """How many there were, and the sum of their sha256, 256 bits of it."""
        return Contents(self._vectors, (self._sum % _MODULUS).to_bytes(32).hex())
