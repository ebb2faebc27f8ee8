"""The steps of a cycle, composed for a plan: each is handed what it needs, and nothing more."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memoranda.kernel.clock import Clock
from memoranda.kernel.randomness import Randomness
from memoranda.kernel.wire import WireModel
from memoranda.plans.items import ItemSearch
from memoranda.plans.models import Model
from memoranda.plans.plan import ExecutionPlan
from memoranda.plans.step import StepType
from memoranda.plans.steps.context_select import ContextSelect
from memoranda.plans.steps.llm_call import Listener, LLMCall
from memoranda.plans.steps.persist_memory import PersistMemory
from memoranda.plans.steps.persist_session import PersistSession
from memoranda.plans.steps.prompt_assemble import PromptAssemble
from memoranda.plans.steps.repo_scan import RepoScan, Scanner
from memoranda.plans.steps.retrieve_memory import RetrieveMemory
from memoranda.plans.steps.staging import Staging
from memoranda.plans.steps.summarize_memory import SummarizeMemory
from memoranda.plans.summary import Summariser

Summarising = Callable[[Model], Summariser]
"""Makes a summariser of the model that is asked."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What steps work with, the same in every cycle; `replaced` are types of one's own.

    The summariser is made of the model, so that what it asks is noted with all else.
    """

    model: Model
    summariser: Summarising
    scanner: Scanner
    replaced: Sequence[StepType] = ()

    @property
    def forms(self) -> Mapping[str, type[WireModel]]:
        """The form of the payload of each type that is at hand."""
        shipped = {one.name: one.payload for one in _SHIPPED}
        return {**shipped, **{one.name: one.payload for one in self.replaced}}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What belongs to one cycle alone."""

    items: ItemSearch
    staging: Staging
    clock: Clock
    randomness: Randomness
    listener: Listener | None = None


def composed(plan: ExecutionPlan, tools: Tools, around: Surroundings) -> Iterable[StepType]:
    """The types of steps for one cycle of a plan.

    What the plan's metadata says goes to the step that it is for: the engine knows none of it.
    """
    budgets, top_k = plan.metadata.budgets, plan.metadata.top_k
    types: list[StepType] = [
        RepoScan(tools.scanner),
        ContextSelect(),
        PromptAssemble(None if budgets is None else budgets.prompt_tokens),
        LLMCall(tools.model, around.listener),
        SummarizeMemory(tools.summariser(tools.model)),
        PersistMemory(around.staging, around.clock, around.randomness),
        PersistSession(around.staging),
    ]
    if top_k is not None:  # there is no other: a plan that retrieves without it was refused
        types.append(RetrieveMemory(around.items, top_k))
    return {one.name: one for one in (*types, *tools.replaced)}.values()


_SHIPPED = (
    RepoScan,
    RetrieveMemory,
    ContextSelect,
    PromptAssemble,
    LLMCall,
    SummarizeMemory,
    PersistMemory,
    PersistSession,
)
