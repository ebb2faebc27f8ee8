"""Create, get, update, delete: what they return and what they refuse."""

from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from pydantic import ValidationError

from memoranda.kernel.clock import SystemClock
from memoranda.kernel.errors import RecordExists, RecordNotFound
from memoranda.kernel.json import MAX_INTEGER
from memoranda.records.filter import MemoryFilter
from memoranda.records.model import StoredMemoryRecord
from memoranda.testkit import contract, fresh_scope
from memoranda.testkit.records.opening import (
    OpenStore,
    Store,
    everything,
    ids_in,
    kept,
    record,
)

DAY = 24 * 60 * 60 * 1000


# ------------------------------------------------------------------------ create and get


@contract("MEM-CRUD-1", "D-MEM-REC")
async def test_a_record_comes_back_whole(store: Store) -> None:
    given = record({"a": 1}, id="one", created_at=1, updated_at=2, tags=["x"], meta={"m": [1]})

    assert await store.create(given) == "one"

    whole = StoredMemoryRecord("one", {"a": 1}, 1, 2, ("x",), {"m": [1]})
    assert await store.get("one") == whole
    assert await store.query(MemoryFilter()) == [whole]


@contract("MEM-CRUD-2")
async def test_get_of_an_unknown_id_returns_none(store: Store) -> None:
    await store.create(record(id="known"))

    assert await store.get("unknown") is None


@contract("MEM-CRUD-4", "MEM-REC-1")
async def test_an_id_is_made_when_none_is_given(store: Store) -> None:
    first, second = await store.create(record(1)), await store.create(record(2))

    assert first != second
    assert (await kept(store, first)).data == 1
    assert (await kept(store, second)).data == 2
    assert all(isinstance(id, str) and id for id in (first, second))


@contract("MEM-CRUD-4", "MEM-REC-1")
async def test_an_id_that_is_given_is_kept(store: Store) -> None:
    assert await store.create(record(id="mine")) == "mine"

    assert (await kept(store, "mine")).id == "mine"


@contract("MEM-CRUD-5", "MEM-REC-2")
async def test_timestamps_are_set_in_milliseconds_when_none_are_given(store: Store) -> None:
    now = SystemClock().now_ms()

    found = await kept(store, await store.create(record()))

    # A day either way: the store's clock need not be ours, but seconds are no milliseconds.
    assert now - DAY < found.created_at < now + DAY
    assert found.created_at <= found.updated_at < now + DAY


@contract("MEM-CRUD-5", "MEM-REC-2")
@pytest.mark.parametrize("at", [0, -1, 1_700_000_000_001, MAX_INTEGER, -MAX_INTEGER])
async def test_timestamps_that_are_given_are_kept(store: Store, at: int) -> None:
    found = await kept(store, await store.create(record(created_at=at, updated_at=at)))

    assert (found.created_at, found.updated_at) == (at, at)


@contract("MEM-REC-1", "MEM-REC-2", "D-MEM-REC")
async def test_get_and_query_return_stored_records(store: Store) -> None:
    id = await store.create(record({"a": 1}))

    for found in [await store.get(id), *await store.query(MemoryFilter())]:
        assert isinstance(found, StoredMemoryRecord)
        assert found.id == id
        assert type(found.created_at) is int
        assert type(found.updated_at) is int


@contract("MEM-CRUD-1")
async def test_create_with_a_used_id_is_refused_and_changes_nothing(store: Store) -> None:
    await store.create(record("first", id="one", tags=["first"]))
    before = await everything(store)

    with pytest.raises(RecordExists) as caught:
        await store.create(record("second", id="one", tags=["second"]))

    assert caught.value.code == "record.exists"
    assert caught.value.id == "one"
    assert await everything(store) == before
    assert await ids_in(store, tags=["second"]) == []


@contract("MEM-CRUD-1")
async def test_a_scope_that_is_opened_again_still_has_its_records(open_store: OpenStore) -> None:
    scope = fresh_scope()
    async with open_store(scope) as store:
        id = await store.create(record({"a": 1}, tags=["x"]))
        before = await store.get(id)

    async with open_store(scope) as store:
        assert await store.get(id) == before
        assert await store.query(MemoryFilter(tags=("x",))) == [before]


# --------------------------------------------------------------------- what is optional


@contract("D-MEM-REC")
async def test_absent_tags_and_meta_stay_absent(store: Store) -> None:
    id = await store.create(record())

    for found in [await kept(store, id), *await store.query(MemoryFilter())]:
        assert found.tags is None
        assert found.meta is None
        assert found.to_wire().keys() == {"id", "data", "createdAt", "updatedAt"}


@contract("D-MEM-REC")
async def test_empty_tags_and_meta_stay_empty(store: Store) -> None:
    found = await kept(store, await store.create(record(tags=[], meta={})))

    assert found.tags == ()
    assert found.meta == {}


@contract("D-MEM-REC")
async def test_tags_keep_their_order(store: Store) -> None:
    found = await kept(store, await store.create(record(tags=["z", "a", "한", "A"])))

    assert found.tags == ("z", "a", "한", "A")


# -------------------------------------------------------------------------- immutability


@contract("D-MEM-REC")
async def test_a_record_that_was_given_can_not_be_changed(store: Store) -> None:
    given = record({"a": 1}, tags=["x"])
    await store.create(given)

    with pytest.raises(ValidationError):
        given.data = {"a": 2}

    assert type(given.tags) is tuple


