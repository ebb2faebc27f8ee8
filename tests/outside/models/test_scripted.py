"""A scripted model answers by its rules and makes nothing up."""

import pytest

from memoranda.kernel.errors import InvalidRecord, ModelFailed
from memoranda.outside.models.scripted import scripted
from memoranda.plans.models import Prompt, Settings, framed
from memoranda.text.frame import Quoted

RULES = [
    {"when": "Straße", "answer": "It is  closed.\nUntil May."},
    {"when": "고객", "answer": "이메일로 연락하세요."},
    {"when": "", "answer": "I don't know."},
]


async def test_the_first_rule_that_applies_answers_in_whatever_case() -> None:
    model = scripted(RULES)

    assert await model.complete(Prompt("the STRASSE?"), Settings()) == "It is  closed.\nUntil May."
    assert await model.complete(Prompt("고객에게"), Settings()) == "이메일로 연락하세요."
    assert await model.complete(Prompt("else"), Settings()) == "I don't know."
    assert [prompt.user for prompt, _ in model.asked] == ["the STRASSE?", "고객에게", "else"]


async def test_what_is_quoted_from_memory_was_not_said() -> None:
    model = scripted([*RULES[:2], {"when": "open?", "given": "May", "answer": "In May."}, RULES[2]])
    quoted = framed([Quoted("The Straße opens in May.", ["from memory"])])

    for said, answer in (("when?", "I don't know."), ("Is it OPEN?", "In May.")):
        assert await model.complete(Prompt(f"{quoted}\n\n{said}"), Settings()) == answer
    assert await model.complete(Prompt("is it open? in may?"), Settings()) == "I don't know."


async def test_its_stream_is_the_same_answer_in_pieces() -> None:
    pieces = [piece async for piece in scripted(RULES).stream(Prompt("straße"), Settings())]

    assert len(pieces) > 1
    assert "".join(pieces) == "It is  closed.\nUntil May."


async def test_without_a_rule_it_fails_rather_than_answers() -> None:
    with pytest.raises(ModelFailed) as caught:
        await scripted(RULES[:2]).complete(Prompt("else"), Settings(model="demo"))

    assert (caught.value.code, caught.value.model) == ("plan.model_failed", "demo")


@pytest.mark.parametrize(
    "document",
    [None, {}, ["x"], [{"when": "x"}], [{"when": 1, "answer": ""}], [{**RULES[0], "x": 1}]],
)
def test_a_script_that_is_none_is_refused(document: object) -> None:
    with pytest.raises(InvalidRecord):
        scripted(document)
