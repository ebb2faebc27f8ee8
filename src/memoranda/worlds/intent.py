"""Intents: what somebody wants done, who wants it, and where the wish comes from.

The host gets an `Intent` without any of the rest; an `IntentInstance` is what a proposal holds.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.json import JsonValue
from memoranda.worlds.values import NULLABLE, Id, Json, JsonObject, Name, Names, Text, WorldModel

SourceKind = Literal["ui", "api", "agent", "system"]


def _unreserved(given: JsonValue) -> JsonValue:
    if isinstance(given, dict):
        for name in given:
            if name.startswith("$"):
                raise ValueError(f"the name {name} is reserved")
    return given


class Intent(WorldModel):
    """What a host gets: no actor, no base world, no memory."""

    type: Name
    input: Annotated[Json, NULLABLE] = None
    intent_id: Id


class IntentScope(WorldModel):
    """Which paths of the data may change; without any, all may."""

    allowed_paths: Names | None = None
    note: Text | None = None


class IntentBody(WorldModel):
    """The wish itself: an action, its input, and the scope that is asked for.

    Names that begin with ``$`` are the platform's, in an input too (APP-INPUT-1).
    """

    type: Name
    input: Annotated[Json, AfterValidator(_unreserved), NULLABLE] = None
    scope_proposal: IntentScope | None = None


class IntentSource(WorldModel):
    """The event behind an intent."""

    kind: SourceKind
    event_id: Id


class IntentOrigin(WorldModel):
    """Which projection made an intent, of which event, for whom."""

    projection_id: Id
    source: IntentSource
    actor: ActorRef
    note: Text | None = None


class IntentMeta(WorldModel):
    """What is known of an intent beside the wish itself."""

    origin: IntentOrigin


class IntentInstance(WorldModel):
    """One attempt: ``intentId`` is its own, ``intentKey`` that of every attempt at the same."""

    body: IntentBody
    intent_id: Id
    intent_key: Id
    meta: IntentMeta


class SnapshotView(WorldModel):
    """All that a projection sees: neither input nor meta nor system (C-5)."""

    data: Json
    computed: JsonObject


def intent_key(schema_hash: str, body: IntentBody) -> str:
    """The same wish in the same domain has the same key, whoever wishes, and when."""
    scope = None if body.scope_proposal is None else body.scope_proposal.to_wire()
    given = canonical_bytes(body.input).decode()
    asked = canonical_bytes(scope).decode()
    return sha256_hex(f"{schema_hash}:{body.type}:{given}:{asked}".encode())


def intent_instance(
    schema_hash: str, body: IntentBody, *, intent_id: str, origin: IntentOrigin
) -> IntentInstance:
    """One attempt at a wish, with its key."""
    return IntentInstance(
        body=body,
        intent_id=intent_id,
        intent_key=intent_key(schema_hash, body),
        meta=IntentMeta(origin=origin),
    )


def to_host_intent(instance: IntentInstance) -> Intent:
    """What the host gets of it; an input that is absent stays absent."""
    given: dict[str, Any] = {"type": instance.body.type, "intent_id": instance.intent_id}
    if "input" in instance.body.model_fields_set:
        given["input"] = instance.body.input
    return Intent(**given)
