"""How a cycle ends: all that it leaves lands in one unit of work, or nothing does (ING-PERSIST).

A unit has the fact of the cycle as its one entry, and beside it the salt of its digests, the items,
the session, and the recording where one is asked for. A cycle that failed leaves a fact of its own
and nothing else.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from recollect.journeys.turn.facts import Began
from recollect.journeys.turn.noted import NotedItems
from recollect.journeys.turn.scope import Scope
from recollect.journeys.turn.staged import Staged, digests, new_items
from recollect.kernel.clock import Clock
from recollect.kernel.errors import FailFast, IdempotencyConflict, MarkMoved, WriteFailed
from recollect.kernel.json import JsonValue
from recollect.kernel.retry import RetryKey
from recollect.ledger.beside import CYCLE, CycleSalt
from recollect.ledger.entry import SALT_BYTES
from recollect.ledger.fact import Fact
from recollect.ledger.unit import Committed, Expected, Unit
from recollect.plans.engine import Outputs
from recollect.plans.policy import Interpreted
from recollect.plans.recording import RecordedStep, Recording
from recollect.plans.session import Session, SessionState, SessionStore

R = TypeVar("R")


class Ran(NamedTuple):
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


class Landed(NamedTuple):
    """What became of it: the unit, and the session as it is stored now."""

    committed: Committed
    session: Session


@dataclass(frozen=True, slots=True)
class Landing:
    """Writes what cycles leave."""

    scope: Scope
    sessions: SessionStore
    is_recording: bool

    async def land(self, ran: Ran) -> Landed:
        """Commit all that a cycle leaves; WriteFailed where that fails, and nothing was written.

        IdempotencyConflict where its id stood for another cycle before. A cancellation waits until
        the commit is over: it has landed, or it has not. Where a cycle was erased meanwhile whose
        items this one was given, it must not land: what it made would outlive the erasure.
        """
        began, session = ran.began, ran.session
        try:
            items = ran.staged.items(session.session_id)
            state = session.state(ran.clock.now_ms(), ran.staged.version(session.session_id))
            recorded = [_recording(ran).beside] if self.is_recording else []
            salt = self.scope.randomness.take(SALT_BYTES)
            fact = began.completed(ran.outputs, digests(items), salt, sorted(ran.given.sources))
            unit = self._unit(fact, ran.clock.now_ms())
            unit = unit._replace(
                beside=(
                    CycleSalt(began.cycle_id, salt),
                    *new_items(items, began.cycle_id),
                    *recorded,
                ),
                key=RetryKey(began.cycle_id, began.fingerprint),
                about=began.cycle_id,
            )
            committed = await to_its_end(self._commit(unit, ran, state))
        except (IdempotencyConflict, FailFast):
            raise
        except Exception as error:
            raise WriteFailed("the cycle", str(error).removesuffix(".")) from error
        return Landed(committed, session.after(state))

    async def leave(self, fact: Fact) -> None:
        """Write the fact of a cycle that left nothing else; WriteFailed where that fails."""
        try:
            unit = self._unit(fact, self.scope.clock.now_ms())
            await to_its_end(self.scope.table.commit(unit))
        except Exception as error:
            why = str(error).removesuffix(".")
            raise WriteFailed("the fact of a cycle that failed", why) from error

    async def _commit(self, unit: Unit, ran: Ran, state: SessionState) -> Committed:
        """Commit it as long as all that it was given is there, however often its names move on."""
        while True:
            expects = [Expected(CYCLE + one, seq) for one, seq in ran.given.sources.items()]
            try:
                async with self.sessions.saving(state, ran.session.stored) as rows:
                    beside = (*unit.beside, *rows)
                    return await self.scope.table.commit(
                        unit._replace(beside=beside, expects=expects)
                    )
            except MarkMoved:
                if not await ran.given.have_moved():
                    raise

    def _unit(self, fact: Fact, at: int) -> Unit:
        draft = fact.draft(self.scope.randomness.take(SALT_BYTES))
        return Unit(self.scope.actor, at, lambda _: [draft])


def _recording(ran: Ran) -> Recording:
    steps = [RecordedStep(id=id, output=output.thaw()) for id, output in ran.outputs.items()]
    return Recording(
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
        task.exception()  # it is looked at; the cancellation is what is told
    raise cancelled
