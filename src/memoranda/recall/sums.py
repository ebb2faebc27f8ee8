"""The words of an index, summed up for each entry: equal sums are equal words.

Postings come in the order of their tokens, objects in that of their ids, and neither need fit
into memory. So each token has a number, and so has each class of lengths, the same only within one
verification. A posting counts as the product of both and of its count, and one more number for
itself: so that one of three is not two of one and two. Whoever edits an index can't know which
other words would give an entry the same sum.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Final

from memoranda.identity import sha256
from memoranda.ledger.damage import Damages
from memoranda.ledger.snapshot import Index, StoredWords
from memoranda.recall.arrays import np
from memoranda.text.tokens import (
    CLASSES,
    LENGTHS,
    MOST,
    chunk_tokens,
    class_of,
    is_worth_remembering,
)

KEY_BYTES: Final = 16
_NUMBER_BYTES: Final = 8
_NUMBERS: Final = (1 << 8 * _NUMBER_BYTES) - 1
_REMEMBERED: Final = 131_072


class _Numbers(dict[str, int]):
    """A number for each token; those of numbers would only take the room of words.

    A dict rather than an `lru_cache`: what that holds, every garbage collection looks at.
    """

    def __init__(self, key: bytes) -> None:
        self.of = partial(_number, key)

    def __missing__(self, token: str) -> int:
        number = self.of(token)
        if is_worth_remembering(token):
            if len(self) >= _REMEMBERED:
                self.clear()
            self[token] = number
        return number


def _number(key: bytes, name: str) -> int:
    return int.from_bytes(sha256(key + name.encode())[:_NUMBER_BYTES]) | 1


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
        self._sums = np.zeros(size, np.uint64)
        self._numbers = _Numbers(b"token" + key)
        self._numbers_in = _NumbersIn(self._numbers)
        self._classes = [_number(b"class" + key, str(number)) for number in range(CLASSES)]
        self._class_numbers = np.array(self._classes, np.uint64)
        self._posting = _number(b"posting" + key, "")

    def feed(self, words: Sequence[StoredWords], damages: Damages) -> None:
        for each in words:
            tokens, sizes, seqs, kinds = each.tokens, *map(np.asarray, each[1:])
            for place in np.flatnonzero(sizes == 0).tolist():
                why = f"it has the word {tokens[place]!r} where it can't be read"
                damages.add("index", None, why)
            numbers = np.array(list(map(self._numbers.__getitem__, tokens)), np.uint64)
            more = np.repeat(numbers, sizes) * (kinds >> 8).astype(np.uint64)
            more = more * self._class_numbers[kinds & 255] + np.uint64(self._posting)
            there = seqs < len(self._sums)
            if not there.all():
                owners = np.repeat(np.arange(len(tokens)), sizes)[~there].tolist()
                for place, seq in zip(owners, seqs[~there].tolist(), strict=True):
                    why = f"it has the word {tokens[place]!r} for entry {seq}, which there is not"
                    damages.add("index", None, why)
                seqs, more = seqs[there], more[there]
            np.add.at(self._sums, seqs, more)

    def is_as(self, seq: int, text: str, *, is_counted: bool) -> tuple[bool, int]:
        """Whether the postings of an entry are the words of a text; and how many words it has.

        It is asked once for each.
        """
        numbers = list(chain.from_iterable(map(self._numbers_in.__getitem__, text.split())))
        length, distinct = len(numbers), set(numbers)
        number = class_of(length)
        self._documents -= is_counted
        self._length -= LENGTHS[number]
        stored, self._sums[seq] = int(self._sums[seq]), 0
        if length > MOST:  # so that one of them may occur more often than a posting can say
            counted = sum(number * min(n, MOST) for number, n in Counter(numbers).items())
        else:
            counted = sum(numbers)
        wanted = counted * self._classes[number] + self._posting * len(distinct)
        return stored == wanted & _NUMBERS, length

    def finish(self, damages: Damages) -> None:
        """Whatever was not asked for has no place in the index, nor in what it counts."""
        for seq in np.flatnonzero(self._sums).tolist():
            damages.add("index", seq, "it has words for this entry, and should have none")
        for name, more in (("objects", self._documents), ("tokens", self._length)):
            if more:
                says = f"{abs(more):,} {name} too {'many' if more > 0 else 'few'}"
                damages.add("index", None, f"it says that it has {says}")
