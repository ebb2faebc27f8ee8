"""Running a recorded cycle again: the same prompt and the same items, or the first difference.

Nothing is read but the journal and the recording, and nothing is written: what was retrieved and
recalled, the version of a folder, and what the model answered come from the recording; time and id
of the item from what was stored of it.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from weakref import WeakSet

from memoranda.identity import freeze
from memoranda.journeys.turn.cycle import (
    Extracting,
    Scope,
    Staged,
    SummariserAside,
    Summarising,
    Tools,
    composed,
    within_limit,
)
from memoranda.journeys.turn.facts import (
    Cycle,
    CycleRecording,
    completed,
    cycles,
    recording_of,
    salt_of,
    salted_digest,
)
from memoranda.journeys.turn.turns import Turns
from memoranda.kernel.ambient import out_of_reach
from memoranda.kernel.clock import Randomness
from memoranda.kernel.errors import (
    CycleFailed,
    EntryDamaged,
    InvalidInput,
    InvalidOption,
    ModelFailed,
    NotRecorded,
    WorldNotFound,
    WriteFailed,
)
from memoranda.kernel.given import check_callable, check_kind, is_blank
from memoranda.kernel.json import JsonValue, storable
from memoranda.kernel.results import Result, members
from memoranda.plans.engine import Engine, Outputs
from memoranda.plans.facts import MAX_SUBJECT, FactExtractor
from memoranda.plans.items import RetrievedItem, item_digest
from memoranda.plans.models import Model, Prompt, Settings
from memoranda.plans.plan import ExecutionPlan, StepType, plan_hash
from memoranda.plans.policy import Interpreted, Interpreter, Profile, policy_ref_of
from memoranda.plans.session import SessionStore, read_session
from memoranda.plans.spoken import SpokenFacts
from memoranda.plans.steps import CONTRACT
from memoranda.plans.steps.answer import PersistMemory, PromptAssemble
from memoranda.plans.steps.context import (
    MemoryAnswer,
    RecalledMemory,
    RecallMemory,
    RepoScan,
    RetrieveMemory,
    Scan,
    Scanner,
)
from memoranda.plans.summary import Summariser
from memoranda.plans.validation import validated

RECORDING: Final = "the recording"
PLAN: Final = "the plan"
ITEMS: Final = "the items"
SALT: Final = "the salt"


@dataclass(frozen=True, slots=True, repr=False)
class Difference(Result):
    """Where a replay first differs: at a step, or at what is named, and how."""

    where: str
    why: str


@dataclass(frozen=True, slots=True, repr=False)
class CycleReplay(Result):
    """What came of running a cycle again."""

    cycle_id: str
    difference: Difference | None
    prompt: str | None = None
    """What the model's user side was asked, as far as it came to that."""

    @property
    def is_same(self) -> bool:
        """Whether everything is as it was."""
        return self.difference is None

    def wire_members(self) -> Mapping[str, object]:
        """All fields, and the verdict in a word."""
        verdict = "same" if self.is_same else "differs"
        return {"cycle_id": self.cycle_id, "verdict": verdict, **members(self)}


