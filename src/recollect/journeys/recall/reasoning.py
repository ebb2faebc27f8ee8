"""A reasoning phase: memory is selected in it, and a proposal closes it (M-2, M-3).

What it used is observed, not declared: it knows what was recalled in it, and what was read beside
that, through any verb of any handle. A proposal has all traces of its phase; one that used memory
that no trace tells of is refused, and so is one that goes past the phase.
"""

from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Final, Generic, TypeVar

from recollect.journeys.intent import names
from recollect.journeys.intent.proposing import Wish
from recollect.journeys.recall.recalled import Recalled
from recollect.kernel.errors import (
    InvalidInput,
    InvalidWorld,
    ReasoningClosed,
    RecordError,
    TraceMissing,
    WorldError,
)
from recollect.kernel.reach import Check, Observed, no_phase, observed, proposing_through
from recollect.ledger.unit import Expected
from recollect.recall.trace import MEMORY, MEMORY_TRACES, trace_context
from recollect.worlds.proposal import ProposalTrace

T = TypeVar("T")

SUMMARY: Final = "it rests on memory"
"""The summary of a proposal that says nothing of itself, and used memory."""


class Phase(Generic[T]):
    """What was selected and read in one reasoning phase, and whether it is still open."""

    def __init__(self, reasoning_id: str) -> None:
        self.id: Final = reasoning_id
        self.recalled: list[Recalled[T]] = []
        self._seen = Observed()
        self._check_around: Check = no_phase
        self._is_open = True
        self._is_submitted = False
        self._is_over = False
        self._under_way = 0

    @contextmanager
    def observing(self) -> Iterator[None]:
        """What is read in this block is noted, and nobody proposes past the phase."""
        with (
            observed(outward=True) as self._seen,
            proposing_through(self._check_nothing_used) as self._check_around,
        ):
            try:
                yield
            finally:
                self._is_over = True

    def check_open(self) -> None:
        """Refuse with ReasoningClosed once a proposal was submitted, or the phase is over (M-3)."""
        if self._is_over or not self._is_open:
            raise ReasoningClosed(self.id)

    @asynccontextmanager
    async def selecting(self) -> AsyncIterator[list[Recalled[T]]]:
        """A recall is under way: no proposal may be submitted until it is complete (M-3)."""
        self.check_open()
        self._under_way += 1
        try:
            yield self.recalled
        finally:
            self._under_way -= 1

    @asynccontextmanager
    async def submitting(self, wish: Wish) -> AsyncIterator[Wish]:
        """The wish with all that the phase rests on; when it was submitted, the phase is closed.

        1. nothing was submitted yet, and no recall is under way           (M-3)
        2. what was read was selected: there is a trace of it, and it is
           no other phase's, around this one                               (M-2)
        3. all traces are attached, and the proposal goes with them
        4. what was refused was not submitted, and the phase is open again. Where nobody knows,
           it may be proposed again, but no more is selected               (M-3)
        """
        # 1.
        if self._is_over or self._is_submitted:
            raise ReasoningClosed(self.id)
        if self._under_way:
            raise TraceMissing("a recall of its reasoning phase is still under way")
        # 2.
        selected = {item.source for one in self.recalled for item in one.selected_items}
        self._check_around(selected)
        if unseen := [id for id in self._seen.ids if id not in selected]:
            raise TraceMissing(f"it read {', '.join(unseen[:3])} past any recall")
        # 3.
        was_open, self._is_open, self._is_submitted = self._is_open, False, True
        try:
            yield wish._replace(trace=self._trace(wish.trace), rests_on=self._rests_on())
        # 4.
        except (InvalidInput, RecordError, WorldError):
            self._is_open, self._is_submitted = was_open, False
            raise
        except BaseException:
            self._is_submitted = False
            raise

    def _trace(self, given: ProposalTrace | None) -> ProposalTrace | None:
        context = {} if given is None or given.context is None else dict(given.context)
        if MEMORY in context or MEMORY_TRACES in context:
            where = f"$.trace.context.{MEMORY}"
            raise InvalidWorld(where, "its reasoning phase attaches the traces itself")
        context |= trace_context([one.trace for one in self.recalled])
        if not context:
            return given
        if given is None:
            return ProposalTrace(summary=SUMMARY, context=context)
        return ProposalTrace(summary=given.summary, reasoning=given.reasoning, context=context)

    def _rests_on(self) -> Sequence[Expected]:
        return [Expected(names.trace(one.trace_id), one.seq) for one in self.recalled]

    def _check_nothing_used(self, told: Collection[str]) -> None:
        is_used = self.recalled or any(id not in told for id in self._seen.ids)
        if is_used and not self._is_over:
            raise TraceMissing(
                "memory was used in a reasoning phase that it goes past; propose through the phase"
            )
