"""What an app asks of memory when it runs something, and tells it afterwards (MEM-INT-3).

A provider wraps whatever holds the memory. It may fail, hang or be absent: the run goes on without
it, and that is on record (MEM-INT-4).
"""

from collections.abc import Callable
from typing import Annotated, Any, Protocol, TypeVar

from pydantic import ConfigDict

from recollect.worlds.intent import Intent
from recollect.worlds.values import (
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
    """Memory for execution: any JSON value as the context of a run (D-MEM-3)."""

    async def recall(self, query: MemoryQuery) -> Context_co:
        """What is known that may help; it is frozen by value before the run (MEM-CONTEXT-1)."""
        ...

    async def remember(self, experience: MemoryExperience) -> None:
        """Learn from what was done; called after the world is sealed, and nobody waits for it."""
        ...


class OfHandle:
    """A provider that is made of the handle it recalls through, once that handle is there."""

    def __init__(self, make: Callable[[Any], MemoryProvider[Any]]) -> None:
        self._make = make
        self._made: MemoryProvider[Any] | None = None

    def given(self, handle: object) -> None:
        """The handle is there."""
        self._made = self._make(handle)

    async def recall(self, query: MemoryQuery) -> object:
        """What it recalls."""
        return await self._provider.recall(query)

    async def remember(self, experience: MemoryExperience) -> None:
        """It learns."""
        await self._provider.remember(experience)

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
