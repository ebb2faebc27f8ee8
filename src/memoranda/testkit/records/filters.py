"""What a query answers, key by key, and that it agrees with `records.filter.select`."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidFilter, UnknownFilterKey
from memoranda.kernel.json import MAX_INTEGER
from memoranda.records.filter import PLAIN_KEYS, MemoryFilter, select
from memoranda.records.model import MemoryRecordInput
from memoranda.records.store import Capability
from memoranda.testkit import contract
from memoranda.testkit.records.opening import (
    OpenFresh,
    Store,
    create_all,
    create_foretold,
    ids_in,
    record,
)
from memoranda.testkit.strategies import filters, own_filters, record_lists, shared_fixtures

# In no order of their own: neither by code point, nor by length, nor as a locale has them.
WRITTEN = ["가", "10", "z", "A", "\U0001d4b3", "é", "9", "b", "ㄱ", "a", "🦜", "Z", "Ä", "B"]


# --------------------------------------------------------------------------------- keys


@contract("MEM-FILTER")
async def test_an_empty_filter_finds_everything(store: Store) -> None:
    created = await create_all(store, record(1), record(2), record(3))

    assert sorted(await ids_in(store)) == sorted(created)


@contract("MEM-FILTER")
async def test_ids_find_only_the_records_named(store: Store) -> None:
    await create_all(store, *(record(id=id) for id in "abcd"))

    assert sorted(await ids_in(store, ids=["c", "a", "c", "nowhere"])) == ["a", "c"]
    assert await ids_in(store, ids=[]) == []


@contract("MEM-FILTER")
async def test_all_tags_must_be_present(store: Store) -> None:
    await create_all(
        store,
        record(id="none"),
        record(id="empty", tags=[]),
        record(id="x", tags=["x"]),
        record(id="xy", tags=["x", "y"]),
        record(id="yxz", tags=["y", "x", "z"]),
        record(id="xx", tags=["x", "x"]),
    )

    assert sorted(await ids_in(store, tags=["x"])) == ["x", "xx", "xy", "yxz"]
    assert sorted(await ids_in(store, tags=["x", "y"])) == ["xy", "yxz"]
    assert sorted(await ids_in(store, tags=["y", "x", "x"])) == ["xy", "yxz"]
    assert await ids_in(store, tags=["x", "nowhere"]) == []
    assert len(await ids_in(store, tags=[])) == 6


@contract("MEM-FILTER")
async def test_tags_are_compared_whole_and_exactly(store: Store) -> None:
    await create_all(store, record(id="one", tags=["red wine"]), record(id="two", tags=["Red"]))

    for tag in ["red", "wine", "RED", "red win", "red%", "red_wine", ""]:
        assert await ids_in(store, tags=[tag]) == []


@contract("MEM-FILTER")
async def test_created_after_and_before_are_inclusive(store: Store) -> None:
    await create_all(store, *(record(id=str(at), created_at=at) for at in (1, 2, 3)))

    assert await ids_in(store, created_after=2) == ["3", "2"]
    assert await ids_in(store, created_before=2) == ["2", "1"]
    assert await ids_in(store, created_after=2, created_before=2) == ["2"]
    assert await ids_in(store, created_after=3, created_before=1) == []
    assert await ids_in(store, created_after=4) == []


@contract("MEM-FILTER")
async def test_times_before_1970_and_far_away_are_times(store: Store) -> None:
    times = [-MAX_INTEGER, -1, 0, 1, MAX_INTEGER]
    await create_all(store, *(record(id=str(at), created_at=at) for at in times))

    assert await ids_in(store, order="asc") == [str(at) for at in times]
    assert await ids_in(store, created_before=-1) == ["-1", str(-MAX_INTEGER)]
    assert await ids_in(store, created_after=MAX_INTEGER) == [str(MAX_INTEGER)]
    assert len(await ids_in(store, created_after=-MAX_INTEGER)) == 5


@contract("MEM-FILTER")
async def test_limit_and_offset_cut_a_page_out_of_the_order(store: Store) -> None:
    await create_all(store, *(record(id=id, created_at=-ord(id)) for id in "dbeac"))

    assert await ids_in(store, limit=2) == ["a", "b"]
    assert await ids_in(store, limit=2, offset=2) == ["c", "d"]
    assert await ids_in(store, limit=2, offset=4) == ["e"]
    assert await ids_in(store, offset=3) == ["d", "e"]
    assert await ids_in(store, offset=5) == []
    assert await ids_in(store, limit=MAX_INTEGER, offset=MAX_INTEGER) == []
    assert await ids_in(store, limit=MAX_INTEGER) == ["a", "b", "c", "d", "e"]


@contract("MEM-FILTER")
async def test_limit_zero_is_an_empty_result(store: Store) -> None:
    await create_all(store, record(id="a", tags=["x"]), record(id="b"))

    assert await ids_in(store, limit=0) == []
    assert await ids_in(store, limit=0, offset=1) == []
    assert await ids_in(store, limit=0, tags=["x"]) == []
    assert await ids_in(store, limit=0, ids=["a"]) == []


@contract("MEM-FILTER")
async def test_all_keys_together_narrow_the_result(store: Store) -> None:
    await create_all(
        store,
        *(record(id=f"{at}", created_at=at, tags=["x", "y"]) for at in range(10)),
        *(record(id=f"{at} without y", created_at=at, tags=["x"]) for at in range(10)),
    )

    found = await ids_in(
        store,
        ids=[f"{at}" for at in range(8)] + ["3 without y"],
        tags=["x", "y"],
        created_after=2,
        created_before=6,
        order="asc",
        limit=3,
        offset=1,
    )

    assert found == ["3", "4", "5"]


@contract("MEM-FILTER")
async def test_many_ids_may_be_asked_for_at_once(store: Store) -> None:
    await create_all(store, *(record(id=f"{n:04}", created_at=-n) for n in range(0, 40, 2)))

    found = await ids_in(store, ids=[f"{n:04}" for n in range(5000)], offset=18)

    assert found == ["0036", "0038"]


@contract("MEM-FILTER")
async def test_a_key_that_no_store_knows_is_an_error(store: Store) -> None:
    await store.create(record(id="a", tags=["x"]))

    for members in (
        {"noStoreKnowsThisKey": 1},
        {"noStoreKnowsThisKey": None},
        {"noStoreKnowsThisKey": 1, "limit": 0},
        {"noStoreKnowsThisKey": 1, "ids": []},
        {"noStoreKnowsThisKey": 1, "tags": ["nowhere"]},
    ):
        filter = MemoryFilter.model_validate(members)
        with pytest.raises(UnknownFilterKey) as caught:
            await store.query(filter)

        assert caught.value.code == "input.filter.unknown_key"
        assert "noStoreKnowsThisKey" in caught.value.where


@contract("MEM-FILTER", Capability.STREAMED)
async def test_a_stream_refuses_a_key_that_no_store_knows(store: Store) -> None:
    await store.create(record(id="a"))
    filter = MemoryFilter.model_validate({"noStoreKnowsThisKey": 1})

    with pytest.raises(UnknownFilterKey):
        [found async for found in store.stream(filter)]


@contract("MEM-FILTER")
async def test_a_value_that_a_key_can_not_have_is_an_error(store: Store) -> None:
    for members in (
        {"limit": -1},
        {"limit": "3"},
        {"limit": True},
        {"offset": -1},
        {"offset": 1.5},
        {"orderBy": "id"},
        {"order": "DESC"},
        {"tags": "x"},
        {"ids": [1]},
        {"createdAfter": "2026-01-01"},
    ):
        with pytest.raises(InvalidFilter) as caught:
            await store.query(MemoryFilter.model_validate(members))

        assert caught.value.where.startswith(f"$.{next(iter(members))}")


# -------------------------------------------------------------------------------- order


@contract("MEM-FILTER")
async def test_the_newest_come_first_unless_said_otherwise(store: Store) -> None:
    await create_all(
        store,
        record(id="middle", created_at=2, updated_at=9),
        record(id="newest", created_at=3, updated_at=5),
        record(id="oldest", created_at=1, updated_at=7),
    )

    assert await ids_in(store) == ["newest", "middle", "oldest"]
    assert await ids_in(store, order="asc") == ["oldest", "middle", "newest"]
    assert await ids_in(store, order_by="updatedAt") == ["middle", "oldest", "newest"]
    assert await ids_in(store, order_by="updatedAt", order="asc") == ["newest", "oldest", "middle"]


@contract("MEM-FILTER")
@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("order_by", ["createdAt", "updatedAt"])
async def test_ties_are_in_the_order_of_writing_reversed_where_the_order_is(
    store: Store, order: str, order_by: str
) -> None:
    for id in WRITTEN:
        await store.create(record(id=id, created_at=1, updated_at=1, tags=["x"]))
    wanted = WRITTEN if order == "asc" else WRITTEN[::-1]

    assert await ids_in(store, order=order, order_by=order_by) == wanted
    assert await ids_in(store, order=order, order_by=order_by, tags=["x"]) == wanted
    assert await ids_in(store, order=order, order_by=order_by, ids=WRITTEN) == wanted
    assert await ids_in(store, order=order, order_by=order_by, limit=4, offset=3) == wanted[3:7]


@contract("MEM-FILTER")
async def test_a_change_keeps_a_record_in_its_place_and_a_new_life_gives_it_a_new_one(
    store: Store,
) -> None:
    for id in "abcd":
        await store.create(record({}, id=id, created_at=1, tags=["x"]))

    await store.update("b", {"n": 1})
    await store.delete("c")
    await store.create(record({}, id="c", created_at=1, tags=["x"]))

    assert await ids_in(store) == ["c", "d", "b", "a"]
    assert await ids_in(store, tags=["x"], order="asc") == ["a", "b", "d", "c"]


@contract("MEM-FILTER")
async def test_an_updated_record_is_the_newest_by_update(store: Store) -> None:
    for n, id in enumerate("abc", start=1):
        await store.create(record({}, id=id, created_at=n, updated_at=n))

    await store.update("b", {"n": 1})

    assert await ids_in(store, order_by="updatedAt") == ["b", "c", "a"]
    assert await ids_in(store, order_by="createdAt") == ["c", "b", "a"]


# ------------------------------------------------------------------- the pure definition


@contract("MEM-FILTER")
@given(records=record_lists(), asked=st.lists(filters(), min_size=1, max_size=6))
@shared_fixtures
async def test_random_filters_find_what_the_pure_definition_says(
    open_fresh: OpenFresh,
    records: Sequence[MemoryRecordInput[Any]],
    asked: Sequence[MemoryFilter],
) -> None:
    async with open_fresh() as own:
        stored = await create_foretold(own, records)
        for filter in asked:
            assert await own.query(filter) == select(filter, stored)


SAID: list[Any] = [
    *(None, True, 1, 0.5, "a", "", [], {}, {"a": 1}, {"a": True}, {"a": None}, {"a": "a", "b": 2}),
    *({"a": {"b": 1}}, {"a": {"b": "a"}, "b": False}, {"a": [{"b": 1}]}, {"a": 1.0, "b": -2}),
]


@contract("MEM-FILTER", PLAIN_KEYS)
@given(
    records=record_lists(),
    said=st.lists(st.tuples(st.sampled_from(SAID), st.sampled_from([None, {}, {"a": 1}]))),
    asked=st.lists(own_filters(), min_size=1, max_size=6),
)
@shared_fixtures
async def test_filters_on_data_prefixes_and_updates_find_what_the_pure_definition_says(
    open_fresh: OpenFresh,
    records: Sequence[MemoryRecordInput[Any]],
    said: Sequence[tuple[Any, dict[str, Any] | None]],
    asked: Sequence[MemoryFilter],
) -> None:
    given_records = [
        record.model_copy(update={"data": data, "meta": meta})
        for record, (data, meta) in zip(records, said, strict=False)
    ]
    async with open_fresh() as own:
        stored = await create_foretold(own, given_records)
        for filter in asked:
            assert await own.query(filter) == select(filter, stored)
