"""What the journal says of a selection: its trace, and what `why` needs beside it.

Proofs are left out of it: the journal is what they are made of, and they are made again from the
tree of the size that stands there.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from memoranda.journeys.intent import names
from memoranda.kernel.json import JsonValue
from memoranda.ledger.fact import Fact
from memoranda.ledger.unit import OfSubject
from memoranda.recall.selector import Outcome
from memoranda.recall.trace import MemoryTrace

TRACE: Final = "Trace"


def traced(
    trace_id: str,
    outcome: Outcome,
    trace: MemoryTrace,
    details: Mapping[str, JsonValue],
    selected: Iterable[str],
    *,
    reasoning_id: str | None = None,
    subject: str | None = None,
) -> Fact:
    """A selection, whose trace has no proofs in it.

    It goes with the memory that was selected, by id or name, and with the person whom the question
    is about: also if nothing was found.
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
    sources = list(dict.fromkeys(selected))
    if subject is not None:
        says["subject"] = subject
        sources.append(OfSubject(subject).name)
    name = names.trace(trace_id)
    refs = [names.ref(one.ref.world_id) for one in trace.selected]
    return Fact(
        "trace",
        says,
        marks=tuple(dict.fromkeys([name, *refs])),
        inputs=tuple(sources),
        output=name if sources else "",
    )
