"""What the journal says of worlds: the facts that are written, one function for each.

A World or Proposal says nothing of the memory that an execution was given: that stands in the
beginning of the execution, which can be erased by itself (MEM-CTX-1).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from memoranda.journeys.intent import names
from memoranda.kernel.json import JsonValue
from memoranda.ledger.fact import Fact
from memoranda.ledger.unit import Mark
from memoranda.worlds.decision import DecisionRecord, TribunalDecisionRecord, Vote
from memoranda.worlds.proposal import Proposal
from memoranda.worlds.world import World, WorldEdge

PROPOSAL: Final = "Proposal"
VOTE: Final = "Vote"
DECISION: Final = "Decision"
WORLD: Final = "World"
BRANCH: Final = "Branch"
BEGUN: Final = "ExecutionBegun"
SEALED: Final = "ExecutionSealed"
ABANDONED: Final = "ExecutionAbandoned"
EFFECT_STARTED: Final = "EffectStarted"
EFFECT_FINISHED: Final = "EffectFinished"

Document = dict[str, JsonValue]


def proposed(
    proposal: Proposal,
    branch: str,
    waits_for: Mapping[str, JsonValue] | None,
    risk: str | None,
    about: Sequence[str] = (),
    hints: Mapping[str, JsonValue] | None = None,
) -> Fact:
    """A proposal as it was submitted; `waits_for` is the policy that still has to be satisfied.

    `about` are the objects whose content is in it: when they are erased, it goes. `hints` are for
    whoever is asked for memory before it runs.
    """
    says: Document = {"type": PROPOSAL, "proposal": proposal.to_wire(), "branch": branch}
    if risk is not None:
        says["risk"] = risk
    if hints is not None:
        says["hints"] = dict(hints)
    marks = [names.proposal(proposal.proposal_id)]
    if waits_for is not None:
        says["policy"] = dict(waits_for)
        marks.append(names.waiting(proposal.proposal_id))
    output = names.proposal(proposal.proposal_id) if about else ""
    return Fact("proposal", says, marks=marks, inputs=about, output=output)


def voted(proposal_id: str, vote: Vote) -> Fact:
    """One voice on a proposal."""
    says = {"type": VOTE, "proposalId": proposal_id, "vote": vote.to_wire()}
    return Fact("decision", says, marks=[names.proposal(proposal_id)])


def decided(
    record: DecisionRecord | TribunalDecisionRecord,
    *,
    proposal_digest: str,
    base_world: str,
    is_to_run: bool,
    waited_at: int | None,
) -> Fact:
    """A decision, bound to the proposal's own bytes and to the world that it rests on.

    `is_to_run` says that an execution follows; `waited_at` is the entry by which the proposal was
    waiting, if it was.
    """
    proposal_id = record.proposal_id
    says = {
        "type": DECISION,
        "decision": record.to_wire(),
        "proposalDigest": proposal_digest,
        "baseWorld": base_world,
    }
    marks = [names.proposal(proposal_id)]
    if is_to_run:
        marks.append(names.running(names.execution_key(proposal_id)))
    unmarks = [] if waited_at is None else [Mark(names.waiting(proposal_id), waited_at)]
    return Fact("decision", says, marks=marks, unmarks=unmarks)


def sealed_world(world: World) -> Fact:
    """A world that was not there before."""
    says = {"type": WORLD, "world": world.to_wire()}
    return Fact("world", says, marks=[names.world(world.world_id)])


def branched(
    name: str,
    head: str,
    schema_hash: str,
    *,
    snapshot: Mapping[str, JsonValue],
    created_at: int,
    parent: str | None = None,
    inputs: Sequence[str] = (),
) -> Fact:
    """A branch, with the snapshot that it starts from."""
    says: Document = {
        "type": BRANCH,
        "name": name,
        "head": head,
        "schemaHash": schema_hash,
        "snapshot": dict(snapshot),
        "createdAt": created_at,
    }
    if parent is not None:
        says["parentBranch"] = parent
    marks = [names.branch(name), names.branches(name), names.world(head)]
    return Fact("world", says, marks=marks, inputs=inputs, output=names.branches(name))


def begun(
    *,
    execution_key: str,
    proposal_id: str,
    branch: str,
    base: str,
    parent: int,
    schema_hash: str,
    now: int,
    random_seed: str,
    input: Mapping[str, JsonValue],
    recall: Mapping[str, JsonValue],
    sources: Sequence[str],
    made_from: str,
) -> Fact:
    """How an execution began: from which snapshot, with which memory, time and seed, by value.

    It goes with the memory that it was given, and with whatever the snapshot before it rests on.
    """
    says = {
        "type": BEGUN,
        "executionKey": execution_key,
        "proposalId": proposal_id,
        "branch": branch,
        "base": base,
        "parent": parent,
        "schemaHash": schema_hash,
        "now": now,
        "randomSeed": random_seed,
        "input": dict(input),
        "recall": dict(recall),
        "sources": list(sources),
    }
    output = names.execution(execution_key)
    inputs = tuple(dict.fromkeys((*sources, names.proposal(proposal_id), made_from)))
    return Fact("execution", says, marks=[output], inputs=inputs, output=output)


def effect_started(execution_key: str, number: int, name: str, digest: str) -> Fact:
    """An effect is about to be called."""
    says = {
        "type": EFFECT_STARTED,
        "executionKey": execution_key,
        "number": number,
        "name": name,
        "argumentsDigest": digest,
    }
    return Fact("effect", says, marks=[names.execution(execution_key)])


def effect_finished(
    execution_key: str, number: int, name: str, outcome: Mapping[str, JsonValue]
) -> Fact:
    """An effect answered: its result by value, or its error."""
    says = {
        "type": EFFECT_FINISHED,
        "executionKey": execution_key,
        "number": number,
        "name": name,
        **outcome,
    }
    return Fact("effect", says, marks=[names.execution(execution_key)])


def sealed(
    *,
    execution_key: str,
    proposal_id: str,
    branch: str,
    outcome: str,
    schema_hash: str,
    edge: WorldEdge,
    snapshot: Mapping[str, JsonValue],
    approved_at: int | None,
    completed_at: int,
    input: Mapping[str, JsonValue] | None = None,
    trace_ref: Mapping[str, JsonValue] | None = None,
) -> Fact:
    """How an execution ended: the world it reached, and its snapshot.

    The head of its branch moves only when it was completed. `input` is that of the terminal
    snapshot, where a host left another one than it was given.
    """
    says: Document = {
        "type": SEALED,
        "executionKey": execution_key,
        "proposalId": proposal_id,
        "branch": branch,
        "outcome": outcome,
        "world": edge.to_world,
        "schemaHash": schema_hash,
        "edge": edge.to_wire(),
        "snapshot": dict(snapshot),
        "completedAt": completed_at,
    }
    if input is not None:
        says["input"] = dict(input)
    if trace_ref is not None:
        says["traceRef"] = dict(trace_ref)
    marks = [
        names.execution(execution_key),
        names.world(edge.to_world),
        names.based_on(edge.from_world),
    ]
    if outcome == "completed":
        marks.append(names.branch(branch))
    unmarks = [] if approved_at is None else [Mark(names.running(execution_key), approved_at)]
    return Fact("execution", says, marks=marks, unmarks=unmarks)


def abandoned(proposal_id: str, *, approved_at: int, why: str) -> Fact:
    """An execution is over, and nothing of it is left: what it rested on was erased."""
    says = {"type": ABANDONED, "proposalId": proposal_id, "why": why}
    unmarks = [Mark(names.running(names.execution_key(proposal_id)), approved_at)]
    return Fact("execution", says, marks=[names.proposal(proposal_id)], unmarks=unmarks)
