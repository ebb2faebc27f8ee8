"""What the journal says of a selection: its trace, and what `why` needs besides it.

Proofs are left out of it: the journal is what they are made of, and they are made again from the
tree of the size that stands there.
"""

from collections.abc import Iterable, Mapping, Sequence
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
    subjects: Sequence[str] = (),
) -> Fact:
    """A selection, whose trace has no proofs in it.

    It goes with the memory that was selected, by id or name, and with the persons whom the
    question is about, the first of whom it names: also if nothing was found.
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
    if subjects:
        says["subject"] = subjects[0]
        sources += dict.fromkeys(OfSubject(subject).name for subject in subjects)
    name = names.trace(trace_id)
    refs = [names.ref(memory.ref.world_id) for memory in trace.selected]
    return Fact(
        "trace",
        says,
        marks=tuple(dict.fromkeys([name, *refs])),
        inputs=tuple(sources),
        output=name if sources else "",
    )
