"""Words that may stand for a word of a question: near in meaning, or what was meant to be typed.

Both are looked for among the words that a scope has: its vocabulary. `physician` is found by
`doctor` where a model says that they are near, and `doctor` by `docter`, which the scope has not.
What stands for a word counts less than the word itself.

Only words of plain letters have any. The cosine of two words is exact, whatever machine computes
it (`vector_rows`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from memoranda.recall.arrays import NDArray, np
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.vector_rows import ALL, VectorRows, quantized

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
_PLAIN: Final = re.compile("[a-z]+")
_MOST_TYPED: Final = 4
_MOST_FOUND: Final = 4_096
_ALPHABET: Final = 26


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


class _Candidates(NamedTuple):
    """What was found for a token among the first words of a vocabulary, so many of them."""

    seen: int
    near: Sequence[tuple[float, str]]
    """The cosine, negative, and the word."""
    typed: Sequence[tuple[int, str]]
    """How many letters are wrong, and the word."""


_NOTHING_FOUND: Final = _Candidates(0, (), ())


class Vocabulary:
    """The words of one scope that may stand for others; it grows with the scope.

    What no record has any more may still be in it: nothing is found by that.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._tokens: list[str] = []
        """Those of plain letters."""
        self._letters: NDArray[Any] = np.zeros(0, np.uint32)
        self._lengths: NDArray[Any] = np.zeros(0, np.int64)
        self._vectors: dict[int, VectorRows] = {}
        self._found: dict[tuple[str, int], _Candidates] = {}

    def __len__(self) -> int:
        return len(self._known)

    @property
    def size(self) -> int:
        """About how much memory it takes."""
        return 128 * len(self._known) + sum(rows.size for rows in self._vectors.values())

    def add(self, tokens: Iterable[str]) -> None:
        new = set(tokens) - self._known
        if new:
            self._known |= new
            plain = sorted(token for token in new if _PLAIN.fullmatch(token))
            self._tokens += plain[: max(MOST - len(self._tokens), 0)]

    def stand_ins(self, question: ParsedQuestion, model: WordVectors | None) -> StandIns:
        """What may stand for the tokens of a question: by their meaning, if there is a model."""
        wanted = [token for token in question.tokens if _PLAIN.fullmatch(token)]
        if len(self._found) > _MOST_FOUND:
            self._found.clear()
        old = [self._found.get((token, id(model)), _NOTHING_FOUND) for token in wanted]
        for seen in {found.seen for found in old if found.seen < len(self._tokens)}:
            some = [token for token, found in zip(wanted, old, strict=True) if found.seen == seen]
            near = [()] * len(some) if model is None else self._near(some, model, seen)
            for token, more in zip(some, near, strict=True):
                key = (token, id(model))
                known = self._found.get(key, _NOTHING_FOUND)
                best = sorted([*known.near, *more])[:NEAREST]
                typed = sorted([*known.typed, *self._typed(token, seen)])[:_MOST_TYPED]
                self._found[key] = _Candidates(len(self._tokens), best, typed)
        return {token: found for token in wanted if (found := self._stand_ins(token, model))}

    def _stand_ins(self, token: str, model: WordVectors | None) -> tuple[StandIn, ...]:
        _, near, typed = self._found.get((token, id(model)), _NOTHING_FOUND)
        if token in self._known or not typed:
            nearest = []
        else:
            nearest = [other for distance, other in typed if distance == typed[0][0]]
        return (
            *(StandIn(other, NEAR_WEIGHT * -cosine, is_near=True) for cosine, other in near),
            *(StandIn(other, TYPED_WEIGHT, is_near=False) for other in nearest),
        )

    def _near(
        self, wanted: Sequence[str], model: WordVectors, first: int
    ) -> list[list[tuple[float, str]]]:
        """The nearest of the words from one on: the cosine, negative, and the word."""
        known = self._rows(model)
        nearest = []
        for token, vector in zip(wanted, quantized(model.of_tokens(wanted)), strict=True):
            # A new word that is not among the nearest of all would be cut off by older ones.
            are_few = len(known) - first <= ALL
            rows = np.arange(first, len(known)) if are_few else known.near(vector, NEAREST + 1)
            rows = rows[rows >= first]
            found = self._nearest(token, known.products(vector, rows), rows)
            nearest.append(sorted(found)[:NEAREST])
        return nearest

    def _nearest(
        self, token: str, cosines: NDArray[Any], rows: NDArray[Any]
    ) -> Iterable[tuple[float, str]]:
        least = LEAST
        if len(cosines) > NEAREST:  # the token itself may be among them
            least = max(LEAST, float(np.partition(cosines, -NEAREST - 1)[-NEAREST - 1]))
        for at in np.flatnonzero(cosines >= least).tolist():
            if (other := self._tokens[rows[at]]) != token:
                yield -float(cosines[at]), other

    def _rows(self, model: WordVectors) -> VectorRows:
        known = self._vectors.get(id(model))
        first = 0 if known is None else len(known)
        if known is None or first < len(self._tokens):
            more = quantized(model.of_tokens(self._tokens[first:]))
            known = self._vectors.setdefault(id(model), VectorRows(more.shape[1]))
            known.add(more)
        return known

    def _typed(self, token: str, first: int) -> Iterable[tuple[int, str]]:
        """Words at edit distance 1, or 2 from `LONG_WORD` letters, of a token that is in none."""
        if token in self._known or len(token) < _SHORTEST:
            return
        most = 2 if len(token) >= LONG_WORD else 1
        for other in self._like(token, most, first):
            if (distance := edits(token, other, most)) <= most:
                yield distance, other

    def _like(self, token: str, most: int, first: int) -> Iterable[str]:
        """Those with about the same letters: few of many thousands."""
        new = self._tokens[len(self._lengths) :]
        if new:
            letters = np.array(list(map(_letters, new)), np.uint32)
            self._letters = np.concatenate([self._letters, letters])
            self._lengths = np.concatenate([self._lengths, np.array(list(map(len, new)))])
        lengths = self._lengths[first:]
        apart = np.abs(lengths - len(token)) <= most
        near = first + np.flatnonzero(apart & (lengths >= _SHORTEST - 1))
        differing = self._letters[near] ^ np.uint32(_letters(token))
        is_like = np.zeros(len(near), np.int64)
        for letter in range(_ALPHABET):
            is_like += (differing >> np.uint32(letter)) & np.uint32(1)
        return map(self._tokens.__getitem__, near[is_like <= 2 * most].tolist())


def edits(word: str, other: str, most: int) -> int:
    """How many letters are wrong: changed, missing, added, or two exchanged; `most` + 1 if more."""
    while word and other and word[-1] == other[-1]:
        word, other = word[:-1], other[:-1]
    while word and other and word[0] == other[0]:
        word, other = word[1:], other[1:]
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


def _letters(word: str) -> int:
    """Which letters a word has, a bit for each."""
    found = 0
    for letter in word.encode():
        found |= 1 << letter - 97
    return found
