"""Steps that ask the model, and keep what it answers."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Final, Protocol

from pydantic import AfterValidator, Field

from memoranda.kernel.clock import Clock, Randomness, format_time, random_uuid
from memoranda.kernel.errors import CycleFailed, InvalidInput, ModelFailed
from memoranda.kernel.json import JsonValue, storable
from memoranda.kernel.wire import STORABLE, WireModel
from memoranda.ledger.object import TRUST_SHOWN
from memoranda.plans.facts import ExtractedFact
from memoranda.plans.items import MemoryItem, check_session_ref
from memoranda.plans.models import Model, Prompt, Settings, framed, prompt_of
from memoranda.plans.plan import NOT_NULL
from memoranda.plans.steps import ShippedStep
from memoranda.plans.steps.context import ContextEntry
from memoranda.plans.summary import MAX_KEYWORDS, MAX_LENGTH, Limits, Summariser, checked
from memoranda.text.frame import Quoted, estimate, quotable

# ------------------------------------------------------------------------------------------------
# Steps that ask the model: PromptAssemble and LLMCall.

# ------------------------------------------------------------------------------------------------
# Templates of prompts: a text with two places, ``{text}`` and ``{context}``, each there once.
#
# A brace that is meant as one is written twice. Nothing else can stand in braces, and what is put
# in is never read again: no text of a user and no memory can name a place.

PLACES: Final = ("text", "context")

_PART: Final = re.compile(r"\{\{|\}\}|\{(?P<place>[^{}]*)\}|[{}]")
_BRACES: Final = {"{{": "{", "}}": "}"}


def check_template(template: str) -> str:
    """The template, if it is one; ValueError says what is wrong with it."""
    places = []
    for part in _PART.finditer(template):
        if part[0] in _BRACES:
            continue
        if part["place"] is None:
            raise ValueError(
                f"a {part[0]} has no partner: write it twice to mean the character itself"
            )
        if part["place"] not in PLACES:
            raise ValueError(f"there is no place {part[0]}: only {{text}} and {{context}}")
        places.append(part["place"])
    for place in PLACES:
        if places.count(place) != 1:
            raise ValueError(f"it must contain {{{place}}} exactly once")
    return template


def filled(template: str, values: dict[str, str]) -> str:
    """A template that was checked, with its two places filled, in one pass."""
    return _PART.sub(lambda part: _BRACES.get(part[0]) or values[part["place"]], template)


# ------------------------------------------------------------------------------------------------
# PromptAssemble: what the model is asked, from values alone.
#
# Its constructor takes a number and nothing else: there is no way from here to a store (ING-STAGE).

_LONGEST: Final = 65_536
_SAID: Final = {"repo": "the version of the files", "turn": "what the user says"}

Template = Annotated[
    str, STORABLE, Field(min_length=1, max_length=_LONGEST), AfterValidator(check_template)
]


class PromptAssemblePayload(WireModel):
    """What stands around the turn's text and the context; and the instructions, if any."""

    template: Template
    system: Annotated[str | None, NOT_NULL, STORABLE, Field(min_length=1, max_length=_LONGEST)] = (
        None
    )


