"""What an app has to know of selections of memory: a port, which `journeys.recall` implements."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from memoranda.journeys.intent.phases import Traced
from memoranda.recall.provider import MemoryProvider
from memoranda.recall.trace import MemoryTrace


class Confirmed(NamedTuple):
    """A trace that was made elsewhere, as we found it to be, and the memory that it tells of."""

    trace: MemoryTrace
    sources: Sequence[str]


class Selections(Protocol):
    """The selections of one scope."""

    async def traced(self, given: object, /) -> Traced:
        """The selection that a recall, or the id of a trace, stands for."""
        ...

    async def confirmed(self, trace: MemoryTrace, where: str, at: int, /) -> Confirmed:
        """A trace that somebody made by hand, confirmed by what this scope knows (C-3, C-4)."""
        ...

    def provider(self, traces: Sequence[MemoryTrace], /) -> MemoryProvider[Any]:
        """Hands a run what these traces selected."""
        ...
