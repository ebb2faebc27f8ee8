"""PersistMemory: what SummarizeMemory made of a turn becomes an item, to be stored at the end."""

from collections.abc import Mapping, Sequence
from typing import Final

from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import CycleFailed
from memoranda.kernel.ids import random_uuid
from memoranda.kernel.json import JsonValue
from memoranda.kernel.randomness import Randomness
from memoranda.kernel.wire import WireModel
from memoranda.ledger.time import format_time
from memoranda.plans.items import MemoryItem
from memoranda.plans.step import TURN, Fails, Limit
from memoranda.plans.steps.inputs import text_input
from memoranda.plans.steps.staging import Staging

NAME: Final = "PersistMemory"


class PersistMemoryPayload(WireModel):
    """Nothing: all that an item is made of comes from other steps and from the turn."""


class PersistMemoryOutput(WireModel):
    """The id of the item that will be there once the cycle has succeeded; none for no summary."""

    id: str | None


class PersistMemory:
    """Stages an item of exactly five fields, and writes nothing (ING-PERSIST, ING-WHITELIST).

    Where the response was too short to be summarised, there is nothing to stage.
    Keywords are taken as they are: none is made here, and none is changed (ING-KEYWORDS).
    """

    name: Final = NAME
    stage: Final = "Persist"
    payload: Final = PersistMemoryPayload
    takes: Final[Mapping[str, Sequence[str]]] = {
        "summary": ("SummarizeMemory",),
        "keywords": ("SummarizeMemory",),
        "sessionRef": (TURN,),
    }
    gives: Final = ("id",)
    fails: Final[Fails] = "fast"
    limit: Final[Limit] = "ioMs"

    def __init__(self, staging: Staging, clock: Clock, randomness: Randomness) -> None:
        self._staging = staging
        self._clock = clock
        self._randomness = randomness

    async def run(
        self, payload: PersistMemoryPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """Make the item and stage it; InvalidItem if what came can't be one."""
        del payload
        if "keywords" not in inputs:
            raise CycleFailed(NAME, "its input keywords is missing")
        if "summary" in inputs and (inputs["summary"], inputs["keywords"]) == (None, []):
            return PersistMemoryOutput(id=None).model_dump()
        item = MemoryItem.model_validate(
            {
                "id": random_uuid(self._randomness),
                "sessionRef": text_input(NAME, inputs, "sessionRef"),
                "timestamp": format_time(self._clock.now_ms()),
                "summary": text_input(NAME, inputs, "summary"),
                "keywords": inputs["keywords"],
            }
        )
        self._staging.stage_item(item)
        return PersistMemoryOutput(id=item.id).model_dump()
