"""The engine: it runs the steps of a plan, and has four duties only (ING-NEUTRAL).

It runs them in the plan's order, hands each its payload and the outputs that it named, keeps its
output under its id, and applies what a failure means. What the steps do, it does not know.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from memoranda.identity import Frozen, freeze
from memoranda.kernel.errors import (
    CycleFailed,
    FailFast,
    InvalidJson,
    InvalidPlan,
    MemorandaError,
    PlanError,
    RuntimeStopped,
    WriteFailed,
)
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import WireModel
from memoranda.plans.plan import LIMITS, TURN, ExecutionPlan, Limit, Step, StepType
from memoranda.plans.validation import Forms, StepContract, StepRule, validated

Output = Mapping[str, JsonValue]
Within = Callable[[float, Coroutine[Any, Any, Output]], Awaitable[Output]]
"""Gives up what is not done in so many seconds, by raising."""

Outputs = Mapping[str, Frozen]
"""What the steps of one cycle gave, by their ids, in their order; nothing can change it."""


class Engine:
    """Runs one plan, for as many cycles as are asked for.

    Cycles share nothing: each has a table of its own, which goes with it (ING-NO-GLOBAL). A
    failure that stops everything is remembered: from then on nothing is run (ING-FAILFAST).
    """

    def __init__(
        self, plan: ExecutionPlan, contract: StepContract, forms: Forms, *, within: Within
    ) -> None:
        """InvalidPlan names all that keeps the plan from being run."""
        validated(plan.to_wire(), contract, forms)
        self._steps = [
            _ready(plan, step, contract.by_type[step.type], forms) for step in plan.steps
        ]
        self._turn = contract.turn
        self._within = within
        self._stopped: str | None = None

    @property
    def is_stopped(self) -> bool:
        return self._stopped is not None

    def stop(self, error: FailFast) -> None:
        """Run nothing from now on; the first reason is the one that is reported."""
        if self._stopped is None:
            self._stopped = str(error)

    def check_running(self) -> None:
        """RuntimeStopped where a failure has stopped everything."""
        if self._stopped is not None:
            raise RuntimeStopped(self._stopped)

    async def run(self, turn: Mapping[str, JsonValue], types: Iterable[StepType]) -> Outputs:
        """Run every step once, for one turn, with the types of steps that somebody composed for it.

        1. each type is what the contract says of it
        2. each step in the plan's order gets its payload and what it named: a copy of its own
        3. its output has exactly the members that its type gives, and is frozen under its id
        4. a step that fails ends the cycle: CycleFailed, or a FailFast that stops everything

        A cancellation goes through: the cycle is over, and nothing of it is left.
        """
        self.check_running()
        # 1.
        by_name = {step_type.name: step_type for step_type in types}
        self._check_types(by_name)
        table = {TURN: self._frozen_turn(turn)}
        for place, step in enumerate(self._steps):
            type_ = by_name[step.rule.type]
            try:
                # 2.
                limit = step.limits[type_.limit]
                work = type_.run(step.payload, _inputs(step, table))
                output = await (work if limit is None else self._within(limit, work))
                # 3.
                table[step.id] = _frozen(step, output)
            except FailFast as error:
                # 4.
                self.stop(error)
                raise
            except Exception as error:
                raise self._failure(place, type_, error) from error
        del table[TURN]
        return MappingProxyType(table)

    def _check_types(self, types: Mapping[str, StepType]) -> None:
        found = []
        for step in self._steps:
            type_ = types.get(step.rule.type)
            if type_ is None:
                found.append(f"no step of the type {step.rule.type} is at hand")
            elif not (
                type_.stage == step.rule.stage
                and type_.fails == step.rule.fails
                and step.gives == set(type_.gives)
                and step.takes == {name: set(sources) for name, sources in type_.takes.items()}
            ):
                found.append(f"the type {step.rule.type} is not that of the contract")
        if found:
            raise InvalidPlan(tuple(found))

    def _frozen_turn(self, turn: Mapping[str, JsonValue]) -> Frozen:
        for name in self._turn:
            if name not in turn:
                raise InvalidJson(f"{TURN}.{name}", "it is missing")
        return freeze({name: turn[name] for name in self._turn})

    def _failure(self, place: int, type_: StepType, error: Exception) -> PlanError:
        step = self._steps[place]
        if type_.fails == "fast":
            failure = WriteFailed(step.id, _why(error))
            self.stop(failure)
            return failure
        rest = tuple(later.id for later in self._steps[place + 1 :])
        return CycleFailed(step.id, _why(error), rest)


class _Ready(NamedTuple):
    """A step of the plan with all that does not change from cycle to cycle."""

    id: str
    rule: StepRule
    payload: WireModel
    inputs: tuple[tuple[str, str, str], ...]
    """Name, source and member of each."""
    gives: frozenset[str]
    takes: Mapping[str, set[str]]
    limits: Mapping[Limit, float | None]
    """In seconds."""


def _ready(plan: ExecutionPlan, step: Step, rule: StepRule, forms: Forms) -> _Ready:
    return _Ready(
        step.id,
        rule,
        forms[step.type].model_validate(step.payload.thaw(), by_alias=True, by_name=False),
        tuple((name, input_.from_, input_.output) for name, input_ in step.inputs.items()),
        frozenset(rule.gives),
        {name: {source.type} for name, source in rule.takes.items()},
        {kind: plan.limit(kind) for kind in LIMITS},
    )


def _inputs(step: _Ready, table: Mapping[str, Frozen]) -> dict[str, JsonValue]:
    # Thawed for this step alone: what it does to them reaches nobody.
    return {name: table[source].thaw()[member] for name, source, member in step.inputs}


def _frozen(step: _Ready, output: Output) -> Frozen:
    if not isinstance(output, Mapping):
        raise InvalidJson(step.id, "its output is not an object")
    if output.keys() != step.gives:
        wrong = ", ".join(sorted(map(str, output.keys() ^ step.gives)))
        raise InvalidJson(step.id, f"its output lacks, or has too much: {wrong}")
    return freeze(dict(output))


def _why(error: Exception) -> str:
    if isinstance(error, CycleFailed):
        return error.why  # a step says so itself; which one it is, the engine knows
    said = str(error) if isinstance(error, MemorandaError) else f"{type(error).__name__}: {error}"
    return said.removesuffix(".")  # it goes into a sentence
