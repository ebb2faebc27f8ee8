"""Types of steps of another world, and a contract for them: the engine must not know ours."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import WireModel
from memoranda.plans.engine import Engine, Output, Outputs
from memoranda.plans.plan import ExecutionPlan, Fails, Limit
from memoranda.plans.validation import Source, StepContract, StepRule


class Amount(WireModel):
    """How much."""

    amount: int = 1


Doing = Callable[[Any, Mapping[str, JsonValue]], Any]


class SimulatedStep:
    """A type of step that does what it is told, and notes what it was handed."""

    def __init__(
        self,
        name: str,
        doing: Doing,
        takes: Mapping[str, Sequence[str]],
        gives: Sequence[str],
        *,
        fails: Fails = "cycle",
        limit: Limit = "ioMs",
        stage: str = "Kitchen",
    ) -> None:
        self.name = name
        self.stage = stage
        self.payload: type[WireModel] = Amount
        self.takes = takes
        self.gives = gives
        self.fails = fails
        self.limit = limit
        self.handed: list[tuple[Any, Mapping[str, JsonValue]]] = []
        self._doing = doing

    async def run(self, payload: Any, inputs: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        self.handed.append((payload, inputs))
        result = self._doing(payload, inputs)
        return await result if isinstance(result, Coroutine) else result  # type: ignore[no-any-return]


KITCHEN = StepContract(
    "kitchen-1",
    turn=("order", "guest"),
    rules=(
        StepRule("Chop", "Kitchen", {"what": Source("$turn", "order")}, ("pieces",)),
        StepRule("Cook", "Kitchen", {"pieces": Source("Chop", "pieces")}, ("dish", "heat")),
        StepRule(
            "Serve",
            "Kitchen",
            {"dish": Source("Cook", "dish"), "to?": Source("$turn", "guest")},
            ("served",),
            is_mandatory=True,
            fails="fast",
        ),
    ),
)


def chop(payload: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"pieces": [inputs["what"]] * payload.amount}


def cook(_payload: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"dish": {"of": inputs["pieces"]}, "heat": 180.0}


def serve(_payload: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"served": [inputs["dish"], inputs.get("to")]}


def kitchen(
    chopping: Doing = chop, cooking: Doing = cook, serving: Doing = serve
) -> tuple[SimulatedStep, SimulatedStep, SimulatedStep]:
    return (
        SimulatedStep("Chop", chopping, {"what": ("$turn",)}, ("pieces",)),
        SimulatedStep("Cook", cooking, {"pieces": ("Chop",)}, ("dish", "heat"), limit="llmMs"),
        SimulatedStep(
            "Serve", serving, {"dish": ("Cook",), "to?": ("$turn",)}, ("served",), fails="fast"
        ),
    )


def recipe(timeouts: dict[str, int] | None = None) -> dict[str, Any]:
    metadata: dict[str, Any] = {"policyProfile": "house", "mode": "lunch"}
    if timeouts is not None:
        metadata["timeouts"] = timeouts

    def step(id: str, type_: str, payload: Any, **inputs: tuple[str, str]) -> dict[str, Any]:
        wired = {name: {"from": one, "output": member} for name, (one, member) in inputs.items()}
        return {"id": id, "type": type_, "stage": "Kitchen", "payload": payload, "inputs": wired}

    return {
        "step_contract_version": "kitchen-1",
        "extensions": [],
        "metadata": metadata,
        "steps": [
            step("1", "Chop", {"amount": 2}, what=("$turn", "order")),
            step("2", "Cook", {}, pieces=("1", "pieces")),
            step("3", "Serve", {}, dish=("2", "dish"), to=("$turn", "guest")),
        ],
    }


async def within(seconds: float, work: Coroutine[Any, Any, Output]) -> Output:
    return await asyncio.wait_for(work, seconds)


FORMS: Mapping[str, type[WireModel]] = {rule.type: Amount for rule in KITCHEN.rules}


class Bound(Engine):
    """An engine with the same types of steps in every cycle."""

    types: Sequence[SimulatedStep] = ()

    async def cycle(self, turn: Mapping[str, JsonValue]) -> Outputs:
        return await self.run(turn, self.types)


def engine(types: Iterable[SimulatedStep], document: dict[str, Any] | None = None) -> Bound:
    plan = ExecutionPlan.from_wire(document or recipe())
    bound = Bound(plan, KITCHEN, FORMS, within=within)
    bound.types = list(types)
    return bound
