"""Turns: a session with an agent, each turn through the same plan, each landing whole or not."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from memoranda.identity import Frozen, freeze
from memoranda.journeys.turn.cycle import (
    SUMMARISER,
    NotedItems,
    NotedModel,
    NotedRecall,
    OneTime,
    Scope,
    Staged,
    Tools,
    composed,
    within_limit,
)
from memoranda.journeys.turn.facts import (
    Began,
    Cycle,
    check_session,
    completed,
    differing_members,
    recording_of,
    salt_of,
    salted_digest,
)
from memoranda.journeys.turn.landing import FinishedCycle, Landing
from memoranda.kernel.ambient import check_reach, check_writable
from memoranda.kernel.errors import (
    CycleFailed,
    FailFast,
    IdempotencyConflict,
    InvalidRecord,
    MarkMoved,
    NotRecorded,
    RuntimeStopped,
    SessionDamaged,
    SessionMismatch,
    StoreClosed,
    WriteFailed,
)
from memoranda.kernel.json import JsonValue, storable
from memoranda.kernel.results import Result, members
from memoranda.ledger.fact import Fact
from memoranda.ledger.unit import Draft, EntryPlace
from memoranda.plans.engine import Engine, Outputs
from memoranda.plans.facts import EXTRACTOR, Learned
from memoranda.plans.items import RetrievedItem
from memoranda.plans.models import Identified
from memoranda.plans.policy import DEFAULT_MODE, Interpreted, Interpreter
from memoranda.plans.session import Session, SessionState, SessionStore, begin
from memoranda.plans.steps import CONTRACT
from memoranda.plans.steps.answer import Listener, LLMCall, PersistMemory
from memoranda.plans.steps.context import (
    RecalledMemory,
    RecallMemory,
    RetrieveMemory,
    whole_recall,
    whole_retrieval,
)
from memoranda.plans.steps.facts import ExtractFacts, RememberFacts
from memoranda.plans.summary import raw_texts

MAX_CYCLE_ID: Final = 128
NOTHING_LEARNED: Final = Learned()
_TOO_SHORT: Final = "the answer is too short to be summarised"


@dataclass(frozen=True, slots=True, repr=False)
class Turn(Result):
    """A turn that has landed."""

    cycle_id: str
    response: str | None
    """What the model answered. None for a retry of a cycle that landed before and was not
    recorded: what it answered then was not kept (ING-RAW)."""
    outputs: Mapping[str, Frozen]
    """What each step gave; empty for such a retry."""
    place: EntryPlace
    """Where the fact of the cycle stands in the journal."""
    retrieved: Sequence[RetrievedItem]
    """The items that its RetrieveMemory step found, best first; none for such a retry."""
    recalled: Sequence[RecalledMemory]
    """The governed memory that its RecallMemory step found, best first; none for such a retry."""
    items: Sequence[str]
    """The ids of the items that it stored, of a retry as well."""
    learned: Learned
    """What came of the facts that it taught; nothing where the plan keeps none, and for a retry."""
    not_kept: str | None
    """Why nothing of the answer was stored although the plan says so; None where something was."""
    retried: bool = False
    """Whether the cycle had landed before: it was not run again."""

    def wire_members(self) -> Mapping[str, object]:
        """All of it; of what each step gave, the digest."""
        shown = members(self)
        del shown["outputs"], shown["place"]
        steps = {name: output.digest for name, output in self.outputs.items()}
        return shown | {**self.place._asdict(), "steps": steps}


class _Begun(NamedTuple):
    """A session that has begun: from here on its plan is fixed."""

    planned: Interpreted
    engine: Engine
    session: Session


class Turns:
    """A runtime: it takes the turns of one session, one after another.

    When it has failed fast it refuses all further work with RuntimeStopped (ING-FAILFAST).
    """

    def __init__(
        self,
        scope: Scope,
        plan: Interpreted | Interpreter,
        sessions: SessionStore,
        tools: Tools,
        *,
        is_recording: bool = False,
        subject: str | None = None,
    ) -> None:
        """`subject` is whom the turns are with, where that is known."""
        self._subject = subject
        self._open_scope: Scope | None = scope
        self._plan = plan
        self._sessions = sessions
        self._tools = tools
        self._landing = Landing(scope, sessions, is_recording)
        self._begun: _Begun | None = None
        self._stopped: str | None = None
        self._one_at_a_time = asyncio.Lock()

    @property
    def session(self) -> Session | None:
        """The session as it stands; None before it has begun, or while that is unknown."""
        return None if self._begun is None else self._begun.session

    @property
    def planned(self) -> Interpreted | None:
        """The plan; None where the first text is still to choose it."""
        if self._begun is not None:
            return self._begun.planned
        return None if isinstance(self._plan, Interpreter) else self._plan

    @property
    def is_stopped(self) -> bool:
        """Whether it has failed fast."""
        return self._stopped is not None

    def close(self) -> None:
        """Refuse every turn from now on with StoreClosed."""
        self._open_scope = None

    @property
    def _scope(self) -> Scope:
        if self._open_scope is None:
            raise StoreClosed
        return self._open_scope

    # ------------------------------------------------------------------------- starting

    async def start(self, *, fresh: bool = False) -> None:
        """Find the session: resumed, or cold, or not at all (`plans.session`).

        With `fresh` the one that is there is put aside first, the only way out of a mismatch.
        SessionMismatch for a session of another plan, SessionDamaged for one that is damaged.
        """
        check_writable()
        if fresh:
            await self._sessions.rotate()
        found = await self._load()
        if found is not None or isinstance(self._plan, Interpreted):
            self._begun = await self._begin(found, "")

    async def _load(self) -> SessionState | None:
        """What is stored of the session, if that is what its last cycle saved."""
        try:
            found = await self._sessions.load()
            if found is not None:
                await check_session(self._scope.table.ledger, self._sessions.name, found)
        except SessionDamaged as damaged:
            await self._scope.conformance.note(damaged)
            raise
        return found

    async def _begin(self, found: SessionState | None, text: str) -> _Begun:
        """Begin a session, or go on with it; a session keeps the mode that it started in."""
        plan = self._plan
        if isinstance(plan, Interpreter):
            plan = _chosen(plan, found, text)
        try:
            session = begin(self._sessions.name, found, plan.hash, self._scope.randomness)
        except SessionMismatch as refused:
            if found is not None:
                refused.differs = await differing_members(
                    self._scope.table.ledger, found.session_id, plan.members
                )
            raise
        engine = Engine(plan.plan, CONTRACT, self._tools.forms, within=within_limit)
        return _Begun(plan, engine, session)

    # --------------------------------------------------------------------------- turns

    async def take(
        self, text: str, *, cycle_id: str | None = None, listener: Listener | None = None
    ) -> Turn:
        """Take one turn with what the user says; `listener` hears the answer as it comes.

        `cycle_id` is for a retry: the same cycle lands once, and is not run again once it has
        landed. CycleFailed where a step failed: nothing was stored, and the next turn may go on.
        A FailFast stops this runtime.
        """
        check_reach()
        check_writable()
        if not isinstance(text, str):
            raise InvalidRecord("what the user says", "it is not a text")
        cycle_id = self._scope.ids.new_id() if cycle_id is None else _checked_id(cycle_id)
        async with self._one_at_a_time:
            if self._stopped is not None:
                raise RuntimeStopped(self._stopped)
            try:
                return await self._take(text, cycle_id, listener)
            except FailFast as failed:
                self._stopped = self._stopped or str(failed)
                raise

    async def _take(self, text: str, cycle_id: str, listener: Listener | None) -> Turn:
        """One turn.

        1. the session is begun, or goes on
        2. a cycle that has landed already is not run again
        3. the steps run; where one fails, that is journaled
        4. all that they leave lands in one unit

        What is stored of the session is unknown while that lands: unless it goes well, the next
        turn finds it anew.
        """
        # 1.
        said = freeze({"text": text, "session": self._sessions.name})
        begun = self._begun or await self._begin(await self._load(), text)
        self._begun = begun
        session, recorded = begun.session, self._landing.is_recording
        began = Began(cycle_id, session.session_id, session.plan_hash, said.digest, recorded)
        # 2.
        if (landed := await completed(self._scope.table.ledger, cycle_id)) is not None:
            return await self._landed(began, landed, begun.planned)
        # 3.
        ran = await self._run(began, begun, text, listener)
        # 4.
        self._begun = None
        try:
            committed, after, learned = await self._landing.land(ran)
        except WriteFailed as failed:
            landed = await self._overtaken(cycle_id, failed)
            if landed is None:
                raise
            return await self._landed(began, landed, begun.planned)
        if not committed.fresh:  # somebody else was first with the same cycle
            landed = await completed(self._scope.table.ledger, cycle_id)
            if landed is None:
                raise WriteFailed("the cycle", "it landed before, and was erased since")
            return await self._landed(began, landed, begun.planned)
        self._begun = begun._replace(session=after)
        stored = [item.id for item in ran.staged.items(began.session_ref)]
        return _turn(began, begun.planned, ran.outputs, committed.places[0], stored, learned)

    async def _overtaken(self, cycle_id: str, failed: WriteFailed) -> Cycle | None:
        """The same cycle, where somebody else began the session with it; None if nobody did."""
        if not isinstance(failed.__cause__, MarkMoved):
            return None
        return await completed(self._scope.table.ledger, cycle_id)

    async def _run(
        self, began: Began, begun: _Begun, text: str, listener: Listener | None
    ) -> FinishedCycle:
        """Run the steps. Each cycle has a staging, a time and a table of its own."""
        turn: dict[str, JsonValue] = {"text": text, "sessionRef": began.session_ref}
        staged, clock = Staged(), OneTime(self._scope.clock)
        model, summariser = NotedModel(self._tools.model), self._tools.summariser
        extractor = self._tools.extractor(model.asked_as(EXTRACTOR))
        tools = replace(
            self._tools,
            model=model,
            summariser=lambda _: summariser(model.asked_as(SUMMARISER)),
            extractor=lambda _: extractor,
        )
        ref = began.session_ref
        items = NotedItems(await self._scope.items(ref), self._scope.table.ledger, ref)
        memory = NotedRecall(self._scope.memory, self._subject)
        planned, session = begun.planned, begun.session

        def recalls() -> list[Fact]:
            return [began.recall(trace.name) for trace in memory.traces]

        try:
            types = composed(
                planned.plan, tools, items, memory, staged, clock, self._scope.randomness, listener
            )
            outputs = await begun.engine.run(turn, types)
            response = _response(planned, outputs)
            for step in planned.plan.steps:
                if step.type == PersistMemory.name:
                    staged.check_not_raw(raw_texts(response, text), step.id)
                elif step.type == RememberFacts.name:
                    staged.check_no_response(response, step.id)
                elif step.type == ExtractFacts.name and isinstance(extractor, Identified):
                    model.used.setdefault(EXTRACTOR, set()).add(extractor.identity)
        except CycleFailed as failed:
            await self._landing.leave(began.failed(failed, planned.plan), recalls())
            await self._scope.conformance.note(failed.__cause__)
            raise
        except FailFast as failed:
            await self._leave_anyway(began.failed(failed, planned.plan), recalls(), failed)
            raise
        except asyncio.CancelledError as cancelled:
            await self._leave_anyway(began.fact("cancelled"), recalls(), cancelled)
            raise
        notices: Sequence[Draft] = ()
        if model.used:
            notices = await self._scope.conformance.used_models(model.used, clock.now_ms())
        said = (turn, outputs, staged, clock, model.answers, items, memory)
        return FinishedCycle(began, planned, session, *said, self._subject, notices)

    async def _leave_anyway(
        self, fact: Fact, recalls: Sequence[Fact], instead_of: BaseException
    ) -> None:
        """Journal what ends the cycle, which the caller learns of whether this works or not."""
        try:
            await self._landing.leave(fact, recalls)
        except WriteFailed as failed:
            self._stopped = str(failed)
            instead_of.add_note(str(failed))

    async def _landed(self, began: Began, landed: Cycle, planned: Interpreted) -> Turn:
        """What is known of a cycle that landed before; IdempotencyConflict if it was another."""
        said, ledger = landed.document, self._scope.table.ledger
        salt = await salt_of(ledger, landed)
        if salt is None:
            raise WriteFailed("the cycle", "it landed before, and its salt is not there")
        turn = salted_digest(salt, began.turn)
        if (said["planHash"], said["turn"]) != (began.plan_hash, turn):
            raise IdempotencyConflict(began.cycle_id)
        place = EntryPlace(landed.seq, bytes.fromhex(landed.entry_hash))
        stored = await ledger.origins.items(began.cycle_id)
        try:
            kept = await recording_of(ledger, landed)
            outputs = {id: freeze(output) for id, output in kept.outputs.items()}
        except NotRecorded:
            outputs = {}
        before = _turn(began, planned, MappingProxyType(outputs), place, stored)
        return replace(before, retried=True)


def _turn(
    began: Began,
    planned: Interpreted,
    outputs: Outputs,
    place: EntryPlace,
    stored: Sequence[str],
    learned: Learned = NOTHING_LEARNED,
) -> Turn:
    """A turn as its caller gets it; without outputs, what its fact says alone."""
    ids = {step.type: step.id for step in planned.plan.steps}
    found, recalled = (
        outputs.get(ids.get(step.name, "")) for step in (RetrieveMemory, RecallMemory)
    )
    is_short = PersistMemory.name in ids and not stored
    return Turn(
        cycle_id=began.cycle_id,
        response=_response(planned, outputs) if outputs else None,
        outputs=outputs,
        place=place,
        retrieved=() if found is None else whole_retrieval(found.thaw()["items"]),
        recalled=()
        if recalled is None
        else whole_recall(recalled.thaw()["memories"], RecallMemory.name),
        items=tuple(stored),
        learned=learned,
        not_kept=_TOO_SHORT if is_short else None,
    )


def _chosen(interpreter: Interpreter, found: SessionState | None, text: str) -> Interpreted:
    """The plan of a session: that which it was left with, or that which its first text chooses."""
    if found is None:
        return interpreter.begin(text)
    last = interpreter.resume(found.last_execution_plan_hash)
    return last or interpreter.modes[DEFAULT_MODE]  # of another plan: `begin` refuses it


def _response(planned: Interpreted, outputs: Outputs) -> str:
    call = next(step.id for step in planned.plan.steps if step.type == LLMCall.name)
    response = outputs[call].thaw()["response"]
    if not isinstance(response, str):
        raise CycleFailed(call, "its response is not a text")
    return response


def _checked_id(cycle_id: str) -> str:
    if not (isinstance(cycle_id, str) and 0 < len(cycle_id) <= MAX_CYCLE_ID and storable(cycle_id)):
        raise InvalidRecord("the cycle's id", f"use 1 to {MAX_CYCLE_ID} characters")
    return cycle_id
