"""Recordings: what a cycle was given and what came of it, kept where somebody asked for it.

They are off by default (ING-RAW). A recording holds raw content, so it lies in a table of its own
that no step, no item store and no search reaches, and that an erasure empties. It goes there with
the cycle's own unit of work, or not at all.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import BodyUnreadable, InvalidInput, NotRecorded
from memoranda.kernel.json import JsonValue, parse
from memoranda.kernel.wire import WireModel, tuple_of
from memoranda.ledger.attachments import AttachmentRows, CycleValues


class RecordedStep(WireModel):
    """A step of a recorded cycle: its id, and its output."""

    id: str
    output: dict[str, JsonValue]


class CycleRecording(WireModel):
    """All that a replay of a cycle needs, as values."""

    version: Literal[1] = 1
    cycle_id: str
    plan_hash: str
    plan: dict[str, JsonValue]
    policy_ref: JsonValue
    turn: dict[str, JsonValue]
    """What the turn was given besides its plan."""
    steps: Annotated[tuple[RecordedStep, ...], tuple_of(RecordedStep)]
    """The outputs, in the order of the steps."""
    answers: Annotated[tuple[str, ...], tuple_of(str)]
    """What the model answered, in the order of the calls."""

    @property
    def outputs(self) -> Mapping[str, dict[str, JsonValue]]:
        return {step.id: step.output for step in self.steps}

    @property
    def attachment(self) -> CycleValues:
        return CycleValues(self.cycle_id, canonical_bytes(self.model_dump()))


async def read_recording(rows: AttachmentRows, cycle_id: str) -> CycleRecording:
    """What was recorded of a cycle; NotRecorded if nothing was, or if it was erased.

    BodyUnreadable if what is stored is no recording.
    """
    body = await rows.recording(cycle_id)
    if body is None:
        raise NotRecorded(cycle_id)
    try:
        return CycleRecording.model_validate(parse(body, max_bytes=len(body)))
    except InvalidInput as refused:
        raise BodyUnreadable(str(refused)) from refused
