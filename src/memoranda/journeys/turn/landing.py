"""How a cycle ends: all that it leaves lands in one unit of work, or nothing does (ING-PERSIST).

A unit has the fact of the cycle as its one entry, but for what is to be logged of a model that is
new and for what it taught, and beside it the salt of its digests, the items, the session, and the
recording where one is asked for. A cycle that failed leaves a fact of its own and nothing else.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from memoranda.identity import sha256_hex
from memoranda.journeys.turn.cycle import (
    NotedItems,
    NotedRecall,
    Scope,
    Staged,
    Taught,
    TaughtChanges,
    new_items,
)
from memoranda.journeys.turn.facts import Began, CycleRecording, Left, RecordedStep, session_digest
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import (
    FailFast,
    IdempotencyConflict,
    MarkMoved,
    RecordNotFound,
    WriteFailed,
)
from memoranda.kernel.given import RetryKey
from memoranda.kernel.json import JsonValue
from memoranda.ledger.attachments import CYCLE, Attachment, CycleSalt
from memoranda.ledger.entry import SALT_BYTES
from memoranda.ledger.fact import Fact
from memoranda.ledger.unit import Committed, Current, Draft, Expected, OfSubject, Unit
from memoranda.plans.engine import Outputs
from memoranda.plans.facts import Learned
from memoranda.plans.items import item_digest
from memoranda.plans.policy import Interpreted
from memoranda.plans.session import Session, SessionStore

R = TypeVar("R")


class FinishedCycle(NamedTuple):
    """A cycle whose last step has succeeded, with all that it leaves."""

    began: Began
    planned: Interpreted
    session: Session
    turn: dict[str, JsonValue]
    outputs: Outputs
    staged: Staged
    clock: Clock
    answers: Sequence[str]
    given: NotedItems
    """The items that it was given, with the cycles that these are of."""
    recalled: NotedRecall
    """The governed memory that it was given, by its traces."""
    subject: str | None
    """Whom the turn was with, if that is known."""
    notices: Sequence[Draft] = ()
    """What is to be logged of the models that answered."""


class LandedCycle(NamedTuple):
    """A cycle that has landed, now or before: its unit, its session, and what it taught."""

    committed: Committed
    session: Session
    learned: Learned


@dataclass(frozen=True, slots=True)
class Landing:
    """Writes what cycles leave."""

    scope: Scope
    sessions: SessionStore
    is_recording: bool

    async def land(self, ran: FinishedCycle) -> LandedCycle:
        """Commit all that a cycle leaves; the unit, and the session as it is stored then.

        WriteFailed where that fails, and nothing was written; IdempotencyConflict where its id
        stood for another cycle before. A cancellation waits until the commit is over: it has
        landed, or it has not. Where a cycle was erased meanwhile whose items this one was given, or
        memory that it recalled, it must not land: what it made would outlive the erasure.
        """
        began, session = ran.began, ran.session
        try:
            facts = ran.staged.facts(session.session_id)
            items = ran.staged.items(session.session_id)
            state = session.state(ran.clock.now_ms(), ran.staged.version(session.session_id))
            recorded = [_recording(ran).attachment] if self.is_recording else []
            salt = self.scope.randomness.take(SALT_BYTES)
            left = Left(
                [item_digest(item) for item in items],
                session_digest(self.sessions.name, state.body),
                sha256_hex(recorded[0].body) if recorded else None,
            )
            plan = ran.planned.members if session.is_cold else None
            said = Taught(
                facts,
                str(ran.turn["text"]),
                began.cycle_id,
                session.session_id,
                ran.subject,
                ran.clock.now_ms(),
            )

            def fact(inputs: Sequence[str]) -> Fact:
                return began.completed(ran.outputs, left, salt, inputs, plan)

            attachments = (
                CycleSalt(began.cycle_id, salt),
                *new_items(items, began.cycle_id),
                *recorded,
                self.sessions.saved(state, session.stored, began.cycle_id),
            )
            committed, changes = await to_its_end(self._commit(ran, said, fact, attachments))
        except (IdempotencyConflict, FailFast):
            raise
        except Exception as error:
            raise WriteFailed("the cycle", str(error).removesuffix(".")) from error
        if changes is not None and committed.fresh:
            await self.scope.lessons.tell(changes.records)
        learned = Learned() if changes is None else changes.came_to
        return LandedCycle(committed, session.after(state), learned)

    async def leave(self, fact: Fact, recalls: Sequence[Fact] = ()) -> None:
        """Write the fact of a cycle that left nothing else; WriteFailed where that fails.

        `recalls` are the facts of what it had recalled until then.
        """
        try:
            unit = self._unit([fact, *recalls], self.scope.clock.now_ms())
            await to_its_end(self.scope.table.commit(unit))
        except Exception as error:
            why = str(error).removesuffix(".")
            raise WriteFailed("the fact of a cycle that failed", why) from error

    async def _commit(
        self,
        ran: FinishedCycle,
        said: Taught,
        fact: Callable[[Sequence[str]], Fact],
        attachments: Sequence[Attachment],
    ) -> tuple[Committed, TaughtChanges | None]:
        """Commit it as long as all that it was given is there, however often its names move on.

        What it taught is compared anew where something that it was compared with has moved.
        """
        given, traces = ran.given, ran.recalled.traces
        person = [] if ran.subject is None else [OfSubject(ran.subject).name]
        while True:
            changes = await self.scope.lessons.taught(said) if said.facts else None
            touched = () if changes is None else changes.touched
            sources = [CYCLE + cycle for cycle in sorted(given.sources)]
            inputs = [*sources, *(trace.name for trace in traces), *touched, *person]
            written = [fact(inputs), *(ran.began.recall(trace.name) for trace in traces)]
            unit = self._unit(written, said.at, ran.notices, changes)._replace(
                attachments=attachments,
                key=RetryKey(said.cycle_id, ran.began.fingerprint),
                about=said.cycle_id,
                expects=[
                    *(Expected(CYCLE + cycle, seq) for cycle, seq in given.sources.items()),
                    *traces,
                    *(() if changes is None else changes.expects.values()),
                ],
            )
            try:
                return await self.scope.table.commit(unit), changes
            except RecordNotFound:
                if changes is None:
                    raise
            except MarkMoved as moved:
                is_of_lessons = changes is not None and moved.name in changes.expects
                if not is_of_lessons and not await given.have_moved():
                    raise

    def _unit(
        self,
        facts: Sequence[Fact],
        at: int,
        notices: Sequence[Draft] = (),
        changes: TaughtChanges | None = None,
    ) -> Unit:
        take = self.scope.randomness.take
        drafts = [*(fact.draft(take(SALT_BYTES)) for fact in facts), *notices]
        if changes is None:
            return Unit(self.scope.actor, at, lambda _: drafts)

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            changes.check(found)
            return [*drafts, *changes.drafts]

        return Unit(self.scope.actor, at, decide, list(changes.versions))


def _recording(ran: FinishedCycle) -> CycleRecording:
    steps = [RecordedStep(id=id, output=output.thaw()) for id, output in ran.outputs.items()]
    return CycleRecording(
        cycle_id=ran.began.cycle_id,
        plan_hash=ran.began.plan_hash,
        plan=ran.planned.plan.to_wire(),
        policy_ref=dict(ran.planned.policy_ref),
        turn=ran.turn,
        steps=tuple(steps),
        answers=tuple(ran.answers),
    )


async def to_its_end(work: Coroutine[Any, Any, R]) -> R:
    """Some work that no cancellation interrupts, nor a second one: it is over when they go on."""
    task = asyncio.get_running_loop().create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as again:
            cancelled = again
    if cancelled is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # so that nobody warns of it: the cancellation is what is raised
    raise cancelled