class PromptAssemble(ShippedStep, type="PromptAssemble"):
    """Puts the context into its frame, as quoted data, and both texts into the template.

    The plan's budget of tokens is kept by an estimate (`text.frame`): context that does not fit
    is left out from its end, whole pieces only, and the prompt says how many. If not even the
    rest fits, the cycle fails: what the user said is never cut.
    """

    payload: Final = PromptAssemblePayload

    def __init__(self, prompt_tokens: int | None) -> None:
        """The plan's budget of tokens for a prompt; None where the plan has none."""
        self._budget = prompt_tokens

    async def run(
        self, payload: PromptAssemblePayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        text, context = self.text(inputs, "text"), self._context(inputs.get("context"))
        for count in range(self._at_most(context), -1, -1):
            shown = _shown(context[:count], len(context) - count)
            user = filled(payload.template, {"text": text, "context": shown})
            prompt = Prompt(user, payload.system)
            if self._budget is None or _tokens(prompt) <= self._budget:
                return {"prompt": prompt.to_wire()}
        why = f"without any context the prompt is beyond the budget of {self._budget} tokens"
        raise CycleFailed(self.name, why)

    def _context(self, given: JsonValue) -> Sequence[ContextEntry]:
        if not isinstance(given, list | tuple):
            raise CycleFailed(self.name, "its input context is not a list")
        try:
            return [ContextEntry.model_validate(entry) for entry in given]
        except InvalidInput as refused:
            why = f"its input context is not valid: {refused}"
            raise CycleFailed(self.name, why) from refused

    def _at_most(self, context: Sequence[ContextEntry]) -> int:
        """How many pieces could fit by their texts alone: no more of them are tried."""
        if self._budget is None:
            return len(context)
        left = self._budget
        for count, entry in enumerate(context):
            left -= estimate(quotable(entry.text)) - 1  # each estimate is rounded up
            if left < 0:
                return count
        return len(context)


def _tokens(prompt: Prompt) -> int:
    return estimate(prompt.user) + estimate(prompt.system or "")


def _shown(context: Sequence[ContextEntry], left_out: int) -> str:
    """The context in its frame; where there never was any, nothing at all."""
    if not context and not left_out:
        return ""
    return framed([_quoted(entry) for entry in context]) + (
        f"\n({left_out} more left out: the prompt is full)" if left_out else ""
    )


def _quoted(entry: ContextEntry) -> Quoted:
    if entry.kind in _SAID:
        return Quoted(entry.text, [_SAID[entry.kind]])
    said = [TRUST_SHOWN[entry.trust or "unreviewed"]]
    if entry.verified is not None:
        said.append("verified" if entry.verified else "not verified")
    if entry.timestamp:
        said.append(f"of {entry.timestamp}")
    return Quoted(entry.text, said, f"memory {entry.id}" if entry.id else "memory")


# ------------------------------------------------------------------------------------------------
# LLMCall: the one place of a plan where a model is asked.

Listener = Callable[[str], Awaitable[None]]
"""Hears each piece of an answer as it comes, for whoever watches. The cycle may fail later."""


class LLMCallPayload(WireModel):
    """How the model is to answer; what is absent is left to the model."""

    model: Annotated[str | None, NOT_NULL, STORABLE, Field(min_length=1, max_length=256)] = None
    temperature: Annotated[float | None, NOT_NULL, Field(ge=0, le=2, allow_inf_nan=False)] = None
    max_tokens: Annotated[int | None, NOT_NULL, Field(ge=1)] = None


class LLMCall(ShippedStep, type="LLMCall"):
    """Asks a model once. It does not ask again, and answers nothing in the model's place."""

    payload: Final = LLMCallPayload
    limit = "llmMs"

    def __init__(self, model: Model, listener: Listener | None = None) -> None:
        """A model; with a listener its answer is streamed to it, and is the same."""
        self._model = model
        self._listener = listener

    async def run(
        self, payload: LLMCallPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """What the model answers; ModelFailed if that is nothing, or can't be kept."""
        prompt = prompt_of(inputs.get("prompt"))
        if prompt is None:
            raise CycleFailed(self.name, "its input prompt is not a prompt")
        settings = Settings(payload.model, payload.temperature, payload.max_tokens)
        response = await self._answer(prompt, settings)
        if not isinstance(response, str) or not response.strip():
            raise ModelFailed(_called(settings), "its answer is empty")
        if not storable(response):
            raise ModelFailed(_called(settings), "its answer holds U+0000 or a lone surrogate")
        return {"response": response}

    async def _answer(self, prompt: Prompt, settings: Settings) -> str:
        if self._listener is None:
            return await self._model.complete(prompt, settings)
        pieces = []
        async with aclosing(self._model.stream(prompt, settings)) as stream:
            async for piece in stream:
                pieces.append(piece)
                await self._listener(piece)
        return "".join(pieces)


def _called(settings: Settings) -> str:
    return settings.model or "of this plan"


# ------------------------------------------------------------------------------------------------
# Steps that keep what a turn leaves: SummarizeMemory, PersistMemory and PersistSession.

# ------------------------------------------------------------------------------------------------
# SummarizeMemory: the one place where a summary and keywords are made (ING-SUMMARY-STEP).

LONGEST: Final = 2_000
MOST_KEYWORDS: Final = 32


class SummarizeMemoryPayload(WireModel):
    """How much is kept at most."""

    max_length: Annotated[int | None, NOT_NULL, Field(ge=16, le=LONGEST)] = None
    max_keywords: Annotated[int | None, NOT_NULL, Field(ge=1, le=MOST_KEYWORDS)] = None


class SummarizeMemory(ShippedStep, type="SummarizeMemory"):
    """Asks a summariser, checks what it made, and stores nothing (ING-SUMMARY-STEP).

    Whatever summariser it is handed, a summary that holds the whole response ends the cycle
    (ING-RAW): it is not shortened here, for then it would be of our making.
    """

    payload: Final = SummarizeMemoryPayload
    limit = "llmMs"

    def __init__(self, summariser: Summariser) -> None:
        self._summariser = summariser

    async def run(
        self, payload: SummarizeMemoryPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """A summary and keywords of the response; InvalidItem if they may not be kept.

        No summary, and no keywords, where the response is too short to be summarised.
        """
        response = self.text(inputs, "response")
        text = self.optional_text(inputs, "text")
        limits = Limits(payload.max_length or MAX_LENGTH, payload.max_keywords or MAX_KEYWORDS)
        made = await self._summariser.summarise(response, text, limits)
        if made is None:
            return {"summary": None, "keywords": []}
        kept = checked(made, response, text, limits)
        return {"summary": kept.summary, "keywords": list(kept.keywords)}


# ------------------------------------------------------------------------------------------------
# What the persisting steps are handed: a place to put what the cycle is to store at its end.
#
# To stage is not to write. Whoever runs the cycle commits what was staged, all of it in one unit
# and only after the last step has succeeded; a cycle that fails is dropped with it (ING-PERSIST).


class Staging(Protocol):
    """What one cycle is to store. Nobody sees it before the commit, and nothing reads it back."""

    def stage_item(self, item: MemoryItem) -> None:
        """An item is to be stored."""
        ...

    def stage_fact(self, session_ref: str, fact: ExtractedFact) -> None:
        """A fact of this session's turn is to be remembered."""
        ...

    def stage_session(self, session_ref: str, repo_scan_version: str | None) -> None:
        """The session is to be stored; with the version of the folder that this cycle scanned."""
        ...


# ------------------------------------------------------------------------------------------------
# PersistMemory: what SummarizeMemory made of a turn becomes an item, to be stored at the end.


class PersistMemoryPayload(WireModel):
    """Nothing: all that an item is made of comes from other steps and from the turn."""


class PersistMemory(ShippedStep, type="PersistMemory"):
    """Stages an item of exactly five fields, and writes nothing (ING-PERSIST, ING-WHITELIST).

    Where the response was too short to be summarised, there is nothing to stage.
    Keywords are taken as they are: none is made here, and none is changed (ING-KEYWORDS).
    """

    payload: Final = PersistMemoryPayload

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
            raise CycleFailed(self.name, "its input keywords is missing")
        if "summary" in inputs and (inputs["summary"], inputs["keywords"]) == (None, []):
            return {"id": None}
        item = MemoryItem.model_validate(
            {
                "id": random_uuid(self._randomness),
                "sessionRef": self.text(inputs, "sessionRef"),
                "timestamp": format_time(self._clock.now_ms()),
                "summary": self.text(inputs, "summary"),
                "keywords": inputs["keywords"],
            }
        )
        self._staging.stage_item(item)
        return {"id": item.id}


# ------------------------------------------------------------------------------------------------
# PersistSession: the session goes on from this turn, once the cycle has succeeded.


class PersistSessionPayload(WireModel):
    """Nothing: what a session stores is fixed."""


class PersistSession(ShippedStep, type="PersistSession"):
    """Stages the session, and writes nothing (ING-PERSIST)."""

    payload: Final = PersistSessionPayload

    def __init__(self, staging: Staging) -> None:
        self._staging = staging

    async def run(
        self, payload: PersistSessionPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """Stage the session, with the version of a folder where one was scanned."""
        del payload
        session_ref = check_session_ref(self.text(inputs, "sessionRef"))
        repo = self.optional_text(inputs, "repo")
        self._staging.stage_session(session_ref, repo)
        return {"status": "staged"}  # whether it was written is known only after the cycle
