"""Who acts: one identity type for people, agents, policies and the system (C-2, MIN-INVASION)."""

from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from memoranda.kernel.errors import InvalidActor
from memoranda.kernel.wire import STORABLE, Refusal, WireModel

ActorKind = Literal["human", "agent", "system", "policy"]
"""A policy acts where a rule does, and nobody: a retention rule, a scheduled review."""


class ActorRef(WireModel):
    """A reference to whoever acts: ``actorId`` and ``kind``, optionally a name and meta (C-2)."""

    refusal: ClassVar[Refusal] = InvalidActor

    actor_id: Annotated[str, Field(min_length=1, max_length=256), STORABLE]
    kind: ActorKind
    name: str | None = None
    meta: dict[str, Any] | None = None

    def __str__(self) -> str:
        """``kind:id``, the form that `parse_actor` reads."""
        return f"{self.kind}:{self.actor_id}"


def parse_actor(actor: ActorRef | str) -> ActorRef:
    """An ActorRef as it is, or one read from ``kind:id``; InvalidActor otherwise."""
    if isinstance(actor, ActorRef):
        return actor
    if not isinstance(actor, str):
        raise InvalidActor(type(actor).__name__, "it is neither an ActorRef nor a string")
    return _parsed(actor)


@lru_cache(maxsize=1024)
def _parsed(actor: str) -> ActorRef:
    kind, colon, actor_id = actor.partition(":")
    if not colon:
        raise InvalidActor(repr(actor), "it has no kind")
    return ActorRef.model_validate({"kind": kind, "actorId": actor_id})
