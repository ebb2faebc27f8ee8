"""Steps that gather what a turn is about: RetrieveMemory, RepoScan and ContextSelect."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Protocol

from pydantic import BaseModel, Field

from memoranda.kernel.errors import CycleFailed, InvalidItem, InvalidPlan, ItemDamaged
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import STORABLE, WireModel, tuple_of
from memoranda.plans.items import ItemSearch, RetrievedItem
from memoranda.plans.plan import NOT_NULL
from memoranda.plans.steps import ShippedStep

# ------------------------------------------------------------------------------------------------
# A retrieval is whole or it is none (ING-PARTIAL).
#
# It is looked at twice: by RetrieveMemory, for a store may be anybody's, and by ContextSelect, for
# the step before it may be anybody's too.


def whole_retrieval(found: object) -> tuple[RetrievedItem, ...]:
    """The items of a retrieval; ItemDamaged if any of them is not exactly one, or is there twice.

    An item is read anew even if it claims to be one: a model may have been made unvalidated.
    """
    if not isinstance(found, Sequence) or isinstance(found, str | bytes):
        raise ItemDamaged("$", "what was retrieved is not a list of items")
    items: list[RetrievedItem] = []
    for place, value in enumerate(found):
        where = f"$[{place}]"
        if isinstance(value, BaseModel) and not isinstance(value, RetrievedItem):
            raise ItemDamaged(where, "it is not what a retrieval may give of an item")
        members = dict(vars(value)) if isinstance(value, RetrievedItem) else value
        try:
            item = RetrievedItem.model_validate(members)
        except InvalidItem as refused:
            raise ItemDamaged(f"{where}{refused.where[1:]}", refused.why) from refused
        if any(item.id == before.id for before in items):
            raise ItemDamaged(where, f"the item {item.id} was retrieved twice")
        items.append(item)
    return tuple(items)


# ------------------------------------------------------------------------------------------------
# ContextSelect: what of all that is at hand goes into the prompt, as values.

Source = Literal["text", "items", "repo"]
_IMPLIED: Final[tuple[Source, ...]] = ("repo", "items")


class ContextSelectPayload(WireModel):
    """Which inputs become context, in which order.

    Without it, all that were given but the turn's own text, which stands in the prompt anyway.
    """

    sources: Annotated[Sequence[Source] | None, tuple_of(Source), NOT_NULL, Field(max_length=3)] = (
        None
    )


class ContextEntry(WireModel):
    """One piece of context: what kind it is, and its text; a memory's id and time as well."""

    kind: Literal["turn", "memory", "repo"]
    text: str
    id: str | None = None
    timestamp: str | None = None


class ContextSelect(ShippedStep, type="ContextSelect"):
    """Takes a retrieval only if it is whole: a part of one is none (ING-PARTIAL)."""

    payload: Final = ContextSelectPayload

    async def run(
        self, payload: ContextSelectPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """The context, from the sources that the plan names, in that order."""
        text = self.text(inputs, "text")
        # Looked at even if the plan leaves it out: damage is damage.
        items = whole_retrieval(inputs["items"]) if "items" in inputs else None
        sources = payload.sources
        if sources is None:
            sources = [source for source in _IMPLIED if source in inputs]
        context: list[ContextEntry] = []
        for source in sources:
            if source == "text":
                context.append(ContextEntry(kind="turn", text=text))
            elif source == "repo":
                context.append(ContextEntry(kind="repo", text=self.text(inputs, "repo")))
            elif items is None:
                why = "the plan names items as a source and gives it none"
                raise CycleFailed(self.name, why)
            else:
                context += [
                    ContextEntry(
                        kind="memory", text=item.summary, id=item.id, timestamp=item.timestamp
                    )
                    for item in items
                ]
        return {"context": [entry.model_dump(exclude_none=True) for entry in context]}


# ------------------------------------------------------------------------------------------------
# RetrieveMemory: the items of this session that this turn's text finds.


class RetrieveMemoryPayload(WireModel):
    """Nothing: the query is the turn's, and topK stands in the plan's metadata (ING-TOPK)."""


class RetrieveMemory(ShippedStep, type="RetrieveMemory"):
    """Searches a store that is bound to one session.

    No error becomes an empty list, and no item is left out because it can't be read: the cycle
    fails with what the store said (ING-NO-FALLBACK). It makes no keywords out of the query, and
    sees none of the store's (ING-KEYWORDS).
    """

    payload: Final = RetrieveMemoryPayload

    def __init__(self, items: ItemSearch, top_k: int) -> None:
        """The store, and the plan's topK, which has no default (ING-TOPK)."""
        if type(top_k) is not int or top_k < 0:
            raise InvalidPlan(("$.metadata.topK: it is not a whole number from 0",))
        self._items = items
        self._top_k = top_k

    async def run(
        self, payload: RetrieveMemoryPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        del payload
        found = await self._items.search(self.text(inputs, "query"), self._top_k)
        items = whole_retrieval(found)
        if len(items) > self._top_k:
            raise ItemDamaged("$", f"{len(items)} items came for a topK of {self._top_k}")
        return {"items": [item.model_dump(mode="json") for item in items]}


# ------------------------------------------------------------------------------------------------
# RepoScan: which version of a folder's files this turn is about.


@dataclass(frozen=True, slots=True)
class Scan:
    """A version of a folder: the same files have the same id, whenever and wherever they are."""

    version_id: str
    file_count: int


class Scanner(Protocol):
    """Reads a folder; OSError if any of it can't be read, for half a scan is no version."""

    async def scan(self, path: str) -> Scan:
        """The version of the files below a path."""
        ...


class RepoScanPayload(WireModel):
    """Which folder."""

    path: Annotated[str, Field(min_length=1, max_length=4096), STORABLE]


class RepoScan(ShippedStep, type="RepoScan"):
    """Scans a folder whole, or fails the cycle."""

    payload: Final = RepoScanPayload

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner

    async def run(
        self, payload: RepoScanPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        del inputs
        try:
            scan = await self._scanner.scan(payload.path)
        except OSError as failed:
            why = f"{failed.filename or payload.path}: {failed.strerror or failed}"
            raise CycleFailed(self.name, f"the folder can't be scanned: {why}") from failed
        return {"versionId": scan.version_id, "fileCount": scan.file_count}
