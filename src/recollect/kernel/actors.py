"""Who acts: one identity type for people, agents and the system (C-2, MIN-INVASION)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from recollect.kernel.errors import InvalidActor

ActorKind = Literal["human", "agent", "system"]


class ActorRef(BaseModel):
    """A reference to whoever acts: ``actorId`` and ``kind``, optionally a name and meta (C-2)."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", validate_by_name=True, validate_by_alias=True
    )

    actor_id: Annotated[
        str, StringConstraints(min_length=1, max_length=256), Field(alias="actorId")
    ]
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
        raise InvalidActor(actor, "it is neither an ActorRef nor a string")
    kind, colon, actor_id = actor.partition(":")
    if not colon:
        raise InvalidActor(actor, "it has no kind")
    if not actor_id.isprintable():
        raise InvalidActor(actor, "its id holds a character that can't be printed")
    try:
        return ActorRef.model_validate({"kind": kind, "actorId": actor_id})
    except ValidationError as refused:
        why = "; ".join(f"{error['loc'][0]}: {error['msg']}" for error in refused.errors())
        raise InvalidActor(actor, why) from None
