"""What an app asks of memory when it runs something, and tells it afterwards (MEM-INT-3).

A provider wraps whatever holds the memory. It may fail, hang or be absent: the run goes on without
it, and that is on record (MEM-INT-4).
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Annotated, Any, Final, Protocol, TypeVar

from pydantic import ConfigDict

from memoranda.kernel.errors import InvalidOption
from memoranda.kernel.json import JsonValue
from memoranda.records.filter import MemoryFilter
from memoranda.records.model import MemoryRecordInput
from memoranda.records.store import MemoryStore, check_store
from memoranda.worlds.proposal import Intent
from memoranda.worlds.snapshot import (
    NULLABLE,
    Id,
    Json,
    JsonObject,
    Milliseconds,
    Outcome,
    WorldModel,
)

Context_co = TypeVar("Context_co", covariant=True)


class MemoryQuery(WorldModel):
    """Who is about to do what, on which world, when; hints are the caller's own (EXT-TYPES)."""

    actor_id: Id
    intent: Intent
    base_world: Id
    timestamp: Milliseconds
    hints: JsonObject | None = None


class MemoryExperience(WorldModel):
    """What was done, and what came of it: a failed run led to a world too (EXT-TYPES)."""

    actor_id: Id
    intent: Intent
    outcome: Outcome
    base_world: Id
    result_world: Id
    timestamp: Milliseconds
    data: Annotated[Json, NULLABLE] = None


class MemoryProvider(Protocol[Context_co]):
    """Memory for execution: any JSON value as the context of a run (D-MEM-3).

    Its methods are async, or plain functions, which are called on a thread.
    """

    def recall(self, query: MemoryQuery, /) -> Awaitable[Context_co] | Context_co:
        """What is known that may help; it is frozen by value before the run (MEM-CONTEXT-1)."""
        ...

    def remember(self, experience: MemoryExperience, /) -> Awaitable[None] | None:
        """Learn from what was done; called after the world is sealed, and nobody waits for it."""
        ...


NEEDED: Final = "give an object that has both recall(query) and remember(experience)"


def checked_provider(given: MemoryProvider[Any]) -> MemoryProvider[Any]:
    """A provider that can recall and remember; InvalidOption where it lacks one of the two."""
    for method in ("recall", "remember"):
        if not callable(getattr(given, method, None)):
            raise InvalidOption("provider", f"a {type(given).__name__} has no {method}; {NEEDED}")
    return given


class OfHandle:
    """A provider that is made of the handle it recalls through, once that handle is there."""

    def __init__(self, make: Callable[[Any], MemoryProvider[Any]]) -> None:
        self._make = make
        self._made: MemoryProvider[Any] | None = None

    def given(self, handle: object) -> None:
        """The handle is there; InvalidOption where what was made of it is no provider."""
        self._made = checked_provider(self._make(handle))

    @property
    def recall(self) -> Callable[[MemoryQuery], Any]:
        return self._provider.recall

    @property
    def remember(self) -> Callable[[MemoryExperience], Any]:
        return self._provider.remember

    @property
    def _provider(self) -> MemoryProvider[Any]:
        if self._made is None:
            raise LookupError("the handle is not there yet")
        return self._made


class AppExecutionContext(WorldModel):
    """What an app knows when it executes; never part of what a host is given as options."""

    memory_context: Annotated[Json, NULLABLE] = None
    memory_recall_failed: bool | None = None


class AppInputNamespace(WorldModel):
    """What stands at ``input.$app``: the two memory members, and others of the app's (APP-INPUT-1).

    Further members are kept as they are.
    """

    model_config = ConfigDict(extra="allow")

    __pydantic_extra__: dict[str, Json]

    memory_context: Annotated[Json, NULLABLE] = None
    memory_recall_failed: bool | None = None


# ------------------------------------------------------------------------------------------------
# A provider that recalls from a memory store, whichever it is (D-MEM-3, MEM-INT-3).
#
# Whatever the store does, the app that asks has its time limit and goes on without it (MEM-INT-4,
# MEM-INT-5): nothing is caught or waited for here.

TEXT: Final = "text"
"""The filter key of a store that finds records by what they say."""
FILTER: Final = "filter"
"""The hint that narrows a recall: a filter, under the names of the wire."""


class StoreProvider:
    """Recalls from a MemoryStore, and may keep there what was done.

    A recall returns up to `top_k` records as plain JSON, newest first: those that fit ``filter``
    and the hint ``filter`` of the action. A store that declares the filter key ``text`` is asked
    for what the action is about: the hint ``text``, or else the texts of its input. With
    ``remembers``, each experience becomes a record with these tags.
    """

    def __init__(
        self,
        store: MemoryStore[Any],
        *,
        top_k: int,
        filter: MemoryFilter | None = None,
        remembers: Sequence[str] | None = None,
    ) -> None:
        check_store(store)
        if type(top_k) is not int or top_k < 1:
            raise InvalidOption("top_k", f"{top_k!r} is not a number of records; give 1 or more")
        self._store = store
        self._top_k = top_k
        self._filter = filter or MemoryFilter()
        self._remembers = remembers

    async def recall(self, query: MemoryQuery) -> JsonValue:
        """The records that fit, as plain JSON; UnknownFilterKey for a hint the store can't heed."""
        hints = query.hints or {}
        asked = {
            **self._filter.model_dump(by_alias=True, exclude_unset=True),
            **hints.get(FILTER, {}),
            "limit": self._top_k,
        }
        text = hints.get(TEXT) or " ".join(_texts(query.intent.input))
        if text and TEXT in self._store.capabilities.filter_keys:
            asked[TEXT] = text
        found = await self._store.query(MemoryFilter.model_validate(asked))
        return [record.to_wire() for record in found]

    async def remember(self, experience: MemoryExperience) -> None:
        """Keep what was done as a record, if this provider is to."""
        if self._remembers is not None:
            record = MemoryRecordInput[Any](data=experience.to_wire(), tags=self._remembers)
            await self._store.create(record)


def _texts(value: JsonValue) -> Iterator[str]:
    """Every text in a JSON value, but for the names of its members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _texts(member)
