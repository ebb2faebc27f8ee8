"""Intents: what somebody wants done, who wants it, and where that comes from.

The host gets an `Intent` without any of the rest; an `IntentInstance` is what a proposal holds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import iscoroutinefunction
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.ambient import out_of_reach
from memoranda.kernel.errors import IllegalMove, InvalidDomain, InvalidWorld
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import tuple_of
from memoranda.worlds.readonly import plain, read_only
from memoranda.worlds.snapshot import (
    NULLABLE,
    Count,
    Id,
    Json,
    JsonObject,
    Milliseconds,
    Name,
    Names,
    Snapshot,
    Text,
    WorldModel,
    same_actor,
)

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
    """What is wanted: an action, its input, and the scope that is asked for.

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
    """What is known of an intent besides what is wanted."""

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
    """The same action in the same domain has the same key, whoever wants it, and when."""
    scope = None if body.scope_proposal is None else body.scope_proposal.to_wire()
    given = canonical_bytes(body.input).decode()
    asked = canonical_bytes(scope).decode()
    return sha256_hex(f"{schema_hash}:{body.type}:{given}:{asked}".encode())


def intent_instance(
    schema_hash: str, body: IntentBody, *, intent_id: str, origin: IntentOrigin | Mapping[str, Any]
) -> IntentInstance:
    """One attempt at what is wanted; `origin` may be given by its members."""
    return IntentInstance.model_validate(
        {
            "body": body,
            "intent_id": intent_id,
            "intent_key": intent_key(schema_hash, body),
            "meta": {"origin": origin},
        }
    )


def to_host_intent(instance: IntentInstance) -> Intent:
    """What the host gets of it; an input that is absent stays absent."""
    given: dict[str, Any] = {"type": instance.body.type, "intent_id": instance.intent_id}
    if "input" in instance.body.model_fields_set:
        given["input"] = instance.body.input
    return Intent(**given)


# --------------------------------------------------------------------- projections

# Projections: an event of the outside becomes an intent, by a plain function.
#
# The same data, computed values, actor and event give the same intent. So a projection sees nothing
# else: neither input nor meta nor system, no clock, no randomness; it awaits nothing; and memory
# can't be reached from it (C-5). Selecting memory is for whoever proposes, and is traced.


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


# ------------------------------------------------------------------------------------------------
# Proposals: what somebody wants to run, on which world, and how far it has come.
#
# A proposal moves only as the world protocol says; any other move raises. It holds no memory
# context (MEM-CTX-1): memory that led to it stands in ``trace.context.memory`` (M-2), and no member
# beside that is added for memory (MIN-INVASION).

ProposalStatus = Literal[
    "submitted", "evaluating", "approved", "rejected", "executing", "completed", "failed"
]

MOVES: Final[Mapping[ProposalStatus, frozenset[ProposalStatus]]] = MappingProxyType(
    {
        "submitted": frozenset({"evaluating", "rejected"}),
        "evaluating": frozenset({"approved", "rejected"}),
        "approved": frozenset({"executing"}),
        "rejected": frozenset(),
        "executing": frozenset({"completed", "failed"}),
        "completed": frozenset(),
        "failed": frozenset(),
    }
)
"""From each status, those that may follow it."""


def check_move(proposal_id: str, status: str, to: str) -> None:
    """Refuse a move that the world protocol does not know with IllegalMove."""
    if to not in MOVES.get(status, ()):  # type: ignore[call-overload]
        raise IllegalMove(proposal_id, status, to)


class ProposalTrace(WorldModel):
    """Why somebody proposes this, and what it rests on: ``context.memory`` is the memory (M-2)."""

    summary: Name
    reasoning: Text | None = None
    context: JsonObject | None = None


class Proposal(WorldModel):
    """What an actor wants to run on a world, under a key that is fixed before it runs.

    The actor is the one of the intent's origin: nobody proposes in another's name.
    """

    proposal_id: Id
    actor: ActorRef
    intent: IntentInstance
    base_world: Id
    status: ProposalStatus
    epoch: Count
    execution_key: Id
    trace: ProposalTrace | None = None
    submitted_at: Milliseconds
    approved_scope: Annotated[IntentScope | None, NULLABLE] = None
    decision_id: Id | None = None
    result_world: Id | None = None
    decided_at: Milliseconds | None = None
    completed_at: Milliseconds | None = None

    @model_validator(mode="after")
    def _has_one_actor(self) -> Self:
        if not same_actor(self.actor, self.intent.meta.origin.actor):
            raise InvalidWorld("$.actor", "the intent's origin names another")
        return self


# ----------------------------------------------------------------------- decisions

# Decisions: who may decide, who voted how, and what came of it; immutable, one per proposal.


AuthorityKind = Literal["auto", "human", "policy", "tribunal"]
VoteChoice = Literal["approve", "reject", "abstain"]


class AuthorityRef(WorldModel):
    """Who decides: not an actor, but what an actor answers for (R-3)."""

    authority_id: Id
    kind: AuthorityKind
    name: Text | None = None


class Vote(WorldModel):
    """One actor's answer; a human in the loop answers by a vote as well."""

    voter: ActorRef
    decision: VoteChoice
    reasoning: Text | None = None
    voted_at: Milliseconds


class ApprovedDecision(WorldModel):
    """It may run."""

    kind: Literal["approved"] = "approved"


class RejectedDecision(WorldModel):
    """It may not, and why."""

    kind: Literal["rejected"] = "rejected"
    reason: Name


class TimeoutDecision(WorldModel):
    """Nobody answered in time; what the policy says then is done."""

    kind: Literal["timeout"] = "timeout"
    action: Literal["approved", "rejected"]


FinalDecision = Annotated[
    ApprovedDecision | RejectedDecision | TimeoutDecision, Field(discriminator="kind")
]


class DecisionRecord(WorldModel):
    """What was decided about a proposal, by which authority and which actor (R-3).

    ``approvedScope`` is there when it was approved; null is no restriction.
    """

    decision_id: Id
    proposal_id: Id
    authority: AuthorityRef
    decision: FinalDecision
    approved_scope: Annotated[IntentScope | None, NULLABLE] = None
    reasoning: Text | None = None
    decided_at: Milliseconds
    decided_by: ActorRef

    @property
    def is_approved(self) -> bool:
        decision = self.decision
        outcome = decision.action if isinstance(decision, TimeoutDecision) else decision.kind
        return outcome == "approved"


class TribunalDecisionRecord(DecisionRecord):
    """The same of a tribunal, with every vote."""

    votes: Annotated[Sequence[Vote], tuple_of(Vote)]
    quorum_met: bool
