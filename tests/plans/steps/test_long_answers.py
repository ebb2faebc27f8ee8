"""A summary of an answer of any length takes no longer than that of twenty thousand characters.

Calls are counted, not time: the same on every machine.
"""

import sys
from collections.abc import Callable
from functools import partial
from threading import get_ident
from typing import Any

import pytest

from memoranda.journeys.turn import cycle as composing
from memoranda.journeys.turn.cycle import AT_ONCE, SummariserAside
from memoranda.plans.extractive import ExtractiveSummariser, extract
from memoranda.plans.raw import READ
from memoranda.plans.steps.answer import SummarizeMemory, SummarizeMemoryPayload
from memoranda.plans.summary import Limits, Summary, checked

LONG = 10 * READ
ANSWERS: dict[str, Callable[[int], str]] = {
    "sentences": lambda size: "The customer of today prefers email over calls. " * (size // 48),
    "Korean": lambda size: "고객은 전화보다 이메일을 선호합니다. " * (size // 22),
    "one word": lambda size: "a" * size,
    "nothing but spaces": lambda size: "Yes." + " " * size,
    "marks": lambda size: "…" * size,
    "lists": lambda size: "- a\n" * (size // 4),
    "fences": lambda size: "```\n" * (size // 4),
}


def calls(work: Callable[[], object]) -> int:
    """How many functions are called."""
    count = 0

    def called(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def kept(response: str, text: str | None) -> Summary | None:
    made = extract(response, text, Limits())
    return made and checked(made, response, text, Limits())


@pytest.mark.parametrize("kind", ANSWERS)
def test_what_is_beyond_the_limit_costs_nothing(kind: str) -> None:
    short, long = ANSWERS[kind](READ), ANSWERS[kind](LONG)
    kept(short, short)  # words that were met once are remembered

    for answered in (
        lambda text: kept(text, "How?"),
        lambda text: kept("It is so and not otherwise.", text),
    ):
        taken = calls(partial(answered, short))
        assert calls(partial(answered, long)) < 1.5 * taken + 1_000


@pytest.mark.parametrize("size", [10, AT_ONCE, AT_ONCE + 1, READ, LONG])
async def test_the_summary_is_the_same_wherever_it_is_made(size: int) -> None:
    response = ANSWERS["sentences"](size + 48)

    aside = await SummariserAside().summarise(response, "How?", Limits())

    assert aside == await ExtractiveSummariser().summarise(response, "How?", Limits())


async def test_a_long_answer_is_not_read_on_the_event_loops_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = []

    def noting(*given: Any) -> Summary | None:
        threads.append(get_ident())
        return extract(*given)

    monkeypatch.setattr(composing, "extract", noting)
    step = SummarizeMemory(SummariserAside())
    for response, text in (("Korean", "How?"), ("one word", None)):
        given = {"response": ANSWERS[response](LONG), **({"text": text} if text else {})}
        await step.run(SummarizeMemoryPayload(), given)

    assert len(threads) == 2
    assert get_ident() not in threads
