"""Versions: every change is the next one, and whoever expected another is refused."""

import asyncio

import pytest

from memoranda.kernel.errors import InvalidPatch, RecordNotFound, VersionConflict
from memoranda.records import Capability
from memoranda.testkit.records.asking import kept, record
from memoranda.testkit.records.marks import contract
from memoranda.testkit.records.opening import Store, require


@contract()
async def test_versions_are_counted_from_one(store: Store) -> None:
    require(store, Capability.VERSIONED)
    id = await store.create(record({"n": 0}))

    assert await store.version(id) == 1
    await store.update(id, {"n": 1})
    assert await store.version(id) == 2
    await store.update(id, {"n": 1})
    assert await store.version(id) == 3


@contract()
async def test_an_unknown_and_a_deleted_id_have_no_version(store: Store) -> None:
    require(store, Capability.VERSIONED)
    id = await store.create(record())
    await store.delete(id)

    assert await store.version(id) is None
    assert await store.version("nowhere") is None


@contract()
async def test_a_deleted_id_created_anew_is_a_later_version(store: Store) -> None:
    """A store that keeps the deletion as a version of its own counts that one too."""
    require(store, Capability.VERSIONED)
    await store.create(record({}, id="one"))
    await store.update("one", {"n": 1})
    await store.delete("one")

    await store.create(record({}, id="one"))

    assert await store.version("one") in (3, 4)


@contract()
async def test_a_refused_update_is_no_version(store: Store) -> None:
    require(store, Capability.VERSIONED)
    id = await store.create(record({"n": 0}))

    with pytest.raises(InvalidPatch):
        await store.update(id, "no object")

    assert await store.version(id) == 1


@contract()
async def test_an_update_of_the_expected_version_goes_through(store: Store) -> None:
    require(store, Capability.VERSIONED)
    id = await store.create(record({"n": 0}))

    await store.update(id, {"n": 1}, expected_version=1)
    await store.update(id, {"n": 2}, expected_version=2)

    assert (await kept(store, id)).data == {"n": 2}


@contract()
@pytest.mark.parametrize("expected", [0, 1, 3, 2**31])
async def test_an_update_of_another_version_is_refused(store: Store, expected: int) -> None:
    require(store, Capability.VERSIONED)
    id = await store.create(record({"n": 0}))
    await store.update(id, {"n": 1})
    before = await kept(store, id)

    with pytest.raises(VersionConflict) as caught:
        await store.update(id, {"n": 2}, expected_version=expected)

    assert caught.value.code == "record.version_conflict"
    assert (caught.value.id, caught.value.expected, caught.value.current) == (id, expected, 2)
    assert await kept(store, id) == before
    assert await store.version(id) == 2


@contract()
async def test_a_delete_of_another_version_is_refused(store: Store) -> None:
    require(store, Capability.VERSIONED)
    id = await store.create(record({"n": 0}))
    await store.update(id, {"n": 1})
    before = await kept(store, id)

    with pytest.raises(VersionConflict) as caught:
        await store.delete(id, expected_version=1)

    assert (caught.value.expected, caught.value.current) == (1, 2)
    assert await kept(store, id) == before
    await store.delete(id, expected_version=2)
    assert await store.get(id) is None


@contract()
async def test_of_two_deletes_of_one_version_exactly_one_succeeds(
    store: Store, twin: Store
) -> None:
    require(store, Capability.VERSIONED)
    id = await store.create(record({"n": 0}))

    outcomes = await asyncio.gather(
        store.delete(id, expected_version=1),
        twin.delete(id, expected_version=1),
        return_exceptions=True,
    )

    assert sorted(map(type, outcomes), key=str) == [type(None), VersionConflict]
    assert await store.get(id) is None
    with pytest.raises(VersionConflict):
        await store.delete(id, expected_version=1)
    await store.delete(id)  # whoever expects nothing is content


@contract()
async def test_a_record_created_anew_is_not_the_one_that_was_expected(store: Store) -> None:
    require(store, Capability.VERSIONED)
    await store.create(record({"n": 0}, id="one"))
    await store.delete("one")
    await store.create(record({"n": 1}, id="one"))

    with pytest.raises(VersionConflict):
        await store.update("one", {"n": 2}, expected_version=1)

    assert (await kept(store, "one")).data == {"n": 1}


@contract("MEM-CRUD-3")
async def test_an_unknown_id_is_not_found_whatever_is_expected(store: Store) -> None:
    require(store, Capability.VERSIONED)

    with pytest.raises(RecordNotFound):
        await store.update("nowhere", {"n": 1}, expected_version=1)
    await store.delete("nowhere", expected_version=1)


@contract()
async def test_a_change_takes_a_reason(store: Store) -> None:
    require(store, Capability.VERSIONED)

    id = await store.create(record({}), reason="처음")
    await store.update(id, {"n": 1}, reason='it\'s "needed"')
    assert (await kept(store, id)).data == {"n": 1}
    await store.delete(id, reason="done")
    assert await store.get(id) is None
