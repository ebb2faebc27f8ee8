"""Traces: who selected which memory, what for, when, at which world, and how sure (TRACE-SHAPE).

The three types are seed 001's. ``evidence`` is an addition that its section 11.2 allows: what a
verifier showed, who had it shown, and when; so is the ``selector`` of one selected memory. A trace
that is read may hold members that we don't know; they are dropped, and never written. Everything
here is by value: nothing selects, loads or verifies (`checking` does), and an id of a world is
opaque.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Self, TypeGuard, get_args

from pydantic import Field

from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.actors import ActorKind, ActorRef
from memoranda.kernel.errors import InvalidJson, InvalidWorld
from memoranda.kernel.json import MAX_INTEGER, JsonValue, check, path, storable
from memoranda.kernel.wire import tuple_of
from memoranda.worlds.snapshot import Id, Json, Name, Text, WorldModel

MEMORY: Final = "memory"
"""The member of a proposal's ``trace.context`` that holds the trace (M-2, MIN-INVASION)."""

MEMORY_TRACES: Final = "memoryTraces"
"""The member beside it that holds all traces, where there are several."""

BETWEEN_QUERIES: Final = "; "
"""What stands between the queries of traces that are merged."""

_KINDS: Final = get_args(ActorKind)
_LONGEST_ID: Final = 512
_LONGEST_ACTOR: Final = 256

Moment = Annotated[int, Field(gt=0, le=MAX_INTEGER)]
Confidence = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

# ---------------------------------------------------------------------------- types


class MemoryRef(WorldModel):
    """Where the original is: a world, or a record version by its address. Only that is true."""

    world_id: Id


class CoveringCheckpoint(WorldModel):
    """The newest signed checkpoint that covers an entry, and how its tree grew into the proof's.

    ``path`` is the consistency proof from the checkpoint's size to that of the proof.
    """

    note: Name
    path: Annotated[Sequence[str], tuple_of(Text)] = ()


class VerificationEvidence(WorldModel):
    """What a verifier showed, and who had it shown, when: made by whoever selects, not by it."""

    method: Name
    proof: Json = None
    verified_at: Moment
    verified_by: ActorRef
    checkpoint: CoveringCheckpoint | None = None


class SelectedMemory(WorldModel):
    """One memory that was selected: why, how sure, and whether its original was verified (R-4)."""

    ref: MemoryRef
    reason: Name
    confidence: Confidence
    verified: bool
    evidence: VerificationEvidence | None = None
    selector: ActorRef | None = None
    """Who selected it, in a trace that was merged of several; else the trace's own selector did."""


class MemoryTrace(WorldModel):
    """The record of one selection, or of several that were merged (TRACE-SHAPE)."""

    selector: ActorRef
    query: Name
    selected_at: Moment
    at_world_id: Id
    selected: Annotated[Sequence[SelectedMemory], tuple_of(SelectedMemory)]

    @classmethod
    def from_wire(cls, given: Mapping[str, JsonValue]) -> Self:
        """The trace of a document, without members that we don't know.

        InvalidWorld with the first thing that is wrong; `validate_memory_trace` lists all.
        """
        for wrong in _errors(given):
            raise InvalidWorld(wrong.where, f"{wrong.why} ({wrong.rule})")
        known = decode(canonical_bytes(_known(given)))  # by value
        return cls.model_validate(known, by_alias=True, by_name=False)


# ----------------------------------------------------------------------- validating


@dataclass(frozen=True, slots=True)
class TraceError:
    """What is wrong in a trace: where, which rule it breaks, and why."""

    where: str
    rule: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why} ({self.rule})"


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """Whether a trace is one, and everything that is wrong with it."""

    valid: bool
    errors: tuple[TraceError, ...] = ()


def validate_memory_trace(trace: Mapping[str, JsonValue] | MemoryTrace) -> ValidationResult:
    """Everything that is wrong with a trace, at once.

    1. its selector is a valid ActorRef                                  (C-2)
    2. query, selectedAt, atWorldId and selected are there, and are ones (TRACE-SHAPE)
    3. what is selected has a ref, a reason, and says whether it is verified
    4. its ref.worldId is a valid WorldId: a text, opaque                (C-3)
    5. its confidence is a number from 0 to 1, and never NaN             (CONF-RANGE)
    6. evidence, where there is some, has a method, a time and an actor; a selector is one
    """
    errors = _errors(trace.to_wire() if isinstance(trace, MemoryTrace) else trace)
    return ValidationResult(not errors, errors)


def _errors(trace: Any) -> tuple[TraceError, ...]:
    found = tuple(_wrong_members(trace))
    return found or tuple(_json(_known(trace), "$", "TRACE-SHAPE"))  # say, nested too deep


