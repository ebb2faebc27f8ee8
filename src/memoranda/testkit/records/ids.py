"""Ids and tags of any kind: kept as they are, or refused, and never taken for another."""

from itertools import pairwise

import pytest

from memoranda.kernel.clock import SystemClock
from memoranda.kernel.errors import InvalidJson, InvalidRecord, RecordNotFound
from memoranda.records.filter import MemoryFilter
from memoranda.records.store import Capability, MemoryUpdate
from memoranda.testkit import contract
from memoranda.testkit.records.opening import (
    Store,
    create_all,
    everything,
    ids_in,
    kept,
    record,
)

UNUSUAL = {
    "korean": "기억/하나",
    "emoji": "👩‍👩‍👧‍👦",
    "astral": "\U0001d4b3🦜",
    "quotes": 'it\'s "one" `two`',
    "backslash": "a\\b\\\\c\\u0000",
    "percent": "100%",
    "underscore": "_",
    "placeholders": "? $1 :id {id} %s",
    "sql": "'; DROP TABLE records; --",
    "spaces": "  a  b  ",
    "newline": "a\nb\tc\r",
    "controls": "\x01\x7f\u2028\ufeff",
    "path": "../../etc/passwd",
    "json": '{"id": ["a"]}',
    "brace": "{a,b}",
    "number": "1",
    "number_with_zeros": "0001",
    "null": "null",
    "longest": "글" * 512,
}

UNSTORABLE = {
    "null_character": "a\x00b",
    "only_null_character": "\x00",
    "lone_high_surrogate": "a\ud83d",
    "lone_low_surrogate": "\udc00b",
}

NEVER_STORED = {**UNSTORABLE, "empty": "", "too_long": "x" * 513, "huge": "x" * 100_000}

LOOK_ALIKES = [
    *("a", "A", "a ", " a", "á", "a\u0301", "\u0430", "\uff41", "a\u200b"),
    *("1", "01", "1.0", "%", "_", "a%", "a_", "aa"),
]

each_unusual = pytest.mark.parametrize("id", UNUSUAL.values(), ids=UNUSUAL.keys())
each_never_stored = pytest.mark.parametrize("id", NEVER_STORED.values(), ids=NEVER_STORED.keys())


@contract("MEM-CRUD-1", "MEM-CRUD-4", "MEM-REC-1")
@each_unusual
async def test_an_unusual_id_is_an_id_like_any_other(store: Store, id: str) -> None:
    other = await store.create(record({"n": 0}))

    assert await store.create(record({"n": 1}, id=id)) == id
    await store.update(id, {"n": 2})

    assert (await kept(store, id)).data == {"n": 2}
    assert await ids_in(store, ids=[id]) == [id]
    await store.delete(id)
    assert await store.get(id) is None
    assert (await kept(store, other)).data == {"n": 0}


@contract("MEM-FILTER", "D-MEM-REC")
async def test_an_unusual_tag_is_a_tag_like_any_other(store: Store) -> None:
    tags = list(dict.fromkeys([*(tag[:256] for tag in UNUSUAL.values()), *LOOK_ALIKES]))
    for tag in tags:
        await store.create(record(id=f"tagged {tag}", tags=[tag]))

    for tag in tags:
        assert await ids_in(store, tags=[tag]) == [f"tagged {tag}"]
        assert (await kept(store, f"tagged {tag}")).tags == (tag,)


@contract("MEM-CRUD-1", "MEM-CRUD-2")
async def test_ids_that_look_alike_are_not_the_same(store: Store) -> None:
    for first, second in pairwise([*LOOK_ALIKES, "end"]):
        assert await store.get(second) is None
        await store.create(record(first, id=first))

    for id in LOOK_ALIKES:
        assert (await kept(store, id)).data == id
        assert await ids_in(store, ids=[id]) == [id]


@contract("MEM-CRUD-1", "D-MEM-REC")
@each_never_stored
async def test_an_id_that_no_store_can_hold_is_refused(store: Store, id: str) -> None:
    with pytest.raises(InvalidRecord) as caught:
        await store.create(record(id=id))

    assert caught.value.code == "input.record"
    assert caught.value.where == "$.id"
    assert await everything(store) == {}


@contract("D-MEM-REC")
@pytest.mark.parametrize("tag", UNSTORABLE.values(), ids=UNSTORABLE.keys())
async def test_a_tag_that_no_store_can_hold_is_refused(store: Store, tag: str) -> None:
    with pytest.raises(InvalidRecord) as caught:
        await store.create(record(tags=["fine", tag]))

    assert caught.value.where == "$.tags[1]"
    assert await everything(store) == {}


@contract("MEM-CRUD-2", "MEM-CRUD-3", "MEM-FILTER")
@each_never_stored
async def test_an_id_that_no_store_can_hold_is_an_unknown_id(store: Store, id: str) -> None:
    await create_all(store, record(id="a"), record(id="b"))
    before = await everything(store)

    assert await store.get(id) is None
    with pytest.raises(RecordNotFound) as caught:
        await store.update(id, {"n": 1})
    await store.delete(id)

    assert caught.value.id == id
    assert await ids_in(store, ids=[id]) == []
    assert await ids_in(store, ids=["a", id]) == ["a"]
    assert await ids_in(store, tags=[id]) == []
    assert await everything(store) == before


