"""How near vectors are to each other: the cosine of their angle, to six digits.

Every product and every sum is exact (`embedder`), so that numpy, where it is installed, gives what
the definition gives, only sooner.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from heapq import heapify, heappop
from importlib import import_module
from importlib.util import find_spec
from operator import mul
from typing import Any, Final, NamedTuple

from memoranda.recall.embedder import unpacked

DIGITS: Final = 6
_STEPS: Final = 10.0**DIGITS

Similarities = Callable[[bytes, Sequence[bytes]], list[float]]


class Near(NamedTuple):
    """The entry of a vector, and how near it is."""

    seq: int
    similarity: float


def similarities(vector: bytes, others: Sequence[bytes]) -> list[float]:
    """How near each of the others is to a vector: from -1 to 1. All are of one size."""
    return (_with_numpy if has_numpy() else by_definition)(vector, others)


def by_definition(vector: bytes, others: Sequence[bytes]) -> list[float]:
    """The same, without numpy."""
    own = unpacked(vector)
    return [_rounded(sum(map(mul, own, unpacked(other)))) for other in others]


@cache
def has_numpy() -> bool:
    """Whether numpy is at hand: it comes with the extra ``embeddings``."""
    return find_spec("numpy") is not None


def in_order(found: Iterable[tuple[int, float]]) -> Iterator[Near]:
    """The nearest first; of equals, the newest entry. Only what is asked for is sorted."""
    waiting = [(-similarity, -seq) for seq, similarity in found]
    heapify(waiting)
    while waiting:
        similarity, seq = heappop(waiting)
        yield Near(-seq, -similarity)


def _with_numpy(vector: bytes, others: Sequence[bytes]) -> list[float]:
    numpy: Any = import_module("numpy")
    own = numpy.frombuffer(vector, dtype="<f4").astype("f8")
    rows = numpy.frombuffer(b"".join(others), dtype="<f4").reshape(-1, len(own)).astype("f8")
    found: list[float] = (numpy.rint(rows @ own * _STEPS) / _STEPS).tolist()
    return found


def _rounded(similarity: float) -> float:
    return round(similarity * _STEPS) / _STEPS
