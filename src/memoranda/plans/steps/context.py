"""Steps that gather what a turn is about: what is remembered, the files, and what is chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Protocol

from pydantic import BaseModel, Field

from memoranda.kernel.errors import (
    CycleFailed,
    InvalidInput,
    InvalidItem,
    InvalidPlan,
    ItemDamaged,
    RecallFailed,
)
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import STORABLE, WireModel, tuple_of
from memoranda.ledger.object import Trust
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


class RecalledMemory(WireModel):
    """What a turn is given of governed memory: what it says, which it is, and what it is worth."""

    id: Annotated[str, Field(min_length=1), STORABLE]
    text: Annotated[str, STORABLE]
    timestamp: Annotated[str, Field(min_length=1)]
    """When it was written."""
    trust: Trust
    verified: bool


@dataclass(frozen=True, slots=True)
class MemoryAnswer:
    """What a recall came to: the outcome, what was selected, the trace, and why it is not whole."""

    trace_id: str
    outcome: str
    memories: Sequence[RecalledMemory] = ()
    notes: Sequence[str] = ()


_WHOLE: Final = ("found", "empty")
"""The outcomes of a recall that a plan goes on with."""


def whole_recall(found: object, step: str) -> tuple[RecalledMemory, ...]:
    """The memories of a recall; CycleFailed if any of them is not exactly one, or is there twice.

    Each is read anew, as in `whole_retrieval`.
    """
    if not isinstance(found, Sequence) or isinstance(found, str | bytes):
        raise CycleFailed(step, "what was recalled is not a list of memories")
    memories: dict[str, RecalledMemory] = {}
    for place, value in enumerate(found):
        members = dict(vars(value)) if isinstance(value, RecalledMemory) else value
        try:
            memory = RecalledMemory.model_validate(members)
        except InvalidInput as refused:
            raise CycleFailed(step, f"memory {place} is damaged: {refused}") from refused
        if memory.id in memories:
            raise CycleFailed(step, f"the memory {memory.id} was recalled twice")
        memories[memory.id] = memory
    return tuple(memories.values())


# ------------------------------------------------------------------------------------------------
# ContextSelect: what of all that is at hand goes into the prompt, as values.

Source = Literal["text", "items", "memories", "repo"]
_IMPLIED: Final[tuple[Source, ...]] = ("repo", "memories", "items")


class ContextSelectPayload(WireModel):
    """Which inputs become context, in which order.

    Without it, all that were given but the turn's own text, which stands in the prompt anyway.
    """

    sources: Annotated[Sequence[Source] | None, tuple_of(Source), NOT_NULL, Field(max_length=4)] = (
        None
    )


class ContextEntry(WireModel):
    """One piece of context: what kind it is, and its text; of memory also which, and its worth.

    A ``memory`` is an item of the session, a ``record`` is governed memory.
    """

    kind: Literal["turn", "memory", "record", "repo"]
    text: str
    id: str | None = None
    timestamp: str | None = None
    trust: Trust | None = None
    verified: bool | None = None


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
        memories = whole_recall(inputs["memories"], self.name) if "memories" in inputs else None
        sources = payload.sources
        if sources is None:
            sources = [source for source in _IMPLIED if source in inputs]
        context: list[ContextEntry] = []
        for source in sources:
            if source == "text":
                context.append(ContextEntry(kind="turn", text=text))
            elif source == "repo":
                context.append(ContextEntry(kind="repo", text=self.text(inputs, "repo")))
            elif source not in inputs:
                why = f"the plan names {source} as a source and gives it none"
                raise CycleFailed(self.name, why)
            elif source == "memories":
                context += [_of_record(memory) for memory in memories or ()]
            else:
                context += [
                    ContextEntry(
                        kind="memory", text=item.summary, id=item.id, timestamp=item.timestamp
                    )
                    for item in items or ()
                ]
        return {"context": [entry.model_dump(exclude_none=True) for entry in context]}


def _of_record(memory: RecalledMemory) -> ContextEntry:
    return ContextEntry(kind="record", **memory.model_dump())


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
        self._items = items
        self._top_k = _checked_top_k(top_k)

    async def run(
        self, payload: RetrieveMemoryPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        del payload
        found = await self._items.search(self.text(inputs, "query"), self._top_k)
        items = whole_retrieval(found)
        if len(items) > self._top_k:
            raise ItemDamaged("$", f"{len(items)} items came for a topK of {self._top_k}")
        return {"items": [item.model_dump(mode="json") for item in items]}


def _checked_top_k(given: int) -> int:
    if type(given) is not int or given < 0:
        raise InvalidPlan(("$.metadata.topK: it is not a whole number from 0",))
    return given


# ------------------------------------------------------------------------------------------------
# RecallMemory: the governed memory of the scope that this turn's text finds, and the trace of that.


class MemoryRecall(Protocol):
    """Selects governed memory, verifies it, and writes the trace of it before it answers."""

    async def recall(self, query: str, top_k: int) -> MemoryAnswer:
        """What a recall came to; one that failed is an answer too, and has no memories."""
        ...


class RecallMemoryPayload(WireModel):
    """Nothing: the query is the turn's, and topK stands in the plan's metadata (ING-TOPK)."""


class RecallMemory(ShippedStep, type="RecallMemory"):
    """Takes a recall only if it is whole: one that failed or degraded fails the cycle.

    Recall itself degrades, and says so; a plan does not go on with less (ING-NO-FALLBACK). Finding
    nothing is a success.
    """

    payload: Final = RecallMemoryPayload

    def __init__(self, memory: MemoryRecall, top_k: int) -> None:
        """What recalls, and the plan's topK, which has no default (ING-TOPK)."""
        self._memory = memory
        self._top_k = _checked_top_k(top_k)

    async def run(
        self, payload: RecallMemoryPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        del payload
        answer = await self._memory.recall(self.text(inputs, "query"), self._top_k)
        if answer.outcome not in _WHOLE:
            why = "; ".join(answer.notes) or "nobody said why"
            if answer.outcome == "failed":
                raise RecallFailed(answer.trace_id, why)
            raise CycleFailed(self.name, f"the recall {answer.trace_id} is {answer.outcome}: {why}")
        memories = whole_recall(answer.memories, self.name)
        if len(memories) > self._top_k:
            why = f"{len(memories)} memories came for a topK of {self._top_k}"
            raise CycleFailed(self.name, why)
        return {
            "memories": [memory.model_dump(mode="json") for memory in memories],
            "traceId": answer.trace_id,
        }


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