def _wrong_members(trace: object) -> Iterator[TraceError]:
    if not isinstance(trace, Mapping):
        yield TraceError("$", "TRACE-SHAPE", "a trace is an object")
        return
    # 1.
    yield from _actor(trace.get("selector"), "$.selector", "C-2")
    # 2.
    yield from _text(trace, "query", "$")
    yield from _moment(trace, "selectedAt", "$")
    yield from _id(trace, "atWorldId", "$", "TRACE-SHAPE")
    selected = trace.get("selected")
    if not isinstance(selected, list | tuple):
        yield TraceError("$.selected", "TRACE-SHAPE", "it is a list")
        return
    for number, value in enumerate(selected):
        yield from _selected(value, f"$.selected[{number}]")


def _selected(document: object, where: str) -> Iterator[TraceError]:
    if not isinstance(document, Mapping):
        yield TraceError(where, "TRACE-SHAPE", "what is selected is an object")
        return
    # 3.
    yield from _text(document, "reason", where)
    if type(document.get("verified")) is not bool:
        yield TraceError(f"{where}.verified", "TRACE-SHAPE", "it is true or false")
    # 4.
    ref = document.get("ref")
    if isinstance(ref, Mapping):
        yield from _id(ref, "worldId", f"{where}.ref", "C-3")
    else:
        yield TraceError(f"{where}.ref", "TRACE-SHAPE", "it is an object with a worldId")
    # 5.
    if "confidence" not in document:
        yield TraceError(f"{where}.confidence", "TRACE-SHAPE", "it is missing")
    elif not _is_confidence(document["confidence"]):
        yield TraceError(f"{where}.confidence", "CONF-RANGE", "it is a number from 0 to 1")
    # 6.
    if document.get("evidence") is not None:
        yield from _evidence(document["evidence"], f"{where}.evidence")
    if document.get("selector") is not None:
        yield from _actor(document["selector"], f"{where}.selector", "C-2")


def _evidence(evidence: object, where: str) -> Iterator[TraceError]:
    if not isinstance(evidence, Mapping):
        yield TraceError(where, "TRACE-SHAPE", "evidence is an object")
        return
    yield from _text(evidence, "method", where)
    yield from _json(evidence.get("proof"), f"{where}.proof", "TRACE-SHAPE")
    yield from _moment(evidence, "verifiedAt", where)
    yield from _actor(evidence.get("verifiedBy"), f"{where}.verifiedBy", "TRACE-SHAPE")
    checkpoint = evidence.get("checkpoint")
    if checkpoint is None:
        return
    if not isinstance(checkpoint, Mapping):
        yield TraceError(f"{where}.checkpoint", "TRACE-SHAPE", "it is an object with a note")
        return
    yield from _text(checkpoint, "note", f"{where}.checkpoint")
    hashes = checkpoint.get("path", ())
    if not isinstance(hashes, list | tuple) or not all(map(_is_text, hashes)):
        yield TraceError(f"{where}.checkpoint.path", "TRACE-SHAPE", "it is a list of texts")


def _actor(actor: object, where: str, rule: str) -> Iterator[TraceError]:
    if not isinstance(actor, Mapping):
        yield TraceError(where, rule, "an ActorRef is an object with actorId and kind")
        return
    actor_id = actor.get("actorId")
    if not _is_text(actor_id) or not 0 < len(actor_id) <= _LONGEST_ACTOR:
        yield TraceError(f"{where}.actorId", rule, f"it is a text of 1 to {_LONGEST_ACTOR}")
    if actor.get("kind") not in _KINDS:
        yield TraceError(f"{where}.kind", rule, f"it is one of {', '.join(_KINDS)}")
    if (name := actor.get("name")) is not None and not _is_text(name):
        yield TraceError(f"{where}.name", rule, "it is a text")
    if (meta := actor.get("meta")) is not None:
        if isinstance(meta, dict):
            yield from _json(meta, f"{where}.meta", rule)
        else:
            yield TraceError(f"{where}.meta", rule, "it is an object")


def _text(of: Mapping[str, Any], name: str, where: str) -> Iterator[TraceError]:
    if not _is_text(of.get(name)) or not of[name]:
        yield TraceError(f"{where}.{name}", "TRACE-SHAPE", "it is a text that is not empty")


def _id(of: Mapping[str, Any], name: str, where: str, rule: str) -> Iterator[TraceError]:
    found = of.get(name)
    if not _is_text(found) or not 0 < len(found) <= _LONGEST_ID:
        yield TraceError(f"{where}.{name}", rule, f"it is a text of 1 to {_LONGEST_ID}")


def _moment(of: Mapping[str, Any], name: str, where: str) -> Iterator[TraceError]:
    found = of.get(name)
    if type(found) is not int or not 0 < found <= MAX_INTEGER:
        yield TraceError(f"{where}.{name}", "TRACE-SHAPE", "it is a time in milliseconds, above 0")


def _json(value: object, where: str, rule: str) -> Iterator[TraceError]:
    try:
        check(value, where)
    except InvalidJson as refused:
        yield TraceError(refused.where, rule, refused.why)


