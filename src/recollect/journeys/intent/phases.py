"""The reasoning phases around whoever proposes: no proposal goes past one of them (M-2, M-3).

A phase lies around a block of code, and around the tasks that are started in it, for as long as
they live. There are two ways to propose in one:

=======================  =========================================================================
what is proposed         what becomes of it
=======================  =========================================================================
an action                it goes through the phase, which it closes and whose traces it has; past
                         a phase that used memory, or that is over, it is refused
an operation on memory   it has the traces of all phases around it, and closes none: which
                         operations are proposed is for a policy to say, and whoever remembers
                         something can't know that it is proposed
=======================  =========================================================================
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple, Protocol

from recollect.journeys.intent.proposing import Wish
from recollect.kernel.errors import InvalidWorld
from recollect.kernel.reach import observed
from recollect.ledger.unit import Expected
from recollect.recall.trace import MEMORY, MEMORY_TRACES, MemoryTrace, trace_context
from recollect.worlds.proposal import ProposalTrace

SUMMARY: Final = "it rests on memory"
"""The summary of a proposal that says nothing of itself, and used memory."""


class Traced(NamedTuple):
    """A selection: its trace with all proofs, and the entry that holds it."""

    trace: MemoryTrace
    rests_on: Expected


class Around(Protocol):
    """A reasoning phase as whoever proposes inside of it meets it."""

    @property
    def selected(self) -> Collection[str]:
        """What was selected in it: ids of records, and names."""
        ...

    @property
    def traced(self) -> Sequence[Traced]:
        """Its selections so far, the first one first."""
        ...

    def check_past(self, told: Collection[str], /) -> None:
        """Refuse a proposal past it that tells of this memory only."""
        ...

    def check_complete(self, told: Collection[str], /) -> None:
        """Refuse a proposal while it selects, or if it used any memory but this."""
        ...


_phases: Final[ContextVar[tuple[Around, ...]]] = ContextVar("recollect_phases", default=())


@contextmanager
def reasoning_in(phase: Around) -> Iterator[Sequence[Around]]:
    """In this block a phase is around whoever proposes; the block gets those around the phase."""
    around = _phases.get()
    token = _phases.set((*around, phase))
    try:
        yield around
    finally:
        _phases.reset(token)


def is_around(phase: Around) -> bool:
    """Whether a phase lies around whoever asks: only there it is noted what is read."""
    return any(one is phase for one in _phases.get())


@contextmanager
def beyond_phases() -> Iterator[None]:
    """In this block there is no phase around: they were asked, or have nothing to do with it."""
    token = _phases.set(())
    try:
        yield
    finally:
        _phases.reset(token)


@contextmanager
def unobserved() -> Iterator[None]:
    """A task that is started here is nobody's reasoning, and nobody notes what it reads."""
    with beyond_phases(), observed():
        yield


def check_proposable() -> None:
    """Refuse a proposal that goes past a reasoning phase around it (M-2)."""
    for phase in _phases.get():
        phase.check_past(())


def with_traces(wish: Wish) -> Wish:
    """An operation on memory with all that the phases around it rest on, the outermost first (M-2).

    What it used must be selected by then, and no selection under way (M-3).
    """
    phases = _phases.get()
    told = {name for phase in phases for name in phase.selected}
    for phase in phases:
        phase.check_complete(told)
    return resting_on(wish, [one for phase in phases for one in phase.traced])


def resting_on(wish: Wish, traced: Sequence[Traced]) -> Wish:
    """A wish with traces, and which goes when they go."""
    given = wish.trace
    context = {} if given is None or given.context is None else dict(given.context)
    if MEMORY in context or MEMORY_TRACES in context:
        where = f"$.trace.context.{MEMORY}"
        raise InvalidWorld(where, "its reasoning phase attaches the traces itself")
    if not traced:
        return wish
    context |= trace_context([one.trace for one in traced])
    if given is None:
        trace = ProposalTrace(summary=SUMMARY, context=context)
    else:
        trace = ProposalTrace(summary=given.summary, reasoning=given.reasoning, context=context)
    return wish._replace(trace=trace, rests_on=[one.rests_on for one in traced])
