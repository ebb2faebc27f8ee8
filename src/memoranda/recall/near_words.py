"""Words that may stand for a word of a question: near in meaning, or what was meant to be typed.

Both are looked for among the words that a scope has: its vocabulary. `physician` is found by
`doctor` where a model says that they are near, and `doctor` by `docter`, which the scope has not.
What stands for a word counts less than the word itself.

Only words of plain letters have any. The cosine of two words is exact, whatever machine computes
it: vectors are whole multiples of 2^-11, so that sums of their products fit into a float32.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from memoranda.recall.arrays import NDArray, np
from memoranda.recall.question import ParsedQuestion

NEAREST: Final = 10
"""So many words of the vocabulary may stand for a word of the question."""

LEAST: Final = 0.3
"""The cosine from which on two words are near."""

NEAR_WEIGHT: Final = 0.5
"""What a near word counts, times its cosine."""

TYPED_WEIGHT: Final = 0.8
"""What a word counts that the question's may be misspelt from."""

LONG_WORD: Final = 8
"""Letters from which on two may be wrong."""

MOST: Final = 32_768
"""Words of a vocabulary that are compared: those that the scope had first."""

_SHORTEST: Final = 4
_STEPS: Final = 2048.0
_PLAIN: Final = re.compile("[a-z]+")
_MOST_TYPED: Final = 4


@runtime_checkable
class WordVectors(Protocol):
    """A model that has vectors of words, of length one."""

    def of_tokens(self, tokens: Sequence[str], /) -> NDArray[Any]:
        """A vector for each token of the index; zeros where there is none."""
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


class Vocabulary:
    """The words of one scope that may stand for others; it grows with the scope.

    What no record has any more may still be in it: nothing is found by that.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._tokens: list[str] = []
        """Those of plain letters."""
        self._vectors: dict[int, NDArray[Any]] = {}
        self._found: dict[tuple[str, int], tuple[StandIn, ...]] = {}

    def __len__(self) -> int:
        return len(self._known)

    @property
    def size(self) -> int:
        """About how much memory it takes."""
        return 128 * len(self._known) + sum(matrix.nbytes for matrix in self._vectors.values())

    def add(self, tokens: Iterable[str]) -> None:
        new = set(tokens) - self._known
        if new:
            self._known |= new
            plain = sorted(token for token in new if _PLAIN.fullmatch(token))
            self._tokens += plain[: max(MOST - len(self._tokens), 0)]
            self._found.clear()

    def stand_ins(self, question: ParsedQuestion, model: WordVectors | None) -> StandIns:
        """What may stand for the tokens of a question: by their meaning, if there is a model."""
        wanted = [token for token in question.tokens if _PLAIN.fullmatch(token)]
        new = [token for token in wanted if (token, id(model)) not in self._found]
        if new:
            near = [()] * len(new) if model is None else self._near(new, model)
            for token, found in zip(new, near, strict=True):
                self._found[token, id(model)] = (*found, *self._typed(token))
        return {token: found for token in wanted if (found := self._found[token, id(model)])}

    def _near(self, wanted: Sequence[str], model: WordVectors) -> list[tuple[StandIn, ...]]:
        if not self._tokens:
            return [()] * len(wanted)
        cosines = self._matrix(model) @ quantized(model.of_tokens(wanted)).T / (_STEPS * _STEPS)
        return [
            tuple(self._nearest(token, cosines[:, number])) for number, token in enumerate(wanted)
        ]

    def _nearest(self, token: str, cosines: NDArray[Any]) -> Iterable[StandIn]:
        near = np.flatnonzero(cosines >= LEAST).tolist()
        others = sorted(
            (-float(cosines[at]), self._tokens[at]) for at in near if self._tokens[at] != token
        )
        for cosine, other in others[:NEAREST]:
            yield StandIn(other, NEAR_WEIGHT * -cosine, is_near=True)

    def _matrix(self, model: WordVectors) -> NDArray[Any]:
        known = self._vectors.get(id(model))
        if known is None or len(known) < len(self._tokens):
            first = 0 if known is None else len(known)
            more = quantized(model.of_tokens(self._tokens[first:]))
            known = more if known is None else np.concatenate([known, more])
            self._vectors[id(model)] = known
        return known

    def _typed(self, token: str) -> Iterable[StandIn]:
        """Words at edit distance 1, or 2 from `LONG_WORD` letters, of a token that is in none."""
        if token in self._known or len(token) < _SHORTEST:
            return
        most = 2 if len(token) >= LONG_WORD else 1
        found = sorted(
            (distance, other)
            for other in self._like(token, most)
            if (distance := edits(token, other, most)) <= most
        )
        for distance, other in found[:_MOST_TYPED]:
            if distance == found[0][0]:
                yield StandIn(other, TYPED_WEIGHT, is_near=False)

    def _like(self, token: str, most: int) -> Iterable[str]:
        """Those with about the same letters: few of many thousands."""
        letters = _letters(token)
        return (
            other
            for other in self._tokens
            if abs(len(other) - len(token)) <= most
            and len(other) >= _SHORTEST - 1
            and (_letters(other) ^ letters).bit_count() <= 2 * most
        )


def quantized(vector: NDArray[Any]) -> NDArray[Any]:
    """Vectors of length one in whole steps, so that products of two such are exact."""
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