@contract("D-MEM-REC")
async def test_a_record_that_was_returned_can_not_be_changed(store: Store) -> None:
    id = await store.create(record({"a": 1}, tags=["x"]))

    for found in [await kept(store, id), *await store.query(MemoryFilter())]:
        with pytest.raises(FrozenInstanceError):
            found.data = {"a": 2}  # type: ignore[misc]
        assert type(found.tags) is tuple


@contract("D-MEM-REC")
async def test_nothing_done_to_what_was_given_reaches_the_store(store: Store) -> None:
    data: dict[str, Any] = {"list": [1], "object": {"a": 1}}
    meta: dict[str, Any] = {"list": [1]}
    tags = ["x"]
    patch: dict[str, Any] = {"patched": [1]}
    id = await store.create(record(data, tags=tags, meta=meta))
    await store.update(id, patch)

    data["list"].append(2)
    data["object"]["a"] = 2
    data["new"] = True
    meta["list"].append(2)
    tags.append("y")
    patch["patched"].append(2)

    found = await kept(store, id)
    assert found.data == {"list": [1], "object": {"a": 1}, "patched": [1]}
    assert found.meta == {"list": [1]}
    assert found.tags == ("x",)


@contract("D-MEM-REC")
async def test_nothing_done_to_what_was_returned_reaches_the_store(store: Store) -> None:
    id = await store.create(record({"list": [1]}, meta={"list": [1]}))
    before = await kept(store, id)

    for found in [await kept(store, id), *await store.query(MemoryFilter())]:
        found.data["list"].append(2)
        found.data["new"] = True
        dict(found.meta or {})["list"].append(2)

    assert await kept(store, id) == before
    assert await store.query(MemoryFilter()) == [before]
    assert before.data == {"list": [1]}


# --------------------------------------------------------------------- update and delete


@contract("MEM-CRUD-1")
async def test_an_update_is_seen_by_get_and_query(store: Store) -> None:
    id = await store.create(record({"a": 1}))

    assert await store.update(id, {"a": 2}) is None  # type: ignore[func-returns-value]

    assert (await kept(store, id)).data == {"a": 2}
    assert (await everything(store))[id].data == {"a": 2}


@contract("MEM-CRUD-3")
async def test_update_of_an_unknown_id_raises(store: Store) -> None:
    with pytest.raises(RecordNotFound) as caught:
        await store.update("nowhere", {"a": 1})

    assert caught.value.code == "record.not_found"
    assert caught.value.id == "nowhere"
    assert await everything(store) == {}


@contract("MEM-CRUD-3")
async def test_update_of_a_deleted_id_raises(store: Store) -> None:
    id = await store.create(record({"a": 1}))
    await store.delete(id)

    with pytest.raises(RecordNotFound):
        await store.update(id, {"a": 2})

    assert await store.get(id) is None


@contract("MEM-CRUD-5", "MEM-REC-2")
async def test_an_update_moves_updated_at_and_nothing_else(store: Store) -> None:
    now = SystemClock().now_ms()
    id = await store.create(
        record({"a": 1}, created_at=1000, updated_at=2000, tags=["x"], meta={"m": 1})
    )

    await store.update(id, {"a": 2})

    found = await kept(store, id)
    assert now - DAY < found.updated_at < now + DAY
    assert found.created_at == 1000
    assert found.tags == ("x",)
    assert found.meta == {"m": 1}
    assert (await everything(store))[id] == found


@contract("MEM-CRUD-5", "MEM-REC-2")
async def test_an_update_never_moves_updated_at_back(store: Store) -> None:
    id = await store.create(record({}, created_at=1000, updated_at=MAX_INTEGER))

    await store.update(id, {"a": 1})

    assert (await kept(store, id)).updated_at == MAX_INTEGER


@contract("MEM-CRUD-1")
async def test_a_deleted_record_is_seen_by_neither_get_nor_query(store: Store) -> None:
    gone, stays = await store.create(record(tags=["x"])), await store.create(record(tags=["x"]))

    assert await store.delete(gone) is None  # type: ignore[func-returns-value]

    assert await store.get(gone) is None
    assert await ids_in(store) == [stays]
    assert await ids_in(store, ids=[gone, stays]) == [stays]
    assert await ids_in(store, tags=["x"]) == [stays]


@contract("MEM-CRUD-1")
async def test_delete_is_idempotent(store: Store) -> None:
    id = await store.create(record())

    await store.delete(id)
    await store.delete(id)

    assert await store.get(id) is None


@contract("MEM-CRUD-1")
async def test_delete_of_an_unknown_id_is_no_error(store: Store) -> None:
    id = await store.create(record())

    await store.delete("nowhere")

    assert await ids_in(store) == [id]


@contract("MEM-CRUD-1")
async def test_a_deleted_id_may_be_created_anew_and_nothing_of_old_remains(store: Store) -> None:
    await store.create(record({"a": 1}, id="one", created_at=5, tags=["old"], meta={"m": 1}))
    await store.delete("one")

    assert await store.create(record({"b": 2}, id="one", created_at=9, updated_at=9)) == "one"

    anew = StoredMemoryRecord("one", {"b": 2}, 9, 9)
    assert await store.get("one") == anew
    assert await store.query(MemoryFilter()) == [anew]
    assert await ids_in(store, tags=["old"]) == []
    assert await ids_in(store, created_before=8) == []
