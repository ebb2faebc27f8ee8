"""From where memory can be reached, and what of it was.

Whoever reads memory through a handle calls `reached`. While a projection, an authority, an action
or a replay runs, that raises (C-5, M-4, MEM-CONTEXT-2); while a provider recalls, it is noted
which objects the recall rests on: observed, not declared. Whoever writes calls `check_writable`:
an effect may write, for it is not repeated; an action itself would write again when it is replayed.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from memoranda.kernel.errors import MemoryOutOfReach


class Observed:
    """The ids of the objects that were read meanwhile, each once, in order."""

    def __init__(self, around: "Observed | None" = None) -> None:
        self._ids: dict[str, None] = {}
        self._around = around

    @property
    def ids(self) -> tuple[str, ...]:
        """What was read so far."""
        return tuple(self._ids)

    def note(self, ids: Iterable[str]) -> None:
        """These were read."""
        read = dict.fromkeys(ids)
        self._ids.update(read)
        if self._around is not None:
            self._around.note(read)


EFFECT: Final = "an effect"
"""Who may write, and not read."""

_reach: Final[ContextVar[Observed | str | None]] = ContextVar("memoranda_reach", default=None)


@contextmanager
def out_of_reach(who: str) -> Iterator[None]:
    """Memory can't be reached in this block; `who` says in the error from where it was tried."""
    token = _reach.set(who)
    try:
        yield
    finally:
        _reach.reset(token)


@contextmanager
def observed(*, outward: bool = False) -> Iterator[Observed]:
    """What is read in this block, and in tasks that are started in it, is noted.

    Where memory can't be reached it still can't. `outward` says that whoever observes from around
    the block is to note it, too.
    """
    around = _reach.get()
    if isinstance(around, str):
        yield Observed()
        return
    seen = Observed(around if outward else None)
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
