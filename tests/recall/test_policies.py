"""An authority judges by the trace alone: it never selects, loads or asks a store."""

from collections.abc import Callable
from typing import Any

import pytest

from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.actors import ActorRef, parse_actor
from memoranda.kernel.ambient import check_reach
from memoranda.kernel.errors import InvalidWorld, MemorandaError, MemoryOutOfReach
from memoranda.ledger.signed_note import Signature, SignedNote
from memoranda.recall.policies import (
    AllowedSelectors,
    MaximumAge,
    MemoryPolicy,
    MinimumConfidence,
    RequireSigned,
    RequiresVerified,
    SelectorDiffersFromActor,
    memory_policy_from_wire,
)
from memoranda.recall.proof import evidence
from memoranda.recall.proof_check import prove
from memoranda.recall.trace import CoveringCheckpoint, MemoryTrace, trace_context
from memoranda.worlds.authority import (
    Approved,
    Asked,
    Condition,
    IntentType,
    Pending,
    Rejected,
    RiskAtLeast,
)
from memoranda.worlds.composites import AllOf, AnyOf
from memoranda.worlds.policies import AutoApprove, HumanInTheLoop, PolicyRule, PolicyRules
from memoranda.worlds.proposal import Proposal, ProposalTrace
from tests.recall.journals import Journal
from tests.recall.tracing import read, selected, trace
from tests.worlds.making import T0, asked, proposal

JOURNAL = Journal(20, ended=[15])
RECORD, WORLD, OTHER, ENDED = 3, 4, 6, 15
FINDER = parse_actor("agent:finder")


def risk(_found: Proposal) -> Any:
    return "high"


def no_risk(_found: Proposal) -> Any:
    return "low"


def signed(note: SignedNote) -> bool:
    return [one.signature for one in note.signatures] == [b"signature"]


EVALUATORS: dict[str, Callable[..., Any]] = {"risk": risk, "signed": signed}
HIGH = RiskAtLeast("high", "risk", risk)


def verified(seq: int, **members: Any) -> dict[str, Any]:
    """A memory of the journal, with its evidence."""
    note = SignedNote(JOURNAL.checkpoint(18).text, (Signature("a", b"abcd", b"signature"),))
    covering = CoveringCheckpoint(note=str(note), path=JOURNAL.consistency(18, 20))
    shown = evidence(
        JOURNAL.proof(seq),
        at=T0 - 500,
        by=FINDER,
        checkpoint=covering if members.pop("is_signed", True) else None,
    )
    return selected(
        JOURNAL.ref(seq).world_id, **{"verified": True, "evidence": shown.to_wire(), **members}
    )


def about(*traces: MemoryTrace, **context: Any) -> Asked:
    """A proposal that rests on these."""
    told = ProposalTrace(summary="s", context={**trace_context(traces, FINDER), **context})
    return asked(about=proposal().model_copy(update={"trace": told}))


def resting_on(*chosen: dict[str, Any], **members: Any) -> Asked:
    return about(read(trace(*chosen, **members)))


GOOD = resting_on(verified(RECORD), verified(WORLD))
UNVERIFIED = resting_on(verified(RECORD), selected("world-7"))

ALL: list[MemoryPolicy] = [
    RequiresVerified(),
    RequiresVerified(when=HIGH, authority_id="court"),
    RequireSigned("signed", signed),
    RequireSigned("signed", signed, when=IntentType(["orders.add"])),
    MinimumConfidence(0.5),
    MaximumAge(5000),
    MaximumAge(5000, "selection"),
    AllowedSelectors("agent:finder"),
    AllowedSelectors(
        [ActorRef(actor_id="finder", kind="agent", name="F", meta={"a": 1})], when=HIGH
    ),
    SelectorDiffersFromActor(),
]


def names(policy: MemoryPolicy) -> str:
    return policy.kind


# ------------------------------------------------------------------------ all of them


@pytest.mark.rule("M-4")
@pytest.mark.parametrize("policy", ALL, ids=names)
def test_memory_that_is_as_it_should_be_is_approved(policy: MemoryPolicy) -> None:
    assert policy.judge(GOOD) == Approved("nothing against its memory", None, policy.authority)
    assert policy.holds(GOOD)
    assert policy.may_vote(GOOD, FINDER) is not None
    assert policy.authority.kind == "policy"


@pytest.mark.parametrize("policy", ALL, ids=names)
def test_a_proposal_without_a_trace_used_no_memory(policy: MemoryPolicy) -> None:
    assert isinstance(policy.judge(asked()), Approved)
    assert isinstance(policy.judge(about(other=1)), Approved)


@pytest.mark.rule("M-4")
@pytest.mark.parametrize("policy", ALL, ids=names)
@pytest.mark.parametrize(
    "context",
    [
        {"memory": None},
        {"memory": {}},
        {"memory": trace(selected(confidence=2))},
        {"memoryTraces": [trace()]},
        {"memory": trace(), "memoryTraces": [trace(), trace()]},
    ],
)
def test_what_is_no_trace_is_rejected_by_all(policy: MemoryPolicy, context: Any) -> None:
    verdict = policy.judge(about(**context))

    assert isinstance(verdict, Rejected)
    assert verdict.reason.startswith("the trace of its memory is not valid: ")


