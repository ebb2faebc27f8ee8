"""Tags and meta change by a call of their own, never by a patch (Capability.ANNOTATED)."""

import pytest

from memoranda.kernel.clock import SystemClock
from memoranda.kernel.errors import InvalidJson, InvalidRecord, RecordNotFound
from memoranda.records import Capability
from memoranda.testkit.records.asking import create_all, everything, ids_in, kept, record
from memoranda.testkit.records.marks import contract
from memoranda.testkit.records.opening import Store, require


@contract("D-MEM-REC")
async def test_annotate_replaces_tags_and_meta(store: Store) -> None:
    require(store, Capability.ANNOTATED)
    id = await store.create(record({"a": 1}, tags=["x", "y"], meta={"m": 1, "n": 2}))

    await store.annotate(id, tags=["z", "y"], meta={"m": {"deep": [3]}})

    found = await kept(store, id)
    assert found.tags == ("z", "y")
    assert found.meta == {"m": {"deep": [3]}}
    assert found.data == {"a": 1}


@contract("D-MEM-REC")
async def test_annotate_leaves_what_is_not_named(store: Store) -> None:
    require(store, Capability.ANNOTATED)
    first, second = await create_all(
        store, record(tags=["x"], meta={"m": 1}), record(tags=["x"], meta={"m": 1})
    )

    await store.annotate(first, tags=["y"])
    await store.annotate(second, meta={"m": 2})

    assert ((await kept(store, first)).tags, (await kept(store, first)).meta) == (("y",), {"m": 1})
    assert ((await kept(store, second)).tags, (await kept(store, second)).meta) == (
        ("x",),
        {"m": 2},
    )


@contract("D-MEM-REC")
async def test_annotate_with_none_removes_and_with_nothing_empties(store: Store) -> None:
    require(store, Capability.ANNOTATED)
    first, second = await create_all(
        store, record(tags=["x"], meta={"m": 1}), record(tags=["x"], meta={"m": 1})
    )

    await store.annotate(first, tags=None, meta=None)
    await store.annotate(second, tags=[], meta={})

    assert ((await kept(store, first)).tags, (await kept(store, first)).meta) == (None, None)
    assert ((await kept(store, second)).tags, (await kept(store, second)).meta) == ((), {})
    assert await ids_in(store, tags=["x"]) == []


@contract("MEM-FILTER")
async def test_a_query_by_tag_follows_annotations(store: Store) -> None:
    require(store, Capability.ANNOTATED)
    id = await store.create(record(tags=["old", "both"]))

    await store.annotate(id, tags=["both", "new"])

    assert await ids_in(store, tags=["old"]) == []
    assert await ids_in(store, tags=["both"]) == [id]
    assert await ids_in(store, tags=["new", "both"]) == [id]


@contract("MEM-REC-2")
async def test_annotate_moves_updated_at_and_keeps_created_at(store: Store) -> None:
    require(store, Capability.ANNOTATED)
    id = await store.create(record(created_at=1, updated_at=2))

    await store.annotate(id, tags=["x"])

    found = await kept(store, id)
    assert found.created_at == 1
    assert 2 < found.updated_at < SystemClock().now_ms() + 86_400_000


@contract("MEM-CRUD-3")
async def test_annotate_of_an_unknown_or_deleted_id_raises(store: Store) -> None:
    require(store, Capability.ANNOTATED)
    gone = await store.create(record())
    await store.delete(gone)

    for id in ("nowhere", gone):
        with pytest.raises(RecordNotFound) as caught:
            await store.annotate(id, tags=["x"])
        assert caught.value.id == id

    assert await everything(store) == {}


@contract("D-MEM-1", "D-MEM-REC")
async def test_an_annotation_that_can_not_be_kept_changes_nothing(store: Store) -> None:
    require(store, Capability.ANNOTATED)
    id = await store.create(record(tags=["x"], meta={"m": 1}))
    before = await kept(store, id)

    with pytest.raises(InvalidRecord):
        await store.annotate(id, tags=["fine", "a\x00b"], meta={"m": 2})
    with pytest.raises(InvalidJson) as caught:
        await store.annotate(id, tags=["y"], meta={"a": [float("nan")]})

    assert caught.value.where.endswith(".meta.a[0]")
    assert await kept(store, id) == before
    assert await ids_in(store, tags=["x"]) == [id]


@contract("D-MEM-REC")
async def test_nothing_done_to_an_annotation_later_reaches_the_store(store: Store) -> None:
    require(store, Capability.ANNOTATED)
    id = await store.create(record())
    tags, meta = ["x"], {"list": [1]}
    await store.annotate(id, tags=tags, meta=meta)

    tags.append("y")
    meta["list"].append(2)

    found = await kept(store, id)
    assert found.tags == ("x",)
    assert found.meta == {"list": [1]}


@contract()
async def test_an_annotation_is_the_next_version(store: Store) -> None:
    require(store, Capability.ANNOTATED, Capability.VERSIONED)
    id = await store.create(record())

    await store.annotate(id, tags=["x"])

    assert await store.version(id) == 2
