"""What the journal says of worlds: the facts that are written, one function for each.

A World or Proposal says nothing of the memory that an execution was given: that stands in the
beginning of the execution, which can be erased by itself (MEM-CTX-1).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from memoranda.identity import freeze
from memoranda.journeys.intent import names
from memoranda.kernel.errors import EntryDamaged, WorldNotFound
from memoranda.kernel.json import JsonValue
from memoranda.ledger.entry import Entry
from memoranda.ledger.fact import Fact
from memoranda.ledger.unit import Mark, OfSubject
from memoranda.recall.selector import Outcome
from memoranda.worlds.proposal import DecisionRecord, Proposal, TribunalDecisionRecord, Vote

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


class FoundFact(NamedTuple):
    """A fact as it stands in the journal."""

    seq: int
    entry: Entry
    document: Any

    @property
    def type(self) -> str:
        return str(self.document["type"])


def made_from(keeper: FoundFact) -> str:
    """The name of what left a snapshot: an execution, or the beginning of a branch."""
    if keeper.type == BRANCH:
        return names.branches(keeper.document["name"])
    return names.execution(keeper.document["executionKey"])


class LoggedHead(NamedTuple):
    """The head of a branch: the world, and the entry that moved the head there."""

    branch: str
    world: str
    schema_hash: str
    fact: FoundFact

    @property
    def made_from(self) -> str:
        """The name of what left the snapshot: with it goes whatever is made from it."""
        return made_from(self.fact)


def proposed(
    proposal: Proposal,
    branch: str,
    waits_for: Mapping[str, JsonValue] | None,
    risk: str | None,
    about: Sequence[str] = (),
    hints: Mapping[str, JsonValue] | None = None,
    concludes: str | None = None,
) -> Fact:
    """A proposal as it was submitted; `waits_for` is the policy that still has to be satisfied.

    `about` are the objects whose content is in it: when they are erased, it goes. `hints` are for
    whoever is asked for memory before it runs. `concludes` is the reasoning phase that it closes.
    """
    says: Document = {"type": PROPOSAL, "proposal": proposal.to_wire(), "branch": branch}
    if risk is not None:
        says["risk"] = risk
    if hints is not None:
        says["hints"] = dict(hints)
    marks = [names.proposal(proposal.proposal_id)]
    if concludes is not None:
        marks.append(names.concluded(concludes))
    if waits_for is not None:
        says["policy"] = dict(waits_for)
        marks.append(names.waiting(proposal.proposal_id))
    output = names.proposal(proposal.proposal_id) if about else ""
    return Fact("proposal", says, marks=marks, inputs=about, output=output)


def voted(proposal_id: str, vote: Vote) -> Fact:
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


def sealed_world(world: Document) -> Fact:
    """A world that was not there before."""
    return Fact("world", {"type": WORLD, "world": world}, marks=[names.world(world["worldId"])])


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
    proposal_id: str,
    head: LoggedHead,
    *,
    schema_hash: str,
    now: int,
    random_seed: str,
    input: Mapping[str, JsonValue],
    recall: Mapping[str, JsonValue],
    sources: Sequence[str] = (),
    made_from: str | None = None,
) -> Fact:
    """How an execution began: from which snapshot, with which memory, time and seed, by value.

    It goes with the memory that it was given, and with whatever the snapshot before it rests on:
    `made_from`, or else what left the head.
    """
    key = names.execution_key(proposal_id)
    says = {
        "type": BEGUN,
        "executionKey": key,
        "proposalId": proposal_id,
        "branch": head.branch,
        "base": head.world,
        "parent": head.fact.seq,
        "schemaHash": schema_hash,
        "now": now,
        "randomSeed": random_seed,
        "input": dict(input),
        "recall": dict(recall),
        "sources": list(sources),
    }
    output = names.execution(key)
    inputs = (*sources, names.proposal(proposal_id), made_from or head.made_from)
    return Fact(
        "execution", says, marks=[output], inputs=tuple(dict.fromkeys(inputs)), output=output
    )


def effect_started(execution_key: str, number: int, name: str, digest: str) -> Fact:
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
    edge: Document,
    snapshot: Mapping[str, JsonValue],
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
        "world": edge["to"],
        "schemaHash": schema_hash,
        "edge": edge,
        "snapshot": dict(snapshot),
        "completedAt": completed_at,
    }
    if input is not None:
        says["input"] = dict(input)
    if trace_ref is not None:
        says["traceRef"] = dict(trace_ref)
    marks = [
        names.execution(execution_key),
        names.world(edge["to"]),
        names.based_on(edge["from"]),
    ]
    if outcome == "completed":
        marks.append(names.branch(branch))
    return Fact("execution", says, marks=marks)


def abandoned(proposal_id: str, *, approved_at: int, why: str) -> Fact:
    """An execution is over, and nothing of it is left: what it rested on was erased."""
    says = {"type": ABANDONED, "proposalId": proposal_id, "why": why}
    unmarks = [Mark(names.running(names.execution_key(proposal_id)), approved_at)]
    return Fact("execution", says, marks=[names.proposal(proposal_id)], unmarks=unmarks)


# ---------------------------------------------------------------------- as they are read


class ProposalState(NamedTuple):
    """How a proposal stands: what was proposed, and all that followed."""

    proposal: Proposal
    """With the status that follows from the rest."""
    branch: str
    waits_for: Any
    risk: str | None
    hints: Any
    proposal_digest: str
    """That of the proposal's own bytes, which a decision is bound to."""
    proposed_at: int | None
    """The entry of the proposal; None while it is not on record."""
    votes: Sequence[Vote]
    decision: FoundFact | None
    newest: int | None
    """The newest entry about it: when another one came, it stands otherwise."""
    execution: Sequence[FoundFact]
    """How its execution began, its effects, and how it ended, as far as they are there."""

    @property
    def begun(self) -> FoundFact | None:
        return next((fact for fact in self.execution if fact.type == BEGUN), None)

    @property
    def sealed(self) -> FoundFact | None:
        return next((fact for fact in self.execution if fact.type == SEALED), None)


