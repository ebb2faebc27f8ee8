"""Consolidation is a governed transformation: it happens when all gates pass, or not at all.

The output is a ConsolidatedStatement (GOV-CONS-3) with every source of its inputs (GOV-CONS-1); it
lists them with their types, versions and hashes (GOV-CONS-2), and has the lowest trust of theirs.
Everything about it, the diff included, is in the object's own body, which can be erased; its event
is derived from there, and rebuilds it byte for byte (GOV-CONS-4).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from memoranda.identity import Frozen, canonical_bytes
from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import InvalidObject, InvalidProof, InvalidTime
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Result
from memoranda.ledger.event import METHOD
from memoranda.ledger.gates import (
    GATES,
    GATES_OF_CHECKS,
    Conflict,
    ConsolidationDraft,
    Document,
    Gate,
    GateFailure,
    find_conflicts,
    gate_a,
    gate_b,
    gate_c,
    gate_d,
    gate_e,
    widest_validity,
)
from memoranda.ledger.lifecycle import StatusChange, lowest, trust_of
from memoranda.ledger.model import MemoryObject
from memoranda.ledger.object import TYPE, Trust, hash_name, sealed
from memoranda.ledger.pieces import pieces_of, text_of
from memoranda.ledger.time import Validity, parse_time
from memoranda.ledger.validate import Violation, validate_object


@dataclass(frozen=True, slots=True, repr=False)
class Refusal(Result):
    """A consolidation that did not happen, with every gate that failed."""

    failures: tuple[GateFailure, ...]

    @property
    def gates(self) -> tuple[Gate, ...]:
        """The gates that failed, each once, in order."""
        return tuple(sorted({failure.gate for failure in self.failures}))

    def wire_members(self) -> Mapping[str, object]:
        """That it was refused, by which gates, and why."""
        return {"refused": True, "gates": self.gates, "failures": self.failures}


def consolidate(
    inputs: Sequence[Frozen],
    draft: ConsolidationDraft,
    justification: str,
    *,
    id: str,
    at: int,
    nonce: str,
    gates: Collection[Gate] = GATES,
    trust: Trust = "unreviewed",
) -> StatusChange | Refusal:
    """Consolidate some objects into one, or refuse and name every gate that failed.

    `trust` is that of whoever consolidates: the output has no more than that.

    1. the gates that the policy has, A to E
    2. the output, made from the inputs and from what the draft gives
    3. it is a MemoryObject as the gates ask of the inputs                    (GOV-OBJECT)
    4. its event rebuilds it, byte for byte                                   (GOV-CONS-4)
    """
    documents = [input_.thaw() for input_ in inputs]
    # 1.
    found = [violation for document in documents for violation in _faults(document)]
    conflicts: list[Conflict] = []
    failures: list[GateFailure] = []
    if not any(GATES_OF_CHECKS[violation.check] == "A" for violation in found):
        conflicts = find_conflicts(documents)
        failures += gate_d(documents, draft, conflicts)
    failures += gate_a(documents, found)
    failures += gate_b(documents, draft, found)
    failures += gate_c(documents, draft, found)
    failures += gate_e(justification)
    failures = [failure for failure in failures if failure.gate in gates]
    if failures:
        return Refusal(tuple(sorted(failures, key=lambda failure: failure.gate)))
    # 2.
    statements = {document["id"]: document["statement"] for document in documents}
    steps: dict[str, JsonValue] = {
        "method": METHOD,
        "pieces": pieces_of(draft.statement, statements),
    }
    if draft.source_refs:
        steps["source_refs"] = list(draft.source_refs)
    if draft.widening is not None:
        steps["widening"] = draft.widening
    output = _output(
        inputs, steps, justification, _given(documents, draft, conflicts, id, at, nonce, trust)
    )
    change = StatusChange("consolidate", output)
    # 3.
    faults = _faults(output.thaw())
    if faults:
        return Refusal(
            tuple(
                GateFailure(
                    GATES_OF_CHECKS[fault.check], fault.rule, f"the output: {fault.why}", (id,)
                )
                for fault in faults
            )
        )
    # 4.
    if rebuild(change.members, inputs) != output.canonical:
        return Refusal((GateFailure("E", "GOV-CONS-4", "its event does not rebuild it"),))
    return change


def rebuild(event: Document, inputs: Sequence[Frozen]) -> bytes:
    """The bytes of the output of a consolidation, from its event and its inputs (GOV-CONS-4).

    InvalidProof where the inputs are not those that the event names.
    """
    steps = dict(event["reconstruction"])
    if steps.get("method") != METHOD:
        raise InvalidProof(f"the method {steps.get('method')!r} is not known")
    named, justification, given = (steps.pop(name) for name in ("inputs", "justification", "given"))
    if [_reference(input_) for input_ in inputs] != named:
        raise InvalidProof("the inputs are not those that the event names")
    return _output(inputs, steps, justification, given).canonical


# ------------------------------------------------------------------------- the output


def _output(
    inputs: Sequence[Frozen],
    steps: Mapping[str, JsonValue],
    justification: str,
    given: Mapping[str, JsonValue],
) -> Frozen:
    """The one way to make an output, for the operation and for whoever rebuilds it."""
    documents = [input_.thaw() for input_ in inputs]
    statements = {value["id"]: value["statement"] for value in documents}
    document: dict[str, JsonValue] = {
        **given,
        "type": TYPE,
        "statement": text_of(steps["pieces"], statements),
        "statement_type": "ConsolidatedStatement",
        "source_refs": _union([*documents, {"source_refs": steps.get("source_refs", [])}]),
        "applicability_scope": _common_scope(documents),
        "version": "1",
        "inputs": [_reference(input_) for input_ in inputs],
        "justification": justification,
        "reconstruction": steps,
    }
    if steps.get("format", "text") != "text":
        document["format"] = steps["format"]
    for name in ("jurisdiction", "subject"):
        values = {value.get(name) for value in documents}
        if name == "jurisdiction":
            values -= {None}  # one that is named restricts those that name none
        if len(values) == 1 and None not in values:
            document[name] = values.pop()
    return Frozen(canonical_bytes(document))


def _given(
    documents: Sequence[Document],
    draft: ConsolidationDraft,
    conflicts: Sequence[Conflict],
    id: str,
    at: int,
    nonce: str,
    trust: Trust,
) -> dict[str, JsonValue]:
    """The members that the inputs don't determine: `event.GIVEN`."""
    validity = draft.validity or widest_validity(documents)
    if not isinstance(validity, Validity):  # gate C refused it
        raise InvalidTime(None, "there is no time at which all inputs hold")
    start, end = validity.valid_from, validity.valid_to
    given: dict[str, JsonValue] = {
        "id": id,
        "timestamp": format_time(at),
        "nonce": nonce,
        "verdict_type": draft.verdict_type,
        "trust": lowest([trust, *(trust_of(document.get("trust")) for document in documents)]),
        "valid_from": None if start is None else format_time(start),
        "valid_to": None if end is None else format_time(end),
        "temporal_scope": validity.scope,
    }
    optional = {
        "tags": None if draft.tags is None else list(draft.tags),
        "meta": draft.meta,
        "expires": min(
            (document["expires"] for document in documents if document.get("expires") is not None),
            key=parse_time,
            default=None,
        ),
        "derived_fragments": list(draft.derived_fragments) or None,
        "conflicts": [conflict.to_wire() for conflict in conflicts] or None,
    }
    return given | {name: member for name, member in optional.items() if member is not None}


