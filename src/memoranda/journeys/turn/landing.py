"""How a cycle ends: all that it leaves lands in one unit of work, or nothing does (ING-PERSIST).

A unit has the fact of the cycle as its one entry, but for what is to be logged of a model that is
new, and beside it the salt of its digests, the items, the session, and the recording where one is
asked for. A cycle that failed leaves a fact of its own and nothing else.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from memoranda.identity import sha256_hex
from memoranda.journeys.turn.cycle import NotedItems, Scope, Staged, new_items
from memoranda.journeys.turn.facts import Began, CycleRecording, Left, RecordedStep, session_digest
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import FailFast, IdempotencyConflict, MarkMoved, WriteFailed
from memoranda.kernel.given import RetryKey
from memoranda.kernel.json import JsonValue
from memoranda.ledger.attachments import CYCLE, CycleSalt
from memoranda.ledger.entry import SALT_BYTES
from memoranda.ledger.fact import Fact
from memoranda.ledger.unit import Committed, Draft, Expected, Unit
from memoranda.plans.engine import Outputs
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
    notices: Sequence[Draft] = ()
    """What is to be logged of the models that answered."""


@dataclass(frozen=True, slots=True)
class Landing:
    """Writes what cycles leave."""

    scope: Scope
    sessions: SessionStore
    is_recording: bool

    async def land(self, ran: FinishedCycle) -> tuple[Committed, Session]:
        """Commit all that a cycle leaves; the unit, and the session as it is stored then.

        WriteFailed where that fails, and nothing was written; IdempotencyConflict where its id
        stood for another cycle before. A cancellation waits until the commit is over: it has
        landed, or it has not. Where a cycle was erased meanwhile whose items this one was given, it
        must not land: what it made would outlive the erasure.
        """
        began, session = ran.began, ran.session
        try:
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
            sources = sorted(ran.given.sources)
            fact = began.completed(ran.outputs, left, salt, sources, plan)
            unit = self._unit(fact, ran.clock.now_ms(), ran.notices)
            unit = unit._replace(
                attachments=(
                    CycleSalt(began.cycle_id, salt),
                    *new_items(items, began.cycle_id),
                    *recorded,
                    self.sessions.saved(state, session.stored, began.cycle_id),
                ),
                key=RetryKey(began.cycle_id, began.fingerprint),
                about=began.cycle_id,
            )
            committed = await to_its_end(self._commit(unit, ran.given))
        except (IdempotencyConflict, FailFast):
            raise
        except Exception as error:
            raise WriteFailed("the cycle", str(error).removesuffix(".")) from error
        return committed, session.after(state)

    async def leave(self, fact: Fact) -> None:
        """Write the fact of a cycle that left nothing else; WriteFailed where that fails."""
        try:
            unit = self._unit(fact, self.scope.clock.now_ms())
            await to_its_end(self.scope.table.commit(unit))
        except Exception as error:
            why = str(error).removesuffix(".")
            raise WriteFailed("the fact of a cycle that failed", why) from error

    async def _commit(self, unit: Unit, given: NotedItems) -> Committed:
        """Commit it as long as all that it was given is there, however often its names move on."""
        while True:
            expects = [Expected(CYCLE + text, seq) for text, seq in given.sources.items()]
            try:
                return await self.scope.table.commit(unit._replace(expects=expects))
            except MarkMoved:
                if not await given.have_moved():
                    raise

    def _unit(self, fact: Fact, at: int, notices: Sequence[Draft] = ()) -> Unit:
        draft = fact.draft(self.scope.randomness.take(SALT_BYTES))
        return Unit(self.scope.actor, at, lambda _: [draft, *notices])


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
