"""What a process remembers of the vectors of a scope, for one model: each is read once.

How near documents are to a question is worked out for those that are asked about: the nearest, and
those that words found. The mean that it is compared with is that of all, or where they are many,
of a sample: of one to two thousand, chosen by their entries, so that every process takes the same.
"""

from collections.abc import Sequence
from typing import Final

from memoranda.recall.arrays import np
from memoranda.recall.columns import Columns, Numbers
from memoranda.recall.scores import Unrelated, deviations
from memoranda.recall.vector_rows import ALL, STEPS, VectorRows, products, quantized
from memoranda.recall.vectors import are_vectors

MOST_BYTES: Final = 256 * 1024 * 1024
"""What the vectors of one scope may take; the entries beyond are found by words alone."""

_NONE: Final = -1
_LEAST: Final = 1_024
_SAMPLE: Final = 1_024
_SCATTER: Final = 2_654_435_761
_SCATTERED: Final = (1 << 32) - 1


class ScopeVectors:
    """The vectors of one scope and model, by entry."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self.rows: Final = VectorRows(dimensions)
        self._entries: Numbers = np.zeros(0, np.int64)
        """By row, the entry that it is of; those of one entry follow each other."""
        self._at: Numbers = np.zeros(0, np.int32)
        """By entry, its last row plus one; 0 if it was not read yet, -1 if it is to have none."""
        self._sample = _Sample(0)

    @property
    def size(self) -> int:
        """About how much memory it takes."""
        return int(self.rows.size + self._entries.nbytes + self._at.nbytes)

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
        room = max(MOST_BYTES // width - len(self.rows), 0)
        new = {seq: vectors for seq, vectors in rows if self._at[seq] == 0}
        kept = [
            (seq, vectors[start : start + width])
            for seq, vectors in new.items()
            if are_vectors(vectors, width)
            for start in range(0, len(vectors), width)
        ][:room]
        self._at[list(new)] = _NONE
        first = len(self.rows)
        for start in range(0, len(kept), _LEAST):
            some = kept[start : start + _LEAST]
            stored = np.frombuffer(b"".join(vector for _, vector in some), "<f4")
            self.rows.add(quantized(stored.reshape(len(some), self._dimensions)))
        entries = [seq for seq, _ in kept]
        self._entries = np.concatenate([self._entries, np.array(entries, np.int64)])
        self._at[entries] = np.arange(first, len(self.rows), dtype=np.int32) + 1

    def alike(
        self, vector: bytes, columns: Columns, unrelated: Unrelated | None = None
    ) -> "ScopeNearness":
        """How near each document is to a vector."""
        self._reserve(len(columns.there))
        asked = quantized(np.frombuffer(vector, "<f4"))
        there = columns.there[self._entries]
        number = int(np.count_nonzero(there))
        if number <= ALL:
            rows = np.flatnonzero(there)
            entries, among = _best(self._entries[rows], self.rows.products(asked, rows))
            nearness = ScopeNearness(self, asked, columns, among, unrelated)
            nearness.know(entries, among)
            return nearness
        shift = (number // _SAMPLE).bit_length() - 1
        if self._sample.shift != shift:
            self._sample = _Sample(shift)
        among = self._sample.products(self.rows, self._entries, columns, asked)
        return ScopeNearness(self, asked, columns, among, unrelated)

    def similarities(self, asked: Numbers, entries: Numbers) -> tuple[Numbers, Numbers]:
        """Those of some entries that have vectors, and how near the nearest of each is."""
        rows = last = self._at[entries[self._at[entries] > 0]] - 1
        while len(last := last[(last > 0) & (self._entries[last - 1] == self._entries[last])]):
            last = last - 1
            rows = np.concatenate([rows, last])
        rows = np.sort(rows)
        return _best(self._entries[rows], self.rows.products(asked, rows))

    def entries_of(self, rows: Numbers) -> Numbers:
        found: Numbers = self._entries[rows]
        return found

    def _reserve(self, size: int) -> None:
        more = size - len(self._at)
        if more > 0:
            more = max(more, len(self._at) // 4, _LEAST)
            self._at = np.concatenate([self._at, np.zeros(more, np.int32)])


class ScopeNearness:
    """How near the documents of a scope are to a question, in deviations from their mean."""

    def __init__(
        self,
        vectors: ScopeVectors,
        asked: Numbers,
        columns: Columns,
        among: Numbers,
        unrelated: Unrelated | None,
    ) -> None:
        self._vectors, self._asked, self._there = vectors, asked, columns.there
        self._among, self._unrelated = among.astype(np.float64), unrelated
        self._known: Numbers = np.full(len(columns.there), np.nan)

    def know(self, entries: Numbers, similarities: Numbers) -> None:
        """What is known already."""
        near = similarities.astype(np.float64)
        self._known[entries] = deviations(near, self._unrelated, self._among)

    def of(self, entries: Numbers) -> Numbers:
        """Of some documents; 0 for what has no vector."""
        unknown = entries[np.isnan(self._known[entries])]
        if len(unknown):
            self._known[unknown] = 0.0
            there = np.unique(unknown[self._there[unknown]])
            self.know(*self._vectors.similarities(self._asked, there))
        found: Numbers = self._known[entries]
        return found

    def nearest(self, most: int) -> Numbers:
        """The nearest entries: of those that are equally near, the newest."""
        entries = self._vectors.entries_of(self._vectors.rows.near(self._asked, most))
        entries = np.unique(entries[self._there[entries]])
        near = self.of(entries)
        entries, near = entries[near > 0], near[near > 0]
        found: Numbers = entries[np.lexsort((-entries, -near))[:most]]
        return found


class _Sample:
    """One in 2^shift of the vectors, by a number made of its entry."""

    def __init__(self, shift: int) -> None:
        self.shift = shift
        self._seen = 0
        self._entries: Numbers = np.zeros(0, np.int64)
        self._rows: Numbers | None = None

    def products(
        self, rows: VectorRows, entries: Numbers, columns: Columns, asked: Numbers
    ) -> Numbers:
        """The cosines of those that are still there."""
        scattered = (entries[self._seen :] * _SCATTER) & _SCATTERED
        chosen = self._seen + np.flatnonzero(scattered < (_SCATTERED + 1) >> self.shift)
        self._seen = len(entries)
        if len(chosen) or self._rows is None:
            self._entries = np.concatenate([self._entries, entries[chosen]])
            more = rows.at(chosen)
            self._rows = more if self._rows is None else np.concatenate([self._rows, more])
        there = columns.there[self._entries]
        near = products(self._rows, asked)[there] / (STEPS * STEPS)
        return _best(self._entries[there], near)[1]


def _best(entries: Numbers, near: Numbers) -> tuple[Numbers, Numbers]:
    """Each entry once: of several vectors of one the nearest counts."""
    firsts = np.flatnonzero(np.diff(entries, prepend=_NONE))
    if len(firsts) == len(entries):
        return entries, near
    return entries[firsts], np.maximum.reduceat(near, firsts)
