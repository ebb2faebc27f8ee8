"""ContextSelect takes whole retrievals only, and hands on values in the order of the plan."""

from typing import Any

import pytest

from memoranda.kernel.errors import CycleFailed, InvalidRecord, ItemDamaged
from memoranda.plans.steps.context import ContextSelect, ContextSelectPayload
from tests.plans.steps.standing_in import AT, ID, OTHER_ID, entry

MEMORY = {"kind": "memory", "text": "The customer prefers email", "id": ID, "timestamp": AT}
REPO = {"kind": "repo", "text": "abc"}
TURN = {"kind": "turn", "text": "how?"}


async def selected(payload: dict[str, Any], **inputs: Any) -> Any:
    form = ContextSelectPayload.model_validate(payload)
    return (await ContextSelect().run(form, inputs))["context"]


async def test_without_sources_all_that_was_given_is_context_but_the_turns_text() -> None:
    assert await selected({}, text="how?") == []
    assert await selected({}, text="how?", items=[entry()]) == [MEMORY]
    assert await selected({}, text="how?", items=[], repo="abc") == [REPO]
    assert await selected({}, text="how?", items=[entry()], repo="abc") == [REPO, MEMORY]


async def test_the_plan_says_which_sources_and_in_which_order() -> None:
    given = {"text": "how?", "items": [entry()], "repo": "abc"}

    assert await selected({"sources": ["items", "text"]}, **given) == [MEMORY, TURN]
    assert await selected({"sources": []}, **given) == []


@pytest.mark.parametrize("source", ["items", "memories", "repo"])
async def test_a_source_that_is_named_and_not_given_fails(source: str) -> None:
    with pytest.raises(CycleFailed) as caught:
        await selected({"sources": [source]}, text="how?")

    assert caught.value.code == "plan.cycle_failed"


@pytest.mark.parametrize("sources", [None, "items", ["keywords"], [1], ["text"] * 5])
def test_sources_that_are_none_are_refused_with_the_plan(sources: Any) -> None:
    with pytest.raises(InvalidRecord):
        ContextSelectPayload.model_validate({"sources": sources})


DAMAGED: dict[str, Any] = {
    "null": None,
    "an object": {"items": []},
    "a null among them": [entry(), None],
    "a summary is missing": [{"id": ID, "timestamp": AT}],
    "keywords are there": [entry() | {"keywords": []}],
    "a null field": [entry() | {"timestamp": None}],
    "an empty text": [entry() | {"summary": ""}],
    "the last is damaged": [entry(), entry(id=OTHER_ID) | {"id": "x"}],
    "one twice": [entry(), entry()],
}


@pytest.mark.rule("ING-PARTIAL")
@pytest.mark.parametrize("items", DAMAGED.values(), ids=DAMAGED.keys())
@pytest.mark.parametrize("payload", [{}, {"sources": ["items"]}, {"sources": ["text"]}], ids=str)
async def test_a_partial_or_damaged_retrieval_is_refused_even_where_it_is_left_out(
    items: Any, payload: dict[str, Any]
) -> None:
    with pytest.raises(ItemDamaged) as caught:
        await selected(payload, text="how?", items=items)

    assert caught.value.rule == "ING-PARTIAL"


RECORD: dict[str, Any] = {
    "id": "r-1",
    "text": "Min prefers email",
    "timestamp": AT,
    "trust": "approved",
    "verified": True,
}


async def test_governed_memory_comes_before_items_with_its_trust() -> None:
    given = {"text": "how?", "items": [entry()], "memories": [RECORD]}

    assert await selected({}, **given) == [{"kind": "record", **RECORD}, MEMORY]
    assert await selected({"sources": ["memories"]}, **given) == [{"kind": "record", **RECORD}]


@pytest.mark.rule("ING-PARTIAL")
@pytest.mark.parametrize(
    "memories",
    [
        None,
        {"memories": []},
        [RECORD, None],
        [RECORD | {"trust": "sure"}],
        [RECORD | {"verified": "yes"}],
        [{name: value for name, value in RECORD.items() if name != "text"}],
        [RECORD | {"score": 1.0}],
        [RECORD, RECORD],
    ],
    ids=str,
)
async def test_a_partial_or_damaged_recall_is_refused_even_where_it_is_left_out(
    memories: Any,
) -> None:
    for payload in ({}, {"sources": ["memories"]}, {"sources": ["text"]}):
        with pytest.raises(CycleFailed) as caught:
            await selected(payload, text="how?", memories=memories)

        assert caught.value.code == "plan.cycle_failed"
