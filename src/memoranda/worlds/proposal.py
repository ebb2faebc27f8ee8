"""Proposals: what somebody wants to run, on which world, and how far it has come.

A proposal moves only as the world protocol says; any other move raises. It holds no memory
context (MEM-CTX-1): memory that led to it stands in ``trace.context.memory`` (M-2), and no member
beside that is added for memory (MIN-INVASION).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, Self

from pydantic import model_validator

from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import IllegalMove, InvalidWorld
from memoranda.worlds.intent import IntentInstance, IntentScope
from memoranda.worlds.values import (
    NULLABLE,
    Count,
    Id,
    JsonObject,
    Milliseconds,
    Name,
    Text,
    WorldModel,
    same_actor,
)

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

_INGRESS: Final = frozenset({"submitted", "evaluating"})
_DECIDED: Final = frozenset({"approved", "rejected"})
_WORLD: Final = frozenset({"completed", "failed"})
_MOVING: Final = frozenset(
    {"approved_scope", "decision_id", "result_world", "decided_at", "completed_at"}
)


def check_move(proposal_id: str, status: str, to: str) -> None:
    """Refuse a move that the world protocol does not know with IllegalMove."""
    if to not in MOVES.get(status, ()):  # type: ignore[call-overload]
        raise IllegalMove(proposal_id, status, to)


def is_terminal(status: ProposalStatus) -> bool:
    """Whether nothing follows this status."""
    return not MOVES[status]


def is_ingress(status: ProposalStatus) -> bool:
    """Whether it waits for a decision: until then it may be dropped."""
    return status in _INGRESS


def makes_decision(status: ProposalStatus, to: ProposalStatus) -> bool:
    """Whether this move is made by a decision, which is then on record."""
    return to in MOVES[status] and to in _DECIDED


def makes_world(status: ProposalStatus) -> bool:
    """Whether a world comes of a proposal that ends so; a failed one makes a world too."""
    return status in _WORLD


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

    def moved(self, to: ProposalStatus, **known: Any) -> Self:
        """The proposal after a move, with what is known by it; IllegalMove where it can't be.

        Only what a move brings may be given: approved_scope, decision_id, result_world,
        decided_at, completed_at. All else was fixed when it was submitted.
        """
        check_move(self.proposal_id, self.status, to)
        if fixed := known.keys() - _MOVING:
            raise TypeError(f"{min(fixed)} is fixed when a proposal is submitted")
        members = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self)(**{**members, **known, "status": to})
