"""RetrieveMemory gives what the store found, whole, or fails; never less, never nothing instead."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import CycleFailed, InvalidPlan, ItemDamaged, StoreFailed
from memoranda.plans.items import MemoryItem, RetrievedItem
from memoranda.plans.steps.context import RetrieveMemory, RetrieveMemoryPayload
from memoranda.stores.items import DictItems
from tests.plans.steps.standing_in import AT, ID, OTHER_ID, SESSION, AnsweringStore, entry, item

PAYLOAD = RetrieveMemoryPayload()


async def retrieved(found: Any, top_k: int = 3) -> Any:
    return await RetrieveMemory(AnsweringStore(found), top_k).run(PAYLOAD, {"query": "email?"})


async def test_it_searches_with_the_turns_text_and_the_plans_topk() -> None:
    store = AnsweringStore([item()])

    output = await RetrieveMemory(store, 2).run(PAYLOAD, {"query": "Émail? 이메일?"})

    assert store.searched == [("Émail? 이메일?", 2)]
    assert output == {"items": [entry()]}


async def test_nothing_found_is_a_success() -> None:
    assert await retrieved([]) == {"items": []}


@pytest.mark.rule("ING-NO-FALLBACK")
@pytest.mark.parametrize(
    "error", [StoreFailed("db", "gone"), ItemDamaged(ID, "torn"), OSError(5, "I/O"), ValueError()]
)
async def test_an_error_of_the_store_goes_through_and_is_no_empty_list(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        await retrieved(error)

    assert caught.value is error


def unvalidated(**members: Any) -> RetrievedItem:
    return RetrievedItem.model_construct(**members)


DAMAGED: dict[str, Any] = {
    "nothing at all": None,
    "a text": "items",
    "an object": {"items": []},
    "a null": [item(), None],
    "a field is missing": [{"id": ID, "summary": "x"}],
    "a field too much": [entry() | {"keywords": ["x"]}],
    "a field of another kind": [entry() | {"summary": 7}],
    "an empty summary": [entry() | {"summary": " "}],
    "no id": [entry() | {"id": "1"}],
    "no time": [entry() | {"timestamp": "yesterday"}],
    "a lone surrogate": [entry() | {"summary": "\ud800"}],
    "unvalidated": [unvalidated(id=ID, summary="x")],
    "unvalidated, with more": [unvalidated(id=ID, summary=None, timestamp=AT)],
    "one twice": [item(), item()],
    "a whole item": [
        MemoryItem(id=ID, session_ref=SESSION, timestamp=AT, summary="x", keywords=["k"])
    ],
}


@pytest.mark.rule("ING-PARTIAL", "ING-OUTPUT")
@pytest.mark.parametrize("found", DAMAGED.values(), ids=DAMAGED.keys())
async def test_a_retrieval_with_anything_damaged_fails_whole(found: Any) -> None:
    with pytest.raises(ItemDamaged) as caught:
        await retrieved(found)

    assert caught.value.code == "store.item_damaged"


async def test_more_than_topk_items_are_refused() -> None:
    with pytest.raises(ItemDamaged):
        await retrieved([item(), item(id=OTHER_ID)], top_k=1)


@pytest.mark.rule("ING-TOPK")
@pytest.mark.parametrize("top_k", [None, True, -1, 1.0, "3"])
def test_a_topk_that_is_none_is_refused_and_there_is_no_default(top_k: Any) -> None:
    with pytest.raises(InvalidPlan):
        RetrieveMemory(AnsweringStore([]), top_k)
    with pytest.raises(TypeError):
        RetrieveMemory(AnsweringStore([]))  # type: ignore[call-arg]


@pytest.mark.parametrize("inputs", [{}, {"query": None}, {"query": ["email"]}])
async def test_a_query_that_is_no_text_fails(inputs: dict[str, Any]) -> None:
    with pytest.raises(CycleFailed):
        await RetrieveMemory(AnsweringStore([]), 1).run(PAYLOAD, inputs)


@pytest.mark.rule("ING-KEYWORDS")
@given(
    st.lists(st.sampled_from(["Email", "이메일", "c++", "e\u0301", "X Y"]), max_size=4),
    st.text(max_size=20),
)
async def test_keywords_stay_as_they_were_saved_and_none_is_made_of_the_query(
    keywords: list[str], query: str
) -> None:
    store = DictItems(SESSION)
    kept = MemoryItem(id=ID, session_ref=SESSION, timestamp=AT, summary="s", keywords=keywords)
    await store.save(kept)

    output = await RetrieveMemory(store, 5).run(PAYLOAD, {"query": f"{query} email"})

    assert "keywords" not in str(output)
    assert list(store._items.values()) == [kept]
