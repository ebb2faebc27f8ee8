"""Decisions: the inbox, and the answers of those who are asked.

A decision is bound to the proposal's own bytes and to the world that it rests on, is made once,
and can't be changed afterwards. Whoever answers never selects memory again (M-4): there is
nothing here to select with.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.branches import SYSTEM
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.documents import ProposalState
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.ambient import out_of_reach
from memoranda.kernel.clock import IdSource
from memoranda.kernel.errors import DecisionRefused, MarkMoved, WorldErased
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Result, members
from memoranda.ledger.unit import Draft, Expected
from memoranda.worlds.authority import (
    Approved,
    Asked,
    AuthorityPolicy,
    Pending,
    Verdict,
    decision_record,
)
from memoranda.worlds.proposal import DecisionRecord, Proposal, Vote, VoteChoice

ACTION: Final = "system.store."


def is_of_store(standing: ProposalState) -> bool:
    """Whether a proposal is such a change: nobody else can propose one on this branch."""
    return standing.branch == SYSTEM and standing.proposal.intent.body.type.startswith(ACTION)


class ChangesStore(Protocol):
    """Carries out the changes of one store."""

    async def carry_out(self, standing: ProposalState, /) -> None:
        """Do what was approved, and put on record what came of it.

        OwnStoreFailed where the store fails or takes too long: then it is left to be done.
        """
        ...


SYSTEM_ACTOR = ActorRef(actor_id="memoranda", kind="system")
"""Who puts on record that nobody answered in time."""


@dataclass(frozen=True, slots=True, repr=False)
class Waiting(Result):
    """A proposal in the inbox: what it would do, what it rests on, and for whom it waits."""

    proposal: Proposal
    branch: str
    waiting_for: tuple[ActorRef, ...]
    until: int | None
    risk: str | None
    votes: tuple[Vote, ...]

    @property
    def memory(self) -> JsonValue:
        """The memory that led to it, as its trace says (M-2); None if none did."""
        trace = self.proposal.trace
        return None if trace is None or trace.context is None else trace.context.get("memory")

    def wire_members(self) -> Mapping[str, object]:
        """All fields, actors in their short form."""
        return {**members(self), "waiting_for": [str(actor) for actor in self.waiting_for]}

    def row(self) -> Mapping[str, object]:
        """What would be done, by whom, and who is asked."""
        body = self.proposal.intent.body
        return {
            "proposal": self.proposal.proposal_id,
            "action": body.type,
            "input": body.input,
            "actor": self.proposal.actor,
            "waiting for": ", ".join(str(actor) for actor in self.waiting_for),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Result):
    """What an answer came to: how the proposal stands after it, and its decision, if it is one."""

    proposal_id: str
    verdict: Verdict
    decision: DecisionRecord | None

    def wire_members(self) -> Mapping[str, object]:
        """The verdict by its name, and what belongs to it."""
        verdict, shown = self.verdict, members(self) | {"verdict": "pending"}
        if isinstance(verdict, Pending):
            waiting_for = [str(actor) for actor in verdict.waiting_for]
            return shown | {"waiting_for": waiting_for, "until": verdict.until}
        name = "approved" if isinstance(verdict, Approved) else "rejected"
        return shown | {"verdict": name, "reason": verdict.reason}


class CarriesOut(Protocol):
    """Does what was approved in one transaction with the decision: operations on memory itself."""

    def takes(self, proposal: Proposal, /) -> bool:
        """Whether it is for this to carry out; others are run by whoever has their domain."""
        ...

    async def carry_out(
        self,
        standing: ProposalState,
        record: DecisionRecord,
        decided: list[Draft],
        expects: list[Expected],
        *,
        actor: ActorRef,
        now: int,
    ) -> None:
        """Write the decision, and what follows from it."""
        ...


ReadPolicy = Callable[[Mapping[str, JsonValue]], AuthorityPolicy]


class Decider:
    """Takes the answers to the proposals of one scope."""

    def __init__(
        self,
        chronicle: Chronicle,
        read_policy: ReadPolicy,
        ids: IdSource,
        carries_out: CarriesOut,
    ) -> None:
        self._chronicle = chronicle
        self._read_policy = read_policy
        self._ids = ids
        self._carries_out = carries_out

    async def inbox(self, now: int) -> list[Waiting]:
        """What waits for a decision, the oldest first; what nobody answered in time is decided."""
        found = []
        for proposal_id in await self._chronicle.named(names.OPEN):
            try:
                standing = await self._chronicle.standing(proposal_id)
            except WorldErased:
                continue
            if standing.decision is not None:  # made since the names were read
                continue
            verdict = await self._still_open(standing, now)
            if verdict is None:
                continue
            found.append(
                Waiting(
                    standing.proposal,
                    standing.branch,
                    verdict.waiting_for,
                    verdict.until,
                    standing.risk,
                    tuple(standing.votes),
                )
            )
        return sorted(
            found, key=lambda waiting: (waiting.proposal.submitted_at, waiting.proposal.proposal_id)
        )

    async def settle(self, proposal_id: str, now: int) -> None:
        """Put it on record if nobody answered a proposal in time."""
        standing = await self._chronicle.standing(proposal_id)
        if standing.decision is None:
            await self._still_open(standing, now)

    async def _still_open(self, standing: ProposalState, now: int) -> Pending | None:
        """For whom a proposal waits; None, once that is on record, where nobody did in time."""
        policy = self._read_policy(standing.waits_for)
        asked, verdict = _judged(policy, standing, standing.votes, now)
        if isinstance(verdict, Pending):
            return verdict
        with suppress(DecisionRefused):  # somebody else was faster
            await self._settle(standing, asked, verdict, None, SYSTEM_ACTOR, now)
        return None

    async def answer(
        self,
        proposal_id: str,
        choice: VoteChoice,
        *,
        actor: ActorRef,
        reason: str | None,
        now: int,
    ) -> Answer:
        """Answer a proposal that waits; DecisionRefused to whoever may not, or comes too late.

        1. it still waits, and its time is not over
        2. whoever answers may
        3. the answer is on record, and the decision with it, if it is one
        """
        standing = await self._chronicle.standing(proposal_id)
        # 1.
        if standing.decision is not None:
            raise DecisionRefused(proposal_id, f"it is {standing.proposal.status} already")
        policy = self._read_policy(standing.waits_for)
        asked, before = _judged(policy, standing, standing.votes, now)
        if not isinstance(before, Pending):
            await self._settle(standing, asked, before, None, SYSTEM_ACTOR, now)
            raise DecisionRefused(proposal_id, "nobody answered in time, and that is on record now")
        # 2.
        with out_of_reach("an authority"):
            refused = policy.may_vote(asked, actor)
        if refused is not None:
            raise DecisionRefused(proposal_id, refused)
        # 3.
        vote = Vote(voter=actor, decision=choice, reasoning=reason, voted_at=now)
        asked, verdict = _judged(policy, standing, [*standing.votes, vote], now)
        return await self._settle(standing, asked, verdict, vote, actor, now)

    async def _settle(
        self,
        standing: ProposalState,
        asked: Asked,
        verdict: Verdict,
        vote: Vote | None,
        actor: ActorRef,
        now: int,
    ) -> Answer:
        proposal = standing.proposal
        facts = [] if vote is None else [documents.voted(proposal.proposal_id, vote)]
        record = None
        is_ours = isinstance(verdict, Approved) and self._carries_out.takes(proposal)
        if not isinstance(verdict, Pending):
            record = decision_record(
                asked, verdict, decision_id=f"dec-{self._ids.new_id()}", decided_by=actor
            )
            facts.append(
                documents.decided(
                    record,
                    proposal_digest=standing.proposal_digest,
                    base_world=proposal.base_world,
                    is_to_run=isinstance(verdict, Approved) and not is_ours,
                    waited_at=standing.proposed_at,
                )
            )
        drafts: list[Draft] = self._chronicle.drafts(facts)
        expects = [Expected(names.proposal(proposal.proposal_id), standing.newest)]
        try:
            if record is not None and is_ours:
                await self._carries_out.carry_out(
                    standing, record, drafts, expects, actor=actor, now=now
                )
            else:
                await self._chronicle.commit(drafts, actor=str(actor), at=now, expects=expects)
        except MarkMoved:
            raise DecisionRefused(
                proposal.proposal_id, "somebody else answered at the same time; look at it again"
            ) from None
        return Answer(proposal.proposal_id, verdict, record)


def _judged(
    policy: AuthorityPolicy, standing: ProposalState, votes: Sequence[Vote], now: int
) -> tuple[Asked, Verdict]:
    asked = Asked(standing.proposal, tuple(votes), standing.proposal.submitted_at, now)
    with out_of_reach("an authority"):
        return asked, policy.judge(asked)
