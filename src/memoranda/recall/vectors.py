"""The port to a scope's embeddings: derived data, of what is active and newest and of nothing else.

A vector follows the version that it was made of: when that one is replaced, forgotten or erased,
it is gone in the same transaction. So what is found is never stale, and how many have no vector
yet is the difference of two numbers.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from memoranda.identity import decode
from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.fields import embedded_texts
from memoranda.ledger.unit import Current
from memoranda.recall.arrays import NDArray, np

# ------------------------------------------------------------------------------------------------
# How near vectors are to each other: the cosine of their angle, to six digits.
#
# Every product and every sum is exact (`embedder`), in whatever order a library adds.

DIGITS: Final = 6
_STEPS: Final = 10.0**DIGITS


class Near(NamedTuple):
    """The entry of a vector, and how near it is."""

    seq: int
    similarity: float


def similarities(vector: bytes, others: Sequence[bytes]) -> list[float]:
    """How near each of the others is to a vector: from -1 to 1.

    Several vectors of one record lie one after another, and the nearest of them counts.
    """
    found: list[float] = similar(vector, others).tolist()
    return found


def similar(vector: bytes, others: Sequence[bytes]) -> NDArray[Any]:
    """The same as an array."""
    own = np.frombuffer(vector, "<f4").astype(np.float64)
    rows = np.frombuffer(b"".join(others), "<f4").reshape(-1, len(own)).astype(np.float64)
    found: NDArray[Any] = np.rint(rows @ own * _STEPS) / _STEPS
    if len(found) > len(others):
        sizes = np.fromiter(map(len, others), np.int64, len(others))
        found = np.maximum.reduceat(found, (sizes.cumsum() - sizes) // len(vector))
    return found


def are_vectors(stored: bytes, size: int) -> bool:
    """Whether what is stored is one or more vectors of so many bytes each."""
    return len(stored) >= size and len(stored) % size == 0


R = TypeVar("R")


class Unembedded(NamedTuple):
    """A version without a vector: its object, its entry, and the texts to embed.

    There are none where it is not to be found by its meaning: it gets `NO_VECTOR`.
    """

    id: str
    seq: int
    texts: Sequence[str]


NO_VECTOR: Final = b""
"""Stands where a vector would, for what is not to be found by its meaning: it is near nothing."""


class Embedding(NamedTuple):
    """The vectors of a version of an object, as `embedder.embedded_each` gives them."""

    id: str
    seq: int
    vector: bytes


class NearestFound(NamedTuple):
    """What is nearest, and how many active objects have no vector, at one moment."""

    made: list[object]
    missing: int


class Contents(NamedTuple):
    """All vectors of a model: how many, and a digest that doesn't depend on their order."""

    vectors: int
    digest: str


class VectorIndex(Protocol):
    """The vectors of one scope. A model is named as in `embedder.stored_as`."""

    async def count_missing(self, model: str) -> int:
        """How many active objects have no vector of a model."""
        ...

    async def missing(self, model: str, limit: int) -> Sequence[Unembedded]:
        """Some of them, those that were changed last first."""
        ...

    async def put(self, model: str, embeddings: Sequence[Embedding]) -> int:
        """Keep vectors; how many.

        Those whose version is no longer the newest, or not active, are passed over; so are those
        that another process was faster with.
        """
        ...

    async def nearest(
        self,
        model: str,
        vector: bytes,
        limit: int,
        make: Callable[[Current, Near], R | None],
        damaged: list[EntryDamaged] | None = None,
    ) -> NearestFound:
        """The active objects nearest to a vector, the nearest first, then the newest entry.

        Every vector is compared. Each object is made into a value, in order, until there are
        `limit` of them; what is made into None is passed over. What is damaged is raised, or
        left out and put into the list.
        """
        ...

    async def forget_others(self, model: str) -> int:
        """Remove the vectors of all other models; how many."""
        ...

    async def contents(self, model: str) -> Contents:
        """What there is of a model."""
        ...


class Embedded(Protocol):
    """A ledger that keeps vectors."""

    @property
    def vectors(self) -> VectorIndex:
        """The vectors of its scope."""
        ...


def unembedded(id: str, seq: int, body: bytes) -> Unembedded:
    return Unembedded(id, seq, embedded_texts(decode(body)))


def without_vector(several: Sequence[Unembedded]) -> list[Embedding]:
    """What is kept for those of them that are not to be found by their meaning."""
    return [Embedding(found.id, found.seq, NO_VECTOR) for found in several if not found.texts]
