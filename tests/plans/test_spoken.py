"""What the rules take for a fact, in English and Korean, and what they leave."""

import pytest

from memoranda.plans.facts import ChatMessage, repeats
from memoranda.plans.spoken import SpokenFacts, spoken_facts


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("Hi! I live in Seoul. Could you help me?", ["I live in Seoul."]),
        ("Well, my name is Min.", ["my name is Min."]),
        ("Please call me Jo.", ["Please call me Jo."]),
        ("Remember that my flight is on 5 May.", ["my flight is on 5 May."]),
        ("I prefer email to phone calls.", ["I prefer email to phone calls."]),
        ("Our anniversary is on 3 June.", ["Our anniversary is on 3 June."]),
        ("The meeting is on May 5th.", ["The meeting is on May 5th."]),
        ("I have two dogs.\nI have two dogs.", ["I have two dogs."]),
        ("안녕하세요, 저는 서울에 살아요. 도와주세요.", ["저는 서울에 살아요."]),
        ("제 이름은 민수예요.", ["제 이름은 민수예요."]),
        ("커피를 좋아해요.", ["커피를 좋아해요."]),
        ("우리는 개를 키워요.", ["우리는 개를 키워요."]),
        ("회의는 5월 3일이에요.", ["회의는 5월 3일이에요."]),
    ],
)
def test_what_people_say_of_themselves_is_a_fact(said: str, facts: list[str]) -> None:
    assert spoken_facts(said) == facts


@pytest.mark.parametrize(
    "said",
    [
        "Do I live in Seoul?",
        "I think it is broken.",
        "I'd like a refund.",
        "I'm sorry about that.",
        "I want you to call my bank.",
        "Maybe. I might move to Busan.",
        "The weather is nice.",
        "I do",
        "저는 서울에 살까요?",
        "저는 도움이 필요한 것 같아요.",
        "저에게 알려 주세요.",
        "감사합니다.",
        "날씨가 좋아서 걸었다",
        "",
    ],
)
def test_questions_requests_and_guesses_are_none(said: str) -> None:
    assert spoken_facts(said) == []


async def test_only_what_people_said_is_read() -> None:
    messages = [
        ChatMessage("I live in Seoul.", role)
        for role in ("assistant", "system", "tool", "user")
    ]  # fmt: skip

    assert [fact.message for fact in await SpokenFacts().extract(messages)] == [3]


@pytest.mark.rule("ING-RAW")
def test_a_fact_that_repeats_a_response_is_known() -> None:
    response = "Your gravel bike arrived on Tuesday and waits at the counter"

    assert repeats(response.upper() + "!", response)
    assert repeats("Then: " + response, response)
    assert repeats("OK.", "ok")
    assert not repeats("It is OK to call me", "OK")
    assert not repeats("I have a gravel bike", response)
