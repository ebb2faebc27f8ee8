"""Is this document a plan that can be run? Everything that is wrong with it is said at once.

It works on the document, not on a plan made of it: what is wrong in its form must not hide what
is wrong with its steps.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from memoranda.kernel.errors import InvalidPlan, MemorandaError
from memoranda.kernel.json import JsonValue, path
from memoranda.kernel.wire import WireModel, places_and_reasons
from memoranda.plans.plan import TURN, ExecutionPlan, Fails

# ------------------------------------------------------------------------------------------------
# Step contracts: which types of steps there are, in which order, and what hangs on what.
#
# A contract is data. The validation reads it and the engine is handed it, so that neither knows a
# step by name (ING-NEUTRAL). Ours is in `steps`.

OPTIONAL: Final = "?"
"""How the name of an input ends that a step can do without."""


class Source(NamedTuple):
    """Where an input may come from: a type of step, or ``$turn``, and a member of its output."""

    type: str
    output: str

    def __str__(self) -> str:
        return f"{self.type}.{self.output}"


class StepRule(NamedTuple):
    """What the contract says of one type of step."""

    type: str
    stage: str
    """The only stage that it may stand in (ING-STAGE)."""
    takes: Mapping[str, Source]
    """Its inputs; a name that ends with ``?`` is one that it can do without."""
    gives: Sequence[str]
    """The members of its output."""
    is_mandatory: bool = False
    needs: Sequence[str] = ()
    """The members of the plan's metadata that must be there with it (ING-TOPK)."""
    goes_to: str = ""
    """The type that must take something of its output, where there is one (ING-STAGE)."""
    fails: Fails = "cycle"
    """What its failure ends; that of a write ends everything (ING-FAILFAST)."""

    @property
    def inputs(self) -> Mapping[str, Source]:
        """Its inputs by the names that a plan calls them."""
        return {name.removesuffix(OPTIONAL): source for name, source in self.takes.items()}

    @property
    def required(self) -> Sequence[str]:
        """The names of the inputs that it can't do without."""
        return [name for name in self.takes if not name.endswith(OPTIONAL)]


class StepContract(NamedTuple):
    """The types of steps in their canonical order, under a version that plans name."""

    version: str
    turn: Sequence[str]
    """What a turn brings along."""
    rules: Sequence[StepRule]

    @property
    def by_type(self) -> Mapping[str, StepRule]:
        """Each rule by the type that it is about, in the canonical order."""
        return MappingProxyType({rule.type: rule for rule in self.rules})


Forms = Mapping[str, type[WireModel]]
"""The form of the payload of each type of step."""


def validated(document: JsonValue, contract: StepContract, forms: Forms) -> ExecutionPlan:
    """The plan of a document, or InvalidPlan with every violation, before anything runs."""
    plan, found = _checked(document, contract, forms)
    if plan is None or found:
        raise InvalidPlan(found)
    return plan


def violations(document: JsonValue, contract: StepContract, forms: Forms) -> tuple[str, ...]:
    """All that is wrong with a document, each with its place; empty for a plan that can be run.

    1. it has the form of a plan: no member is missing, unknown or of a wrong type
    2. its version is the contract's
    3. ids are unique
    4. types are known, there once, in the canonical order; those that must be there are
    5. each step stands in its stage                                            (ING-STAGE)
    6. each input names a step before it, and of that what the contract says   (ING-PASSING)
    7. what has to go on to another step does                                   (ING-STAGE)
    8. what a step needs of the metadata is there                                (ING-TOPK)
    9. each payload has the form of its type
    """
    _, found = _checked(document, contract, forms)
    return found


def _checked(
    document: JsonValue, contract: StepContract, forms: Forms
) -> tuple[ExecutionPlan | None, tuple[str, ...]]:
    """The plan, where the document has the form of one, and all that is wrong."""
    # 1.
    plan, found = _form(document)
    if not isinstance(document, dict):
        return None, tuple(found)
    # 2.
    version = document.get("step_contract_version")
    if isinstance(version, str) and version != contract.version:
        found.append(f"$.step_contract_version: it is not {contract.version!r}")
    steps = _read(document.get("steps"), contract)
    # 3. and 4.
    found += _ids(steps)
    found += _order(steps, contract)
    # 5.
    for step in steps:
        if step.rule is not None and step.stage not in ("", step.rule.stage):
            why = f"{step.type} is allowed only in {step.rule.stage}"
            found.append(f"{step.where}.stage: {why}")
    # 6.
    for place, step in enumerate(steps):
        found += _inputs(step, steps[:place], steps[place:], contract)
    # 7.
    found += _onward(steps)
    # 8.
    metadata = document.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    found += [
        f"$.metadata.{member}: it is missing, and {step.type} needs it"
        for step in steps
        if step.rule is not None
        for member in step.rule.needs
        if member not in given
    ]
    # 9.
    found += _payloads(steps, forms)
    return plan, tuple(found)


