"""The verb of a handle that takes turns through execution plans."""

from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from memoranda.journeys.govern.handle import Handle, noted
from memoranda.journeys.turn.composing import Summarising, Tools
from memoranda.journeys.turn.replaying import CycleReplay, replay_cycle
from memoranda.journeys.turn.summarising import SummariserAside
from memoranda.journeys.turn.turns import Turns
from memoranda.kernel.errors import InvalidOption
from memoranda.kernel.given import check_kind
from memoranda.kernel.json import JsonValue
from memoranda.plans.first_contract import CONTRACT
from memoranda.plans.models import Model
from memoranda.plans.plan import ExecutionPlan
from memoranda.plans.policy import Interpreted, Interpreter, Profile, policy_ref_of
from memoranda.plans.session import DEFAULT_SESSION
from memoranda.plans.session_store import SessionStore
from memoranda.plans.step import StepType
from memoranda.plans.summary import Summariser
from memoranda.plans.validation import validated

T = TypeVar("T")

Plan = ExecutionPlan | Mapping[str, JsonValue] | Profile
"""A plan, its document, or a profile whose modes are plans."""

AnySummariser = Summariser | Summarising
"""A summariser, or what makes one of the model that is asked, such as its class."""


class TakingTurns(Handle[T]):
    """The verb of turns."""

    async def turns(
        self,
        plan: Plan,
        *,
        model: Model,
        policy_ref: Mapping[str, JsonValue] | None = None,
        session: str = DEFAULT_SESSION,
        fresh: bool = False,
        record: bool = False,
        summariser: AnySummariser | None = None,
        steps: Sequence[StepType] = (),
    ) -> Turns:
        """Begin a session, or go on with it, through a plan; `take` takes its turns.

        `session` is its name. `fresh` puts the session that is there aside and begins anew.
        `record` keeps what each turn was given and what came of it, so that it can be replayed;
        without it only digests are kept. Without a `summariser` summaries are made without a
        model. `steps` are types of steps that take the place of ours.

        InvalidPlan lists all that is wrong with a plan. SessionMismatch for a session that another
        plan left, SessionDamaged for one that can't be read.
        """
        tools = Tools(model, _made(summariser), self._turning.scanner, _steps(steps))
        beside = self._turning.scope.table.ledger.beside
        turns = Turns(
            self._turning.scope,
            _interpreted(plan, policy_ref, tools),
            SessionStore(beside, self._clock, session),
            tools,
            is_recording=record,
        )
        await turns.start(fresh=fresh)
        self._taken.add(turns)
        return turns

    @noted
    async def replay_turn(
        self,
        cycle_id: str,
        *,
        summariser: AnySummariser | None = None,
        steps: Sequence[StepType] = (),
    ) -> CycleReplay:
        """Run a recorded cycle again, without a model and without memory, and compare.

        It needs the summariser and the steps that the turn had, if those were not ours.
        WorldNotFound for a cycle that is not on record, NotRecorded for one that was not recorded.
        """
        check_kind("cycle_id", cycle_id, str, "the id of a cycle")
        return await replay_cycle(self._turning.scope, cycle_id, _made(summariser), _steps(steps))


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
    for one in given:
        if not (hasattr(one, "name") and hasattr(one, "payload")):
            why = f"a value of the type {type(one).__name__} is no type of steps"
            raise InvalidOption("steps", why)
    return tuple(given)


def _made(summariser: AnySummariser | None) -> Summarising:
    if summariser is None:
        return lambda _: SummariserAside()
    if hasattr(summariser, "summarise") and not isinstance(summariser, type):
        return lambda _: cast("Summariser", summariser)
    return cast("Summarising", summariser)
