"""Steps that ask the model: PromptAssemble and LLMCall."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from memoranda.kernel.errors import CycleFailed, InvalidInput, ModelFailed
from memoranda.kernel.json import JsonValue, storable
from memoranda.kernel.wire import STORABLE, WireModel
from memoranda.plans.models import Model, Prompt, Settings, framed, prompt_of
from memoranda.plans.plan import NOT_NULL, TURN, Fails, Limit
from memoranda.plans.steps.context import ContextEntry, text_input
from memoranda.text.frame import Quoted, estimate, quotable

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

PROMPT_ASSEMBLE: Final = "PromptAssemble"
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


class PromptOutput(WireModel):
    """What is said for the user's side, and the instructions."""

    user: str
    system: str | None = None


class PromptAssembleOutput(WireModel):
    """The prompt."""

    prompt: PromptOutput


class PromptAssemble:
    """Puts the context into its frame, as quoted data, and both texts into the template.

    The plan's budget of tokens is kept by an estimate (`text.frame`): context that does not fit
    is left out from its end, whole pieces only, and the prompt says how many. If not even the
    rest fits, the cycle fails: what the user said is never cut.
    """

    name: Final = PROMPT_ASSEMBLE
    stage: Final = "PromptAssemble"
    payload: Final = PromptAssemblePayload
    takes: Final[Mapping[str, Sequence[str]]] = {"text": (TURN,), "context": ("ContextSelect",)}
    gives: Final = ("prompt",)
    fails: Final[Fails] = "cycle"
    limit: Final[Limit] = "ioMs"

    def __init__(self, prompt_tokens: int | None) -> None:
        """The plan's budget of tokens for a prompt; None where the plan has none."""
        self._budget = prompt_tokens

    async def run(
        self, payload: PromptAssemblePayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        text, context = text_input(PROMPT_ASSEMBLE, inputs, "text"), _context(inputs.get("context"))
        for count in range(self._at_most(context), -1, -1):
            shown = _shown(context[:count], len(context) - count)
            user = filled(payload.template, {"text": text, "context": shown})
            prompt = Prompt(user, payload.system)
            if self._budget is None or _tokens(prompt) <= self._budget:
                return PromptAssembleOutput(
                    prompt=PromptOutput(user=prompt.user, system=prompt.system)
                ).model_dump(exclude_none=True)
        why = f"without any context the prompt is beyond the budget of {self._budget} tokens"
        raise CycleFailed(PROMPT_ASSEMBLE, why)

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


def _context(given: JsonValue) -> Sequence[ContextEntry]:
    if not isinstance(given, list | tuple):
        raise CycleFailed(PROMPT_ASSEMBLE, "its input context is not a list")
    try:
        return [ContextEntry.model_validate(entry) for entry in given]
    except InvalidInput as refused:
        raise CycleFailed(
            PROMPT_ASSEMBLE, f"its input context is not valid: {refused}"
        ) from refused


def _shown(context: Sequence[ContextEntry], left_out: int) -> str:
    """The context in its frame; where there never was any, nothing at all."""
    if not context and not left_out:
        return ""
    return framed([_quoted(entry) for entry in context]) + (
        f"\n({left_out} more left out: the prompt is full)" if left_out else ""
    )


def _quoted(entry: ContextEntry) -> Quoted:
    if entry.kind != "memory":
        return Quoted(entry.text, [_SAID[entry.kind]])
    said = ["not reviewed", *([f"of {entry.timestamp}"] if entry.timestamp else [])]
    return Quoted(entry.text, said, f"memory {entry.id}" if entry.id else "memory")


# ------------------------------------------------------------------------------------------------
# LLMCall: the one place of a plan where a model is asked.

LLM_CALL: Final = "LLMCall"

Listener = Callable[[str], Awaitable[None]]
"""Hears each piece of an answer as it comes, for whoever watches. The cycle may fail later."""


class LLMCallPayload(WireModel):
    """How the model is to answer; what is absent is left to the model."""

    model: Annotated[str | None, NOT_NULL, STORABLE, Field(min_length=1, max_length=256)] = None
    temperature: Annotated[float | None, NOT_NULL, Field(ge=0, le=2, allow_inf_nan=False)] = None
    max_tokens: Annotated[int | None, NOT_NULL, Field(ge=1)] = None


class LLMCallOutput(WireModel):
    """The whole answer. It goes from step to step, and never into the item store (ING-RAW)."""

    response: str


class LLMCall:
    """Asks a model once. It does not ask again, and answers nothing in the model's place."""

    name: Final = LLM_CALL
    stage: Final = "LLMCall"
    payload: Final = LLMCallPayload
    takes: Final[Mapping[str, Sequence[str]]] = {"prompt": ("PromptAssemble",)}
    gives: Final = ("response",)
    fails: Final[Fails] = "cycle"
    limit: Final[Limit] = "llmMs"

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
            raise CycleFailed(LLM_CALL, "its input prompt is not a prompt")
        settings = Settings(payload.model, payload.temperature, payload.max_tokens)
        response = await self._answer(prompt, settings)
        if not isinstance(response, str) or not response.strip():
            raise ModelFailed(_called(settings), "its answer is empty")
        if not storable(response):
            raise ModelFailed(_called(settings), "its answer holds U+0000 or a lone surrogate")
        return LLMCallOutput(response=response).model_dump()

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