def _is_text(value: object) -> TypeGuard[str]:
    return type(value) is str and storable(value)


def _is_confidence(value: object) -> bool:
    # A bool is no number here; NaN is neither below nor above anything.
    return isinstance(value, int | float) and type(value) is not bool and 0 <= value <= 1


# -------------------------------------------------------------------------- reading

_OF_TRACE: Final = ("selector", "query", "selectedAt", "atWorldId", "selected")
_OF_SELECTED: Final = ("ref", "reason", "confidence", "verified", "evidence", "selector")
_OF_EVIDENCE: Final = ("method", "proof", "verifiedAt", "verifiedBy", "checkpoint")
_OF_ACTOR: Final = ("actorId", "kind", "name", "meta")


def _known(trace: Mapping[str, Any]) -> dict[str, Any]:
    """A valid trace without the members that are not ours, and without those that are null."""
    whole = _only(trace, _OF_TRACE)
    whole["selector"] = _only(trace["selector"], _OF_ACTOR)
    whole["selected"] = [_known_selected(value) for value in trace["selected"]]
    return whole


def _known_selected(document: Mapping[str, Any]) -> dict[str, Any]:
    whole = _only(document, _OF_SELECTED)
    whole["ref"] = _only(document["ref"], ("worldId",))
    if "selector" in whole:
        whole["selector"] = _only(whole["selector"], _OF_ACTOR)
    if (evidence := whole.get("evidence")) is not None:
        whole["evidence"] = {
            **_only(evidence, _OF_EVIDENCE),
            "verifiedBy": _only(evidence["verifiedBy"], _OF_ACTOR),
        }
        if (checkpoint := evidence.get("checkpoint")) is not None:
            whole["evidence"]["checkpoint"] = _only(checkpoint, ("note", "path"))
    return whole


def _only(members: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: members[name] for name in names if members.get(name) is not None}


# -------------------------------------------------------------------------- merging


def merged(
    traces: Sequence[MemoryTrace], by: ActorRef
) -> tuple[MemoryTrace, tuple[MemoryTrace, ...]]:
    """The one trace of a proposal, and all of them where it was made of several.

    One trace stays itself. Of several, everything selected stands in it in their order, each with
    who selected it, and their queries are joined; when and at which world are of the trace that
    was made last. Its own selector is theirs where they have the same one. Else it is `by`, who
    took several selections together: nobody answers for what another one selected (R-3). Whoever
    judges by the selector reads all of them (`traces_in`).
    """
    if not traces:
        raise InvalidWorld("$", "there is no trace to merge")
    if len(traces) == 1:
        return traces[0], ()
    last = max(enumerate(traces), key=lambda numbered: (numbered[1].selected_at, numbered[0]))[1]
    is_one = all(trace.selector == last.selector for trace in traces)
    whole = MemoryTrace(
        selector=last.selector if is_one else by,
        query=BETWEEN_QUERIES.join(trace.query for trace in traces),
        selected_at=last.selected_at,
        at_world_id=last.at_world_id,
        selected=tuple(
            selected.model_copy(update={"selector": trace.selector})
            for trace in traces
            for selected in trace.selected
        ),
    )
    return whole, tuple(traces)


def trace_context(traces: Sequence[MemoryTrace], by: ActorRef) -> dict[str, JsonValue]:
    """The members of a proposal's ``trace.context`` for its traces; none for none (M-2)."""
    if not traces:
        return {}
    memory, all_of_them = merged(traces, by)
    context: dict[str, JsonValue] = {MEMORY: memory.to_wire()}
    if all_of_them:
        context[MEMORY_TRACES] = [trace.to_wire() for trace in all_of_them]
    return context


def traces_in(context: Mapping[str, JsonValue] | None) -> tuple[MemoryTrace, ...]:
    """The traces in a proposal's ``trace.context``, each as it was made; none where it has none.

    InvalidWorld where one is no trace, or where ``memory`` is not what the several give.
    """
    if context is None or (MEMORY not in context and MEMORY_TRACES not in context):
        return ()
    memory = _read(context.get(MEMORY), MEMORY)
    if MEMORY_TRACES not in context:
        return (memory,)
    given = context[MEMORY_TRACES]
    if not isinstance(given, list | tuple) or not given:
        raise InvalidWorld(f"$.{MEMORY_TRACES}", "it is a list of traces")
    traces = tuple(_read(value, path(MEMORY_TRACES, number)) for number, value in enumerate(given))
    if merged(traces, memory.selector)[0] != memory:
        raise InvalidWorld(f"$.{MEMORY}", f"it is not what {MEMORY_TRACES} give together")
    return traces


def _read(given: JsonValue, name: str) -> MemoryTrace:
    try:
        return MemoryTrace.from_wire(given)
    except InvalidWorld as refused:
        raise InvalidWorld(f"$.{name}{refused.where.removeprefix('$')}", refused.why) from None
