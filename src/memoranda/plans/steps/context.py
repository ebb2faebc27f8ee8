"""Steps that gather what a turn is about: RetrieveMemory, RepoScan and ContextSelect."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Protocol

from pydantic import BaseModel, Field

from memoranda.kernel.errors import CycleFailed, InvalidItem, InvalidPlan, ItemDamaged
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import STORABLE, WireModel, tuple_of
from memoranda.plans.items import ItemSearch, RetrievedItem
from memoranda.plans.plan import NOT_NULL, TURN, Fails, Limit

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
# The inputs of a step, read strictly: what is of another kind than it must be fails the cycle.


def text_input(step: str, inputs: Mapping[str, JsonValue], name: str) -> str:
    """An input that is a text; CycleFailed if there is none, or it is something else."""
    if name not in inputs:
        raise CycleFailed(step, f"its input {name} is missing")
    if not isinstance(inputs[name], str):
        raise CycleFailed(step, f"its input {name} is not a text")
    return str(inputs[name])


def optional_text_input(step: str, inputs: Mapping[str, JsonValue], name: str) -> str | None:
    """The same, for an input that may be absent; null is something else too."""
    return text_input(step, inputs, name) if name in inputs else None


# ------------------------------------------------------------------------------------------------
# ContextSelect: what of all that is at hand goes into the prompt, as values.

CONTEXT_SELECT: Final = "ContextSelect"

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


class ContextSelectOutput(WireModel):
    """The context, the most important piece first."""

    context: Annotated[Sequence[ContextEntry], tuple_of(ContextEntry)]


class ContextSelect:
    """Takes a retrieval only if it is whole: a part of one is none (ING-PARTIAL)."""

    name: Final = CONTEXT_SELECT
    stage: Final = "ContextSelect"
    payload: Final = ContextSelectPayload
    takes: Final[Mapping[str, Sequence[str]]] = {
        "text": (TURN,),
        "items?": ("RetrieveMemory",),
        "repo?": ("RepoScan",),
    }
    gives: Final = ("context",)
    fails: Final[Fails] = "cycle"
    limit: Final[Limit] = "ioMs"

    async def run(
        self, payload: ContextSelectPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """The context, from the sources that the plan names, in that order."""
        text_input(CONTEXT_SELECT, inputs, "text")
        if "items" in inputs:  # looked at even if the plan leaves it out: damage is damage
            whole_retrieval(inputs["items"])
        sources = payload.sources
        if sources is None:
            sources = [source for source in _IMPLIED if source in inputs]
        context = tuple(entry for source in sources for entry in _entries(source, inputs))
        return ContextSelectOutput(context=context).model_dump(mode="json", exclude_none=True)


def _entries(source: Source, inputs: Mapping[str, JsonValue]) -> Iterator[ContextEntry]:
    match source:
        case "items":
            if "items" not in inputs:
                why = "the plan names items as a source and gives it none"
                raise CycleFailed(CONTEXT_SELECT, why)
            for item in whole_retrieval(inputs["items"]):
                yield ContextEntry(
                    kind="memory", text=item.summary, id=item.id, timestamp=item.timestamp
                )
        case "repo":
            yield ContextEntry(kind="repo", text=text_input(CONTEXT_SELECT, inputs, "repo"))
        case "text":
            yield ContextEntry(kind="turn", text=text_input(CONTEXT_SELECT, inputs, "text"))


# ------------------------------------------------------------------------------------------------
# RetrieveMemory: the items of this session that this turn's text finds.

RETRIEVE_MEMORY: Final = "RetrieveMemory"


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

    name: Final = RETRIEVE_MEMORY
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
        found = await self._items.search(text_input(RETRIEVE_MEMORY, inputs, "query"), self._top_k)
        items = whole_retrieval(found)
        if len(items) > self._top_k:
            raise ItemDamaged("$", f"{len(items)} items came for a topK of {self._top_k}")
        return RetrieveMemoryOutput(items=items).model_dump(mode="json")


# ------------------------------------------------------------------------------------------------
# RepoScan: which version of a folder's files this turn is about.

REPO_SCAN: Final = "RepoScan"


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


class RepoScanOutput(WireModel):
    """Its version."""

    version_id: str
    file_count: int


class RepoScan:
    """Scans a folder whole, or fails the cycle."""

    name: Final = REPO_SCAN
    stage: Final = "RepoScan"
    payload: Final = RepoScanPayload
    takes: Final[Mapping[str, Sequence[str]]] = {}
    gives: Final = ("versionId", "fileCount")
    fails: Final[Fails] = "cycle"
    limit: Final[Limit] = "ioMs"

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner

    async def run(
        self, payload: RepoScanPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """The version of the folder that the plan names."""
        del inputs
        try:
            scan = await self._scanner.scan(payload.path)
        except OSError as failed:
            why = f"{failed.filename or payload.path}: {failed.strerror or failed}"
            raise CycleFailed(REPO_SCAN, f"the folder can't be scanned: {why}") from failed
        return RepoScanOutput(version_id=scan.version_id, file_count=scan.file_count).model_dump()