@contract(
    "MEM-CRUD-2",
    "MEM-CRUD-3",
    Capability.UPDATE_MANY,
    Capability.DELETE_MANY,
    Capability.ANNOTATED,
    Capability.STREAMED,
    Capability.VERSIONED,
)
@each_never_stored
async def test_an_id_that_no_store_can_hold_is_unknown_to_every_ability(
    store: Store, id: str
) -> None:
    await create_all(store, record({"n": 0}, id="a"), record(id="b"))

    with pytest.raises(RecordNotFound):
        await store.annotate(id, tags=["x"])
    with pytest.raises(RecordNotFound):
        await store.update_many([MemoryUpdate("a", {"n": 1}), MemoryUpdate(id, {"n": 1})])
    await store.delete_many([id, "b"])

    assert await store.version(id) is None
    assert [found.id async for found in store.stream(MemoryFilter(ids=("a", id)))] == ["a"]
    assert {found.id: found.data for found in (await everything(store)).values()} == {"a": {"n": 0}}


@contract("MEM-CRUD-3", Capability.VERSIONED)
@each_never_stored
async def test_an_id_that_no_store_can_hold_is_unknown_with_a_key_as_well(
    store: Store, id: str
) -> None:
    with pytest.raises(RecordNotFound):
        await store.update(id, {"n": 1}, idempotency_key="update")
    await store.delete(id, idempotency_key="delete")

    assert await everything(store) == {}


# ------------------------------------------------------------------------------------------------
# Tags and meta change by a call of their own, never by a patch (Capability.ANNOTATED).


@contract("D-MEM-REC", Capability.ANNOTATED)
async def test_annotate_replaces_tags_and_meta(store: Store) -> None:
    id = await store.create(record({"a": 1}, tags=["x", "y"], meta={"m": 1, "n": 2}))

    await store.annotate(id, tags=["z", "y"], meta={"m": {"deep": [3]}})

    found = await kept(store, id)
    assert found.tags == ("z", "y")
    assert found.meta == {"m": {"deep": [3]}}
    assert found.data == {"a": 1}


@contract("D-MEM-REC", Capability.ANNOTATED)
async def test_annotate_leaves_what_is_not_named(store: Store) -> None:
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


@contract("D-MEM-REC", Capability.ANNOTATED)
async def test_annotate_with_none_removes_and_with_nothing_empties(store: Store) -> None:
    first, second = await create_all(
        store, record(tags=["x"], meta={"m": 1}), record(tags=["x"], meta={"m": 1})
    )

    await store.annotate(first, tags=None, meta=None)
    await store.annotate(second, tags=[], meta={})

    assert ((await kept(store, first)).tags, (await kept(store, first)).meta) == (None, None)
    assert ((await kept(store, second)).tags, (await kept(store, second)).meta) == ((), {})
    assert await ids_in(store, tags=["x"]) == []


@contract("MEM-FILTER", Capability.ANNOTATED)
async def test_a_query_by_tag_follows_annotations(store: Store) -> None:
    id = await store.create(record(tags=["old", "both"]))

    await store.annotate(id, tags=["both", "new"])

    assert await ids_in(store, tags=["old"]) == []
    assert await ids_in(store, tags=["both"]) == [id]
    assert await ids_in(store, tags=["new", "both"]) == [id]


@contract("MEM-REC-2", Capability.ANNOTATED)
async def test_annotate_moves_updated_at_and_keeps_created_at(store: Store) -> None:
    id = await store.create(record(created_at=1, updated_at=2))

    await store.annotate(id, tags=["x"])

    found = await kept(store, id)
    assert found.created_at == 1
    assert 2 < found.updated_at < SystemClock().now_ms() + 86_400_000


@contract("MEM-CRUD-3", Capability.ANNOTATED)
async def test_annotate_of_an_unknown_or_deleted_id_raises(store: Store) -> None:
    gone = await store.create(record())
    await store.delete(gone)

    for id in ("nowhere", gone):
        with pytest.raises(RecordNotFound) as caught:
            await store.annotate(id, tags=["x"])
        assert caught.value.id == id

    assert await everything(store) == {}


@contract("D-MEM-1", "D-MEM-REC", Capability.ANNOTATED)
async def test_an_annotation_that_can_not_be_kept_changes_nothing(store: Store) -> None:
    id = await store.create(record(tags=["x"], meta={"m": 1}))
    before = await kept(store, id)

    with pytest.raises(InvalidRecord):
        await store.annotate(id, tags=["fine", "a\x00b"], meta={"m": 2})
    with pytest.raises(InvalidJson) as caught:
        await store.annotate(id, tags=["y"], meta={"a": [float("nan")]})

    assert caught.value.where.endswith(".meta.a[0]")
    assert await kept(store, id) == before
    assert await ids_in(store, tags=["x"]) == [id]


@contract("D-MEM-REC", Capability.ANNOTATED)
async def test_nothing_done_to_an_annotation_later_reaches_the_store(store: Store) -> None:
    id = await store.create(record())
    tags, meta = ["x"], {"list": [1]}
    await store.annotate(id, tags=tags, meta=meta)

    tags.append("y")
    meta["list"].append(2)

    found = await kept(store, id)
    assert found.tags == ("x",)
    assert found.meta == {"list": [1]}


@contract(Capability.ANNOTATED, Capability.VERSIONED)
async def test_an_annotation_is_the_next_version(store: Store) -> None:
    id = await store.create(record())

    await store.annotate(id, tags=["x"])

    assert await store.version(id) == 2
