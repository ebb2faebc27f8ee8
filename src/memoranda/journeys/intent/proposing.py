"""Proposing: an intent on the head of a branch, put to an authority.

The proposal commits when it is made, and a decision that is made at once commits with it. One that
waits for somebody is in the inbox until it is decided. The policy that it waits by is written down
with it: whoever answers is judged by that.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.chronicle import Chronicle, Head
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import MarkMoved, TraceMissing, WorldErased, WorldError
from memoranda.kernel.ids import IdSource
from memoranda.kernel.json import JsonValue
from memoranda.kernel.reach import out_of_reach
from memoranda.kernel.retry import RetryKey
from memoranda.ledger.fact import digest_of
from memoranda.ledger.retry import bound
from memoranda.ledger.unit import Draft, Expected
from memoranda.worlds.authority import (
    Approved,
    Asked,
    AuthorityPolicy,
    Pending,
    Verdict,
    decision_record,
)
from memoranda.worlds.decision import DecisionRecord
from memoranda.worlds.intent import (
    IntentBody,
    IntentOrigin,
    IntentScope,
    IntentSource,
    SourceKind,
    intent_instance,
)
from memoranda.worlds.policy_reading import policy_from_wire
from memoranda.worlds.proposal import Proposal, ProposalTrace
from memoranda.worlds.settling import still_open

PROJECTION: str = "memoranda.propose"
"""Where an intent comes from that no projection made."""


class Wish(NamedTuple):
    """What somebody wants done, before it is a proposal."""

    action: str
    input: JsonValue
    has_input: bool
    actor: ActorRef
    trace: ProposalTrace | None = None
    scope: IntentScope | None = None
    projection: str = PROJECTION
    source: SourceKind = "api"
    event_id: str | None = None
    rests_on: Sequence[Expected] = ()
    """The facts that it was made from, such as the traces of memory: it goes when they go."""
    sources: Sequence[str] = ()
    """The memory that it tells of by a trace that was made elsewhere: it goes with that."""
    hints: Mapping[str, JsonValue] | None = None
    """What the provider of memory is told before the run."""


class Proposed(NamedTuple):
    """A proposal that is on record, and how it was judged."""

    proposal_id: str
    verdict: Verdict | None
    """None on a retry: see how it stands."""
    drafts: list[Draft]

    @property
    def is_new(self) -> bool:
        """Whether it was submitted now, and not by what this is a retry of."""
        return self.verdict is not None


class Proposer:
    """Makes the proposals of one scope."""

    def __init__(self, chronicle: Chronicle, policy: AuthorityPolicy, ids: IdSource) -> None:
        self._chronicle = chronicle
        self._policy = policy
        self._ids = ids

    def proposal(self, wish: Wish, head: Head, schema_hash: str, at: int) -> Proposal:
        """The proposal that a wish becomes on this head."""
        given: dict[str, Any] = {"type": wish.action}
        if wish.has_input:
            given["input"] = wish.input
        if wish.scope is not None:
            given["scope_proposal"] = wish.scope
        intent_id = f"intent-{self._ids.new_id()}"
        origin = IntentOrigin(
            projection_id=wish.projection,
            source=IntentSource(kind=wish.source, event_id=wish.event_id or intent_id),
            actor=wish.actor,
        )
        proposal_id = f"prop-{self._ids.new_id()}"
        return Proposal(
            proposal_id=proposal_id,
            actor=wish.actor,
            intent=intent_instance(
                schema_hash, IntentBody(**given), intent_id=intent_id, origin=origin
            ),
            base_world=head.world,
            status="submitted",
            epoch=0,
            execution_key=names.execution_key(proposal_id),
            trace=wish.trace,
            submitted_at=at,
        )

    def judged(self, proposal: Proposal, at: int) -> tuple[Asked, Verdict]:
        """How the policy judges it before anybody has voted; it reaches no memory (M-4).

        It gets a copy: what is written is what was proposed, whatever a policy does to its own.
        """
        asked = Asked(proposal.model_copy(deep=True), (), at, at)
        with out_of_reach("an authority"):
            return asked, self._policy.judge(asked)

    def facts(
        self,
        proposal: Proposal,
        branch: str,
        asked: Asked,
        verdict: Verdict,
        *,
        decided_by: ActorRef,
        risk: str | None = None,
        about: Sequence[str] = (),
        hints: Mapping[str, JsonValue] | None = None,
        is_to_run: bool = True,
        key: RetryKey | None = None,
    ) -> tuple[list[Draft], DecisionRecord | None]:
        """The proposal, and its decision if it was decided at once.

        `is_to_run` says that an execution follows when it was approved; `key` is that of the unit
        that writes them.
        """
        waits_for = None
        if isinstance(verdict, Pending):
            waits_for = still_open(self._policy, asked).to_wire()
            policy_from_wire(waits_for)  # or nobody could ever decide it: InvalidWorld
        asked_for = documents.proposed(proposal, branch, waits_for, risk, about, hints)
        (draft,) = bound(key, self._chronicle.drafts([asked_for]))
        if isinstance(verdict, Pending):
            return [draft], None
        record = decision_record(
            asked, verdict, decision_id=f"dec-{self._ids.new_id()}", decided_by=decided_by
        )
        decision = documents.decided(
            record,
            proposal_digest=digest_of(draft),
            base_world=proposal.base_world,
            is_to_run=is_to_run and isinstance(verdict, Approved),
            waited_at=None,
        )
        return [draft, *self._chronicle.drafts([decision])], record

    async def propose(
        self,
        wish: Wish,
        head: Head,
        schema_hash: str,
        *,
        decided_by: ActorRef,
        at: int,
        key: RetryKey | None = None,
    ) -> Proposed:
        """Put a proposal on record, with its decision where that is made at once."""
        proposal = self.proposal(wish, head, schema_hash, at)
        asked, verdict = self.judged(proposal, at)
        drafts, _ = self.facts(
            proposal,
            head.branch,
            asked,
            verdict,
            decided_by=decided_by,
            about=[*(one.name for one in wish.rests_on), *wish.sources],
            hints=wish.hints,
            key=key,
        )
        try:
            committed = await self._chronicle.commit(
                drafts,
                actor=str(wish.actor),
                at=at,
                expects=wish.rests_on,
                sources=wish.sources,
                key=key,
                about=proposal.proposal_id,
            )
        except MarkMoved as moved:
            raise await missing_trace(self._chronicle, moved.name) from None
        if not committed.fresh:
            return Proposed(committed.about, None, [])
        return Proposed(proposal.proposal_id, verdict, drafts)


async def missing_trace(chronicle: Chronicle, name: str) -> WorldError:
    """Why nothing can be proposed that rests on a trace which is not there."""
    if await chronicle.is_there(name):
        what, _, which = name.partition("/")
        return WorldErased(what, which)
    return TraceMissing("it used the memory of another scope, whose traces it can't go with")


def trace_of(given: ProposalTrace | Mapping[str, JsonValue] | str | None) -> ProposalTrace | None:
    """Why somebody proposes: a trace, its wire form, or its summary."""
    match given:
        case None | ProposalTrace():
            return given
        case str():
            return ProposalTrace(summary=given)
        case _:
            return ProposalTrace.from_wire(given)
