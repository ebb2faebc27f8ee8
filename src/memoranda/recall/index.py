"""The port to a scope's index of words: what is found, ranked, at one moment.

A store answers from postings and statistics that are the scope's own; the order is that of
`ranking`, to the last bit, whatever store it is.
"""

from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from memoranda.identity import decode
from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.derive import thread_of
from memoranda.ledger.object import data_of
from memoranda.ledger.unit import Current, StoredEntry
from memoranda.recall.bm25 import Scored
from memoranda.recall.near_words import WordVectors
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.ranking import RankingMode
from memoranda.recall.scores import Unrelated
from memoranda.records.filter import Judged, MemoryFilter, matches
from memoranda.records.model import StoredMemoryRecord

# ------------------------------------------------------------------------------------------------
# Whether an object of the journal is what a filter asks for, by the filter's own definition.

EVERYTHING = MemoryFilter()
"""The filter that asks for all there is."""


def judged(current: Current) -> Judged:
    document: Any = decode(current.body)
    tags = document.get("tags")
    record = StoredMemoryRecord(
        current.id,
        data_of(document),
        current.created_at,
        current.updated_at,
        None if tags is None else tuple(tags),
        document.get("meta"),
    )
    return Judged(record, current.subject, thread_of(document), current.since)


def fits(filter: MemoryFilter, current: Current) -> bool:
    """Whether a filter asks for an object; paging aside."""
    if filter == EVERYTHING:
        return True
    record, subject, thread, _ = judged(current)
    return matches(filter, record, subject, thread)


def fits_by_time(filter: MemoryFilter, created_at: int) -> bool:
    """Whether a filter asks for something of which no more is known than when it was made."""
    rest = filter.model_copy(update={"created_after": None, "created_before": None})
    return (
        rest == EVERYTHING
        and (filter.created_after is None or filter.created_after <= created_at)
        and (filter.created_before is None or created_at <= filter.created_before)
    )


R = TypeVar("R")


class AskedMeaning(NamedTuple):
    """A question as a model sees it."""

    model: str
    """As in `embedder.stored_as`."""
    vector: bytes
    words: WordVectors | None
    """Its vectors of words, if it has any."""
    unrelated: Unrelated | None = None
    """How near it is to what has nothing to do with it, if the model says so."""


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
    without: int = 0
    """How many records have no vector yet of the model that was asked."""
    stored: Mapping[int, StoredEntry] = {}
    """The entries that were read of the best, by number."""


class WordIndex(Protocol):
    """The index of words of one scope."""

    async def rank(
        self,
        mode: RankingMode,
        asked: ParsedQuestion,
        make: Callable[[Current, Scored], R | None],
        *,
        limit: int,
        below: int = 0,
        within: MemoryFilter = EVERYTHING,
        damaged: list[EntryDamaged] | None = None,
        meaning: AskedMeaning | None = None,
    ) -> Ranking[R]:
        """The active objects that have anything of what is asked for, the best first.

        Each is made into a value where it was read, in order, until there are `limit` of them;
        what is made into None is passed over. The last write is found. What `within` does not
        ask for is not looked at. Statistics are those of
        all active objects of the scope, whatever `within` leaves out, and so are the neighbours
        in a thread; in `CONTEXT` the words of the `seeds_for(limit)` best count, and there is
        nothing but these and what stands around them; with a `meaning`, what is nearest to it
        as well. IndexStale if the index is of another
        tokenizer. What is damaged is raised, or left out and put into the list.
        """
        ...
