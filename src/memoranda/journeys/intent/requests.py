"""Requests: what somebody wants done, the memory that it rests on, and what comes of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from memoranda.journeys.intent import names
from memoranda.journeys.records.contents import retry_key
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidWorld
from memoranda.kernel.given import RetryKey, check_kind, check_texts
from memoranda.kernel.json import JsonValue, check
from memoranda.kernel.results import Result
from memoranda.ledger.unit import Expected
from memoranda.recall.provider import MemoryProvider
from memoranda.recall.trace import MEMORY, MEMORY_TRACES, MemoryTrace, trace_context, traces_in
from memoranda.worlds.proposal import (
    IntentBody,
    IntentScope,
    Projection,
    ProjectionEvent,
    ProposalTrace,
    SourceKind,
)

PROJECTION: str = "memoranda.propose"
"""Where an intent comes from that no projection made."""

SUMMARY: Final = "it rests on memory"
"""The summary of a proposal that says nothing of itself, and used memory."""

ABSENT: Final = object()
"""No input at all, which is not the same as a null one."""

Trace = ProposalTrace | Mapping[str, JsonValue] | str


class HasTrace(Protocol):
    """A recall that is on record."""

    @property
    def trace_id(self) -> str:
        """The id of its trace."""
        ...


Used = HasTrace | str | Sequence[HasTrace | str]
"""The memory that a proposal rests on: recalls, or ids of traces."""


class NamedPhase(NamedTuple):
    """A reasoning phase that a proposal names, and so closes."""

    id: str
    newest: int
    """The entry of its last selection."""


class IntentRequest(NamedTuple):
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
    """What the provider of memory is asked before the run."""
    phase: NamedPhase | None = None

    @property
    def expects(self) -> Sequence[Expected]:
        """What must still be so when it is submitted: nothing more was selected in its phase."""
        if self.phase is None:
            return self.rests_on
        newest = Expected(names.reasoning(self.phase.id), self.phase.newest)
        return [*self.rests_on, newest, Expected(names.concluded(self.phase.id), None)]


@dataclass(frozen=True, slots=True, repr=False)
class Submitted(Result):
    """A proposal that is on record, and how it stands."""

    proposal_id: str
    status: str


@dataclass(frozen=True, slots=True, repr=False)
class Run(Result):
    """What a run came to."""

    proposal_id: str
    status: str
    """That of the proposal: completed or failed; evaluating while it waits; rejected."""
    execution_key: str | None = None
    world: str | None = None
    data: JsonValue = None
    """The state after it."""
    error: Mapping[str, JsonValue] | None = None
    recall: str | None = None
    """The outcome of the recall that it was given."""

    @property
    def is_completed(self) -> bool:
        """Whether it was done, and the head moved."""
        return self.status == "completed"

    @property
    def is_pending(self) -> bool:
        """Whether somebody still has to decide."""
        return self.status in ("submitted", "evaluating")


def request_of(
    action: str,
    input: JsonValue,
    reason: Trace | None,
    paths: Sequence[str] | None,
    actor: ActorRef,
    hints: Mapping[str, JsonValue] | None,
) -> IntentRequest:
    """What an actor wants done; InvalidWorld where what it says of its memory is no trace."""
    check_kind("action", action, str, "the name of an action")
    if paths is not None:
        check_texts("paths", paths)
    said = trace_of(reason)
    traces_in(None if said is None else said.context)
    if hints is not None:
        if not isinstance(hints, Mapping):
            raise InvalidWorld("$.hints", "hints are an object; give a dict")
        check(dict(hints), "$.hints")
    return IntentRequest(
        action,
        None if input is ABSENT else input,
        input is not ABSENT,
        actor,
        said,
        None if paths is None else IntentScope(allowed_paths=tuple(paths)),
        hints=hints,
    )


def projected(
    body: IntentBody, projection: Projection, event: ProjectionEvent, actor: ActorRef
) -> IntentRequest:
    """What a projection made of an event, for whoever had it made."""
    return IntentRequest(
        body.type,
        body.input,
        "input" in body.model_fields_set,
        actor,
        scope=body.scope_proposal,
        projection=projection.id,
        source=event.kind,
        event_id=event.event_id,
    )


def request_key(key: str | None, request: IntentRequest, branch: str) -> RetryKey | None:
    """The key of a request as it was made: what it rests on may be recalled anew for a retry."""
    trace = None if request.trace is None else request.trace.to_wire()
    scope = None if request.scope is None else request.scope.to_wire()
    asked = [
        request.action,
        request.has_input,
        request.input,
        str(request.actor),
        trace,
        scope,
        branch,
    ]
    return retry_key(key, "propose", *asked, None if request.hints is None else dict(request.hints))


def trace_of(given: ProposalTrace | Mapping[str, JsonValue] | str | None) -> ProposalTrace | None:
    """Why somebody proposes: a trace, its wire form, or its summary."""
    match given:
        case None | ProposalTrace():
            return given
        case str():
            return ProposalTrace(summary=given)
        case _:
            return ProposalTrace.from_wire(given)


# ---------------------------------------------------------------------- memory


class Traced(NamedTuple):
    """A selection: its trace with all proofs, and the entry that holds it."""

    trace: MemoryTrace
    rests_on: Expected


class Confirmed(NamedTuple):
    """A trace that was made elsewhere, as we found it to be, and the memory that it tells of."""

    trace: MemoryTrace
    sources: Sequence[str]


class Selections(Protocol):
    """The selections of one scope."""

    async def traced(self, given: object, /) -> Traced:
        """The selection that a recall, or the id of a trace, stands for."""
        ...

    async def of_phase(self, reasoning_id: str, /) -> Sequence[Traced]:
        """All selections of a reasoning phase, the first one first; TraceMissing for none."""
        ...

    async def confirmed(self, trace: MemoryTrace, where: str, at: int, /) -> Confirmed:
        """A trace that somebody made by hand, confirmed by what this scope knows (C-3, C-4)."""
        ...

    def provider(self, traces: Sequence[MemoryTrace], /) -> MemoryProvider[Any]:
        """Hands a run what these traces selected."""
        ...


async def with_memory(
    request: IntentRequest,
    memory: object,
    selections: Selections,
    recalled: Callable[[], Sequence[Traced]],
    at: int,
    reasoning_id: str | None = None,
) -> IntentRequest:
    """The request with the traces of the memory that it used (M-2).

    1. those of its reasoning phase are there already; a projection uses no memory (C-5). A phase
       that is named is closed by it                                             (M-3)
    2. a trace that was made by hand is confirmed, and goes on as we know it     (C-3, C-4)
    3. what is named is attached; where nothing is said, what was `recalled` here
    """
    # 1.
    if request.rests_on or request.projection != PROJECTION:
        return request
    if reasoning_id is not None:
        if memory is not None:
            raise InvalidWorld("$.memory", "the reasoning phase has the traces; name one of both")
        traced = await selections.of_phase(reasoning_id)
        phase = NamedPhase(reasoning_id, traced[-1].rests_on.seq or 0)
        return resting_on(request, traced)._replace(phase=phase)
    # 2.
    if memory is None and request.trace is not None and says_memory(request):
        confirmed = [
            await selections.confirmed(trace, where, at)
            for trace, where in _given_traces(request.trace.context)
        ]
        sources = dict.fromkeys(name for item in confirmed for name in item.sources)
        complete = with_context(request, [item.trace for item in confirmed])
        return complete._replace(sources=tuple(sources))
    # 3.
    if memory is None:
        return resting_on(request, recalled())
    given = memory if isinstance(memory, list | tuple) else [memory]
    return resting_on(request, [await selections.traced(value) for value in given])


def resting_on(request: IntentRequest, traced: Sequence[Traced]) -> IntentRequest:
    """A request with traces, and which goes when they go."""
    if says_memory(request):
        where = f"$.trace.context.{MEMORY}"
        raise InvalidWorld(where, "its traces are attached here; leave it out of what you give")
    if not traced:
        return request
    complete = with_context(request, [item.trace for item in traced])
    return complete._replace(rests_on=[item.rests_on for item in traced])


def says_memory(request: IntentRequest) -> bool:
    """Whether what is given with a request says already which memory it used."""
    context = None if request.trace is None else request.trace.context
    return context is not None and (MEMORY in context or MEMORY_TRACES in context)


def with_context(request: IntentRequest, traces: Sequence[MemoryTrace]) -> IntentRequest:
    """A request whose trace holds these, in the place of any that it held."""
    given = request.trace
    context = {} if given is None or given.context is None else dict(given.context)
    context.pop(MEMORY_TRACES, None)
    context |= trace_context(traces, request.actor)
    if given is None:
        return request._replace(trace=ProposalTrace(summary=SUMMARY, context=context))
    trace = ProposalTrace(summary=given.summary, reasoning=given.reasoning, context=context)
    return request._replace(trace=trace)


def _given_traces(context: Mapping[str, JsonValue] | None) -> list[tuple[MemoryTrace, str]]:
    traces = traces_in(context)
    if len(traces) == 1:
        return [(traces[0], f"$.trace.context.{MEMORY}")]
    where = f"$.trace.context.{MEMORY_TRACES}"
    return [(trace, f"{where}[{number}]") for number, trace in enumerate(traces)]
