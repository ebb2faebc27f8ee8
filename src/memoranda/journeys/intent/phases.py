"""What is around whoever proposes: reasoning phases, and recalls past them (M-2, M-3).

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

Outside of a phase whoever proposes says which recalls it rests on. Who says nothing is caught by a
net: it rests on what was recalled through the handle, by its own task, by those that it was started
from and by those that were started from it, and is in no proposal yet.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol
from weakref import WeakKeyDictionary, ref

from memoranda.journeys.intent.proposing import Wish
from memoranda.kernel.errors import InvalidWorld, TraceMissing
from memoranda.kernel.reach import observed
from memoranda.ledger.unit import Expected
from memoranda.recall.trace import MEMORY, MEMORY_TRACES, MemoryTrace, trace_context
from memoranda.worlds.proposal import ProposalTrace

SUMMARY: Final = "it rests on memory"
"""The summary of a proposal that says nothing of itself, and used memory."""

OLDEST_MS: Final = 10 * 60 * 1000
"""How long ago something may have been recalled for a proposal that does not name it."""

MOST: Final = 16
"""How many recalls a proposal may rest on that does not name them."""


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


# -------------------------------------------------------------------------- recalls


@dataclass(slots=True, eq=False)
class _Recall:
    """A recall past any phase, and whether a proposal rests on it by now."""

    at: int
    made: Callable[[], Traced]
    is_submitted: bool = False


_Noted = WeakKeyDictionary[object, Sequence[_Recall]]
"""Recalls by the handle of each: one more than can be used is enough to know so."""


class _Recalls:
    """What counts for one task: what it recalled, and what those did around it and below it.

    A task is handed down what was recalled around it before. It tells those around it, as long as
    they are there, of each recall of its own.
    """

    def __init__(self, around: "_Recalls | None" = None) -> None:
        task = running_task()
        self._task = None if task is None else ref(task)
        self.handed_down: _Noted = _Noted() if around is None else around.handed_down.copy()
        self.known: _Noted = self.handed_down.copy()
        self.above: tuple[ref[_Recalls], ...] = ()
        if around is not None:
            self.above = (ref(around), *(one for one in around.above if one() is not None))

    @property
    def is_of_this_task(self) -> bool:
        """Whether it is the running task's own, and not one that was handed down to it."""
        return (None if self._task is None else self._task()) is running_task()

    def add(self, handle: object, recall: _Recall) -> None:
        """Note a recall of this task."""
        _note(self.handed_down, handle, recall)
        for one in (self, *(above() for above in self.above)):
            if one is not None:
                _note(one.known, handle, recall)

    def unsubmitted(self, handle: object) -> list[_Recall]:
        """What counts and is in no proposal yet, the first one first."""
        return [one for one in self.known.get(handle, ()) if not one.is_submitted]


