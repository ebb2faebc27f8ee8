"""What the values of the world protocol have in common: frozen, strict, closed, by value.

Python attributes are snake_case, the wire has the documents' camelCase names. A member that the
documents call optional is left out when it is absent; one that may be null as well is marked
`NULLABLE`, and then absent and null differ, in every hash too. JSON inside a value is taken by
value when the value is made: what its giver does to it later never reaches it.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, Field

from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidJson, InvalidWorld
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.kernel.results import short_repr
from memoranda.kernel.wire import STORABLE, Refusal, WireModel, tuple_of

_PLAIN: Final = frozenset({str, int, bool})
NULLABLE: Final = "absent and null differ"
"""Marks an optional member that may be null as well."""


def by_value(value: JsonValue) -> JsonValue:
    """A copy as it would come back from a store; a ValueError where it is not our JSON."""
    try:
        return decode(canonical_bytes(value))
    except InvalidJson as refused:
        raise ValueError(f"{refused.why}, at {refused.where}") from None


Json = Annotated[Any, AfterValidator(by_value)]
JsonObject = Annotated[dict[str, Any], AfterValidator(by_value)]
Text = Annotated[str, STORABLE]
Name = Annotated[str, Field(min_length=1), STORABLE]
Id = Annotated[str, Field(min_length=1, max_length=512), STORABLE]
"""An id of the world protocol: opaque, never parsed."""
Count = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
Milliseconds = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Names = Annotated[Sequence[str], tuple_of(Text)]
Outcome = Literal["completed", "failed"]


class WorldModel(WireModel):
    """A value of the world protocol; two are equal when their canonical bytes are."""

    refusal: ClassVar[Refusal] = InvalidWorld

    @classmethod
    def from_wire(cls, given: Mapping[str, JsonValue]) -> Self:
        """The value of a document with the wire's names, or InvalidWorld with where and why."""
        whole = dict(given) if isinstance(given, Mapping) else given
        return cls.model_validate(whole, by_alias=True, by_name=False)

    def to_wire(self) -> dict[str, JsonValue]:
        """The value under the wire's names; what is absent is left out, what is null stays.

        The objects are fresh, the JSON inside them is the value's own: don't change it.
        """
        return wire_of(self)

    def canonical(self) -> bytes:
        """The bytes that are stored and hashed: RFC 8785 of the wire form."""
        return canonical_bytes(self.to_wire())

    def __repr__(self) -> str:
        return short_repr(self, self.to_wire())

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, WorldModel):
            return NotImplemented
        return self.canonical() == other.canonical()

    def __hash__(self) -> int:
        return hash(self.canonical())


def same_actor(actor: ActorRef, other: ActorRef) -> bool:
    """Whether both are the same: by id and kind; a name or meta makes nobody else."""
    return (actor.actor_id, actor.kind) == (other.actor_id, other.kind)


def wire_of(model: BaseModel) -> dict[str, JsonValue]:
    """A model under the wire's names: the one place that knows what is left out."""
    members, wire = model.__dict__, {}
    for name, alias, leaves_out in _members(type(model)):
        value = members[name]
        if value is not None:
            wire[alias] = value if type(value) in _PLAIN else _wire(value)
        elif leaves_out == "never" or (leaves_out == "unset" and name in model.model_fields_set):
            wire[alias] = None
    if model.model_extra:
        wire.update(model.model_extra)
    return wire


def _wire(value: object) -> JsonValue:
    if isinstance(value, BaseModel):
        return wire_of(value)
    if isinstance(value, tuple):
        return [_wire(item) for item in value]
    if isinstance(value, dict) and isinstance(next(iter(value.values()), None), BaseModel):
        return {name: _wire(member) for name, member in value.items()}
    return value


@cache
def _members(kind: type[BaseModel]) -> tuple[tuple[str, str, str], ...]:
    members = []
    for name, field in kind.model_fields.items():
        if field.is_required() or field.default is not None:
            leaves_out = "never"
        else:
            leaves_out = "unset" if NULLABLE in field.metadata else "null"
        members.append((name, field.serialization_alias or field.alias or name, leaves_out))
    return tuple(members)
