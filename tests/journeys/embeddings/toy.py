"""Embedders for tests: one that is right, and those that are not."""

from collections.abc import Callable, Sequence
from hashlib import blake2b

DIMENSIONS = 64


class ToyEmbedder:
    """The pairs and triples of a text's letters, counted in as many drawers: no model at all.

    Texts that are spelled alike are near each other. The same on every machine.
    """

    def __init__(self, identity: str = "toy/1", dimensions: int = DIMENSIONS) -> None:
        self.identity = identity
        self.dimensions = dimensions
        self.asked: list[Sequence[str]] = []

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.asked.append(list(texts))
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> list[float]:
        found = [0.0] * self.dimensions
        for word in text.lower().split():
            letters = f"<{word}>"
            for size in (2, 3):
                for at in range(len(letters) - size + 1):
                    gram = letters[at : at + size].encode()
                    number = int.from_bytes(blake2b(gram, digest_size=8).digest())
                    found[number % self.dimensions] += 1.0 if number >> 63 else -1.0
        return found if any(found) else [1.0, *found[1:]]


class ScatteringEmbedder(ToyEmbedder):
    """Gives every text a direction of its own: no part of a vector is that of another."""

    def vector(self, text: str) -> list[float]:
        seeds = (f"{text}:{n}".encode() for n in range(self.dimensions))
        return [int.from_bytes(blake2b(seed, digest_size=4).digest()) - 2.0**31 for seed in seeds]


class FailingEmbedder(ToyEmbedder):
    """Raises whatever it is told to, from a certain call on."""

    def __init__(self, failure: Exception, *, after: int = 0) -> None:
        super().__init__()
        self._failure = failure
        self._after = after

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if len(self.asked) >= self._after:
            raise self._failure
        return await super().embed(texts)


class LyingEmbedder(ToyEmbedder):
    """Answers something else than it was asked for."""

    def __init__(self, answer: Callable[[list[list[float]]], object]) -> None:
        super().__init__()
        self._answer = answer

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        right = [self.vector(text) for text in texts]
        return self._answer(right)  # type: ignore[return-value]  # that is what it is for


class ChoosyEmbedder(ToyEmbedder):
    """Refuses any batch with a text that it doesn't like."""

    def __init__(self, dislikes: str) -> None:
        super().__init__()
        self._dislikes = dislikes

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if any(self._dislikes in text for text in texts):
            raise ValueError("too long")
        return await super().embed(texts)
