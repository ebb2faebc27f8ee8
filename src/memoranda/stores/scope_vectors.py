"""What a process remembers of the vectors of a scope, for one model: each is read once.

A vector is kept in whole steps of 2^-11: products of two such, and sums of them, fit into a float32
without rounding, so that every machine finds the same. It takes four bytes a dimension.
"""

from collections.abc import Iterable
from typing import Final

from memoranda.recall.arrays import np
from memoranda.recall.columns import Columns, Numbers
from memoranda.recall.near_words import quantized
from memoranda.recall.scores import deviations

MOST_BYTES: Final = 256 * 1024 * 1024
"""What the vectors of one scope may take; the entries beyond are found by words alone."""

_STEPS: Final = 2048.0
_NONE: Final = -1
_LEAST: Final = 1_024


class ScopeVectors:
    """The vectors of one scope and model, by entry."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._rows: Numbers = np.zeros((0, dimensions), np.float32)
        self._entries: Numbers = np.zeros(0, np.int64)
        self._count = 0
        self._at: Numbers = np.zeros(0, np.int32)
        """By entry, its row plus one; 0 if it was not read yet, -1 if it is to have none."""

    @property
    def size(self) -> int:
        """About how much memory it takes."""
        return int(self._rows.nbytes + self._entries.nbytes + self._at.nbytes)

    def unread(self, columns: Columns) -> Numbers:
        """The documents whose vectors are not here."""
        self._reserve(len(columns.there))
        return np.flatnonzero(columns.there & (self._at[: len(columns.there)] == 0))

    def add(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Remember vectors as they are stored; what has another size is nobody's, and near none."""
        for seq, vector in rows:
            self._reserve(seq + 1)
            if self._at[seq] != 0:
                continue
            if len(vector) != 4 * self._dimensions or self._rows.nbytes > MOST_BYTES:
                self._at[seq] = _NONE
                continue
            if self._count == len(self._rows):
                more = max(len(self._rows), _LEAST)
                grown = np.zeros((more, self._dimensions), np.float32)
                self._rows = np.concatenate([self._rows, grown])
                self._entries = np.concatenate([self._entries, np.zeros(more, np.int64)])
            self._rows[self._count] = quantized(np.frombuffer(vector, "<f4"))
            self._entries[self._count] = seq
            self._count += 1
            self._at[seq] = self._count

    def alike(self, vector: bytes, columns: Columns) -> Numbers:
        """By entry, how near each document is to a vector, in deviations from their mean."""
        found = np.zeros(len(columns.there))
        entries = self._entries[: self._count]
        there = columns.there[entries]
        asked = quantized(np.frombuffer(vector, "<f4"))
        near = (self._rows[: self._count] @ asked)[there].astype(np.float64) / (_STEPS * _STEPS)
        found[entries[there]] = deviations(near)
        return found

    def _reserve(self, size: int) -> None:
        more = size - len(self._at)
        if more > 0:
            more = max(more, len(self._at) // 4, _LEAST)
            self._at = np.concatenate([self._at, np.zeros(more, np.int32)])
