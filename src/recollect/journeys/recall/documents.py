"""What the journal says of a selection: its trace, and what `why` needs beside it.

Proofs are left out of it: the journal is what they are made of, and they are made again from the
tree of the size that stands there.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from recollect.journeys.intent import names
from recollect.kernel.json import JsonValue
from recollect.ledger.fact import Fact
from recollect.ledger.unit import Expected
from recollect.recall.selector import Outcome
from recollect.recall.trace import MemoryTrace

TRACE: Final = "Trace"


class GoesWith(NamedTuple):
    """The memory whose words a trace may repeat: when any of it is erased, the trace is."""

    ids: tuple[str, ...] = ()
    """Of records."""
    names: tuple[Expected, ...] = ()
    """Of what left a world, with the newest entry under each."""

    @classmethod
    def all_of(cls, some: Iterable["GoesWith"]) -> "GoesWith":
        """All of it, each once."""
        given = tuple(some)
        return cls(
            tuple(dict.fromkeys(id for one in given for id in one.ids)),
            tuple(dict.fromkeys(name for one in given for name in one.names)),
        )

    @property
    def sources(self) -> tuple[str, ...]:
        """All of it by id or name."""
        return (*self.ids, *(one.name for one in self.names))


def traced(
    trace_id: str,
    outcome: Outcome,
    trace: MemoryTrace,
    details: Mapping[str, JsonValue],
    sources: Sequence[str],
    reasoning_id: str | None = None,
) -> Fact:
    """A selection, whose trace has no proofs in it.

    It goes with the memory whose words its reasons repeat: with what it selected, and with what
    stands around that.
    """
    says: dict[str, JsonValue] = {
        "type": TRACE,
        "traceId": trace_id,
        "outcome": outcome,
        "trace": trace.to_wire(),
        "details": dict(details),
    }
    if reasoning_id is not None:
        says["reasoningId"] = reasoning_id
    name = names.trace(trace_id)
    refs = [names.ref(one.ref.world_id) for one in trace.selected]
    return Fact(
        "trace",
        says,
        marks=tuple(dict.fromkeys([name, *refs])),
        inputs=tuple(sources),
        output=name if sources else "",
    )
