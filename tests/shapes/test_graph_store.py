"""The graph's store, tried as LangGraph tries its own."""

from typing import Any

import pytest

from memoranda import Memory
from memoranda.errors import InvalidFilter, InvalidJson
from tests.shapes.graph_store import GraphStore, Item


@pytest.fixture
def store(memory: Memory[Any]) -> GraphStore:
    return GraphStore(memory)


async def test_put_get_replace_and_delete(store: GraphStore) -> None:
    await store.put(("users", "ada"), "profile", {"name": "Ada", "n": 1})
    await store.put(("users", "ada"), "profile", {"name": "Ada Lovelace"})

    found = await store.get(("users", "ada"), "profile")
    assert found == Item(("users", "ada"), "profile", {"name": "Ada Lovelace"})
    assert await store.get(("users",), "profile") is None

    await store.delete(("users", "ada"), "profile")
    await store.delete(("users", "ada"), "profile")
    assert await store.get(("users", "ada"), "profile") is None


async def test_search_by_prefix_and_by_filter_operators(store: GraphStore) -> None:
    for number in range(5):
        value = {"status": "open" if number % 2 else "done", "score": number, "a.b": number}
        await store.put(("docs", f"user{number % 2}"), f"k{number}", value)
    await store.put(("docs2",), "other", {"status": "open", "score": 4})

    assert [one.key for one in await store.search(("docs",))] == ["k4", "k3", "k2", "k1", "k0"]
    assert [one.key for one in await store.search(("docs", "user1"))] == ["k3", "k1"]
    for filter, keys in (
        ({"status": "open"}, ["k3", "k1"]),
        ({"score": {"$gte": 3}}, ["k4", "k3"]),
        ({"score": {"$gt": 0, "$lt": 3}}, ["k2", "k1"]),
        ({"status": {"$ne": "open"}, "score": {"$lte": 2}}, ["k2", "k0"]),
        ({"status": {"$eq": "done"}, "a.b": 4}, ["k4"]),
    ):
        assert [one.key for one in await store.search(("docs",), filter=filter)] == keys
    page = await store.search(("docs",), limit=2, offset=1)
    assert [one.key for one in page] == ["k3", "k2"]
    with pytest.raises(InvalidFilter):
        await store.search((), filter={"score": {"$regex": "x"}})


async def test_a_batch_lands_whole_or_not_at_all(store: GraphStore) -> None:
    await store.put(("a",), "old", {"n": 1})
    await store.batch(
        [Item(("a",), "one", {"n": 1}), Item(("a",), "old", None), Item(("a",), "one", {"n": 2})]
    )
    assert [(one.key, one.value) for one in await store.search(("a",))] == [("one", {"n": 2})]

    with pytest.raises(InvalidJson):
        await store.batch([Item(("a",), "two", {"n": 1}), Item(("a",), "bad", {"n": object()})])
    assert await store.get(("a",), "two") is None


async def test_namespaces_are_listed_by_prefix(store: GraphStore) -> None:
    for namespace in (("a",), ("a", "b"), ("a", "b", "c"), ("ab",), ("x", "y")):
        await store.put(namespace, "key", {"n": 1})
    await store.delete(("x", "y"), "key")

    assert await store.list_namespaces() == [("a",), ("a", "b"), ("a", "b", "c"), ("ab",)]
    assert await store.list_namespaces(("a",)) == [("a",), ("a", "b"), ("a", "b", "c")]


async def test_keys_and_labels_that_look_alike_are_not_mixed_up(store: GraphStore) -> None:
    await store.put(("a",), "b/c..d", {"n": 1})
    await store.put(("a/b",), "c..d", {"n": 2})
    await store.put(("a", "b"), "d", {"n": 3})

    found = {(one.namespace, one.key): one.value for one in await store.search()}
    assert found == {
        (("a",), "b/c..d"): {"n": 1},
        (("a/b",), "c..d"): {"n": 2},
        (("a", "b"), "d"): {"n": 3},
    }
