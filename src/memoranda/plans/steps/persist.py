"""Steps that keep what a turn leaves: SummarizeMemory, PersistMemory and PersistSession."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal, Protocol

from pydantic import Field

from memoranda.kernel.clock import Clock, Randomness, random_uuid
from memoranda.kernel.errors import CycleFailed
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import WireModel, tuple_of
from memoranda.ledger.time import format_time
from memoranda.plans.items import MemoryItem, check_session_ref
from memoranda.plans.plan import NOT_NULL, TURN, Fails, Limit
from memoranda.plans.steps.context import optional_text_input, text_input
from memoranda.plans.summary import MAX_KEYWORDS, MAX_LENGTH, Limits, Summariser, checked

# ------------------------------------------------------------------------------------------------
# SummarizeMemory: the one place where a summary and keywords are made (ING-SUMMARY-STEP).

SUMMARIZE_MEMORY: Final = "SummarizeMemory"
LONGEST: Final = 2_000
MOST_KEYWORDS: Final = 32


class SummarizeMemoryPayload(WireModel):
    """How much is kept at most."""

    max_length: Annotated[int | None, NOT_NULL, Field(ge=16, le=LONGEST)] = None
    max_keywords: Annotated[int | None, NOT_NULL, Field(ge=1, le=MOST_KEYWORDS)] = None


class SummarizeMemoryOutput(WireModel):
    """What PersistMemory may store of this turn; no summary where the response is too short."""

    summary: str | None
    keywords: Annotated[Sequence[str], tuple_of(str)]


class SummarizeMemory:
    """Asks a summariser, checks what it made, and stores nothing (ING-SUMMARY-STEP).

    Whatever summariser it is handed, a summary that holds the whole response ends the cycle
    (ING-RAW): it is not shortened here, for then it would be of our making.
    """

    name: Final = SUMMARIZE_MEMORY
    stage: Final = "SummarizeMemory"
    payload: Final = SummarizeMemoryPayload
    takes: Final[Mapping[str, Sequence[str]]] = {"response": ("LLMCall",), "text?": (TURN,)}
    gives: Final = ("summary", "keywords")
    fails: Final[Fails] = "cycle"
    limit: Final[Limit] = "llmMs"

    def __init__(self, summariser: Summariser) -> None:
        self._summariser = summariser

    async def run(
        self, payload: SummarizeMemoryPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """A summary and keywords of the response; InvalidItem if they may not be kept.

        No summary, and no keywords, where the response is too short to be summarised.
        """
        response = text_input(SUMMARIZE_MEMORY, inputs, "response")
        text = optional_text_input(SUMMARIZE_MEMORY, inputs, "text")
        limits = Limits(payload.max_length or MAX_LENGTH, payload.max_keywords or MAX_KEYWORDS)
        made = await self._summariser.summarise(response, text, limits)
        if made is None:
            return SummarizeMemoryOutput(summary=None, keywords=()).model_dump(mode="json")
        kept = checked(made, response, text, limits)
        return SummarizeMemoryOutput(summary=kept.summary, keywords=kept.keywords).model_dump(
            mode="json"
        )


# ------------------------------------------------------------------------------------------------
# What the two persisting steps are handed: a place to put what the cycle is to store at its end.
#
# To stage is not to write. Whoever runs the cycle commits what was staged, all of it in one unit
# and only after the last step has succeeded; a cycle that fails is dropped with it (ING-PERSIST).


class Staging(Protocol):
    """What one cycle is to store. Nobody sees it before the commit, and nothing reads it back."""

    def stage_item(self, item: MemoryItem) -> None:
        """An item is to be stored."""
        ...

    def stage_session(self, session_ref: str, repo_scan_version: str | None) -> None:
        """The session is to be stored; with the version of the folder that this cycle scanned."""
        ...


# ------------------------------------------------------------------------------------------------
# PersistMemory: what SummarizeMemory made of a turn becomes an item, to be stored at the end.

PERSIST_MEMORY: Final = "PersistMemory"


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

    name: Final = PERSIST_MEMORY
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
            raise CycleFailed(PERSIST_MEMORY, "its input keywords is missing")
        if "summary" in inputs and (inputs["summary"], inputs["keywords"]) == (None, []):
            return PersistMemoryOutput(id=None).model_dump()
        item = MemoryItem.model_validate(
            {
                "id": random_uuid(self._randomness),
                "sessionRef": text_input(PERSIST_MEMORY, inputs, "sessionRef"),
                "timestamp": format_time(self._clock.now_ms()),
                "summary": text_input(PERSIST_MEMORY, inputs, "summary"),
                "keywords": inputs["keywords"],
            }
        )
        self._staging.stage_item(item)
        return PersistMemoryOutput(id=item.id).model_dump()


# ------------------------------------------------------------------------------------------------
# PersistSession: the session goes on from this turn, once the cycle has succeeded.

PERSIST_SESSION: Final = "PersistSession"


class PersistSessionPayload(WireModel):
    """Nothing: what a session stores is fixed."""


class PersistSessionOutput(WireModel):
    """That it is staged: whether it was written is known only after the cycle."""

    status: Literal["staged"] = "staged"


class PersistSession:
    """Stages the session, and writes nothing (ING-PERSIST)."""

    name: Final = PERSIST_SESSION
    stage: Final = "Persist"
    payload: Final = PersistSessionPayload
    takes: Final[Mapping[str, Sequence[str]]] = {"sessionRef": (TURN,), "repo?": ("RepoScan",)}
    gives: Final = ("status",)
    fails: Final[Fails] = "fast"
    limit: Final[Limit] = "ioMs"

    def __init__(self, staging: Staging) -> None:
        self._staging = staging

    async def run(
        self, payload: PersistSessionPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """Stage the session, with the version of a folder where one was scanned."""
        del payload
        session_ref = check_session_ref(text_input(PERSIST_SESSION, inputs, "sessionRef"))
        repo = optional_text_input(PERSIST_SESSION, inputs, "repo")
        self._staging.stage_session(session_ref, repo)
        return PersistSessionOutput().model_dump()
