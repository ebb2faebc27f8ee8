"""The words of the index, summed up for each entry: equal sums are equal words.

Postings come in the order of their tokens, objects in that of their ids, and neither need fit
into memory. So each token has a number, and so has each kind (a count and a document's length),
the same only within one verification. An entry has the sum over its postings of the product of
both: whoever edits an index can't know which other words would give the same.
"""

from array import array
from collections import Counter
from collections.abc import Iterable
from functools import partial
from hashlib import blake2b
from itertools import chain
from typing import Final

from memoranda.identity import canonical_bytes, sha256
from memoranda.ledger.damage import Damages
from memoranda.ledger.snapshot import Index, StoredTag, StoredThread, StoredWords
from memoranda.text.tokens import chunk_tokens, is_worth_remembering, kind_of

KEY_BYTES: Final = 16
_NUMBER_BYTES: Final = 8
_NUMBERS: Final = (1 << 8 * _NUMBER_BYTES) - 1
_REMEMBERED: Final = 131_072
_MODULUS: Final = 1 << 256


class _Numbers(dict[str | int, int]):
    """A number for each token, or for each kind; `of` tells the two apart.

    A dict rather than an `lru_cache`: what that holds, every garbage collection looks at.
    """

    def __init__(self, key: bytes, of: bytes) -> None:
        self._digest = partial(blake2b, digest_size=_NUMBER_BYTES, key=key, person=of)

    def __missing__(self, name: str | int) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        self[name] = number = int.from_bytes(self._digest(str(name).encode()).digest()) | 1
        return number


class _NumbersIn(dict[str, tuple[int, ...]]):
    """The numbers of the tokens of each word of a text: for most words, all in one look."""

    def __init__(self, numbers: _Numbers) -> None:
        self._numbers = numbers

    def __missing__(self, word: str) -> tuple[int, ...]:
        numbers = tuple(map(self._numbers.__getitem__, chunk_tokens(word)))
        if is_worth_remembering(word):
            if len(self) >= _REMEMBERED:
                self.clear()
            self[word] = numbers
        return numbers


class WordSums:
    """Feed it the postings, then ask of each entry whether they are its words, then `finish`."""

    def __init__(self, size: int, index: Index, key: bytes) -> None:
        self.indexed = min(index.indexed, size)
        self._documents, self._length = index.documents, index.length
        self._sums = array("Q", bytes(_NUMBER_BYTES * size))
        self._numbers = _Numbers(key, b"token")
        self._numbers_in = _NumbersIn(self._numbers)
        self._factors = _Numbers(key, b"kind")

    def feed(self, words: Iterable[StoredWords], damages: Damages) -> None:
        sums, factors, size = self._sums, self._factors, len(self._sums)
        for token, seqs, kinds in words:
            number = self._numbers[token]
            if not seqs:
                damages.add("index", None, f"it has the word {token!r} where it can't be read")
            elif seqs[-1] < size:
                for seq, kind in zip(seqs, kinds, strict=True):
                    sums[seq] = (sums[seq] + number * factors[kind]) & _NUMBERS
            else:
                for seq in (seq for seq in seqs if seq >= size):
                    why = f"it has the word {token!r} for entry {seq}, which there is not"
                    damages.add("index", None, why)

    def is_as(self, seq: int, text: str, *, is_counted: bool) -> bool:
        """Whether the postings of an entry are the words of a text; it is asked once for each."""
        numbers = list(chain.from_iterable(map(self._numbers_in.__getitem__, text.split())))
        factors, length = self._factors, len(numbers)
        self._documents -= is_counted
        self._length -= length
        stored, self._sums[seq] = self._sums[seq], 0
        once, counts = factors[kind_of(1, length)], Counter(numbers)
        wanted = sum(counts) * once
        if len(counts) < length:
            for number, count in counts.items():
                if count > 1:
                    wanted += number * (factors[kind_of(count, length)] - once)
        return stored == wanted & _NUMBERS

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

    def feed(self, words: Iterable[StoredWords]) -> None:
        for token, seqs, kinds in words:
            raw = token.encode()
            for seq, kind in zip(seqs or (-1,), kinds or (0,), strict=True):
                self._sum += int.from_bytes(sha256(b"%d:%d:%b" % (seq, kind, raw)))

    def feed_threads(self, rows: Iterable[StoredThread]) -> None:
        for row in rows:
            self._sum += int.from_bytes(sha256(b"thread:%b" % canonical_bytes(list(row))))

    @property
    def hex(self) -> str:
        """The digest of what was fed: the sum of the sha256 of each row, 256 bits of it."""
        return (self._sum % _MODULUS).to_bytes(32).hex()


def thread_tag(row: StoredThread) -> StoredTag:
    """A row of a thread, as a row that is summed up like those of tags."""
    return StoredTag(f"{row.thread} {row.seq} {row.speaker}", row.created_at, row.id)
