"""RecallMemory gives what a recall selected, whole, or fails; never less, never nothing instead."""

from typing import Any

import pytest

from memoranda.kernel.errors import CycleFailed, InvalidPlan, RecallFailed, StoreFailed
from memoranda.plans.steps.context import (
    MemoryAnswer,
    RecalledMemory,
    RecallMemory,
    RecallMemoryPayload,
)
from tests.plans.steps.standing_in import AT, AnsweringRecall

PAYLOAD = RecallMemoryPayload()


def memory(id: str = "r-1", text: str = "Min prefers email") -> RecalledMemory:
    return RecalledMemory(id=id, text=text, timestamp=AT, trust="unreviewed", verified=True)


async def recalled(answer: Any, top_k: int = 3) -> Any:
    return await RecallMemory(AnsweringRecall(answer), top_k).run(PAYLOAD, {"query": "email?"})


async def test_it_recalls_with_the_turns_text_and_the_plans_topk() -> None:
    store = AnsweringRecall(MemoryAnswer("trace-7", "found", [memory()]))

    output = await RecallMemory(store, 2).run(PAYLOAD, {"query": "이메일?"})

    assert store.asked == [("이메일?", 2)]
    assert output == {"memories": [memory().model_dump(mode="json")], "traceId": "trace-7"}


async def test_nothing_found_is_a_success() -> None:
    output = await recalled(MemoryAnswer("trace-1", "empty"))

    assert output == {"memories": [], "traceId": "trace-1"}


@pytest.mark.rule("ING-NO-FALLBACK")
async def test_a_recall_that_failed_fails_the_step() -> None:
    with pytest.raises(RecallFailed) as caught:
        await recalled(MemoryAnswer("trace-1", "failed", [], ["the disk is gone"]))

    assert caught.value.code == "world.recall_failed"
    assert caught.value.trace_id == "trace-1"


@pytest.mark.rule("ING-NO-FALLBACK")
@pytest.mark.parametrize("outcome", ["degraded", "partial", ""])
async def test_a_recall_that_is_not_whole_fails_although_it_has_items(outcome: str) -> None:
    with pytest.raises(CycleFailed) as caught:
        await recalled(MemoryAnswer("trace-1", outcome, [memory()], ["one was left out"]))

    assert caught.value.code == "plan.cycle_failed"
    assert "one was left out" in caught.value.why


@pytest.mark.rule("ING-NO-FALLBACK")
@pytest.mark.parametrize("error", [StoreFailed("db", "gone"), OSError(5, "I/O"), ValueError()])
async def test_an_error_goes_through_and_is_no_empty_list(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        await recalled(error)

    assert caught.value is error


@pytest.mark.rule("ING-PARTIAL")
@pytest.mark.parametrize(
    "memories",
    [
        None,
        "memories",
        [None],
        [RecalledMemory.model_construct(id="r-1", text=None)],
        [memory(), memory()],
        [memory(), memory("r-2"), memory("r-3"), memory("r-4")],
    ],
    ids=["nothing", "a text", "a null", "unvalidated", "one twice", "more than topK"],
)
async def test_what_is_damaged_or_too_much_fails_whole(memories: Any) -> None:
    with pytest.raises(CycleFailed):
        await recalled(MemoryAnswer("trace-1", "found", memories))


@pytest.mark.rule("ING-TOPK")
@pytest.mark.parametrize("top_k", [None, True, -1, 1.0, "3"])
def test_a_topk_that_is_none_is_refused_and_there_is_no_default(top_k: Any) -> None:
    with pytest.raises(InvalidPlan):
        RecallMemory(AnsweringRecall(), top_k)
    with pytest.raises(TypeError):
        RecallMemory(AnsweringRecall())  # type: ignore[call-arg]


@pytest.mark.parametrize("inputs", [{}, {"query": None}, {"query": ["email"]}])
async def test_a_query_that_is_no_text_fails(inputs: dict[str, Any]) -> None:
    with pytest.raises(CycleFailed):
        await RecallMemory(AnsweringRecall(), 1).run(PAYLOAD, inputs)
