"""Idempotency keys: a retry returns the first outcome and writes nothing twice."""

from math import nan

import pytest

from memoranda.kernel.errors import (
    IdempotencyConflict,
    InvalidJson,
    InvalidPatch,
    RecordExists,
    RecordNotFound,
    VersionConflict,
)
from memoranda.records.store import Capability
from memoranda.testkit import contract
from memoranda.testkit.records.opening import (
    Store,
    everything,
    ids_in,
    kept,
    record,
)

# ----------------------------------------------------------------------- the first outcome


@contract(Capability.VERSIONED)
async def test_a_retried_create_returns_the_first_id_and_writes_nothing(store: Store) -> None:
    first = await store.create(record({"n": 1}, tags=["x"]), idempotency_key="k")
    before = await everything(store)

    assert await store.create(record({"n": 1}, tags=["x"]), idempotency_key="k") == first

    assert await everything(store) == before
    assert await store.version(first) == 1


@contract(Capability.VERSIONED)
async def test_a_retried_create_with_an_id_is_no_conflict_with_itself(store: Store) -> None:
    await store.create(record({"n": 1}, id="one"), idempotency_key="k")

    assert await store.create(record({"n": 1}, id="one"), idempotency_key="k") == "one"

    assert await store.version("one") == 1


@contract(Capability.VERSIONED)
async def test_a_retried_create_does_not_undo_what_came_after(store: Store) -> None:
    updated = await store.create(record({"n": 1}), idempotency_key="updated")
    deleted = await store.create(record({"n": 1}), idempotency_key="deleted")
    await store.update(updated, {"n": 2})
    await store.delete(deleted)

    assert await store.create(record({"n": 1}), idempotency_key="updated") == updated
    assert await store.create(record({"n": 1}), idempotency_key="deleted") == deleted

    assert (await kept(store, updated)).data == {"n": 2}
    assert await store.get(deleted) is None
    assert await ids_in(store) == [updated]


@contract(Capability.VERSIONED)
async def test_a_retried_update_is_made_once(store: Store) -> None:
    id = await store.create(record({"n": 1}))
    await store.update(id, {"n": 2}, idempotency_key="k")
    await store.update(id, {"n": 3})

    await store.update(id, {"n": 2}, idempotency_key="k")

    assert (await kept(store, id)).data == {"n": 3}
    assert await store.version(id) == 3


@contract(Capability.VERSIONED)
async def test_a_retried_update_does_not_mind_its_own_version(store: Store) -> None:
    id = await store.create(record({"n": 1}))
    await store.update(id, {"n": 2}, expected_version=1, idempotency_key="k")

    await store.update(id, {"n": 2}, expected_version=1, idempotency_key="k")

    assert await store.version(id) == 2


@contract(Capability.VERSIONED)
async def test_a_retried_update_of_a_record_since_deleted_is_no_error(store: Store) -> None:
    id = await store.create(record({"n": 1}))
    await store.update(id, {"n": 2}, idempotency_key="k")
    await store.delete(id)

    await store.update(id, {"n": 2}, idempotency_key="k")

    assert await store.get(id) is None


@contract(Capability.VERSIONED)
async def test_a_retried_delete_does_not_delete_what_was_created_since(store: Store) -> None:
    await store.create(record("old", id="one"))
    await store.delete("one", expected_version=1, idempotency_key="k")
    await store.create(record("new", id="one"))

    await store.delete("one", expected_version=1, idempotency_key="k")

    assert (await kept(store, "one")).data == "new"


@contract(Capability.VERSIONED)
async def test_a_delete_that_found_nothing_is_an_outcome_too(store: Store) -> None:
    await store.delete("one", idempotency_key="k")
    await store.create(record(id="one"))

    await store.delete("one", idempotency_key="k")

    assert await ids_in(store) == ["one"]


@contract(Capability.VERSIONED)
async def test_a_retry_on_another_handle_finds_the_first_outcome(store: Store, twin: Store) -> None:
    first = await store.create(record({"n": 1}), idempotency_key="k")

    assert await twin.create(record({"n": 1}), idempotency_key="k") == first

    assert await ids_in(store) == [first]


