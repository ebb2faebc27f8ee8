"""The port to whatever turns a text into a vector, so that near in meaning is near in space.

An embedder is a model: nothing of it is ours, and what it answers is looked at before it is kept.
A vector is kept as float32, little-endian, of length one. Its components are whole multiples of
2^-20: so every product of two is exact as a double, and every sum of them too, in whatever order
they are added. The nearest are the same on every machine, with numpy or without.
"""

import math
import sys
from array import array
from collections.abc import Sequence
from itertools import islice
from numbers import Real
from typing import Final, Protocol

from memoranda.kernel.errors import MemorandaError, ModelFailed
from memoranda.recall.arrays import np

_STEPS: Final = float(1 << 20)
_LONGEST_IDENTITY: Final = 200
_COMPONENT_BYTES: Final = 4
_USUAL: Final = frozenset({float, int})


ROLE: Final = "embedder"
"""The role of an embedder among the models that memory rests on."""


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def identity(self) -> str:
        """The model's name and version: it is part of what memory rests on (GOV-BREAK).

        Vectors of two models have nothing to do with each other; with another model, another name.
        """
        ...

    @property
    def dimensions(self) -> int:
        """How many components a vector has."""
        ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector for each text, in their order."""
        ...


def stored_as(embedder: Embedder) -> str:
    """The name under which the vectors of an embedder are kept: its identity, and their size."""
    identity, dimensions = embedder.identity, embedder.dimensions
    if not identity.strip() or len(identity) > _LONGEST_IDENTITY:
        why = f"its identity is a name of 1 to {_LONGEST_IDENTITY} characters"
        raise ModelFailed(identity[:_LONGEST_IDENTITY], why)
    if dimensions < 1:
        raise ModelFailed(identity, "its vectors have no dimensions")
    return f"{identity}/{dimensions}"


async def embedded(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """The vectors of texts as they are kept; ModelFailed for anything else than one for each.

    Whatever an embedder raises is its failure: whoever asked for memory learns of it, and goes on.
    """
    if not texts:
        return []
    try:
        answer = [list(vector) for vector in await embedder.embed(texts)]
    except MemorandaError:
        raise
    except Exception as failure:
        # Only its class: what it says may repeat what was sent, a key among it.
        raise ModelFailed(embedder.identity, f"it raised {type(failure).__name__}") from failure
    if len(answer) != len(texts):
        raise ModelFailed(embedder.identity, f"{len(answer)} vectors for {len(texts)} texts")
    return [packed(vector, embedder) for vector in answer]


async def embedded_each(embedder: Embedder, several: Sequence[Sequence[str]]) -> list[bytes]:
    """For each record, the vectors of its texts, one after another."""
    vectors = iter(await embedded(embedder, [text for texts in several for text in texts]))
    return [b"".join(islice(vectors, len(texts))) for texts in several]


def packed(vector: Sequence[float], embedder: Embedder) -> bytes:
    """A vector as it is kept; ModelFailed where it is none.

    1. it has the dimensions that were promised, and numbers in them
    2. divided by its length, it has length one
    3. each component is the nearest multiple of 2^-20
    """
    # 1
    if len(vector) != embedder.dimensions:
        why = f"a vector has {len(vector)} dimensions, and {embedder.dimensions} were promised"
        raise ModelFailed(embedder.identity, why)
    kinds = set(map(type, vector))
    are_numbers = kinds <= _USUAL or all(isinstance(x, Real) for x in vector)
    if not (are_numbers and all(map(math.isfinite, vector))):
        raise ModelFailed(embedder.identity, "a vector has something in it that is no number")
    # 2
    components = np.array(vector, np.float64)
    largest = np.abs(components).max()
    if largest == 0:
        raise ModelFailed(embedder.identity, "a vector has no direction")
    scaled = components / largest  # so that no square is too large or too small
    length = math.sqrt(math.fsum(np.square(scaled).tolist()))
    # 3
    found: bytes = (np.rint(scaled / length * _STEPS) / _STEPS).astype("<f4").tobytes()
    return found


def unpacked(vector: bytes) -> "array[float]":
    found = array("f")
    found.frombytes(vector)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def broken_vector(model: str, stored: bytes, number: int = 1) -> str | None:
    """What is wrong with so many vectors that were kept, as far as can be told without their model.

    1. each has the dimensions that the name of its model says
    2. each component is a whole multiple of 2^-20
    3. its length is one, as near as such components come to it
    """
    # 1
    dimensions = model.rpartition("/")[2]
    if not dimensions.isascii() or not dimensions.isdecimal():
        return "its model has no dimensions in its name"
    if len(stored) != _COMPONENT_BYTES * int(dimensions) * number:
        several = "" if number == 1 else f", {number} times: its texts"
        return f"it has not the {dimensions} dimensions of its model{several}"
    # 2
    components = np.frombuffer(stored, "<f4")
    if not np.isfinite(components).all() or (components.astype(np.float64) * _STEPS % 1).any():
        return "it has components that no vector is kept with"
    # 3. Each was rounded by half a step at most.
    squares = np.square(components, dtype=np.float64).reshape(number, -1)
    if (abs(np.sqrt(squares.sum(axis=1)) - 1) > math.sqrt(squares.shape[1]) / _STEPS).any():
        return "its length is not one"
    return None