async def replay_cycle(
    scope: Scope,
    cycle_id: str,
    summariser: Summarising,
    extractor: Extracting,
    replaced: Sequence[StepType],
) -> CycleReplay:
    """Run a cycle again from its recording, and compare.

    1. the cycle is on record: WorldNotFound if not; NotRecorded if its content was not kept
    2. the recording is of this cycle: it says what the journal says
    3. the plan can be run, and is the one that was hashed
    4. every step gives what it gave, the first one first
    5. the items have the digests that the journal has
    """
    # 1.
    landed = await completed(scope.table.ledger, cycle_id)
    if landed is None:
        if await cycles(scope.table.ledger, cycle_id):
            raise NotRecorded(cycle_id)  # it failed, and left nothing
        raise WorldNotFound("cycle", cycle_id)
    if not landed.document["recorded"]:
        raise NotRecorded(cycle_id)
    salt = await salt_of(scope.table.ledger, landed)
    if salt is None:
        return _differs(cycle_id, SALT, "it is not there, and nothing can be compared without it")
    # 2.
    try:
        kept = await recording_of(scope.table.ledger, landed)
    except EntryDamaged as damaged:
        await scope.conformance.note(damaged)
        return _differs(cycle_id, RECORDING, damaged.why)
    if (why := _not_of(kept, landed, salt)) is not None:
        return _differs(cycle_id, RECORDING, why)
    # 3. The hash first: its steps are those of the recording then.
    try:
        plan = ExecutionPlan.from_wire(kept.plan)
        if plan_hash(plan, kept.policy_ref) != landed.document["planHash"]:
            return _differs(cycle_id, PLAN, "it is not the one that the journal has the hash of")
        answers = _RecordedAnswers({step.type: kept.outputs[step.id] for step in plan.steps})
        model = _RecordedModel(kept.answers)
        tools = Tools(model, summariser, extractor, answers, replaced)
        engine = Engine(plan, CONTRACT, tools.forms, within=within_limit)
    except InvalidInput as refused:
        return _differs(cycle_id, PLAN, str(refused))
    # 4.
    staged = Staged()
    types = composed(plan, tools, answers, answers, staged, _At(landed.at), answers.randomness)
    try:
        with out_of_reach("the replay of a cycle"):
            outputs = await engine.run(kept.turn, types)
    except CycleFailed as failed:
        return _differs(cycle_id, failed.step, failed.why)
    except WriteFailed as failed:
        return _differs(cycle_id, failed.what, failed.why)
    prompt = _prompt(plan, outputs)
    for id, output in outputs.items():
        if output != freeze(kept.outputs[id]):
            return CycleReplay(cycle_id, Difference(id, "it gives something else"), prompt)
    if model.is_asked_less:
        return CycleReplay(cycle_id, Difference(RECORDING, "it has more answers"), prompt)
    # 5.
    items = staged.items(kept.turn["sessionRef"])
    if [salted_digest(salt, item_digest(item)) for item in items] != landed.document["items"]:
        return CycleReplay(cycle_id, Difference(ITEMS, "they are others"), prompt)
    return CycleReplay(cycle_id, None, prompt)


def _not_of(kept: CycleRecording, landed: Cycle, salt: bytes) -> str | None:
    """What a recording says otherwise than the journal; None if it is that of the cycle."""
    said = landed.document
    if (kept.cycle_id, kept.plan_hash) != (landed.cycle_id, said["planHash"]):
        return "it is of another cycle, or of another plan"
    if kept.turn.keys() != set(CONTRACT.turn) or kept.turn["sessionRef"] != said["sessionRef"]:
        return "it is of another session, or was given something else"
    outputs = [[step.id, salted_digest(salt, freeze(step.output).digest)] for step in kept.steps]
    if outputs != said["steps"]:
        return "its outputs are not those of the journal"
    return None


def _differs(cycle_id: str, where: str, why: str) -> CycleReplay:
    return CycleReplay(cycle_id, Difference(where, why))


def _prompt(plan: ExecutionPlan, outputs: Outputs) -> str | None:
    for step in plan.steps:
        if step.type == PromptAssemble.name:
            prompt = outputs[step.id].thaw()["prompt"]
            return str(prompt["user"]) if isinstance(prompt, dict) else str(prompt)
    return None


class _At:
    """The time of the cycle."""

    def __init__(self, at: int) -> None:
        self._at = at

    def now_ms(self) -> int:
        return self._at


