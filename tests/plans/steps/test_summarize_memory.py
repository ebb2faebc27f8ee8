"""SummarizeMemory asks a summariser, checks what it made, and stores nothing."""

from typing import Any

import pytest

from memoranda.kernel.errors import CycleFailed, InvalidItem, InvalidRecord, ModelFailed
from memoranda.outside.models.scripted import ScriptedAnswer, ScriptedModel
from memoranda.plans.extractive import ExtractiveSummariser
from memoranda.plans.models import Settings
from memoranda.plans.steps.answer import SummarizeMemory, SummarizeMemoryPayload
from memoranda.plans.summary import Limits, ModelSummariser, Summariser
from tests.plans.steps.standing_in import SayingSummariser

RESPONSE = "The customer prefers email. Calls go unanswered before ten. Invoices go to billing."
GIVEN = {"response": RESPONSE, "text": "How do I reach them?"}


async def summarised(
    summariser: Summariser, payload: dict[str, Any] | None = None, given: Any = None
) -> Any:
    form = SummarizeMemoryPayload.model_validate(payload or {})
    return await SummarizeMemory(summariser).run(form, given or GIVEN)


async def test_the_shipped_summariser_needs_no_model() -> None:
    output = await summarised(ExtractiveSummariser())

    assert output.keys() == {"summary", "keywords"}
    assert output["summary"] == "reach → The customer prefers email. Invoices go to billing."
    assert isinstance(output["keywords"], list)


async def test_the_plan_says_how_much_is_kept_at_most() -> None:
    summariser = SayingSummariser("email", ["email"])

    await summarised(summariser)
    await summarised(summariser, {"maxLength": 40, "maxKeywords": 2}, {"response": RESPONSE})

    assert summariser.asked == [
        (RESPONSE, "How do I reach them?", Limits(280, 8)),
        (RESPONSE, None, Limits(40, 2)),
    ]


@pytest.mark.rule("ING-RAW")
@pytest.mark.parametrize(
    ("summary", "keywords"),
    [(RESPONSE, ["x"]), (f"so: {RESPONSE.upper()}", ["x"]), ("fine", [RESPONSE])],
)
async def test_no_summariser_can_hand_on_the_whole_response(
    summary: str, keywords: list[str]
) -> None:
    with pytest.raises(InvalidItem) as caught:
        await summarised(SayingSummariser(summary, keywords))

    assert caught.value.code == "input.item"


@pytest.mark.parametrize("by_model", [False, True])
async def test_of_an_answer_that_is_too_short_there_is_no_summary(*, by_model: bool) -> None:
    none = '{"summary": null, "keywords": []}'
    summariser = ModelSummariser(model(none)) if by_model else ExtractiveSummariser()

    output = await summarised(summariser, {}, {"response": "Ok.", "text": "Is that fine?"})

    assert output == {"summary": None, "keywords": []}


@pytest.mark.rule("ING-SUMMARY-STEP")
async def test_the_step_has_nothing_to_store_with() -> None:
    step = SummarizeMemory(ExtractiveSummariser())

    await step.run(SummarizeMemoryPayload(), GIVEN)

    assert [type(held) for held in vars(step).values()] == [ExtractiveSummariser]
    assert vars(ExtractiveSummariser()) == {}


@pytest.mark.parametrize("given", [{"text": "x"}, {"response": None}, {"response": "x", "text": 1}])
async def test_inputs_that_are_no_texts_fail(given: dict[str, Any]) -> None:
    with pytest.raises(CycleFailed):
        await summarised(ExtractiveSummariser(), {}, given)


@pytest.mark.parametrize(
    "payload",
    [
        {"maxLength": 15},
        {"maxLength": 2001},
        {"maxLength": None},
        {"maxKeywords": 0},
        {"maxKeywords": 33},
        {"maxKeywords": True},
        {"model": "x"},
    ],
)
def test_limits_that_are_none_are_refused_with_the_plan(payload: dict[str, Any]) -> None:
    with pytest.raises(InvalidRecord):
        SummarizeMemoryPayload.model_validate(payload)


# ------------------------------------------------------------------------- by a model


def model(answer: str) -> ScriptedModel:
    return ScriptedModel([ScriptedAnswer(when="", answer=answer)])


async def test_a_model_is_shown_the_turn_as_quoted_data_and_its_object_is_kept() -> None:
    asked = model('{"summary": "Prefers email", "keywords": ["email", "Email", "고객"]}')

    output = await summarised(ModelSummariser(asked))

    assert output == {"summary": "Prefers email", "keywords": ["email", "고객"]}
    [(prompt, used)] = asked.asked
    assert used == Settings(temperature=0)
    assert "\n> How do I reach them?\n" in prompt.user
    assert f"\n> {RESPONSE}\n" in prompt.user
    assert prompt.system is not None
    assert RESPONSE not in prompt.system


@pytest.mark.parametrize(
    "answer",
    [
        "Prefers email",
        '```json\n{"summary": "x", "keywords": []}\n```',
        "[]",
        '{"summary": "x"}',
        '{"summary": "x", "keywords": [], "response": "y"}',
        '{"summary": "x", "summary": "y", "keywords": []}',
        '{"summary": 1, "keywords": []}',
        '{"summary": null, "keywords": ["x"]}',
        '{"summary": "x", "keywords": "y"}',
        '{"summary": "x", "keywords": [1]}',
    ],
)
async def test_a_model_that_answers_anything_else_fails_the_step(answer: str) -> None:
    with pytest.raises(ModelFailed) as caught:
        await summarised(ModelSummariser(model(answer), Settings(model="tiny")))

    assert (caught.value.code, caught.value.model) == ("plan.model_failed", "tiny")


@pytest.mark.rule("ING-RAW")
async def test_a_model_that_repeats_the_response_is_refused() -> None:
    with pytest.raises(InvalidItem):
        await summarised(ModelSummariser(model(f'{{"summary": "{RESPONSE}", "keywords": []}}')))
