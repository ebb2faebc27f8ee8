"""What a score is multiplied with: who says a record, and when it was made."""

from collections.abc import Iterable
from typing import Final

from memoranda.recall.asking import Asked
from memoranda.recall.candidates import Candidate

SAID_BY: Final = 1.5
"""What a score is multiplied with when the question names who says the record."""

IN_TIME: Final = 2.0
"""What a score is multiplied with when the record was made at the time the question names."""


class Emphasis:
    """What one question puts weight on."""

    def __init__(self, asked: Asked, tokens: Iterable[str]) -> None:
        self._period = asked.period
        self._tokens = frozenset(tokens)

    def of(self, score: float, one: Candidate) -> float:
        """The score of a record, multiplied with what is so of it."""
        if one.speaker and self.names(one.speaker):
            score *= SAID_BY
        if self._period is not None and self._period.has(one.created_at):
            score *= IN_TIME
        return score

    def names(self, speaker: Iterable[str]) -> bool:
        """Whether the question names somebody by any of these tokens."""
        return not self._tokens.isdisjoint(speaker)

    def most(self, score: float, *, is_named: bool) -> float:
        """What the score of no record becomes more than; `is_named` if one may be said by whom."""
        if is_named:
            score *= SAID_BY
        return score if self._period is None else score * IN_TIME