class _Step(NamedTuple):
    """What can be read of a step, whatever its form is."""

    where: str
    id: str
    type: str
    stage: str
    rule: StepRule | None
    payload: Any
    inputs: Mapping[str, Mapping[str, Any]]


def _read(steps: object, contract: StepContract) -> list[_Step]:
    rules = contract.by_type
    found = []
    for place, step in enumerate(steps if isinstance(steps, list | tuple) else ()):
        if isinstance(step, dict):
            type_ = _text(step.get("type"))
            inputs = step.get("inputs")
            named = inputs.items() if isinstance(inputs, dict) else ()
            found.append(
                _Step(
                    path("$.steps", place),
                    _text(step.get("id")),
                    type_,
                    _text(step.get("stage")),
                    rules.get(type_),
                    step.get("payload"),
                    {
                        name: value if isinstance(value, dict) else {}
                        for name, value in named
                        if isinstance(name, str)  # its form is refused elsewhere
                    },
                )
            )
    return found


def _text(given: object) -> str:
    return given if isinstance(given, str) else ""


def _form(document: JsonValue) -> tuple[ExecutionPlan | None, list[str]]:
    try:
        return ExecutionPlan.from_wire(document), []
    except InvalidPlan as refused:
        return None, list(refused.violations)


def _ids(steps: Sequence[_Step]) -> Iterator[str]:
    seen: set[str] = set()
    for step in steps:
        if step.id and step.id in seen:
            yield f"{step.where}.id: there is a step {step.id!r} before it"
        seen.add(step.id)


def _order(steps: Sequence[_Step], contract: StepContract) -> Iterator[str]:
    order = {rule.type: place for place, rule in enumerate(contract.rules)}
    names = [rule.type for rule in contract.rules]
    last, seen = -1, set[str]()
    for step in steps:
        if step.rule is None:
            if step.type:
                yield f"{step.where}.type: {step.type!r} is no type of step"
            continue
        if step.type in seen:
            yield f"{step.where}.type: {step.type} is there twice"
        elif order[step.type] < last:
            yield f"{step.where}.type: {step.type} must come before {names[last]}"
        seen.add(step.type)
        last = max(last, order[step.type])
    for rule in contract.rules:
        if rule.is_mandatory and rule.type not in seen:
            yield f"$.steps: {rule.type} is missing"


def _inputs(
    step: _Step, before: Sequence[_Step], after: Sequence[_Step], contract: StepContract
) -> Iterator[str]:
    """What is wrong with the inputs of a step; `after` begins with the step itself."""
    if step.rule is None:
        return
    allowed = step.rule.inputs
    for name in step.rule.required:
        if name not in step.inputs:
            yield f"{step.where}.inputs: {name} is missing; it comes from {allowed[name]}"
    for name, given in step.inputs.items():
        where = path(f"{step.where}.inputs", name)
        source, output = _text(given.get("from")), _text(given.get("output"))
        if name not in allowed:
            yield f"{where}: {step.type} takes no input of this name"
        if not source:
            continue  # its form is refused already
        if source == TURN:
            type_, gives = TURN, contract.turn
        elif (earlier := _of_id(before, source)) is not None:
            type_, gives = earlier.type, () if earlier.rule is None else earlier.rule.gives
        else:
            is_later = _of_id(after, source) is not None
            yield f"{where}.from: {source!r} is {'no step before it' if is_later else 'no step'}"
            continue
        if output and output not in gives:
            yield f"{where}.output: {source!r} gives no {output!r}"
        elif output and name in allowed and (type_, output) != allowed[name]:
            yield f"{where}: it comes from {type_}.{output}, and must come from {allowed[name]}"


def _of_id(steps: Sequence[_Step], id: str) -> _Step | None:
    return next((step for step in steps if step.id == id), None)


def _onward(steps: Sequence[_Step]) -> Iterator[str]:
    for step in steps:
        if step.rule is None or not step.rule.goes_to:
            continue
        takers = (taker for taker in steps if taker.type == step.rule.goes_to)
        if not any(
            document.get("from") == step.id
            for taker in takers
            for document in taker.inputs.values()
        ):
            yield f"{step.where}: no {step.rule.goes_to} takes its output"


def _payloads(steps: Sequence[_Step], forms: Forms) -> Iterator[str]:
    for step in steps:
        if step.rule is None or not isinstance(step.payload, dict):
            continue
        if step.type not in forms:
            yield f"{step.where}.type: no step of the type {step.type} is at hand"
            continue
        try:
            forms[step.type].model_validate(step.payload, by_alias=True, by_name=False)
        except (MemorandaError, ValidationError) as refused:
            for where, why in _all(refused):
                yield f"{step.where}.payload{where.removeprefix('$')}: {why}"


def _all(refused: MemorandaError | ValidationError) -> Sequence[tuple[str, str]]:
    behind = refused if isinstance(refused, ValidationError) else refused.__context__
    return (
        places_and_reasons(behind) if isinstance(behind, ValidationError) else [("", str(refused))]
    )
