"""The gates of a consolidation: small functions, each of which returns what keeps it shut.

======  ======================================================================================
gate    passes when
======  ======================================================================================
A type  two objects or more, distinct, active, each rightly typed            (GOV-CONS-3)
B trace each input has a source (GOV-CONS-5); the verdict is no stronger than the weakest
        input's; what no source covers is marked, and the whole is then not Factual; nor is it
        if it says anything that does not stand in an input
C time  there is a time at which all inputs hold, and the output claims no other, unless
        the widening is justified                                            (GOV-TIME-3)
D clash the inputs don't conflict, or the conflict is recorded and the verdict not Factual
E audit there is a justification, and the event rebuilds the output          (GOV-CONS-4)
======  ======================================================================================

`found` is what the validators say of the inputs; each gate takes what is its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal, get_args

from memoranda.kernel.errors import InvalidTime
from memoranda.kernel.given import is_blank
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Result
from memoranda.ledger.object import VerdictType, data_of, status_of
from memoranda.ledger.pieces import parts_of_none
from memoranda.ledger.time import Validity, is_within, most_restrictive, validity_of
from memoranda.ledger.validate import Violation

# ------------------------------------------------------------------------------------------------
# What a conflict between statements is (``default/1`` of the policy `consolidation`).

Document = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Statements that can't all hold, by their ids, and why."""

    ids: tuple[str, ...]
    why: str

    def to_wire(self) -> dict[str, JsonValue]:
        """As a consolidated object records it."""
        return {"ids": list(self.ids), "why": self.why}


def find_conflicts(inputs: Sequence[Document]) -> list[Conflict]:
    """The conflicts among the inputs of a consolidation, without understanding a statement.

    1. the same statement (case and spaces aside) is False in one and Factual or Inference in
       another
    2. two data objects about the same subject, neither of them False, give one member two values
    """
    return [
        Conflict((document["id"], other["id"]), why)
        for document, other in combinations(inputs, 2)
        for why in _clashes(document, other)
    ]


def _clashes(document: Document, other: Document) -> Iterator[str]:
    verdicts = {document["verdict_type"], other["verdict_type"]}
    subject = document.get("subject")
    # 1.
    if "False" in verdicts and verdicts & {"Factual", "Inference"}:
        if _folded(document["statement"]) == _folded(other["statement"]):
            yield "one says that the statement holds, the other that it is false"
    # 2.
    elif "False" not in verdicts and subject and subject == other.get("subject"):
        mine, theirs = _members(document), _members(other)
        differing = sorted(
            name for name in mine.keys() & theirs.keys() if mine[name] != theirs[name]
        )
        if differing:
            yield f"they differ in {', '.join(differing)}"


def _members(document: Document) -> dict[str, JsonValue]:
    data = data_of(document) if document.get("format") == "json" else None
    return data if isinstance(data, dict) else {}


def _folded(statement: str) -> str:
    return " ".join(statement.casefold().split())


Gate = Literal["A", "B", "C", "D", "E"]
GATES: Final[tuple[Gate, ...]] = get_args(Gate)

