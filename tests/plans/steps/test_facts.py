"""ExtractFacts finds what a person said, never the response; RememberFacts stages it."""

from collections.abc import Sequence
from typing import Any

import pytest

from memoranda.kernel.errors import CycleFailed, InvalidItem, ModelFailed
from memoranda.plans.facts import ChatMessage, ExtractedFact
from memoranda.plans.spoken import SpokenFacts
from memoranda.plans.steps.facts import (
    ExtractFacts,
    ExtractFactsPayload,
    RememberFacts,
    RememberFactsPayload,
)
from tests.plans.steps.standing_in import SESSION, KeepingStaging

RESPONSE = "Seoul is a large city. It has ten million people. I would love to see it one day."


class Finding:
    """Finds what it is told to find, and keeps what it was shown."""

    def __init__(self, *facts: Any) -> None:
        self.facts = facts
        self.shown: list[ChatMessage] = []

    async def extract(self, messages: Sequence[ChatMessage]) -> Sequence[ExtractedFact]:
        self.shown += messages
        return self.facts


async def extracted(
    extractor: Any, text: str = "I live in Seoul.", response: str = RESPONSE
) -> Any:
    inputs = {"text": text, "response": response}
    return await ExtractFacts(extractor).run(ExtractFactsPayload(), inputs)


async def test_facts_are_what_the_person_said_in_english_and_korean() -> None:
    output = await extracted(SpokenFacts(), "Hello! I live in Seoul. 제 생일은 5월 3일이에요. Why?")

    assert output == {"facts": [{"text": "I live in Seoul."}, {"text": "제 생일은 5월 3일이에요."}]}


async def test_the_extractor_is_not_shown_the_response() -> None:
    finding = Finding(ExtractedFact("Min lives in Seoul", 0, "Min"))

    output = await extracted(finding)

    assert [message.content for message in finding.shown] == ["I live in Seoul."]
    assert output == {"facts": [{"text": "Min lives in Seoul", "subject": "Min"}]}


@pytest.mark.rule("ING-RAW")
@pytest.mark.parametrize(
    ("fact", "response"),
    [
        (RESPONSE, RESPONSE),
        (RESPONSE.upper().replace(".", "!"), RESPONSE),
        (f"The model said: {RESPONSE}", RESPONSE),
        ("I live in Seoul.", "I live in Seoul"),
    ],
    ids=["the same", "otherwise written", "within more", "what was said, repeated"],
)
async def test_a_fact_that_repeats_the_response_is_refused(fact: str, response: str) -> None:
    with pytest.raises(CycleFailed) as caught:
        await extracted(Finding(ExtractedFact(fact, 0)), response=response)

    assert caught.value.code == "plan.cycle_failed"


@pytest.mark.parametrize(
    "facts",
    [["I live in Seoul"], [ExtractedFact("", 0)], [ExtractedFact("a b c", 1)], [None]],
    ids=str,
)
async def test_what_is_no_fact_fails(facts: list[Any]) -> None:
    with pytest.raises(ModelFailed):
        await extracted(Finding(*facts))


async def remembered(facts: Any, staging: KeepingStaging | None = None) -> Any:
    staging = staging or KeepingStaging()
    inputs = {"facts": facts, "sessionRef": SESSION}
    output = await RememberFacts(staging).run(RememberFactsPayload(), inputs)
    return output, staging.facts


@pytest.mark.rule("ING-PERSIST")
async def test_remember_facts_stages_and_writes_nothing() -> None:
    given = [{"text": "I live in Seoul."}, {"text": "Min has a dog", "subject": "Min"}]

    output, staged = await remembered(given)

    assert output == {"status": "staged"}
    assert staged == [
        (SESSION, ExtractedFact("I live in Seoul.", 0)),
        (SESSION, ExtractedFact("Min has a dog", 0, "Min")),
    ]


@pytest.mark.rule("ING-PARTIAL")
@pytest.mark.parametrize(
    "facts",
    [None, "facts", ["a"], [{"subject": "Min"}], [{"text": "a", "more": 1}], [{"text": 7}]],
    ids=str,
)
async def test_facts_that_are_none_are_refused_and_none_is_staged(facts: Any) -> None:
    staging = KeepingStaging()
    with pytest.raises((CycleFailed, ModelFailed)):
        await remembered([{"text": "fine"}, *facts] if isinstance(facts, list) else facts, staging)

    assert staging.facts == []


async def test_a_session_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidItem):
        await RememberFacts(KeepingStaging()).run(
            RememberFactsPayload(), {"facts": [], "sessionRef": ""}
        )
