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
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Final, Protocol
from weakref import WeakKeyDictionary, ref

from memoranda.journeys.intent.requests import IntentRequest, Traced, resting_on
from memoranda.kernel.ambient import Observed, ambient, change_ambient, observed, surrounded
from memoranda.kernel.errors import TraceMissing

OLDEST_MS: Final = 10 * 60 * 1000
"""How long ago something may have been recalled for a proposal that does not name it."""

MOST: Final = 16
"""How many recalls a proposal may rest on that does not name them."""


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

    def check_past(self, reported: Collection[str], /) -> None:
        """Refuse a proposal past it that tells of this memory only."""
        ...

    def check_complete(self, reported: Collection[str], /) -> None:
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


class _TaskRecalls:
    """What counts for one task: what it recalled, and what those did around it and below it.

    A task is handed down what was recalled around it before. It tells those around it, as long as
    they are there, of each recall of its own.
    """

    def __init__(self, around: "_TaskRecalls | None" = None) -> None:
        task = running_task()
        self._task = None if task is None else ref(task)
        self.handed_down: _Noted = _Noted() if around is None else around.handed_down.copy()
        self.known: _Noted = self.handed_down.copy()
        self.above: tuple[ref[_TaskRecalls], ...] = ()
        if around is not None:
            self.above = (ref(around), *(above for above in around.above if above() is not None))

    @property
    def is_of_this_task(self) -> bool:
        """Whether it is the running task's own, and not one that was handed down to it."""
        return (None if self._task is None else self._task()) is running_task()

    def add(self, handle: object, recall: _Recall) -> None:
        _note(self.handed_down, handle, recall)
        for recalls in (self, *(above() for above in self.above)):
            if recalls is not None:
                _note(recalls.known, handle, recall)

    def unsubmitted(self, handle: object) -> list[_Recall]:
        """What counts and is in no proposal yet, the first one first."""
        return [recall for recall in self.known.get(handle, ()) if not recall.is_submitted]


def running_task() -> "asyncio.Task[object] | None":
    """The task that runs; None outside of any event loop, where a handle may be made, too."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _note(noted: _Noted, handle: object, recall: _Recall) -> None:
    known = [earlier for earlier in noted.get(handle, ()) if not earlier.is_submitted]
    noted[handle] = (*known[-MOST:], recall)


def watch_recalls() -> None:
    """From now on it is known here what the tasks recall that are started here."""
    _own_recalls()


def _own_recalls() -> _TaskRecalls:
    around = ambient().recalls
    if isinstance(around, _TaskRecalls) and around.is_of_this_task:
        return around
    own = _TaskRecalls(around if isinstance(around, _TaskRecalls) else None)
    change_ambient(recalls=own)
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
    elif any(now - recall.at > OLDEST_MS for recall in unsubmitted):
        minutes = OLDEST_MS // 60_000
        unclear = f"what was recalled here since the last proposal is older than {minutes} minutes"
    if unclear is not None:
        raise TraceMissing(
            f"{unclear}; say which of it the proposal rests on with memory= (recalls, ids of"
            " traces, or () for none)"
        )
    return [recall.made() for recall in unsubmitted]


def submitted(handle: object) -> None:
    """A proposal was submitted through a handle: what was recalled until now is settled with it."""
    for recall in _own_recalls().unsubmitted(handle):
        recall.is_submitted = True


def observed_aside() -> AbstractContextManager[Observed]:
    """What is read in this block is noted, and no reasoning of the task around it."""
    return observed(recalls=_TaskRecalls())


# --------------------------------------------------------------------------- phases


@contextmanager
def reasoning_in(phase: Around) -> Iterator[Sequence[Around]]:
    """In this block a phase is around whoever proposes; the block gets those around the phase."""
    watch_recalls()
    with surrounded(phases=(*_phases(), phase)):
        yield _phases()[:-1]


def is_around(phase: Around) -> bool:
    """Whether a phase lies around whoever asks: only there it is noted what is read."""
    return any(around is phase for around in _phases())


def _phases() -> tuple[Around, ...]:
    return ambient().phases


def beyond_phases() -> AbstractContextManager[object]:
    """In this block there is nothing around: it was asked, or has nothing to do with it."""
    return surrounded(phases=(), recalls=None)


def unobserved() -> AbstractContextManager[object]:
    """A task that is started here is nobody's reasoning, and nobody notes what it reads."""
    return observed(phases=(), recalls=None)


def check_proposable() -> None:
    """Refuse a proposal that goes past a reasoning phase around it (M-2)."""
    for phase in _phases():
        phase.check_past(())


def with_traces(request: IntentRequest) -> IntentRequest:
    """An operation on memory with all that the phases around it rest on, the outermost first (M-2).

    What it used must be selected by then, and no selection under way (M-3).
    """
    phases = _phases()
    reported = {name for phase in phases for name in phase.selected}
    for phase in phases:
        phase.check_complete(reported)
    return resting_on(request, [traced for phase in phases for traced in phase.traced])
