"""What an app asks of memory when it runs something, and tells it afterwards (MEM-INT-3).

A provider wraps whatever holds the memory. It may fail, hang or be absent: the run goes on without
it, and that is on record (MEM-INT-4).
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, Protocol, TypeVar

from pydantic import ConfigDict

from memoranda.kernel.errors import InvalidOption
from memoranda.worlds.intent import Intent
from memoranda.worlds.values import (
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
    """A provider that can be asked and told; InvalidOption where it lacks one of the two."""
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
        """How it recalls, plain or async."""
        return self._provider.recall

    @property
    def remember(self) -> Callable[[MemoryExperience], Any]:
        """How it learns."""
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
