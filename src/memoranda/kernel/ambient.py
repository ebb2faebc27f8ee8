"""What surrounds a piece of code while it runs: the one ambient value in the house.

Everything else is handed from function to function. This is not, because two promises are about
code that is not ours and that nobody can hand anything through:

- An action, a projection, an authority, a condition or a replay must not read memory (C-5, M-4,
  MEM-CONTEXT-2), even if it holds a handle that it found somewhere.
- A proposal carries the traces of the memory that it used (M-2, C-1). What was used is *observed,
  not declared*: an agent may read through any handle, in any helper function, in any task that it
  started, and none of these knows of the proposal that follows.

So each reading verb looks here before it reads, and says here what it hands out. The value lives in
a context variable: a block sets it, and the tasks and threads that are started inside of the block
inherit it. It is frozen. A block that changes some members gives these, and only these, their old
values back when it ends.

===========  ===================================================  =================================
member       what it says                                         who sets it, for how long
===========  ===================================================  =================================
`barred`     who runs here and must not read memory; the error    `out_of_reach`, while an action,
             names it                                             a projection, an authority, a
                                                                  condition, an effect or a replay
                                                                  runs
`observer`   who notes the ids of whatever is read here           `observed`, while a provider
                                                                  recalls, and during a reasoning
                                                                  phase
`phases`     the reasoning phases around this code, the           `journeys.intent.phases`, during
             outermost first; a proposal must go through the      the block `memory.reasoning()`
             innermost, and past none that used memory
`recalls`    what this task, and the tasks around and below it,   `journeys.intent.phases`: made
             recalled outside of any phase and has not proposed   once in each task that uses a
             yet: a proposal that names nothing rests on it       handle; a block that runs
                                                                  somebody else's code hides it
===========  ===================================================  =================================

`barred` wins over `observer`: where memory can't be read there is nothing to note. Whoever is
barred can't write either, with one exception: an effect may write, because it is not repeated when
its run is replayed.

Who looks here: `check_reach` and `reached` are called by every verb that reads, `check_writable` by
every verb that writes, and `journeys.intent.phases` decides what a proposal rests on. Nothing else
depends on it: outside of these blocks all members are empty, and every function does the same with
or without it.
"""

from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any, Final, Generic, NamedTuple, TypeVar

from memoranda.kernel.errors import MemoryOutOfReach

V = TypeVar("V")

EFFECT: Final = "an effect"
"""Who may write, and not read."""


class Observed:
    """The ids of the objects that were read meanwhile, each once, in order."""

    def __init__(self, around: "Observed | None" = None) -> None:
        self._ids: dict[str, None] = {}
        self._around = around

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._ids)

    def note(self, ids: Iterable[str]) -> None:
        read = dict.fromkeys(ids)
        self._ids.update(read)
        if self._around is not None:
            self._around.note(read)


class Ambient(NamedTuple):
    """What surrounds a piece of code; the module says what each member means."""

    barred: str | None = None
    observer: Observed | None = None
    phases: tuple[Any, ...] = ()
    recalls: object = None


_NOTHING: Final = Ambient()
_ambient: Final[ContextVar[Ambient]] = ContextVar("memoranda_ambient", default=_NOTHING)

ambient: Final = _ambient.get
"""What surrounds whoever calls."""


def change_ambient(**members: Any) -> None:
    """Give members a value from here on, in this context and in what is started from it."""
    _ambient.set(_ambient.get()._replace(**members))


class _Block(Generic[V]):
    """A block in which members have other values; it gets `value`. A run enters several of them."""

    __slots__ = ("_before", "_members", "_value")

    def __init__(self, value: V, members: dict[str, Any]) -> None:
        self._value = value
        self._members = members
        self._before: dict[str, Any] = {}

    def __enter__(self) -> V:
        around = _ambient.get()
        self._before = {name: getattr(around, name) for name in self._members}
        _ambient.set(around._replace(**self._members))
        return self._value

    def __exit__(self, *_raised: object) -> None:
        change_ambient(**self._before)


def surrounded(**members: Any) -> _Block[Ambient]:
    """In this block, members have these values; the block gets what is around it."""
    return _Block(_ambient.get(), members)


def out_of_reach(who: str) -> _Block[None]:
    """Memory can't be reached in this block; `who` says in the error from where it was tried."""
    return _Block(None, {"barred": who})


def observed(*, outward: bool = False, **members: Any) -> _Block[Observed]:
    """What is read in this block, and in tasks that are started in it, is noted.

    Where memory can't be reached it still can't. `outward` says that whoever observes from around
    the block is to note it, too; other members get these values in the block.
    """
    seen = Observed(_ambient.get().observer if outward else None)
    return _Block(seen, {"observer": seen, **members})


def check_reach() -> None:
    """Refuse with MemoryOutOfReach where memory must not be read."""
    barred = _ambient.get().barred
    if barred is not None:
        raise MemoryOutOfReach(barred)


def check_writable() -> None:
    """Refuse with MemoryOutOfReach where memory must not be written."""
    barred = _ambient.get().barred
    if barred is not None and barred != EFFECT:
        raise MemoryOutOfReach(barred)


def reached(ids: Iterable[str]) -> None:
    here = _ambient.get()
    if here.barred is not None:
        raise MemoryOutOfReach(here.barred)
    if here.observer is not None:
        here.observer.note(ids)
