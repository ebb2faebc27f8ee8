"""Tribunals: many decide together, once enough of them have said the same.

Only members vote, once each. To abstain is to vote neither way. Votes are counted, so the order in
which they come does not matter, and what is decided stays decided whoever votes after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memoranda.kernel.actors import ActorRef, parse_actor
from memoranda.kernel.errors import InvalidWorld
from memoranda.kernel.json import JsonValue
from memoranda.worlds.authority import (
    Approved,
    Asked,
    Pending,
    Rejected,
    Verdict,
    asked_scope,
    counted,
    decided_already,
    is_among,
    is_over,
    limit,
    refusal,
)
from memoranda.worlds.decision import AuthorityRef
from memoranda.worlds.policies import OnTimeout, check_timeout, timed_out
from memoranda.worlds.values import Count, WorldModel, wire_of


class Unanimous(WorldModel):
    """All members approve; one who rejects ends it."""

    kind: Literal["unanimous"] = "unanimous"


class Majority(WorldModel):
    """More than half of the members; when all have voted, more who approve than who reject."""

    kind: Literal["majority"] = "majority"


class Threshold(WorldModel):
    """So many members approve; it ends when that can't be reached any more."""

    kind: Literal["threshold"] = "threshold"
    count: Count


Quorum = Unanimous | Majority | Threshold


@dataclass(frozen=True, slots=True)
class Tribunal:
    """Its members vote until the quorum is met or missed, or the time is over."""

    members: Sequence[ActorRef | str]
    quorum: Quorum
    timeout_ms: int | None = None
    on_timeout: OnTimeout = "reject"
    authority_id: str = "tribunal"

    def __post_init__(self) -> None:
        members = tuple(parse_actor(actor) for actor in self.members)
        object.__setattr__(self, "members", members)
        if not members:
            raise InvalidWorld("$.members", "a tribunal has members")
        if any(is_among(actor, members[:place]) for place, actor in enumerate(members)):
            raise InvalidWorld("$.members", "a member is named twice")
        if isinstance(self.quorum, Threshold) and self.quorum.count > len(members):
            raise InvalidWorld("$.quorum.count", "it has fewer members than that")
        check_timeout(self.timeout_ms, self.on_timeout)

    @property
    def authority(self) -> AuthorityRef:
        """A tribunal."""
        return AuthorityRef(authority_id=self.authority_id, kind="tribunal")

    def judge(self, asked: Asked, /) -> Verdict:
        """The verdict of the votes so far; before the first vote it waits, whatever the quorum."""
        until = limit(asked, self.timeout_ms)
        votes = counted(asked.votes, self._members, until)
        approving = sum(vote.decision == "approve" for vote in votes)
        rejecting = sum(vote.decision == "reject" for vote in votes)
        count = f"({approving}/{len(self.members)} approved)"
        match self._decided(approving, rejecting, len(votes)):
            case True:
                return Approved(f"Tribunal approved {count}", asked_scope(asked), self.authority)
            case False:
                return Rejected(f"Tribunal rejected {count}", self.authority)
        if is_over(asked, until):
            return timed_out(asked, self.on_timeout, self.authority)
        voted = [vote.voter for vote in votes]
        return Pending(tuple(m for m in self._members if not is_among(m, voted)), until)

    def may_vote(self, asked: Asked, actor: ActorRef, /) -> str | None:
        """The members, once each, in time."""
        until = limit(asked, self.timeout_ms)
        return refusal(asked, actor, self._members, until) or decided_already(self, asked)

    def to_wire(self) -> dict[str, JsonValue]:
        """As the world protocol writes it."""
        wire: dict[str, JsonValue] = {
            "mode": "tribunal",
            "authorityId": self.authority_id,
            "members": [wire_of(actor) for actor in self._members],
            "quorum": self.quorum.to_wire(),
            "onTimeout": self.on_timeout,
        }
        return wire if self.timeout_ms is None else {**wire, "timeout": self.timeout_ms}

    def _decided(self, approving: int, rejecting: int, votes: int) -> bool | None:
        """Whether the quorum is met (True), missed (False), or still open (None)."""
        members = len(self.members)
        if not votes:
            return None
        if isinstance(self.quorum, Unanimous):
            met, missed = approving == members, rejecting > 0
        elif isinstance(self.quorum, Threshold):
            met, missed = approving >= self.quorum.count, rejecting > members - self.quorum.count
        else:
            met, missed = approving > members // 2, rejecting > members // 2
            if votes == members:
                met = approving > rejecting
        if met:
            return True
        return False if missed or votes == members else None

    @property
    def _members(self) -> tuple[ActorRef, ...]:
        return self.members  # type: ignore[return-value]


def quorum_from_wire(wire: JsonValue) -> Quorum:
    """The quorum that was written down."""
    match wire:
        case {"kind": "unanimous"}:
            return Unanimous.from_wire(wire)
        case {"kind": "majority"}:
            return Majority.from_wire(wire)
        case {"kind": "threshold"}:
            return Threshold.from_wire(wire)
    raise InvalidWorld("$.quorum.kind", "a quorum is unanimous, majority or threshold")
