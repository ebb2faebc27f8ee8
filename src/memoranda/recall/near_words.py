"""Words that may stand for a word of a question: near in meaning, or what was meant to be typed.

Both are looked for among the words that a scope has: its vocabulary. `physician` is found by
`doctor` where a model says that they are near, and `doctor` by `docter`, which the scope has not.
What stands for a word counts less than the word itself.

Only words of plain letters have any. The cosine of two words is exact, whatever machine computes
it: vectors are whole multiples of 2^-11, so that sums of their products fit into a float32.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from memoranda.recall.question import ParsedQuestion

NEAREST: Final = 10
"""So many words of the vocabulary may stand for a word of the question."""

LEAST: Final = 0.3
"""The cosine from which on two words are near."""

NEAR_WEIGHT: Final = 0.3
"""What a near word counts, times its cosine."""

TYPED_WEIGHT: Final = 0.8
"""What a word counts that the question's may be misspelt from."""

LONG_WORD: Final = 8
"""Letters from which on two may be wrong."""

MOST: Final = 32_768
"""Words of a vocabulary that are compared: the most frequent ones."""

_SHORTEST: Final = 4
_STEPS: Final = 2048.0
_PLAIN: Final = re.compile("[a-z]+")
_MOST_TYPED: Final = 4


class WordVectors(Protocol):
    """A model that has vectors of words, of length one."""

    def of_token(self, token: str, /) -> NDArray[Any]:
        """The vector of a token of the index; zeros where there is none."""
        ...


class StandIn(NamedTuple):
    """A token of the vocabulary that stands for one of the question."""

    token: str
    weight: float
    is_near: bool
    """Whether by its meaning; else by its letters."""


StandIns = Mapping[str, Sequence[StandIn]]
"""By the token of the question that each stands for."""

NO_STAND_INS: Final[StandIns] = {}


@dataclass
class Vocabulary:
    """The words of one scope that may stand for others, and what was found among them."""

    frequencies: Mapping[str, int]
    """In how many documents each token is."""
    vectors: WordVectors | None = None
    tokens: Sequence[str] = field(init=False)
    _matrix: NDArray[np.float32] | None = field(init=False, default=None)
    _found: dict[str, tuple[StandIn, ...]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        plain = [token for token in self.frequencies if _PLAIN.fullmatch(token)]
        if len(plain) > MOST:
            plain = sorted(plain, key=lambda token: (-self.frequencies[token], token))[:MOST]
        self.tokens = sorted(plain)

    @property
    def size(self) -> int:
        """About how many bytes it takes, its vectors included."""
        width = 0 if self._matrix is None else self._matrix.nbytes
        return width + 64 * len(self.frequencies)

    def stand_ins(self, question: ParsedQuestion) -> StandIns:
        """What may stand for the tokens of a question."""
        wanted = (token for token in question.tokens if _PLAIN.fullmatch(token))
        return {token: found for token in wanted if (found := self.of(token))}

    def of(self, token: str) -> tuple[StandIn, ...]:
        known = self._found.get(token)
        if known is None:
            known = self._found[token] = (*self._near(token), *self._typed(token))
        return known

    def _near(self, token: str) -> Iterable[StandIn]:
        if self.vectors is None or not self.tokens:
            return
        cosines = self._vectors @ quantized(self.vectors.of_token(token)) / (_STEPS * _STEPS)
        nearest = np.flatnonzero(cosines >= LEAST)
        order = nearest[np.lexsort((nearest, -cosines[nearest]))]
        others = [at for at in order.tolist() if self.tokens[at] != token]
        for at in others[:NEAREST]:
            yield StandIn(self.tokens[at], NEAR_WEIGHT * float(cosines[at]), is_near=True)

    @property
    def _vectors(self) -> NDArray[np.float32]:
        if self._matrix is None:
            assert self.vectors is not None  # noqa: S101 - asked before
            self._matrix = np.stack([quantized(self.vectors.of_token(t)) for t in self.tokens])
        return self._matrix

    def _typed(self, token: str) -> Iterable[StandIn]:
        """Words at edit distance 1, or 2 from `LONG_WORD` letters, of a token that is in none."""
        if token in self.frequencies or len(token) < _SHORTEST:
            return
        most = 2 if len(token) >= LONG_WORD else 1
        found = [
            (distance, -self.frequencies[other], other)
            for other in self._like(token, most)
            if (distance := edits(token, other, most)) <= most
        ]
        if found:
            nearest = min(found)[0]
            for distance, _, other in sorted(found)[:_MOST_TYPED]:
                if distance == nearest:
                    yield StandIn(other, TYPED_WEIGHT, is_near=False)

    def _like(self, token: str, most: int) -> Iterable[str]:
        """Those with about the same letters: few of many thousands."""
        letters = _letters(token)
        return (
            other
            for other in self.tokens
            if abs(len(other) - len(token)) <= most
            and len(other) >= _SHORTEST - 1
            and (_letters(other) ^ letters).bit_count() <= 2 * most
        )


def quantized(vector: NDArray[Any]) -> NDArray[np.float32]:
    """A vector of length one in whole steps, so that products of two such are exact."""
    return np.rint(vector * _STEPS).astype(np.float32)


def edits(word: str, other: str, most: int) -> int:
    """How many letters are wrong: changed, missing, added, or two exchanged; `most` + 1 if more."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for at, letter in enumerate(word, 1):
        row = [at]
        for place, wanted in enumerate(other, 1):
            cost = min(last[place] + 1, row[-1] + 1, last[place - 1] + (letter != wanted))
            is_exchanged = at > 1 and place > 1 and letter == other[place - 2]
            if is_exchanged and word[at - 2] == wanted:
                cost = min(cost, before[place - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return min(last[-1], most + 1)


@lru_cache(maxsize=65_536)
def _letters(word: str) -> int:
    """Which letters a word has, a bit for each."""
    found = 0
    for letter in word:
        found |= 1 << (ord(letter) - ord("a"))
    return found
