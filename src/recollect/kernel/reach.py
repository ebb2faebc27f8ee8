"""From where memory can be reached, and what of it was.

Whoever reads memory through a handle calls `reached`. While a projection, an authority, an action
or a replay runs, that raises (C-5, M-4, MEM-CONTEXT-2); while a provider recalls, it is noted
which objects the recall rests on: observed, not declared. Whoever writes calls `check_writable`:
an effect may write, for it is not repeated; an action itself would write again when it is replayed.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from recollect.kernel.errors import MemoryOutOfReach


class Observed:
    """The ids of the objects that were read meanwhile, each once, in order."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}

    @property
    def ids(self) -> tuple[str, ...]:
        """What was read so far."""
        return tuple(self._ids)

    def note(self, ids: Iterable[str]) -> None:
        """These were read."""
        self._ids.update(dict.fromkeys(ids))


EFFECT: Final = "an effect"
"""Who may write, and not read."""

_reach: Final[ContextVar[Observed | str | None]] = ContextVar("recollect_reach", default=None)


@contextmanager
def out_of_reach(who: str) -> Iterator[None]:
    """Memory can't be reached in this block; `who` says in the error from where it was tried."""
    token = _reach.set(who)
    try:
        yield
    finally:
        _reach.reset(token)


@contextmanager
def observed() -> Iterator[Observed]:
    """What is read in this block, and in tasks that are started in it, is noted.

    Where memory can't be reached it still can't.
    """
    seen = Observed()
    if isinstance(_reach.get(), str):
        yield seen
        return
    token = _reach.set(seen)
    try:
        yield seen
    finally:
        _reach.reset(token)


def check_reach() -> None:
    """Refuse with MemoryOutOfReach where memory must not be read."""
    reach = _reach.get()
    if isinstance(reach, str):
        raise MemoryOutOfReach(reach)


def check_writable() -> None:
    """Refuse with MemoryOutOfReach where memory must not be written."""
    reach = _reach.get()
    if isinstance(reach, str) and reach != EFFECT:
        raise MemoryOutOfReach(reach)


def reached(ids: Iterable[str]) -> None:
    """These objects are being handed out."""
    reach = _reach.get()
    if reach is None:
        return
    if isinstance(reach, str):
        raise MemoryOutOfReach(reach)
    reach.note(ids)


_phase: Final[ContextVar[Callable[[], None] | None]] = ContextVar("recollect_phase", default=None)


@contextmanager
def proposing_through(check: Callable[[], None]) -> Iterator[None]:
    """In this block, whoever proposes past a reasoning phase is refused as `check` says (M-2)."""
    token = _phase.set(check)
    try:
        yield
    finally:
        _phase.reset(token)


def check_proposable() -> None:
    """Refuse a proposal that goes past the reasoning phase that it is made in."""
    check = _phase.get()
    if check is not None:
        check()