class _RecordedModel:
    """Answers what was answered, in the order of the calls."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._left = list(answers)

    @property
    def is_asked_less(self) -> bool:
        return bool(self._left)

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        del prompt
        if not self._left:
            raise ModelFailed(settings.model or "of the recording", "it was not asked so often")
        return self._left.pop(0)

    async def stream(self, prompt: Prompt, settings: Settings) -> AsyncGenerator[str]:
        yield await self.complete(prompt, settings)


class _RecordedAnswers:
    """What steps got from outside: items, memory, the version of a folder, the id of an item."""

    def __init__(self, outputs: Mapping[str, Mapping[str, Any]]) -> None:
        self._outputs = outputs

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        del query, top_k
        found = self._outputs[RetrieveMemory.name]["items"]
        return [RetrievedItem.model_validate(item) for item in found]

    async def recall(self, query: str, top_k: int) -> MemoryAnswer:
        del query, top_k
        given = self._outputs[RecallMemory.name]
        memories = [RecalledMemory.model_validate(memory) for memory in given["memories"]]
        return MemoryAnswer(given["traceId"], "found" if memories else "empty", memories)

    async def scan(self, path: str) -> Scan:
        del path
        given = self._outputs[RepoScan.name]
        return Scan(given["versionId"], given["fileCount"])

    @property
    def randomness(self) -> Randomness:
        given = self._outputs.get(PersistMemory.name)
        id = None if given is None else given["id"]  # a short answer leaves no item
        drawn = b"" if id is None else bytes.fromhex(id.replace("-", ""))
        return Randomness(lambda count: drawn.ljust(count, b"\0"))


# ------------------------------------------------------------------------------------------------
# Turns through execution plans: sessions are opened here, and recorded cycles replayed.

Plan = ExecutionPlan | Mapping[str, JsonValue] | Profile
"""A plan, its document, or a profile whose modes are plans."""

AnySummariser = Summariser | Summarising
"""A summariser, or what makes one of the model that is asked, such as its class."""


AnyTurnExtractor = FactExtractor | Extracting
"""An extractor of facts, or what makes one of the model that is asked, such as its class."""


@dataclass(frozen=True, slots=True, repr=False)
class TurnSession(Result):
    """A session as it stands: what the next turn goes on from."""

    name: str
    session_id: str
    plan_hash: str
    """The plan that it is bound to."""
    repo_scan_version: str
    updated_at: str
    cycle_id: str
    """The cycle that saved it."""


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
        subject: str | None,
        summariser: AnySummariser | None,
        extractor: AnyTurnExtractor | None,
        steps: Sequence[StepType],
    ) -> Turns:
        """Begin a session, or go on with it, as `memory.turns.open` says."""
        tools = Tools(
            model, _made(summariser), _extracting(extractor), self._scanner, _steps(steps)
        )
        turns = Turns(
            self.scope,
            _interpreted(plan, policy_ref, tools),
            SessionStore(self.scope.table.ledger.attachments, self.scope.clock, session),
            tools,
            is_recording=record,
            subject=None if subject is None else _checked_subject(subject),
        )
        await turns.start(fresh=fresh)
        self._open.add(turns)
        return turns

    async def sessions(self, after: str, limit: int) -> list[TurnSession]:
        """The sessions whose names come after this one; SessionDamaged for what is none."""
        found = []
        for name, body, cycle in await self.scope.table.ledger.attachments.sessions(after, limit):
            state = read_session(name, body)
            found.append(
                TurnSession(
                    name, state.session_id, state.last_execution_plan_hash,
                    state.repo_scan_version, state.updated_at, cycle,
                )
            )  # fmt: skip
        return found

    async def replay(
        self,
        cycle_id: str,
        summariser: AnySummariser | None,
        extractor: AnyTurnExtractor | None,
        steps: Sequence[StepType],
    ) -> CycleReplay:
        """Run a recorded cycle again, and compare, as `memory.turns.replay` says."""
        check_kind("cycle_id", cycle_id, str, "the id of a cycle")
        made = (_made(summariser), _extracting(extractor))
        return await replay_cycle(self.scope, cycle_id, *made, _steps(steps))


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


def _checked_subject(subject: str) -> str:
    is_text = isinstance(subject, str) and storable(subject) and not is_blank(subject)
    if not is_text or len(subject) > MAX_SUBJECT:
        raise InvalidOption("subject", f"it is a text of 1 to {MAX_SUBJECT} characters, not blank")
    return subject


def _extracting(extractor: AnyTurnExtractor | None) -> Extracting:
    if extractor is None:
        return lambda _: SpokenFacts()
    if isinstance(extractor, type) or not hasattr(extractor, "extract"):
        check_callable("extractor", extractor)
        return cast("Extracting", extractor)
    return lambda _: cast("FactExtractor", extractor)


def _made(summariser: AnySummariser | None) -> Summarising:
    if summariser is None:
        return lambda _: SummariserAside()
    if hasattr(summariser, "summarise") and not isinstance(summariser, type):
        return lambda _: cast("Summariser", summariser)
    return cast("Summarising", summariser)
