"""RetrieveMemory: the items of this session that this turn's text finds."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from memoranda.kernel.errors import InvalidPlan, ItemDamaged
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import WireModel, tuple_of
from memoranda.plans.items import ItemSearch, RetrievedItem
from memoranda.plans.step import TURN, Fails, Limit
from memoranda.plans.steps.inputs import text_input
from memoranda.plans.steps.retrieval import whole_retrieval

NAME: Final = "RetrieveMemory"


class RetrieveMemoryPayload(WireModel):
    """Nothing: the query is the turn's, and topK stands in the plan's metadata (ING-TOPK)."""


class RetrieveMemoryOutput(WireModel):
    """The items, best first: of each its id, summary and timestamp (ING-OUTPUT)."""

    items: Annotated[Sequence[RetrievedItem], tuple_of(RetrievedItem)]


class RetrieveMemory:
    """Searches a store that is bound to one session.

    No error becomes an empty list, and no item is left out because it can't be read: the cycle
    fails with what the store said (ING-NO-FALLBACK). It makes no keywords out of the query, and
    sees none of the store's (ING-KEYWORDS).
    """

    name: Final = NAME
    stage: Final = "ContextSelect"
    payload: Final = RetrieveMemoryPayload
    takes: Final[Mapping[str, Sequence[str]]] = {"query": (TURN,)}
    gives: Final = ("items",)
    fails: Final[Fails] = "cycle"
    limit: Final[Limit] = "ioMs"

    def __init__(self, items: ItemSearch, top_k: int) -> None:
        """The store, and the plan's topK, which has no default (ING-TOPK)."""
        if type(top_k) is not int or top_k < 0:
            raise InvalidPlan(("$.metadata.topK: it is not a whole number from 0",))
        self._items = items
        self._top_k = top_k

    async def run(
        self, payload: RetrieveMemoryPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """What the store finds for the turn's text, as it is."""
        del payload
        found = await self._items.search(text_input(NAME, inputs, "query"), self._top_k)
        items = whole_retrieval(found)
        if len(items) > self._top_k:
            raise ItemDamaged("$", f"{len(items)} items came for a topK of {self._top_k}")
        return RetrieveMemoryOutput(items=items).model_dump(mode="json")
