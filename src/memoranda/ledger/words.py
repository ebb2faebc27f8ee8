"""The words of the index, summed up for each entry: equal sums are equal words.

Postings come in the order of their tokens, objects in that of their ids, and neither need fit
into memory. So each token has a number, the same only within one verification, and each entry the
sum of those that its postings have: whoever edits an index can't know which other words would
give the same. A posting's number is that of its token, its count and its document's length.
"""

from array import array
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from memoranda.identity import canonical_bytes, sha256
from memoranda.ledger.damage import Damages
from memoranda.ledger.unit import Index, StoredTag, StoredThread, StoredWord
from memoranda.text import Terms
from memoranda.text.lengths import kind_of

KEY_BYTES: Final = 16
_NUMBER_BYTES: Final = 8
_NUMBERS: Final = (1 << 8 * _NUMBER_BYTES) - 1
_REMEMBERED: Final = 65_536
_MODULUS: Final = 1 << 256


class WordSums:
    """Feed it the postings, then ask of each entry whether they are its words, then `finish`."""

    def __init__(self, size: int, index: Index, key: bytes) -> None:
        self.indexed = min(index.indexed, size)
        self._documents, self._length = index.documents, index.length
        self._sums = array("Q", bytes(_NUMBER_BYTES * size))

        @lru_cache(maxsize=_REMEMBERED)
        def number(token: str, kind: int) -> int:
            digest = blake2b(b"%d:%b" % (kind, token.encode()), digest_size=_NUMBER_BYTES, key=key)
            return int.from_bytes(digest.digest())

        self._number = number

    def feed(self, words: Iterable[StoredWord], damages: Damages) -> None:
        """Add postings."""
        sums, number, size = self._sums, self._number, len(self._sums)
        for token, seq, kind in words:
            if seq < 0:
                damages.add("index", None, f"it has the word {token!r} where it can't be read")
            elif seq >= size:
                why = f"it has the word {token!r} for entry {seq}, which there is not"
                damages.add("index", None, why)
            else:
                sums[seq] = (sums[seq] + number(token, kind)) & _NUMBERS

    def is_as(self, seq: int, words: Terms, *, is_counted: bool) -> bool:
        """Whether the postings of an entry are these words; it is asked once for each."""
        self._documents -= is_counted
        self._length -= words.length
        found, self._sums[seq] = self._sums[seq], 0
        numbers = (
            self._number(token, kind_of(count, words.length))
            for token, count in words.counts.items()
        )
        return found == sum(numbers) & _NUMBERS

    def finish(self, damages: Damages) -> None:
        """Whatever was not asked for has no place in the index, nor in what it counts."""
        for seq, left in enumerate(self._sums):
            if left:
                damages.add("index", seq, "it has words for this entry, and should have none")
        for name, more in (("objects", self._documents), ("tokens", self._length)):
            if more:
                says = f"{abs(more):,} {name} too {'many' if more > 0 else 'few'}"
                damages.add("index", None, f"it says that it has {says}")


class IndexDigest:
    """A digest over all postings of an index and its threads, in whatever order they come."""

    def __init__(self) -> None:
        self._sum = 0

    def feed(self, words: Iterable[StoredWord]) -> None:
        """Add postings."""
        for token, seq, kind in words:
            self._sum += int.from_bytes(sha256(b"%d:%d:%b" % (seq, kind, token.encode())))

    def feed_threads(self, rows: Iterable[StoredThread]) -> None:
        """Add rows of threads."""
        for row in rows:
            self._sum += int.from_bytes(sha256(b"thread:%b" % canonical_bytes(list(row))))

    @property
    def hex(self) -> str:
        """The digest of what was fed: the sum of the sha256 of each row, 256 bits of it."""
        return (self._sum % _MODULUS).to_bytes(32).hex()


def thread_tag(row: StoredThread) -> StoredTag:
    """A row of a thread, as a row that is summed up like those of tags."""
    return StoredTag(f"{row.thread} {row.seq} {row.speaker}", row.created_at, row.id)
