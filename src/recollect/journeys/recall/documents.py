"""What the journal says of a selection: its trace, and what `why` needs beside it.

Proofs are left out of it: the journal is what they are made of, and they are made again from the
tree of the size that stands there.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from recollect.journeys.intent import names
from recollect.kernel.json import JsonValue
from recollect.ledger.fact import Fact
from recollect.recall.selector import Outcome
from recollect.recall.trace import MemoryTrace

TRACE: Final = "Trace"


def traced(
    trace_id: str,
    outcome: Outcome,
    trace: MemoryTrace,
    details: Mapping[str, JsonValue],
    sources: Sequence[str],
    reasoning_id: str | None = None,
) -> Fact:
    """A selection, whose trace has no proofs in it.

    It goes with the memory that it selected, whose words its reasons repeat.
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
