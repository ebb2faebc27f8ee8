"""Many vectors in memory, of which those near another are looked for in two looks.

The first look compares each with the question in the few directions in which the vectors differ
most; the second compares those that seem near, exactly. Of the forty nearest turns of conversations
it has .9999, at a tenth of what it takes to compare all. Where there are few, all are compared.

Numbers are whole steps of 2^-11, so that products of two vectors, and sums of them, fit into a
float32 without rounding. No product here asks BLAS, whose threads would wait for each other longer
than they work.
"""

from typing import Any, Final

from memoranda.recall.arrays import NDArray, np

Numbers = NDArray[Any]

STEPS: Final = 2048.0

ALL: Final = 4_096
"""So many are compared without a first look."""

DIRECTIONS: Final = 128
CANDIDATES: Final = 512
_OF_THEM: Final = 64
"""Of more, one in so many is a candidate."""

_SAMPLE: Final = 1_024
_TURNS: Final = 3
_BLOCK: Final = 2_048
_LEAST: Final = 1_024


class VectorRows:
    """Vectors in the order in which they came; a row, once written, stays as it is."""

    def __init__(self, dimensions: int) -> None:
        self._rows: Numbers = np.zeros((0, dimensions), np.float32)
        self._count = 0
        self._directions: Numbers | None = None
        self._along: Numbers = np.zeros((0, DIRECTIONS), np.float32)
        """What the first of them have in the directions."""
        self._seen = 0

    def __len__(self) -> int:
        return self._count

    @property
    def size(self) -> int:
        """About how much memory it takes."""
        return int(self._rows.nbytes + self._along.nbytes)

    def add(self, vectors: Numbers) -> None:
        """Add vectors in whole steps (`quantized`)."""
        first, self._count = self._count, self._count + len(vectors)
        self._rows = _with_room(self._rows, self._count)
        self._rows[first : self._count] = vectors

    def at(self, rows: Numbers) -> Numbers:
        """A copy of some."""
        found: Numbers = self._rows[rows]
        return found

    def near(self, vector: Numbers, most: int = 0) -> Numbers:
        """The rows of those that may be nearest, of which `most` are wanted; in order."""
        number = max(CANDIDATES, 4 * most, self._count // _OF_THEM)
        if self._count <= max(ALL, number):
            return np.arange(self._count)
        directions = self._look()
        along = products(self._along[: self._count], vector @ directions)
        found: Numbers = np.sort(np.argpartition(along, -number)[-number:])
        return found

    def products(self, vector: Numbers, rows: Numbers) -> Numbers:
        """The cosine of some with a vector."""
        is_all = len(rows) == self._count
        return products(self._rows[: self._count] if is_all else self._rows[rows], vector) / (
            STEPS * STEPS
        )

    def _look(self) -> Numbers:
        """The directions; all rows are brought into them."""
        if self._directions is None:
            some = self._rows[np.linspace(0, self._count - 1, _SAMPLE).astype(np.int64)]
            self._directions = _directions(some / np.float32(STEPS))
        self._along = _with_room(self._along, self._count)
        for start in range(self._seen, self._count, _BLOCK):
            end = min(start + _BLOCK, self._count)
            self._along[start:end] = self._rows[start:end] @ self._directions
        self._seen = self._count
        return self._directions


def quantized(vector: Numbers) -> Numbers:
    """Vectors of length one in whole steps, so that products of two such are exact."""
    return np.rint(vector * STEPS).astype(np.float32)


def products(rows: Numbers, vector: Numbers) -> Numbers:
    """Of each row with a vector, in this thread alone."""
    found: Numbers = np.einsum("ij,j->i", rows, vector)
    return found


def _directions(some: Numbers) -> Numbers:
    """About the first principal directions of some vectors: by turns, from the first of them."""
    found: Numbers = np.linalg.qr(some[:DIRECTIONS].T)[0]
    for _ in range(_TURNS):
        found = np.linalg.qr(some.T @ (some @ found))[0]
    wide: Numbers = np.zeros((some.shape[1], DIRECTIONS), np.float32)
    wide[:, : found.shape[1]] = found
    return wide


def _with_room(rows: Numbers, count: int) -> Numbers:
    if count <= len(rows):
        return rows
    more = max(count - len(rows), len(rows) // 4, _LEAST)
    return np.concatenate([rows, np.zeros((more, *rows.shape[1:]), rows.dtype)])
