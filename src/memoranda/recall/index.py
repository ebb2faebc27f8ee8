"""The port to a scope's index of words: what is found, ranked, at one moment.

A store answers from postings and statistics that are the scope's own; the order is that of
`ranking`, to the last bit, whatever store it is.
"""

from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.unit import Current
from memoranda.recall.asking import Asked
from memoranda.recall.candidates import Scored
from memoranda.recall.fitting import EVERYTHING
from memoranda.recall.ranking import Mode
from memoranda.records.filter import MemoryFilter

R = TypeVar("R")


class Ranking(NamedTuple, Generic[R]):
    """What was found: the best first, and what came next."""

    made: list[R]
    """What was made of the best; those that were made into None don't count."""
    below: list[Scored]
    """The next ones, which were not taken."""
    hits: int
    """How many records have anything of what was asked for."""
    size: int
    """How many entries the journal had at that moment."""


class WordIndex(Protocol):
    """The index of words of one scope."""

    async def rank(
        self,
        mode: Mode,
        asked: Asked,
        make: Callable[[Current, Scored], R | None],
        *,
        limit: int,
        below: int = 0,
        within: MemoryFilter = EVERYTHING,
        damaged: list[EntryDamaged] | None = None,
    ) -> Ranking[R]:
        """The active objects that have anything of what is asked for, the best first.

        Each is made into a value where it was read, in order, until there are `limit` of them;
        what is made into None is passed over. The last write is found. What `within` does not
        ask for is not looked at. Statistics are those of
        all active objects of the scope, whatever `within` leaves out, and so are the neighbours
        in a thread; in `CONTEXT` the words of the `seeds_for(limit)` best count, and there is
        nothing but these and what stands around them. IndexStale if the index is of another
        tokenizer. What is damaged is raised, or left out and put into the list.
        """
        ...
