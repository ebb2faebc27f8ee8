"""The words of the index, summed up for each entry: equal sums are equal words.

Postings come in the order of their tokens, objects in that of their ids, and neither need fit
into memory. So each token has a number, the same only within one verification, and each entry the
sum of those that its postings have: whoever edits an index can't know which other words would
give the same.
"""

from array import array
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from recollect.identity import sha256
from recollect.ledger.damage import Damages
from recollect.ledger.unit import StoredWord

KEY_BYTES: Final = 16
_NUMBER_BYTES: Final = 8
_NUMBERS: Final = (1 << 8 * _NUMBER_BYTES) - 1
_REMEMBERED: Final = 65_536
_MODULUS: Final = 1 << 256


class WordSums:
    """Feed it the postings, then ask of each entry whether they are its words, then `finish`."""

    def __init__(self, size: int, indexed: int, key: bytes) -> None:
        self.indexed = indexed
        self._sums = array("Q", bytes(_NUMBER_BYTES * size))

        @lru_cache(maxsize=_REMEMBERED)
        def number(token: str) -> int:
            digest = blake2b(token.encode(), digest_size=_NUMBER_BYTES, key=key)
            return int.from_bytes(digest.digest())

        self._number = number

    def feed(self, words: Iterable[StoredWord], damages: Damages) -> None:
        """Add postings."""
        sums, number, size = self._sums, self._number, len(self._sums)
        for token, seq in words:
            if not 0 <= seq < size:
                why = f"it has the word {token!r} for entry {seq}, which there is not"
                damages.add("index", None, why)
            else:
                sums[seq] = (sums[seq] + number(token)) & _NUMBERS

    def is_as(self, seq: int, tokens: Iterable[str]) -> bool:
        """Whether the postings of an entry are these tokens; it is asked once for each."""
        found, self._sums[seq] = self._sums[seq], 0
        return found == sum(map(self._number, tokens)) & _NUMBERS

    def finish(self, damages: Damages) -> None:
        """Whatever was not asked for has no place in the index."""
        for seq, left in enumerate(self._sums):
            if left:
                damages.add("index", seq, "it has words for this entry, and should have none")


class IndexDigest:
    """A digest over all postings of an index, in whatever order they come."""

    def __init__(self) -> None:
        self._sum = 0

    def feed(self, words: Iterable[StoredWord]) -> None:
        """Add postings."""
        for token, seq in words:
            self._sum += int.from_bytes(sha256(b"%d:%b" % (seq, token.encode())))

    @property
    def hex(self) -> str:
        """The digest of what was fed: the sum of the sha256 of each posting, 256 bits of it."""
        return (self._sum % _MODULUS).to_bytes(32).hex()