def running_task() -> "asyncio.Task[object] | None":
    """The task that runs; None outside of any event loop, where a handle may be made, too."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _note(noted: _Noted, handle: object, recall: _Recall) -> None:
    known = [one for one in noted.get(handle, ()) if not one.is_submitted]
    noted[handle] = (*known[-MOST:], recall)


@dataclass(frozen=True, slots=True)
class _Here:
    """What is around a piece of code."""

    phases: tuple[Around, ...] = ()
    recalls: _Recalls | None = None


_NOTHING: Final = _Here()
_here: Final[ContextVar[_Here]] = ContextVar("memoranda_phases", default=_NOTHING)


def watch_recalls() -> None:
    """From now on it is known here what the tasks recall that are started here."""
    _own_recalls()


def _own_recalls() -> _Recalls:
    here = _here.get()
    if here.recalls is not None and here.recalls.is_of_this_task:
        return here.recalls
    own = _Recalls(here.recalls)
    _here.set(replace(here, recalls=own))
    return own


def note_recall(handle: object, at: int, made: Callable[[], Traced]) -> None:
    """Something was recalled through a handle, past any phase."""
    _own_recalls().add(handle, _Recall(at, made))


def recalled_here(handle: object, now: int) -> list[Traced]:
    """What a proposal rests on that does not say so: recalled here, and in no proposal yet.

    TraceMissing where nobody but whoever proposes can know what was meant: after too many recalls,
    and after one that is long ago.
    """
    unsubmitted = _own_recalls().unsubmitted(handle)
    unclear = None
    if len(unsubmitted) > MOST:
        unclear = f"more than {MOST} recalls were made here since the last proposal"
    elif any(now - one.at > OLDEST_MS for one in unsubmitted):
        minutes = OLDEST_MS // 60_000
        unclear = f"what was recalled here since the last proposal is older than {minutes} minutes"
    if unclear is not None:
        raise TraceMissing(
            f"{unclear}; say which of it the proposal rests on with memory= (recalls, ids of"
            " traces, or () for none)"
        )
    return [one.made() for one in unsubmitted]


def submitted(handle: object) -> None:
    """A proposal was submitted through a handle: what was recalled until now is settled with it."""
    for one in _own_recalls().unsubmitted(handle):
        one.is_submitted = True


@contextmanager
def unnoted() -> Iterator[None]:
    """What is recalled in this block is no reasoning of the task around it."""
    token = _here.set(replace(_here.get(), recalls=_Recalls()))
    try:
        yield
    finally:
        _here.reset(token)


# --------------------------------------------------------------------------- phases


@contextmanager
def reasoning_in(phase: Around) -> Iterator[Sequence[Around]]:
    """In this block a phase is around whoever proposes; the block gets those around the phase."""
    watch_recalls()
    here = _here.get()
    token = _here.set(replace(here, phases=(*here.phases, phase)))
    try:
        yield here.phases
    finally:
        _here.reset(token)


def is_around(phase: Around) -> bool:
    """Whether a phase lies around whoever asks: only there it is noted what is read."""
    return any(one is phase for one in _here.get().phases)


@contextmanager
def beyond_phases() -> Iterator[None]:
    """In this block there is nothing around: it was asked, or has nothing to do with it."""
    token = _here.set(_NOTHING)
    try:
        yield
    finally:
        _here.reset(token)


@contextmanager
def unobserved() -> Iterator[None]:
    """A task that is started here is nobody's reasoning, and nobody notes what it reads."""
    with beyond_phases(), observed():
        yield


def check_proposable() -> None:
    """Refuse a proposal that goes past a reasoning phase around it (M-2)."""
    for phase in _here.get().phases:
        phase.check_past(())


def with_traces(wish: Wish) -> Wish:
    """An operation on memory with all that the phases around it rest on, the outermost first (M-2).

    What it used must be selected by then, and no selection under way (M-3).
    """
    phases = _here.get().phases
    told = {name for phase in phases for name in phase.selected}
    for phase in phases:
        phase.check_complete(told)
    return resting_on(wish, [one for phase in phases for one in phase.traced])


def resting_on(wish: Wish, traced: Sequence[Traced]) -> Wish:
    """A wish with traces, and which goes when they go."""
    if says_memory(wish):
        where = f"$.trace.context.{MEMORY}"
        raise InvalidWorld(where, "its traces are attached here; leave it out of what you give")
    if not traced:
        return wish
    complete = with_context(wish, [one.trace for one in traced])
    return complete._replace(rests_on=[one.rests_on for one in traced])


def says_memory(wish: Wish) -> bool:
    """Whether what is given with a wish says already which memory it used."""
    context = None if wish.trace is None else wish.trace.context
    return context is not None and (MEMORY in context or MEMORY_TRACES in context)


def with_context(wish: Wish, traces: Sequence[MemoryTrace]) -> Wish:
    """A wish whose trace holds these, in the place of any that it held."""
    given = wish.trace
    context = {} if given is None or given.context is None else dict(given.context)
    context.pop(MEMORY_TRACES, None)
    context |= trace_context(traces, wish.actor)
    if given is None:
        return wish._replace(trace=ProposalTrace(summary=SUMMARY, context=context))
    trace = ProposalTrace(summary=given.summary, reasoning=given.reasoning, context=context)
    return wish._replace(trace=trace)
