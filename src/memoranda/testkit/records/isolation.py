"""Two scopes see nothing of each other, whatever is called; two handles on one see the same."""

import pytest

from memoranda.kernel.errors import RecordNotFound
from memoranda.records.filter import MemoryFilter
from memoranda.records.store import Capability, MemoryUpdate
from memoranda.testkit import contract, fresh_scope
from memoranda.testkit.records.opening import (
    OpenStore,
    Store,
    create_all,
    everything,
    ids_in,
    kept,
    record,
)


@contract()
async def test_two_handles_on_one_scope_see_the_same_records(store: Store, twin: Store) -> None:
    id = await store.create(record({"a": 1}, tags=["x"]))
    assert await twin.get(id) == await kept(store, id)

    await twin.update(id, {"b": 2})
    assert (await kept(store, id)).data == {"a": 1, "b": 2}

    await store.delete(id)
    assert await twin.get(id) is None
    assert await everything(twin) == {}


@contract("MEM-CRUD-2")
async def test_another_scope_gets_nothing_of_this_one(store: Store, stranger: Store) -> None:
    id = await store.create(record({"a": 1}, tags=["x"]))

    assert await stranger.get(id) is None


@contract("MEM-FILTER")
async def test_another_scope_finds_nothing_of_this_one(store: Store, stranger: Store) -> None:
    id = await store.create(record({"a": 1}, tags=["x"], created_at=5))
    own = await stranger.create(record(created_at=5))

    assert await ids_in(stranger) == [own]
    assert await ids_in(stranger, ids=[id]) == []
    assert await ids_in(stranger, tags=["x"]) == []
    assert await ids_in(stranger, created_after=5, created_before=5) == [own]
    assert await ids_in(stranger, order_by="updatedAt", order="asc") == [own]
    assert await ids_in(stranger, limit=1, offset=1) == []


@contract("MEM-CRUD-3")
async def test_another_scope_can_not_update_this_one(store: Store, stranger: Store) -> None:
    id = await store.create(record({"a": 1}))
    before = await everything(store)

    with pytest.raises(RecordNotFound):
        await stranger.update(id, {"a": 2})

    assert await everything(store) == before


@contract("MEM-CRUD-1")
async def test_another_scope_can_not_delete_this_one(store: Store, stranger: Store) -> None:
    id = await store.create(record({"a": 1}))
    before = await everything(store)

    await stranger.delete(id)

    assert await everything(store) == before


@contract("MEM-CRUD-1")
async def test_one_id_may_be_used_in_every_scope(store: Store, stranger: Store) -> None:
    await store.create(record({"mine": 1}, id="one", created_at=1, tags=["x"]))
    await stranger.create(record({"theirs": 1}, id="one", created_at=2, tags=["x"]))

    await store.update("one", {"mine": 2})
    await stranger.update("one", {"theirs": 3})

    assert [found.data for found in await store.query(MemoryFilter(tags=("x",)))] == [{"mine": 2}]
    assert (await kept(stranger, "one")).data == {"theirs": 3}
    await store.delete("one")
    assert (await kept(stranger, "one")).data == {"theirs": 3}
    assert await ids_in(stranger, tags=["x"]) == ["one"]


@contract()
async def test_scopes_that_look_alike_are_not_the_same(open_store: OpenStore) -> None:
    scope = fresh_scope()
    for name in (scope, scope.upper(), scope + "%", scope + "_", scope + " '\"", scope + "한 🦜"):
        async with open_store(name) as store:
            assert await store.query(MemoryFilter()) == []
            await store.create(record(name, id="one"))

    async with open_store(scope) as store:
        assert [found.data for found in await store.query(MemoryFilter())] == [scope]


@contract("D-MEM-1", Capability.CREATE_MANY, Capability.UPDATE_MANY, Capability.DELETE_MANY)
async def test_batches_do_not_reach_another_scope(store: Store, stranger: Store) -> None:
    await create_all(store, record({"n": 1}, id="a"), record({"n": 1}, id="b"))
    await stranger.create_many([record({"n": 2}, id="a"), record({"n": 2}, id="c")])
    before = await everything(store)

    await stranger.update_many([MemoryUpdate("a", {"n": 3})])
    with pytest.raises(RecordNotFound):
        await stranger.update_many([MemoryUpdate("a", {"n": 4}), MemoryUpdate("b", {"n": 4})])
    assert (await kept(stranger, "a")).data == {"n": 3}
    await stranger.delete_many(["a", "b", "c"])

    assert await everything(store) == before
    assert await everything(stranger) == {}


@contract("D-MEM-1", Capability.CLEAR)
async def test_clear_empties_this_scope_only(store: Store, stranger: Store) -> None:
    await create_all(store, record(id="a", tags=["x"]), record(id="b"))
    await stranger.create(record(id="a", tags=["x"]))
    before = await everything(stranger)

    await store.clear()

    assert await everything(store) == {}
    assert await everything(stranger) == before
    assert await ids_in(stranger, tags=["x"]) == ["a"]


@contract(Capability.ANNOTATED)
async def test_annotate_does_not_reach_another_scope(store: Store, stranger: Store) -> None:
    await store.create(record(id="one", tags=["x"]))
    await stranger.create(record(id="two", tags=["x"]))
    before = await everything(store)

    with pytest.raises(RecordNotFound):
        await stranger.annotate("one", tags=["y"])
    await stranger.annotate("two", tags=["y"])

    assert await everything(store) == before
    assert await ids_in(store, tags=["x"]) == ["one"]
    assert await ids_in(stranger, tags=["x"]) == []


@contract(Capability.COUNTED, Capability.FORGETS_WHERE)
async def test_counts_show_nothing_of_another_scope(store: Store, stranger: Store) -> None:
    await store.create(record({"n": 1}, id="a", tags=["secret"]))

    assert await stranger.ids(MemoryFilter()) == []
    assert await stranger.ids(MemoryFilter(tags=["secret"])) == []
    assert await stranger.count(MemoryFilter()) == 0
    assert await stranger.tags() == {}
    assert await stranger.forget_where(MemoryFilter(), reason="a test") == 0
    assert await store.ids(MemoryFilter()) == ["a"]


@contract(Capability.STREAMED)
async def test_a_stream_shows_nothing_of_another_scope(store: Store, stranger: Store) -> None:
    await store.create(record(id="one", tags=["x"]))
    await stranger.create(record(id="two", tags=["x"]))

    for filter in (MemoryFilter(), MemoryFilter(tags=("x",)), MemoryFilter(ids=("one", "two"))):
        assert [found.id async for found in stranger.stream(filter)] == ["two"]


@contract(Capability.VERSIONED)
async def test_versions_are_counted_per_scope(store: Store, stranger: Store) -> None:
    await store.create(record({}, id="one"))
    await store.update("one", {"n": 1})

    assert await stranger.version("one") is None
    await stranger.create(record({}, id="one"))
    assert await stranger.version("one") == 1


@contract(Capability.VERSIONED)
async def test_idempotency_keys_are_counted_per_scope(store: Store, stranger: Store) -> None:
    first = await store.create(record({"n": 1}), idempotency_key="k")

    second = await stranger.create(record({"n": 1}), idempotency_key="k")
    await stranger.update(second, {"n": 2}, idempotency_key="other")

    assert first != second
    assert (await kept(store, first)).data == {"n": 1}
    assert (await kept(stranger, second)).data == {"n": 2}
    assert await store.get(second) is None