@contract(Capability.VERSIONED)
async def test_calls_without_a_key_and_with_other_keys_are_made_each(store: Store) -> None:
    ids = {
        await store.create(record({"n": 1})),
        await store.create(record({"n": 1})),
        await store.create(record({"n": 1}), idempotency_key="k"),
        await store.create(record({"n": 1}), idempotency_key="K"),
        await store.create(record({"n": 1}), idempotency_key="k "),
        await store.create(record({"n": 1}), idempotency_key="열쇠 '🗝️' %_"),
    }

    assert len(ids) == 6
    assert len(await everything(store)) == 6


# ------------------------------------------------------------------------ another request


@contract(Capability.VERSIONED)
async def test_a_key_used_for_another_create_is_refused(store: Store) -> None:
    await store.create(record({"n": 1}, tags=["x"]), idempotency_key="k")
    before = await everything(store)

    for other in (
        record({"n": 2}, tags=["x"]),
        record({"n": 1}),
        record({"n": 1}, tags=["x"], meta={}),
        record({"n": 1}, tags=["x"], id="one"),
        record({"n": 1}, tags=["x"], created_at=1),
    ):
        with pytest.raises(IdempotencyConflict) as caught:
            await store.create(other, idempotency_key="k")
        assert caught.value.code == "record.idempotency_conflict"
        assert caught.value.key == "k"

    assert await everything(store) == before


@contract(Capability.VERSIONED)
async def test_a_key_used_for_another_change_is_refused(store: Store) -> None:
    text, two = await store.create(record({"n": 1})), await store.create(record({"n": 1}))
    await store.update(text, {"n": 2}, idempotency_key="update")
    await store.delete("nowhere", idempotency_key="delete")
    before = await everything(store)

    with pytest.raises(IdempotencyConflict):
        await store.update(text, {"n": 3}, idempotency_key="update")
    with pytest.raises(IdempotencyConflict):
        await store.update(two, {"n": 2}, idempotency_key="update")
    with pytest.raises(IdempotencyConflict):
        await store.create(record({"n": 2}), idempotency_key="update")
    with pytest.raises(IdempotencyConflict):
        await store.delete(text, idempotency_key="update")
    with pytest.raises(IdempotencyConflict):
        await store.delete(text, idempotency_key="delete")

    assert await everything(store) == before


# ------------------------------------------------------------------------ a call that failed


@contract(Capability.VERSIONED)
async def test_a_failed_create_leaves_its_key_unused(store: Store) -> None:
    await store.create(record("first", id="one"))

    with pytest.raises(RecordExists):
        await store.create(record("second", id="one"), idempotency_key="k")
    with pytest.raises(InvalidJson):
        await store.create(record(nan), idempotency_key="k")

    assert await store.create(record("third", id="two"), idempotency_key="k") == "two"
    assert (await kept(store, "one")).data == "first"


@contract(Capability.VERSIONED)
async def test_a_failed_update_leaves_its_key_unused(store: Store) -> None:
    id = await store.create(record({"n": 1}))

    with pytest.raises(RecordNotFound):
        await store.update("nowhere", {"n": 2}, idempotency_key="k")
    with pytest.raises(VersionConflict):
        await store.update(id, {"n": 2}, expected_version=7, idempotency_key="k")
    with pytest.raises(InvalidPatch):
        await store.update(id, "no object", idempotency_key="k")
    with pytest.raises(InvalidJson):
        await store.update(id, {"n": nan}, idempotency_key="k")

    await store.update(id, {"n": 3}, idempotency_key="k")
    assert (await kept(store, id)).data == {"n": 3}


@contract(Capability.VERSIONED)
async def test_a_failed_delete_leaves_its_key_unused(store: Store) -> None:
    id = await store.create(record())

    with pytest.raises(VersionConflict):
        await store.delete(id, expected_version=7, idempotency_key="k")

    await store.delete(id, idempotency_key="k")
    assert await store.get(id) is None


@contract("D-MEM-1", Capability.VERSIONED)
async def test_a_key_does_not_change_the_path_in_a_refusal(store: Store) -> None:
    id = await store.create(record({}))
    paths = []

    for key in (None, "k"):
        with pytest.raises(InvalidJson) as created:
            await store.create(record({"a": [nan]}), idempotency_key=key)
        with pytest.raises(InvalidJson) as updated:
            await store.update(id, {"a": [nan]}, idempotency_key=key)
        paths.append((created.value.where, updated.value.where))

    assert paths[0] == paths[1]
