"""Turns through execution plans: sessions are opened here, and recorded cycles replayed."""

from collections.abc import Mapping, Sequence
from typing import Final, cast
from weakref import WeakSet

from memoranda.journeys.turn.cycle import Scope, SummariserAside, Summarising, Tools
from memoranda.journeys.turn.replays import CycleReplay, replay_cycle
from memoranda.journeys.turn.turns import Turns
from memoranda.kernel.errors import InvalidOption
from memoranda.kernel.given import check_kind
from memoranda.kernel.json import JsonValue
from memoranda.plans.first_contract import CONTRACT
from memoranda.plans.models import Model
from memoranda.plans.plan import ExecutionPlan, StepType
from memoranda.plans.policy import Interpreted, Interpreter, Profile, policy_ref_of
from memoranda.plans.session import SessionStore
from memoranda.plans.steps.context import Scanner
from memoranda.plans.summary import Summariser
from memoranda.plans.validation import validated

Plan = ExecutionPlan | Mapping[str, JsonValue] | Profile
"""A plan, its document, or a profile whose modes are plans."""

AnySummariser = Summariser | Summarising
"""A summariser, or what makes one of the model that is asked, such as its class."""


class Turning:
    """Opens sessions of turns in one scope, and replays recorded cycles."""

    def __init__(self, scope: Scope, scanner: Scanner) -> None:
        self.scope: Final = scope
        self._scanner = scanner
        self._open: WeakSet[Turns] = WeakSet()

    def close(self) -> None:
        """Let every session that is still used refuse everything with StoreClosed."""
        for turns in self._open:
            turns.close()

    async def open(
        self,
        plan: Plan,
        *,
        model: Model,
        policy_ref: Mapping[str, JsonValue] | None,
        session: str,
        fresh: bool,
        record: bool,
        summariser: AnySummariser | None,
        steps: Sequence[StepType],
    ) -> Turns:
        """Begin a session, or go on with it, as `memory.turns.open` says."""
        tools = Tools(model, _made(summariser), self._scanner, _steps(steps))
        turns = Turns(
            self.scope,
            _interpreted(plan, policy_ref, tools),
            SessionStore(self.scope.table.ledger.attachments, self.scope.clock, session),
            tools,
            is_recording=record,
        )
        await turns.start(fresh=fresh)
        self._open.add(turns)
        return turns

    async def replay(
        self, cycle_id: str, summariser: AnySummariser | None, steps: Sequence[StepType]
    ) -> CycleReplay:
        """Run a recorded cycle again, and compare, as `memory.turns.replay` says."""
        check_kind("cycle_id", cycle_id, str, "the id of a cycle")
        return await replay_cycle(self.scope, cycle_id, _made(summariser), _steps(steps))


def _interpreted(
    plan: Plan, policy_ref: Mapping[str, JsonValue] | None, tools: Tools
) -> Interpreted | Interpreter:
    if isinstance(plan, Profile):
        return Interpreter(plan, CONTRACT, tools.forms)
    check_kind("plan", plan, (ExecutionPlan, Mapping), "a plan, its document, or a profile")
    document = plan.to_wire() if isinstance(plan, ExecutionPlan) else dict(plan)
    checked = validated(document, CONTRACT, tools.forms)
    return Interpreted(checked, policy_ref_of(checked) if policy_ref is None else policy_ref)


def _steps(given: Sequence[StepType]) -> tuple[StepType, ...]:
    check_kind("steps", given, Sequence, "a list of types of steps")
    for step_type in given:
        if not (hasattr(step_type, "name") and hasattr(step_type, "payload")):
            why = f"a value of the type {type(step_type).__name__} is no type of steps"
            raise InvalidOption("steps", why)
    return tuple(given)


def _made(summariser: AnySummariser | None) -> Summarising:
    if summariser is None:
        return lambda _: SummariserAside()
    if hasattr(summariser, "summarise") and not isinstance(summariser, type):
        return lambda _: cast("Summariser", summariser)
    return cast("Summarising", summariser)
