"""Proposing: an intent on the head of a branch, put to an authority.

The proposal commits when it is made, and a decision that is made at once commits with it. One that
waits for somebody is in the inbox until it is decided. The policy that it waits by is written down
with it: whoever answers is judged by that.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from recollect.journeys.intent import documents, names
from recollect.journeys.intent.chronicle import Chronicle, Head
from recollect.kernel.actors import ActorRef
from recollect.kernel.errors import MarkMoved, WorldErased
from recollect.kernel.ids import IdSource
from recollect.kernel.json import JsonValue
from recollect.kernel.reach import out_of_reach
from recollect.kernel.retry import RetryKey
from recollect.ledger.fact import digest_of
from recollect.ledger.unit import Draft, Expected
from recollect.worlds.authority import (
    Approved,
    Asked,
    AuthorityPolicy,
    Pending,
    Verdict,
    decision_record,
)
from recollect.worlds.decision import DecisionRecord
from recollect.worlds.intent import (
    IntentBody,
    IntentOrigin,
    IntentScope,
    IntentSource,
    SourceKind,
    intent_instance,
)
from recollect.worlds.policy_reading import policy_from_wire
from recollect.worlds.proposal import Proposal, ProposalTrace
from recollect.worlds.settling import still_open

PROJECTION: str = "recollect.propose"
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


class Proposed(NamedTuple):
    """A proposal that is on record, and how it was judged."""

    proposal_id: str
    verdict: Verdict | None
    """None on a retry: see how it stands."""
    drafts: list[Draft]


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
        is_to_run: bool = True,
    ) -> tuple[list[Draft], DecisionRecord | None]:
        """The proposal, and its decision if it was decided at once.

        `is_to_run` says that an execution follows when it was approved.
        """
        waits_for = None
        if isinstance(verdict, Pending):
            waits_for = still_open(self._policy, asked).to_wire()
            policy_from_wire(waits_for)  # or nobody could ever decide it: InvalidWorld
        asked_for = documents.proposed(proposal, branch, waits_for, risk, about)
        draft = self._chronicle.drafts([asked_for])[0]
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
        made_from = [one.name for one in wish.rests_on]
        drafts, _ = self.facts(
            proposal, head.branch, asked, verdict, decided_by=decided_by, about=made_from
        )
        try:
            committed = await self._chronicle.commit(
                drafts,
                actor=str(wish.actor),
                at=at,
                expects=wish.rests_on,
                key=key,
                about=proposal.proposal_id,
            )
        except MarkMoved as moved:
            what, _, which = moved.name.partition("/")
            raise WorldErased(what, which) from None
        if not committed.fresh:
            return Proposed(committed.about, None, [])
        return Proposed(proposal.proposal_id, verdict, drafts)


def trace_of(given: ProposalTrace | Mapping[str, JsonValue] | str | None) -> ProposalTrace | None:
    """Why somebody proposes: a trace, its wire form, or its summary."""
    match given:
        case None | ProposalTrace():
            return given
        case str():
            return ProposalTrace(summary=given)
        case _:
            return ProposalTrace.from_wire(given)
