"""The results of a ranking, taken one by one in order: the same on both databases."""

from collections.abc import Callable
from typing import Generic, TypeVar

from memoranda.ledger.unit import Current
from memoranda.recall.candidates import Scored

R = TypeVar("R")


class Results(Generic[R]):
    """Takes the best until there are enough, then notes what came next."""

    def __init__(
        self, make: Callable[[Current, Scored], R | None], *, limit: int, below: int
    ) -> None:
        self.made: list[R] = []
        self.below: list[Scored] = []
        self._make = make
        self._limit, self._below = limit, below

    @property
    def wanted(self) -> int:
        """How many are still wanted."""
        return self._limit - len(self.made) + self._below - len(self.below)

    def take(self, scored: Scored, record: Current) -> None:
        """Take the next one, if it is wanted, and made into anything."""
        value = self._make(record, scored) if self.wanted > 0 else None
        if value is None:
            return
        if len(self.made) < self._limit:
            self.made.append(value)
        else:
            self.below.append(scored)
