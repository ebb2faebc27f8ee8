"""Proposing: an intent on the head of a branch, put to an authority.

The proposal commits when it is made, and a decision that is made at once commits with it. One that
waits for somebody is in the inbox until it is decided. The policy that it waits by is written down
with it: whoever answers is judged by that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.documents import LoggedHead, ProposalState
from memoranda.journeys.intent.requests import IntentRequest
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.ambient import out_of_reach
from memoranda.kernel.clock import IdSource
from memoranda.kernel.errors import (
    MarkMoved,
    ReasoningClosed,
    TraceMissing,
    WorldErased,
    WorldError,
)
from memoranda.kernel.given import RetryKey
from memoranda.kernel.json import JsonValue
from memoranda.ledger.fact import digest_of
from memoranda.ledger.retry import bound
from memoranda.ledger.unit import Committed, Draft
from memoranda.worlds.authority import (
    Asked,
    AuthorityPolicy,
    Pending,
    Verdict,
    decision_record,
)
from memoranda.worlds.composites import policy_from_wire, still_open
from memoranda.worlds.proposal import (
    DecisionRecord,
    IntentBody,
    Proposal,
    intent_instance,
)


@dataclass(slots=True)
class Submission:
    """A proposal that is made and judged, and not on record yet.

    `write` puts it on record by itself. Where it is approved and run at once, its drafts go with
    those of the run, in one transaction, and `is_written` says so.
    """

    proposer: "Proposer"
    request: IntentRequest
    head: LoggedHead
    proposal: Proposal
    draft: Draft
    """The entry of the proposal."""
    record: DecisionRecord | None
    """What was decided at once, if something was."""
    at: int
    key: RetryKey | None
    is_named: bool
    """Whether whoever proposes named the memory that it rests on."""
    is_written: bool = False

    @property
    def is_approved(self) -> bool:
        return self.record is not None and self.record.is_approved

    def drafts(self, *, is_to_run: bool = False) -> list[Draft]:
        """Its entries, to be written with the whole run, or with a mark that a run is to follow."""
        if self.record is None:
            return [self.draft]
        decided = self.proposer.decided(self.proposal, self.record, self.draft, is_to_run=is_to_run)
        return [self.draft, decided]

    async def write(self) -> Committed:
        """Put it on record, with its decision; WorldErased or TraceMissing if a trace is gone."""
        proposal_id, request = self.proposal.proposal_id, self.request
        try:
            committed = await self.proposer.chronicle.commit(
                self.drafts(is_to_run=self.is_approved),
                actor=str(request.actor),
                at=self.at,
                expects=request.expects,
                sources=request.sources,
                key=self.key,
                about=proposal_id,
            )
        except (MarkMoved, WorldErased) as gone:
            raise await self._refused(gone) from None
        self.is_written = committed.fresh
        return committed

    async def _refused(self, gone: MarkMoved | WorldErased) -> WorldError:
        why: WorldError = gone
        if (phase := self.request.phase) is not None:
            if gone.name == names.concluded(phase.id):
                return ReasoningClosed(phase.id)
            if gone.name == names.reasoning(phase.id):
                return TraceMissing("a recall of its reasoning phase was still under way")
        if isinstance(gone, MarkMoved):
            why = await missing_trace(self.proposer.chronicle, gone.name)
        if self.is_named or not self.request.rests_on or not isinstance(why, WorldErased):
            return why
        return TraceMissing(
            "what was recalled here was erased since; say what it rests on with memory="
            " (recalls, ids of traces, or () for none)"
        )

    async def written(self) -> ProposalState:
        if not self.is_written:
            await self.write()
        return await self.proposer.chronicle.standing(self.proposal.proposal_id)

    def standing(self) -> ProposalState:
        """How it stands once it is written, for a run that is written with it."""
        known: dict[str, Any] = {"status": "approved" if self.is_approved else "evaluating"}
        if (record := self.record) is not None:
            known |= {"decision_id": record.decision_id, "decided_at": record.decided_at}
            if self.is_approved:
                known["approved_scope"] = record.approved_scope
        proposal = self.proposal.model_copy(update=known)
        hints = self.request.hints
        return ProposalState(
            proposal, self.head.branch, None, None, hints, "", None, (), None, None, ()
        )


@dataclass(frozen=True, slots=True)
class Proposer:
    """Makes the proposals of one scope."""

    chronicle: Chronicle
    policy: AuthorityPolicy
    ids: IdSource

    def proposal(
        self, request: IntentRequest, head: LoggedHead, schema_hash: str, at: int
    ) -> Proposal:
        """The proposal that a request becomes on this head."""
        given: dict[str, Any] = {"type": request.action}
        if request.has_input:
            given["input"] = request.input
        if request.scope is not None:
            given["scope_proposal"] = request.scope
        intent_id = f"intent-{self.ids.new_id()}"
        origin = {
            "projection_id": request.projection,
            "source": {"kind": request.source, "event_id": request.event_id or intent_id},
            "actor": request.actor,
        }
        proposal_id = f"prop-{self.ids.new_id()}"
        return Proposal(
            proposal_id=proposal_id,
            actor=request.actor,
            intent=intent_instance(
                schema_hash, IntentBody(**given), intent_id=intent_id, origin=origin
            ),
            base_world=head.world,
            status="submitted",
            epoch=0,
            execution_key=names.execution_key(proposal_id),
            trace=request.trace,
            submitted_at=at,
        )

    def judged(self, proposal: Proposal, at: int) -> tuple[Asked, Verdict]:
        """How the policy judges it before anybody has voted; it reaches no memory (M-4).

        It gets a copy of what could be changed: what is written is what was proposed, whatever a
        policy does to its own.
        """
        own = proposal if _holds_no_json(proposal) else proposal.model_copy(deep=True)
        asked = Asked(own, (), at, at)
        with out_of_reach("an authority"):
            return asked, self.policy.judge(asked)

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
        key: RetryKey | None = None,
    ) -> tuple[list[Draft], DecisionRecord | None]:
        """The proposal, and its decision if it was decided at once.

        `is_to_run` says that an execution follows when it was approved; `key` is that of the unit
        that writes them.
        """
        draft, record = self.proposed(
            proposal, branch, asked, verdict, decided_by=decided_by, risk=risk, about=about, key=key
        )
        if record is None:
            return [draft], None
        is_to_run = is_to_run and record.is_approved
        return [draft, self.decided(proposal, record, draft, is_to_run=is_to_run)], record

    def proposed(
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
        concludes: str | None = None,
        key: RetryKey | None = None,
    ) -> tuple[Draft, DecisionRecord | None]:
        """The entry of a proposal, and what was decided, if something was."""
        waits_for = None
        if isinstance(verdict, Pending):
            waits_for = still_open(self.policy, asked).to_wire()
            policy_from_wire(waits_for)  # or nobody could ever decide it: InvalidWorld
        asked_for = documents.proposed(proposal, branch, waits_for, risk, about, hints, concludes)
        (draft,) = bound(key, self.chronicle.drafts([asked_for]))
        if isinstance(verdict, Pending):
            return draft, None
        return draft, decision_record(
            asked, verdict, decision_id=f"dec-{self.ids.new_id()}", decided_by=decided_by
        )

    def decided(
        self, proposal: Proposal, record: DecisionRecord, proposed: Draft, *, is_to_run: bool
    ) -> Draft:
        """The entry of a decision, bound to that of its proposal."""
        fact = documents.decided(
            record,
            proposal_digest=digest_of(proposed),
            base_world=proposal.base_world,
            is_to_run=is_to_run,
            waited_at=None,
        )
        (draft,) = self.chronicle.drafts([fact])
        return draft

    def submission(
        self,
        request: IntentRequest,
        head: LoggedHead,
        schema_hash: str,
        *,
        decided_by: ActorRef,
        at: int,
        key: RetryKey | None = None,
        is_named: bool = True,
    ) -> Submission:
        """Make a proposal and judge it; nothing is on record yet."""
        proposal = self.proposal(request, head, schema_hash, at)
        asked, verdict = self.judged(proposal, at)
        about = [*(expected.name for expected in request.rests_on), *request.sources]
        first, record = self.proposed(
            proposal, head.branch, asked, verdict,
            decided_by=decided_by, about=about, hints=request.hints, key=key,
            concludes=None if request.phase is None else request.phase.id,
        )  # fmt: skip
        return Submission(self, request, head, proposal, first, record, at, key, is_named)


def _holds_no_json(proposal: Proposal) -> bool:
    """Whether nothing in it could be changed: an object or an array can, a frozen model not."""
    return (
        not isinstance(proposal.intent.body.input, dict | list)
        and (proposal.trace is None or proposal.trace.context is None)
        and proposal.actor.meta is None
    )


async def missing_trace(chronicle: Chronicle, name: str) -> WorldError:
    """Why nothing can be proposed that rests on a trace which is not there."""
    if await chronicle.is_there(name):
        what, _, which = name.partition("/")
        return WorldErased(what, which)
    return TraceMissing("it used the memory of another scope, whose traces it can't go with")