class SubmittedProposal(NamedTuple):
    """What was proposed, as it was submitted, and the scope that it was approved with."""

    proposal: Any
    approved_scope: Any


def check_bound(decision: FoundFact, asked: FoundFact) -> None:
    """EntryDamaged where a decision was made on another proposal than the one that is there."""
    said = decision.document
    bound = (said["proposalDigest"], said["baseWorld"])
    if bound != (asked.entry.body_digest, asked.document["proposal"]["baseWorld"]):
        raise EntryDamaged(asked.seq, "entry", "what was decided on is another proposal")


def check_frozen(begun: FoundFact) -> None:
    """EntryDamaged where the memory that an execution was given is not what it recorded."""
    app = begun.document["input"]["$app"]
    if freeze(app["memoryContext"]).digest != begun.document["recall"]["digest"]:
        why = "the memory that was frozen in it is not what was recalled"
        raise EntryDamaged(begun.seq, "object", why)


def fact_of_type(
    facts: Sequence[FoundFact], type_: str, key: str, what: str = "execution that ended"
) -> FoundFact:
    """The one fact of a type among some; WorldNotFound if it is not there."""
    for fact in facts:
        if fact.type == type_:
            return fact
    raise WorldNotFound(what, key)


# ------------------------------------------------------------------------------------------------
# What the journal says of a selection: its trace, and what `why` needs besides it.
#
# Proofs are left out of it: the journal is what they are made of, and they are made again from the
# tree of the size that stands there.

TRACE: Final = "Trace"


def traced(
    trace_id: str,
    outcome: Outcome,
    trace: Mapping[str, Any],
    details: Mapping[str, JsonValue],
    selected: Iterable[str],
    *,
    reasoning_id: str | None = None,
    subjects: Sequence[str] = (),
) -> Fact:
    """A selection, whose trace, as JSON, has no proofs in it.

    It goes with the memory that was selected, by id or name, and with the persons whom the
    question is about, the first of whom it names: also if nothing was found.
    """
    says: dict[str, JsonValue] = {
        "type": TRACE,
        "traceId": trace_id,
        "outcome": outcome,
        "trace": trace,
        "details": details,
    }
    if reasoning_id is not None:
        says["reasoningId"] = reasoning_id
    sources = list(dict.fromkeys(selected))
    if subjects:
        says["subject"] = subjects[0]
        sources += dict.fromkeys(OfSubject(subject).name for subject in subjects)
    name = names.trace(trace_id)
    refs = [names.ref(memory["ref"]["worldId"]) for memory in trace["selected"]]
    phases = [] if reasoning_id is None else [names.reasoning(reasoning_id)]
    return Fact(
        "trace",
        says,
        marks=tuple(dict.fromkeys([name, *phases, *refs])),
        inputs=tuple(sources),
        output=name if sources else "",
    )