@pytest.mark.parametrize("policy", ALL, ids=names)
def test_every_policy_reads_back_as_it_was_written(policy: MemoryPolicy) -> None:
    wire = decode(canonical_bytes(policy.to_wire()))

    back = memory_policy_from_wire(wire, EVALUATORS)

    assert back == policy
    for found in (GOOD, UNVERIFIED, resting_on(verified(OTHER), selectedAt=1)):
        assert back.judge(found) == policy.judge(found)


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {},
        {"mode": "memory"},
        {**MinimumConfidence(0.5).to_wire(), "mode": "auto_approve"},
        {**MinimumConfidence(0.5).to_wire(), "kind": "weather"},
        {**MinimumConfidence(0.5).to_wire(), "more": 1},
        {**MinimumConfidence(0.5).to_wire(), "minimum": "0.5"},
        {**MinimumConfidence(0.5).to_wire(), "minimum": True},
        {**MinimumConfidence(0.5).to_wire(), "when": None},
        {**MinimumConfidence(0.5).to_wire(), "when": {"kind": "weather"}},
        {**MinimumConfidence(0.5).to_wire(), "when": {"kind": "intent_type"}},
        {**MaximumAge(5).to_wire(), "of": "weather"},
        {**MaximumAge(5).to_wire(), "milliseconds": 1.5},
        {**RequiresVerified().to_wire(), "alone": True},
        {**RequireSigned("signed", signed).to_wire(), "evaluator": "nobody"},
        {**AllowedSelectors("agent:a").to_wire(), "selectors": [{"kind": "agent"}]},
    ],
)
def test_what_no_policy_writes_is_refused(wrong: Any) -> None:
    with pytest.raises(MemorandaError) as caught:
        memory_policy_from_wire(wrong, EVALUATORS)

    assert caught.value.code in {"input.world", "input.actor"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: MinimumConfidence(1.1),
        lambda: MinimumConfidence(float("nan")),
        lambda: MaximumAge(-1),
        lambda: MaximumAge(1, "weather"),  # type: ignore[arg-type]
    ],
)
def test_a_policy_that_can_not_be_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidWorld):
        make()


# ---------------------------------------------------------------------------- verified


def bare(method: Any) -> dict[str, Any]:
    """Evidence by another method, which holds as far as it goes."""
    found = prove(JOURNAL.ref(RECORD), JOURNAL.original(RECORD), method=method)
    assert found.proof is not None
    return evidence(found.proof, at=T0 - 500, by=FINDER).to_wire()


def opened(seq: int, **opening: str) -> dict[str, Any]:
    """Evidence whose proof is opened by this, or by nothing at all."""
    shown = evidence(JOURNAL.proof(seq), at=T0 - 500, by=FINDER).to_wire()
    rest = {name: member for name, member in shown["proof"].items() if name != "opening"}
    return {**shown, "proof": {**rest, "opening": opening} if opening else rest}


@pytest.mark.rule("M-4")
@pytest.mark.parametrize(
    "memory",
    [
        selected("world-7"),
        selected("world-7", verified=True),
        verified(RECORD, verified=False),
        verified(RECORD, evidence=None),
        verified(RECORD, evidence=bare("hash")),
        verified(RECORD, evidence=bare("existence")),
        verified(RECORD, evidence={**bare("hash"), "method": "none"}),
        verified(RECORD, evidence=verified(OTHER)["evidence"]),
        verified(RECORD, ref={"worldId": JOURNAL.ref(OTHER).world_id}),
        verified(RECORD, evidence=opened(RECORD)),
        verified(WORLD, evidence=opened(WORLD, salt=JOURNAL.salt(WORLD).hex())),
        verified(RECORD, evidence=opened(RECORD, salt="00" * 16)),
        verified(ENDED),
    ],
)
def test_memory_that_is_not_proved_is_rejected_by_its_name(memory: dict[str, Any]) -> None:
    found = resting_on(verified(OTHER), memory)

    verdict = RequiresVerified().judge(found)

    assert isinstance(verdict, Rejected)
    assert memory["ref"]["worldId"] in verdict.reason
    assert list(RequiresVerified().objections(found)) == [verdict.reason]


def test_every_memory_that_is_not_proved_is_named() -> None:
    found = resting_on(selected("world-7"), verified(RECORD), selected("world-8"))

    against = list(RequiresVerified().objections(found))

    assert ["world-7" in against[0], "world-8" in against[1], len(against)] == [True, True, 2]


@pytest.mark.rule("M-4")
def test_unverified_memory_is_rejected_above_a_risk_and_passes_below() -> None:
    assert isinstance(RequiresVerified(when=HIGH).judge(UNVERIFIED), Rejected)
    low = RiskAtLeast("high", "risk", no_risk)
    assert isinstance(RequiresVerified(when=low).judge(UNVERIFIED), Approved)