_FEWEST: Final = 2
GATES_OF_CHECKS: Final[Mapping[str, Gate]] = {
    **dict.fromkeys(("O1", "O2", "O3", "O5", "O7", "O8", "O9", "O10"), "A"),
    **dict.fromkeys(("O4", "O11", "O12"), "B"),
    "O6": "C",
}
_STRENGTH: Final[Mapping[str, int]] = {
    "False": 0,
    "Unanswered": 0,
    "Inference": 1,
    "Factual": 2,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationDraft:
    """What somebody proposes to consolidate some objects into.

    `validity` is None for the most restrictive one; a wider one needs a `widening`, its
    justification. `derived_fragments` are parts of the statement that no source covers.
    """

    statement: str
    verdict_type: VerdictType = "Inference"
    source_refs: Sequence[Mapping[str, JsonValue]] = ()
    validity: Validity | None = None
    widening: str | None = None
    derived_fragments: Sequence[str] = ()
    on_conflict: Literal["refuse", "record"] = "refuse"
    tags: Sequence[str] | None = None
    meta: Mapping[str, JsonValue] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class GateFailure(Result):
    """A gate that did not pass: the rule behind it, why, and the inputs that it is about."""

    gate: Gate
    rule: str
    why: str
    ids: tuple[str, ...] = ()


def gate_a(inputs: Sequence[Document], found: Sequence[Violation]) -> list[GateFailure]:
    """Typing: every input is a typed, active object, and there are several (GOV-CONS-3)."""
    ids = [_id(document) for document in inputs]
    failures = _violations("A", found)
    if len(set(ids)) < _FEWEST:
        failures.append(GateFailure("A", "GOV-OBJECT", "it takes two objects or more", tuple(ids)))
    if len(set(ids)) < len(ids):
        twice = tuple(sorted({id for id in ids if ids.count(id) > 1}))
        failures.append(GateFailure("A", "GOV-CONS-4", "an object is named twice", twice))
    failures += [
        GateFailure("A", "GOV-FORGET", f"an input is {status_of(document)}", (_id(document),))
        for document in inputs
        if status_of(document) != "active"
    ]
    return failures


def gate_b(
    inputs: Sequence[Document], draft: ConsolidationDraft, found: Sequence[Violation]
) -> list[GateFailure]:
    """Traceability: sources for all of it, and no verdict that they don't bear (GOV-CONS-5)."""
    failures = _violations("B", found)
    without = tuple(_id(document) for document in inputs if not document.get("source_refs"))
    if without:
        why = "an input has no source_refs"
        failures.append(GateFailure("B", "GOV-CONS-5", why, without))
    if not draft.statement:
        failures.append(GateFailure("B", "GOV-OBJECT", "the statement is empty"))
    if not is_borne(draft.verdict_type, [document.get("verdict_type") for document in inputs]):
        why = f"the verdict {draft.verdict_type} is stronger than the weakest input's"
        failures.append(GateFailure("B", "GOV-CONS-1", why))
    if any(not part or part not in draft.statement for part in draft.derived_fragments):
        why = "a derived fragment is not part of the statement"
        failures.append(GateFailure("B", "GOV-CONS-1", why))
    if draft.derived_fragments and draft.verdict_type == "Factual":
        why = "a part of the statement has no source, so the whole can't be Factual"
        failures.append(GateFailure("B", "GOV-CONS-1", why))
    if draft.verdict_type == "Factual":
        statements = {_id(document): str(document.get("statement", "")) for document in inputs}
        for part in parts_of_none(draft.statement, statements)[:1]:
            why = f"it says {part!r}, which no input says, so it can't be Factual"
            failures.append(GateFailure("B", "GOV-CONS-1", why))
    return failures


def gate_c(
    inputs: Sequence[Document], draft: ConsolidationDraft, found: Sequence[Violation]
) -> list[GateFailure]:
    """Time: the output holds only when all inputs do, or says why not (GOV-TIME-3)."""
    failures = _violations("C", found)
    if failures:
        return failures
    widest = widest_validity(inputs)
    if isinstance(widest, str):
        return [GateFailure("C", "GOV-TIME-2", widest)]
    is_justified = draft.widening is not None and not is_blank(draft.widening)
    if widest is None and (draft.validity is None or not is_justified):
        return [GateFailure("C", "GOV-TIME-3", "there is no time at which all inputs hold")]
    if (
        widest is not None
        and draft.validity is not None
        and not is_within(draft.validity, widest)
        and not is_justified
    ):
        why = "it would hold at times at which not all inputs do, and that is not justified"
        return [GateFailure("C", "GOV-TIME-3", why)]
    return []


def gate_d(
    inputs: Sequence[Document], draft: ConsolidationDraft, conflicts: Sequence[Conflict]
) -> list[GateFailure]:
    """Conflict: refused, or recorded with a verdict that is not Factual."""
    failures = []
    places = {
        document["jurisdiction"] for document in inputs if document.get("jurisdiction") is not None
    }
    if len(places) > 1:
        why = f"no jurisdiction is common to all: {', '.join(sorted(places))}"
        failures.append(GateFailure("D", "GOV-OBJECT", why))
    for conflict in conflicts:
        if draft.on_conflict == "refuse":
            failures.append(GateFailure("D", "GOV-CONS-1", conflict.why, conflict.ids))
        elif draft.verdict_type == "Factual":
            why = f"in conflict, so it can't be Factual: {conflict.why}"
            failures.append(GateFailure("D", "GOV-CONS-1", why, conflict.ids))
    return failures


def gate_e(justification: str) -> list[GateFailure]:
    """Audit: why it was done is said. That the event rebuilds the output, `consolidate` tries."""
    if not is_blank(justification):
        return []
    return [GateFailure("E", "GOV-CONS-4", "there is no justification")]


def is_borne(verdict: VerdictType, inputs: Sequence[VerdictType | None]) -> bool:
    """Whether inputs with these verdicts bear an output with this one.

    Unanswered claims nothing and is always borne. False is borne only by what is False in all of
    its parts, and what is False bears nothing else. No new source changes that: what has one is
    a statement of its own, and can be an input.
    """
    if verdict == "Unanswered":
        return True
    if verdict == "False":
        return all(input_ == "False" for input_ in inputs)
    return all(_STRENGTH.get(str(input_), -1) >= _STRENGTH[verdict] for input_ in inputs)


def widest_validity(documents: Sequence[Document]) -> Validity | str | None:
    """The widest time that an output may claim; or in words why an input has none."""
    try:
        return most_restrictive(validity_of(document) for document in documents)
    except InvalidTime as refused:
        return refused.why


def _violations(gate: Gate, found: Sequence[Violation]) -> list[GateFailure]:
    failures: Iterator[GateFailure] = (
        GateFailure(gate, violation.rule, f"{violation.check}: {violation.why}", (violation.where,))
        for violation in found
        if GATES_OF_CHECKS[violation.check] == gate
    )
    return list(dict.fromkeys(failures))


def _id(document: Document) -> str:
    return str(document.get("id"))
