"""PersistMemory: what SummarizeMemory made of a turn becomes an item, to be stored at the end."""

from collections.abc import Mapping, Sequence
from typing import Final

from recollect.kernel.clock import Clock
from recollect.kernel.errors import CycleFailed
from recollect.kernel.ids import random_uuid
from recollect.kernel.json import JsonValue
from recollect.kernel.randomness import Randomness
from recollect.kernel.wire import WireModel
from recollect.ledger.time import format_time
from recollect.plans.items import MemoryItem
from recollect.plans.step import TURN, Fails, Limit
from recollect.plans.steps.inputs import text_input
from recollect.plans.steps.staging import Staging

NAME: Final = "PersistMemory"


class PersistMemoryPayload(WireModel):
    """Nothing: all that an item is made of comes from other steps and from the turn."""


class PersistMemoryOutput(WireModel):
    """The id of the item that will be there once the cycle has succeeded."""

    id: str


class PersistMemory:
    """Stages an item of exactly five fields, and writes nothing (ING-PERSIST, ING-WHITELIST).

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