# ------------------------------------------------------------------------------ others


@pytest.mark.parametrize(
    "memory",
    [
        verified(RECORD, is_signed=False),
        verified(RECORD, verified=False),
        selected("world-7", verified=True),
    ],
)
def test_memory_that_no_signed_checkpoint_covers_is_rejected(memory: dict[str, Any]) -> None:
    verdict = RequireSigned("signed", signed).judge(resting_on(memory))

    assert isinstance(verdict, Rejected)
    assert memory["ref"]["worldId"] in verdict.reason


def test_a_signature_of_somebody_unknown_is_none() -> None:
    assert not RequireSigned("signed", lambda _: False).holds(GOOD)


@pytest.mark.rule("M-4")
def test_the_function_of_a_policy_reaches_no_memory() -> None:
    def looks_again(_note: SignedNote) -> bool:
        check_reach()
        return True

    with pytest.raises(MemoryOutOfReach):
        RequireSigned("looks", looks_again).judge(GOOD)
    check_reach()  # and afterwards everything is as before


@pytest.mark.parametrize(("confidence", "holds"), [(0.49, False), (0.5, True), (1, True)])
def test_a_confidence_below_the_minimum_is_rejected(confidence: float, holds: bool) -> None:
    found = resting_on(selected("world-7"), selected("world-8", confidence=confidence))

    verdict = MinimumConfidence(0.5).judge(found)

    assert isinstance(verdict, Approved) is holds
    assert ("world-8" in verdict.reason) is not holds  # type: ignore[union-attr]


@pytest.mark.parametrize(("age", "holds"), [(0, True), (5000, True), (5001, False), (-1, False)])
def test_a_selection_that_is_too_old_or_of_the_future_is_rejected(age: int, holds: bool) -> None:
    found = resting_on(selected("world-7"), selectedAt=T0 - age)

    verdict = MaximumAge(5000, "selection").judge(found)

    assert isinstance(verdict, Approved) is holds
    assert ("world-7" in verdict.reason) is not holds  # type: ignore[union-attr]


def test_a_memory_is_as_old_as_its_entry() -> None:
    found = resting_on(verified(RECORD))  # written at T0 - 17

    assert MaximumAge(17).holds(found)
    assert not MaximumAge(16).holds(found)
    assert not MaximumAge(10**9).holds(resting_on(selected("world-7")))  # nobody knows
    assert not MaximumAge(10**9).holds(resting_on(verified(RECORD, evidence=bare("hash"))))


def test_an_age_does_not_change_while_somebody_votes() -> None:
    found = resting_on(verified(RECORD))
    later = Asked(found.proposal, found.votes, found.submitted_at, found.now + 10**9)

    assert MaximumAge(17).judge(later) == MaximumAge(17).judge(found)


def test_only_those_who_may_select() -> None:
    found = resting_on(selected("world-7"))

    assert AllowedSelectors(["human:ann", "agent:finder"]).holds(found)
    verdict = AllowedSelectors(["human:finder"]).judge(found)  # the same id, another kind
    assert isinstance(verdict, Rejected)
    assert "world-7" in verdict.reason
    assert "agent:finder" in verdict.reason


def test_whoever_proposes_did_not_select() -> None:
    found = resting_on(selected("world-7"), selector={"actorId": "helper", "kind": "agent"})

    verdict = SelectorDiffersFromActor().judge(found)

    assert isinstance(verdict, Rejected)
    assert "world-7" in verdict.reason
    assert SelectorDiffersFromActor().holds(resting_on(selected("world-7")))


def test_of_several_traces_each_is_judged() -> None:
    mine = read(trace(selected("world-7"), selector={"actorId": "helper", "kind": "agent"}))
    others = read(trace(selected("world-8")))

    for found in (about(mine, others), about(others, mine)):
        assert not SelectorDiffersFromActor().holds(found)
        assert not AllowedSelectors("agent:finder").holds(found)
        assert not AllowedSelectors("agent:helper").holds(found)


# --------------------------------------------------------------------------- combining


def test_they_combine_with_the_policies_of_worlds() -> None:
    human = HumanInTheLoop("human:ann")
    both = AllOf([RequiresVerified(), AutoApprove()])
    either = AnyOf([RequiresVerified(), human])
    as_condition: Condition = MinimumConfidence(0.5)
    rules = PolicyRules([PolicyRule(as_condition, "approve", "sure")], "escalate", human)

    assert isinstance(both.judge(GOOD), Approved)
    assert isinstance(both.judge(UNVERIFIED), Rejected)
    assert isinstance(either.judge(GOOD), Approved)
    assert isinstance(either.judge(UNVERIFIED), Pending)
    assert rules.judge(GOOD) == Approved("sure", None, rules.authority)
    assert isinstance(rules.judge(resting_on(selected(confidence=0.1))), Pending)
