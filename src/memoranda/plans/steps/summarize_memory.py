"""SummarizeMemory: the one place where a summary and keywords are made (ING-SUMMARY-STEP)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from pydantic import Field

from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import WireModel, tuple_of
from memoranda.plans.plan import NOT_NULL
from memoranda.plans.step import TURN, Fails, Limit
from memoranda.plans.steps.inputs import optional_text_input, text_input
from memoranda.plans.summary import MAX_KEYWORDS, MAX_LENGTH, Limits, Summariser, checked

NAME: Final = "SummarizeMemory"
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

    name: Final = NAME
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
        response = text_input(NAME, inputs, "response")
        text = optional_text_input(NAME, inputs, "text")
        limits = Limits(payload.max_length or MAX_LENGTH, payload.max_keywords or MAX_KEYWORDS)
        made = await self._summariser.summarise(response, text, limits)
        if made is None:
            return SummarizeMemoryOutput(summary=None, keywords=()).model_dump(mode="json")
        kept = checked(made, response, text, limits)
        return SummarizeMemoryOutput(summary=kept.summary, keywords=kept.keywords).model_dump(
            mode="json"
        )
