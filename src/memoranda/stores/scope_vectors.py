"""What a process remembers of the vectors of a scope, for one model: each is read once.

A vector is kept in whole steps of 2^-11: products of two such, and sums of them, fit into a float32
without rounding, so that every machine finds the same. It takes four bytes a dimension.
"""

from collections.abc import Sequence
from typing import Final

from memoranda.recall.arrays import np
from memoranda.recall.columns import Columns, Numbers
from memoranda.recall.near_words import quantized
from memoranda.recall.scores import Unrelated, deviations
from memoranda.recall.vectors import are_vectors

MOST_BYTES: Final = 256 * 1024 * 1024
"""What the vectors of one scope may take; the entries beyond are found by words alone."""

_STEPS: Final = 2048.0
_NONE: Final = -1
_LEAST: Final = 1_024
_WIDTH: Final = 256


class ScopeVectors:
    """The vectors of one scope and model, by entry."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._parts = [
            np.zeros((0, min(_WIDTH, dimensions - start)), np.float32)
            for start in range(0, dimensions, _WIDTH)
        ]
        """The vectors by rows, cut into parts: of a question in one language most are zero."""
        self._entries: Numbers = np.zeros(0, np.int64)
        """By row, the entry that it is of; those of one entry follow each other."""
        self._count = 0
        self._at: Numbers = np.zeros(0, np.int32)
        """By entry, a row of it plus one; 0 if it was not read yet, -1 if it is to have none."""

    @property
    def size(self) -> int:
        """About how much memory it takes."""
        return int(sum(part.nbytes for part in (*self._parts, self._entries, self._at)))

    def unread(self, columns: Columns) -> Numbers:
        """The documents whose vectors are not here."""
        self._reserve(len(columns.there))
        return np.flatnonzero(columns.there & (self._at[: len(columns.there)] == 0))

    def add(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Remember vectors as they are stored; what has another size is nobody's, and near none."""
        if not rows:
            return
        self._reserve(max(seq for seq, _ in rows) + 1)
        width = 4 * self._dimensions
        room = max(MOST_BYTES // width - self._count, 0)
        new = {seq: vectors for seq, vectors in rows if self._at[seq] == 0}
        kept = [
            (seq, vectors[start : start + width])
            for seq, vectors in new.items()
            if are_vectors(vectors, width)
            for start in range(0, len(vectors), width)
        ][:room]
        self._at[list(new)] = _NONE
        first, self._count = self._count, self._count + len(kept)
        if self._count > len(self._entries):
            more = max(self._count - len(self._entries), len(self._entries) // 4, _LEAST)
            self._entries = _longer(self._entries, more)
            self._parts = [_longer(part, more) for part in self._parts]
        for start in range(0, len(kept), _LEAST):
            some = kept[start : start + _LEAST]
            rows_at = slice(first + start, first + start + len(some))
            stored = np.frombuffer(b"".join(vector for _, vector in some), "<f4")
            vectors = quantized(stored.reshape(len(some), self._dimensions))
            for number, part in enumerate(self._parts):
                part[rows_at] = vectors[:, number * _WIDTH : (number + 1) * _WIDTH]
        entries = [seq for seq, _ in kept]
        self._entries[first : self._count] = entries
        self._at[entries] = np.arange(first, self._count, dtype=np.int32) + 1

    def alike(self, vector: bytes, columns: Columns, unrelated: Unrelated | None = None) -> Numbers:
        """By entry, how near each document is to a vector, in deviations from their mean."""
        found = np.zeros(len(columns.there))
        entries = self._entries[: self._count]
        there = columns.there[entries]
        asked = quantized(np.frombuffer(vector, "<f4"))
        products = np.zeros(self._count, np.float32)
        for number, part in enumerate(self._parts):
            wanted = asked[number * _WIDTH : (number + 1) * _WIDTH]
            if wanted.any():
                products += part[: self._count] @ wanted
        near, entries = products[there].astype(np.float64) / (_STEPS * _STEPS), entries[there]
        firsts = np.flatnonzero(np.diff(entries, prepend=_NONE))
        if len(firsts) < len(entries):  # of several vectors of one entry the nearest counts
            near, entries = np.maximum.reduceat(near, firsts), entries[firsts]
        found[entries] = deviations(near, unrelated)
        return found

    def _reserve(self, size: int) -> None:
        more = size - len(self._at)
        if more > 0:
            more = max(more, len(self._at) // 4, _LEAST)
            self._at = np.concatenate([self._at, np.zeros(more, np.int32)])


def _longer(column: Numbers, more: int) -> Numbers:
    return np.concatenate([column, np.zeros((more, *column.shape[1:]), column.dtype)])