def _union(documents: Sequence[Document]) -> list[JsonValue]:
    """Every source of all, each once, in the order in which they come (GOV-CONS-1)."""
    sources = (source for document in documents for source in document["source_refs"])
    return list({canonical_bytes(source): source for source in sources}.values())


def _common_scope(documents: Sequence[Document]) -> JsonValue:
    """Where all apply: the scope that all have, or all of their scopes at once."""
    scopes = {
        canonical_bytes(document["applicability_scope"]): document["applicability_scope"]
        for document in documents
        if document["applicability_scope"] is not None  # it restricts nothing
    }
    if len(scopes) > 1:
        return {"all_of": list(scopes.values())}
    return next(iter(scopes.values()), None)


def _reference(frozen: Frozen) -> dict[str, JsonValue]:
    document = frozen.thaw()
    return {
        "id": document["id"],
        "version": document["version"],
        "hash": hash_name(frozen.digest),
        "statement_type": document["statement_type"],
    }


def _faults(document: Document) -> list[Violation]:
    """What is wrong with an object: by the seed, else by our own members; `where` is its id."""
    found = [
        violation
        for violation in validate_object(sealed(document))
        if violation.severity == "error"
    ]
    if not found:
        try:
            MemoryObject.model_validate(document)
        except InvalidObject as refused:
            why = f"{refused.why}, at {refused.where}"
            found = [Violation("O1", "GOV-OBJECT", refused.where, why)]
    return [replace(violation, where=str(document.get("id"))) for violation in found]
