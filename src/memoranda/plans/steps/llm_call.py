"""LLMCall: the one place of a plan where a model is asked."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Final

from pydantic import Field

from memoranda.kernel.errors import CycleFailed, ModelFailed
from memoranda.kernel.json import JsonValue, storable
from memoranda.kernel.wire import STORABLE, WireModel
from memoranda.plans.models import Model, Prompt, Settings, prompt_of
from memoranda.plans.plan import NOT_NULL
from memoranda.plans.step import Fails, Limit

NAME: Final = "LLMCall"

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

    name: Final = NAME
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
            raise CycleFailed(NAME, "its input prompt is not a prompt")
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
