"""LLMCall asks once, and hands on what the model said, whole."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from memoranda.kernel.errors import CycleFailed, InvalidRecord, ModelFailed
from memoranda.outside.models.scripted import ScriptedAnswer, ScriptedModel
from memoranda.plans.models import Prompt, Settings
from memoranda.plans.steps.answer import LLMCall, LLMCallPayload

ASKED = {"prompt": {"user": "how?", "system": "Be brief."}}


def answering(answer: str) -> ScriptedModel:
    return ScriptedModel([ScriptedAnswer(when="", answer=answer)])


class BreakingModel:
    """Says a little, and breaks off; knows whether it was closed."""

    def __init__(self) -> None:
        self.is_closed = False

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        raise ModelFailed(settings.model or "breaking", f"no answer to {prompt.user}")

    async def stream(self, prompt: Prompt, settings: Settings) -> AsyncGenerator[str]:
        try:
            yield "He"
            raise ModelFailed(settings.model or "breaking", f"no answer to {prompt.user}")
        finally:
            self.is_closed = True


async def test_the_prompt_and_the_plans_settings_reach_the_model() -> None:
    model = answering("이메일로요.")
    form = LLMCallPayload.model_validate({"model": "m", "temperature": 0, "maxTokens": 9})

    assert await LLMCall(model).run(form, ASKED) == {"response": "이메일로요."}
    assert model.asked == [(Prompt("how?", "Be brief."), Settings("m", 0, 9))]


async def test_a_listener_hears_every_piece_and_the_output_is_the_same() -> None:
    heard: list[str] = []

    async def listener(piece: str) -> None:
        heard.append(piece)

    output = await LLMCall(answering("by  email \n"), listener).run(LLMCallPayload(), ASKED)

    assert output == {"response": "by  email \n"}
    assert heard == ["by  ", "email \n"]


@pytest.mark.parametrize("is_heard", [False, True])
async def test_a_model_that_fails_fails_the_step_even_after_pieces(*, is_heard: bool) -> None:
    model, heard = BreakingModel(), list[str]()

    async def listener(piece: str) -> None:
        heard.append(piece)

    with pytest.raises(ModelFailed) as caught:
        await LLMCall(model, listener if is_heard else None).run(LLMCallPayload(), ASKED)

    assert caught.value.code == "plan.model_failed"
    assert model.is_closed is is_heard
    assert heard == (["He"] if is_heard else [])


async def test_a_stream_is_closed_when_its_listener_breaks() -> None:
    model = BreakingModel()

    async def listener(piece: str) -> None:
        raise OSError(32, piece)

    with pytest.raises(OSError, match="He"):
        await LLMCall(model, listener).run(LLMCallPayload(), ASKED)

    assert model.is_closed


@pytest.mark.parametrize("answer", ["", " \n", "a\x00b", "\ud800"])
async def test_an_answer_that_is_empty_or_cant_be_kept_fails(answer: str) -> None:
    with pytest.raises(ModelFailed):
        await LLMCall(answering(answer)).run(LLMCallPayload(), ASKED)


@pytest.mark.parametrize(
    "prompt", [None, "how?", {}, {"user": 1}, {"user": "x", "system": None}, {"user": "", "x": 1}]
)
async def test_a_prompt_that_is_none_fails_and_the_model_is_not_asked(prompt: Any) -> None:
    model = answering("x")

    with pytest.raises(CycleFailed):
        await LLMCall(model).run(LLMCallPayload(), {"prompt": prompt})

    assert model.asked == []


@pytest.mark.parametrize(
    "payload",
    [
        {"model": None},
        {"model": ""},
        {"temperature": -1},
        {"temperature": float("nan")},
        {"temperature": "0"},
        {"maxTokens": 0},
        {"maxTokens": True},
        {"prompt": "x"},
    ],
)
def test_settings_that_are_none_are_refused_with_the_plan(payload: dict[str, Any]) -> None:
    with pytest.raises(InvalidRecord):
        LLMCallPayload.model_validate(payload)
