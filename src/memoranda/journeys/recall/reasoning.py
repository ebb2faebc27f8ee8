"""A reasoning phase: memory is selected in it, and a proposal closes it (M-2, M-3).

What it used is observed, not declared: it knows what was recalled in it, and what was read beside
that, through any verb of any handle. A proposal has all traces of its phase; one that used memory
that no trace tells of is refused, and so is one that goes past the phase (`journeys.intent.phases`
says what does). A task that was started in a phase may live longer than it: then it proposes
nothing any more.
"""

from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Final, Generic, TypeVar

from memoranda.journeys.intent import names
from memoranda.journeys.intent.phases import (
    Around,
    Traced,
    beyond_phases,
    is_around,
    reasoning_in,
    resting_on,
)
from memoranda.journeys.intent.proposing import Wish
from memoranda.journeys.recall.recalled import Recalled
from memoranda.kernel.errors import (
    InvalidInput,
    ReasoningClosed,
    RecordError,
    TraceMissing,
    WorldError,
)
from memoranda.kernel.reach import Observed, observed
from memoranda.ledger.unit import Expected

T = TypeVar("T")


def traced_by(found: Recalled[T]) -> Traced:
    """A recall as what a proposal rests on."""
    return Traced(found.trace, Expected(names.trace(found.trace_id), found.seq))


class Phase(Generic[T]):
    """What was selected and read in one reasoning phase, and whether it is still open."""

    def __init__(self, reasoning_id: str) -> None:
        self.id: Final = reasoning_id
        self._recalled: list[Recalled[T]] = []
        self._seen = Observed()
        self._around: Sequence[Around] = ()
        self._is_open = True
        self._is_submitted = False
        self._is_over = False
        self._under_way = 0

    @contextmanager
    def observing(self) -> Iterator[None]:
        """What is read in this block is noted, and nobody proposes past the phase."""
        with observed(outward=True) as self._seen, reasoning_in(self) as self._around:
            try:
                yield
            finally:
                self._is_over = True

    @property
    def recalled(self) -> Sequence[Recalled[T]]:
        """What was recalled in it so far."""
        return tuple(self._recalled)

    @property
    def selected(self) -> Collection[str]:
        """What was selected in it: ids of records, and names."""
        return {item.source for one in self._recalled for item in one.selected_items}

    @property
    def traced(self) -> Sequence[Traced]:
        """Its selections so far, the first one first."""
        return [traced_by(one) for one in self._recalled]

    # ------------------------------------------------------------------------- selecting

    @asynccontextmanager
    async def selecting(self) -> AsyncIterator[None]:
        """A recall is under way: no proposal may be submitted until it is complete (M-3)."""
        self._check_open()
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def add(self, found: Recalled[T]) -> None:
        """Take a recall that is complete; what comes too late is not handed out (M-3)."""
        self._check_open()
        self._recalled.append(found)

    def _check_open(self) -> None:
        """Refuse with ReasoningClosed once a proposal was submitted, or the phase is over (M-3)."""
        if self._is_over or not self._is_open:
            raise ReasoningClosed(self.id)

    # ------------------------------------------------------------------------- proposing

    @asynccontextmanager
    async def submitting(self, wish: Wish) -> AsyncIterator[Wish]:
        """The wish with all that the phase rests on; when it was submitted, the phase is closed.

        1. nothing was submitted yet                                       (M-3)
        2. whoever proposes is in the phase; no recall is under way, and
           what was read was selected: there is a trace of it, and it is
           no other phase's, around this one                               (M-2, M-3)
        3. all traces are attached, and the proposal goes with them
        4. what was refused was not submitted, and the phase is open again. Where nobody knows,
           it may be proposed again, but no more is selected               (M-3)
        """
        # 1.
        if self._is_over or self._is_submitted:
            raise ReasoningClosed(self.id)
        # 2.
        if not is_around(self):
            raise TraceMissing(
                "it is made in a task that was started outside of its reasoning phase, where"
                " nobody notes what is read; start the task in the phase"
            )
        for phase in self._around:
            phase.check_past(self.selected)
        self.check_complete(self.selected)
        # 3.
        was_open, self._is_open, self._is_submitted = self._is_open, False, True
        try:
            with beyond_phases():
                yield resting_on(wish, self.traced)
        # 4.
        except (InvalidInput, RecordError, WorldError):
            self._is_open, self._is_submitted = was_open, False
            raise
        except BaseException:
            self._is_submitted = False
            raise

    def check_complete(self, told: Collection[str]) -> None:
        """Refuse a proposal while it selects, or if it used any memory but this."""
        if self._under_way:
            raise TraceMissing("a recall of its reasoning phase is still under way")
        if unseen := self._unseen(told):
            raise TraceMissing(f"it read {', '.join(unseen[:3])} past any recall")

    def check_past(self, told: Collection[str]) -> None:
        """Refuse a proposal past it that tells of this memory only."""
        if self._is_over:
            raise TraceMissing(
                f"it is made in a task that outlived its reasoning phase {self.id};"
                " propose before the phase ends, or start the task outside of it"
            )
        if self._recalled or self._under_way or self._unseen(told):
            raise TraceMissing(
                "memory was used in a reasoning phase that it goes past; propose through the phase"
            )

    def _unseen(self, told: Collection[str]) -> list[str]:
        return [name for name in self._seen.ids if name not in told]
