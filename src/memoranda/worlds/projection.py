"""Projections: an event of the outside becomes an intent, by a plain function.

The same data, computed values, actor and event give the same intent. So a projection sees nothing
else: neither input nor meta nor system, no clock, no randomness; it awaits nothing; and memory
can't be reached from it (C-5). Selecting memory is for whoever proposes, and is traced.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Annotated

from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidDomain, InvalidWorld
from memoranda.kernel.json import JsonValue
from memoranda.kernel.reach import out_of_reach
from memoranda.worlds.intent import IntentBody, SnapshotView, SourceKind
from memoranda.worlds.readonly import plain, read_only
from memoranda.worlds.snapshot import Snapshot
from memoranda.worlds.values import NULLABLE, Id, Json, WorldModel


class ProjectionEvent(WorldModel):
    """What happened outside. When it did is no part of it, for no projection may depend on that."""

    kind: SourceKind
    event_id: Id
    payload: Annotated[Json, NULLABLE] = None


ProjectionFunction = Callable[
    [SnapshotView, ActorRef, ProjectionEvent], IntentBody | Mapping[str, JsonValue] | None
]


@dataclass(frozen=True, slots=True)
class Projection:
    """A function from an event to an intent, under the id that the intent's origin names."""

    id: str
    function: ProjectionFunction


def projection(id: str) -> Callable[[ProjectionFunction], Projection]:
    """Make a projection of a plain function; InvalidDomain for one that awaits."""

    def define(function: ProjectionFunction) -> Projection:
        if not id.strip():
            raise InvalidDomain(id, "a projection has an id")
        if iscoroutinefunction(function):
            raise InvalidDomain(id, "a projection is a plain function: it waits for nothing")
        return Projection(id, function)

    return define


def project(
    projection: Projection,
    seen: Snapshot | SnapshotView,
    actor: ActorRef,
    event: ProjectionEvent,
) -> IntentBody | None:
    """The intent that an event means, or None; whatever the projection raises comes through.

    1. it sees data and computed, and nothing else of a snapshot
    2. what it gets can't be changed, or is its own
    3. memory is out of reach meanwhile: MemoryOutOfReach (C-5)
    4. what it returns is taken by value; InvalidWorld where it is no intent
    """
    view = SnapshotView.model_construct(  # 1., 2.: not validated, which would copy it
        data=read_only(seen.data), computed=read_only(seen.computed)
    )
    given = event.model_copy(update={"payload": read_only(event.payload)})
    with out_of_reach("a projection"):  # 3.
        returned = projection.function(view, actor.model_copy(deep=True), given)
    match returned:  # 4.
        case None:
            return None
        case IntentBody():
            return IntentBody.from_wire(plain(returned.to_wire()))
        case Mapping():
            return IntentBody.from_wire(plain(returned))
    raise InvalidWorld("$", f"the projection {projection.id!r} returned no intent")
