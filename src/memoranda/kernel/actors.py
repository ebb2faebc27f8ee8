"""Who acts: one identity type for people, agents, policies and the system (C-2, MIN-INVASION)."""

from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from memoranda.kernel.errors import InvalidActor, InvalidScope
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


# ------------------------------------------------------------------------------------------------
# A scope is the tenant, agent or project that a handle is opened for.
#
# It is bound once, when the handle is opened, and is never an argument that a model could fill in.

MAX_LENGTH = 128


def check_scope(scope: object) -> str:
    """The scope itself, if it is a short printable string; InvalidScope otherwise."""
    if not isinstance(scope, str):
        raise InvalidScope(scope, "it is not a string")
    if not scope:
        raise InvalidScope(scope, "it is empty")
    if len(scope) > MAX_LENGTH:
        raise InvalidScope(scope[:32] + "…", f"it has {len(scope)} characters")
    if not scope.isprintable():
        raise InvalidScope(scope, "it holds a character that can't be printed")
    if scope != scope.strip():
        raise InvalidScope(scope, "it begins or ends with a space")
    return scope
