"""LangGraph's `BaseStore`: what its own stores promise, and what this one adds."""

import asyncio
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from typing_extensions import TypedDict

import memoranda
from memoranda import Memory
from memoranda.errors import InvalidOption, InvalidRecord
from memoranda.integrations import MemorandaStore, RecalledItem
from memoranda.testkit.strategies import FrozenClock
from tests.fixtures import Opens
from tests.journeys.embeddings.toy import ToyEmbedder

DOCS = ("docs", "kim")


class State(TypedDict):
    said: str


@pytest.fixture
async def store(memory: Memory[Any], clock: FrozenClock) -> MemorandaStore:
    return MemorandaStore(memory, clock=clock)


def keys(found: Any) -> list[str]:
    return sorted(item.key for item in found)


async def test_a_value_that_is_put_is_found_under_its_namespace_and_key(
    store: MemorandaStore, clock: FrozenClock
) -> None:
    await store.aput(DOCS, "..a/b", {"title": "첫 문서", "n": 1})
    clock.advance(1_000)
    await store.aput(DOCS, "..a/b", {"title": "next"})

    item = await store.aget(DOCS, "..a/b")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (DOCS, "..a/b", {"title": "next"})
    assert (item.updated_at - item.created_at).total_seconds() == 1
    assert await store.aget(("docs",), "..a/b") is None


async def test_a_delete_is_an_invalidation_that_history_keeps(
    store: MemorandaStore, memory: Memory[Any]
) -> None:
    await store.aput(DOCS, "a", {"n": 1})

    await store.adelete(DOCS, "a")
    await store.adelete(DOCS, "unknown")

    assert await store.aget(DOCS, "a") is None
    events = await memory.history("item:docs.kim..a")
    assert [(event.act, event.reason) for event in events] == [
        ("create", None), ("invalidate", "deleted by caller"),
    ]  # fmt: skip


async def test_a_batch_reads_what_was_before_it_and_of_two_puts_the_last_counts(
    store: MemorandaStore, memory: Memory[Any]
) -> None:
    await store.aput(DOCS, "a", {"n": 1})
    before = (await memory.journal.head()).size

    got, _, _, _, found, names = await store.abatch(
        [
            GetOp(DOCS, "a"),
            PutOp(DOCS, "a", {"n": 2}),
            PutOp(DOCS, "a", {"n": 3}),
            PutOp(("other",), "b", {"n": 4}),
            SearchOp(DOCS),
            ListNamespacesOp(),
        ]
    )

    assert got.value == {"n": 1}  # type: ignore[union-attr]
    assert [item.value for item in found] == [{"n": 1}]  # type: ignore[union-attr]
    assert names == [DOCS]
    assert (await memory.journal.head()).size == before + 2
    item = await store.aget(DOCS, "a")
    assert item is not None
    assert item.value == {"n": 3}


async def test_a_batch_with_a_write_that_is_refused_writes_nothing(store: MemorandaStore) -> None:
    with pytest.raises(memoranda.MemorandaError):
        await store.abatch([PutOp(DOCS, "a", {"n": 1}), PutOp(DOCS, "b", {"n": float("nan")})])

    assert await store.asearch(()) == []


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        ({"color": "red"}, "ab"),
        ({"n": {"$gt": 1, "$lte": 3}}, "bc"),
        ({"n": {"$ne": 1}}, "bc"),
        ({"n": True}, ""),
        ({"user": {"access-level": 2}}, "b"),
        ({"user.access-level": {"$gte": 2}}, "b"),
        ({"user": {}}, "ab"),
        ({"1st": "yes"}, "c"),
        ({"색": "빨강"}, "c"),
        ({"n": {"$lt": float("inf")}}, "abc"),
        ({"n": {"$gt": float("inf")}}, ""),
        ({"n": float("nan")}, ""),
        ({"n": {"$lt": 10**400}}, "abc"),
        ({"n": {"$gte": 10**100}}, ""),
    ],
)
async def test_filters_mean_what_langgraph_says(
    store: MemorandaStore, filter: dict[str, Any], found: str
) -> None:
    await store.aput(DOCS, "a", {"color": "red", "n": 1, "user": {"access-level": 1}})
    await store.aput(DOCS, "b", {"color": "red", "n": 2, "user": {"access-level": 2}})
    await store.aput(("docs", "lee"), "c", {"n": 3, "1st": "yes", "색": "빨강"})

    assert "".join(keys(await store.asearch(("docs",), filter=filter))) == found


@pytest.mark.parametrize(
    "filter",
    [{"a') = '1' OR '1' = '1": 1}, {"": 1}, {"a..b": 1}, {"n": {"$regex": "x"}}, {"a\n": 1}],
)
async def test_a_filter_that_can_be_no_filter_is_a_value_error(
    store: MemorandaStore, filter: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"Invalid filter key|Unsupported operator"):
        await store.asearch(("docs",), filter=filter)


async def test_a_prefix_is_of_whole_labels_and_pages_go_on(store: MemorandaStore) -> None:
    for number in range(5):
        await store.aput(("a", f"b{number % 2}"), f"k{number}", {"n": number})
    await store.aput(("ab",), "other", {"n": 9})
    await store.aput(("a%", "_"), "literal", {"n": 9})

    assert keys(await store.asearch(("a",))) == ["k0", "k1", "k2", "k3", "k4"]
    assert keys(await store.asearch(("a", "b"))) == []
    assert keys(await store.asearch(["a", "b1"])) == ["k1", "k3"]  # type: ignore[arg-type]
    pages = [await store.asearch(("a",), limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [len(page) for page in pages] == [2, 2, 1]
    assert keys(item for page in pages for item in page) == ["k0", "k1", "k2", "k3", "k4"]
    assert keys(await store.asearch(("a%",))) == ["literal"]


async def test_namespaces_are_listed_by_prefix_suffix_wildcard_and_depth(
    store: MemorandaStore,
) -> None:
    for namespace in (("a", "b", "c"), ("a", "b", "d"), ("a", "x", "d"), ("z",)):
        await store.aput(namespace, "k", {"n": 1})
    await store.aput(("gone",), "k", {"n": 1})
    await store.adelete(("gone",), "k")

    assert await store.alist_namespaces(prefix=("a",), max_depth=2) == [("a", "b"), ("a", "x")]
    assert await store.alist_namespaces(suffix=("d",)) == [("a", "b", "d"), ("a", "x", "d")]
    assert await store.alist_namespaces(prefix=("a", "*", "c")) == [("a", "b", "c")]
    assert await store.alist_namespaces(limit=1, offset=3) == [("z",)]
    both = (MatchCondition("prefix", ("*", "b")), MatchCondition("suffix", ("c",)))
    assert await store.abatch([ListNamespacesOp(both)]) == [[("a", "b", "c")]]


@pytest.mark.parametrize("namespace", [(), ("",), ("a.b",), ("langgraph", "a"), ("a", 1)])
async def test_a_namespace_that_is_none_is_refused(
    store: MemorandaStore, namespace: tuple[Any, ...]
) -> None:
    with pytest.raises(InvalidNamespaceError):
        await store.aput(namespace, "a", {"n": 1})


async def test_labels_are_checked_in_a_batch_too(store: MemorandaStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        await store.abatch([PutOp(("foo.bar",), "a", {"n": 1})])


async def test_a_search_with_a_query_is_a_recall_on_record(
    store: MemorandaStore, memory: Memory[Any]
) -> None:
    await store.aput(DOCS, "a", {"text": "Kim prefers email", "kind": "contact"})
    await store.aput(DOCS, "b", {"text": "Kim's email is down", "kind": "incident"})
    await store.aput(("docs", "lee"), "c", {"text": "Lee prefers email"})

    found = await store.asearch(DOCS, query="who prefers email?", filter={"kind": "contact"})

    (item,) = found
    assert isinstance(item, RecalledItem)
    assert item.key == "a"
    assert item.score is not None
    assert item.score > 0
    assert item.verified
    assert "email" in item.reason
    why = await memory.why(item.trace_id)
    assert why.known["query"] == "who prefers email?"


async def test_what_is_not_to_be_indexed_is_found_by_no_query(store: MemorandaStore) -> None:
    await store.aput(DOCS, "a", {"text": "the secret is plum"}, index=False)
    await store.aput(DOCS, "b", {"text": "no secret here"})

    assert keys(await store.asearch(DOCS, query="secret plum")) == ["b"]
    assert keys(await store.asearch(DOCS, filter={"text": "the secret is plum"})) == ["a"]


async def test_the_fields_that_are_named_are_what_is_near(opens: Opens) -> None:
    async with opens(embedder=ToyEmbedder()) as memory:
        store = MemorandaStore(memory, selector="meaning", fields=["title"])
        told = {"title": "minutes", "lines": [{"text": "quinces ripen"}, {"text": "a ferry left"}]}
        await store.aput(DOCS, "lines", told, index=["lines[*].text", "{title,nothing}"])
        await store.aput(DOCS, "title", told)
        await store.aput(DOCS, "whole", told, index=["$"])
        await store.aput(DOCS, "none", told, index=[])
        (lines, title) = await memory.list(ids=["item:docs.kim..lines", "item:docs.kim..title"])
        assert {lines.embed, title.embed} == {
            ("$.lines[*].text", "$.title", "$.nothing"),
            ("$.title",),
        }

        found = await store.asearch(DOCS, query="a ferry left")

        assert [item.key for item in found] == ["lines", "whole", "title"]
        assert found[0].score == pytest.approx(1, abs=1e-5)
        assert all(item.score is not None and item.score < 0.9 for item in found[1:])
        (first, second, *_) = await store.asearch(DOCS, query="minutes")
        assert {first.key, second.key} == {"lines", "title"}
        assert first.score == second.score == pytest.approx(1, abs=1e-5)
        with pytest.raises(InvalidRecord, match="embed"):
            await store.aput(DOCS, "a", told, index=["lines["])


async def test_a_time_to_live_ends_and_a_read_moves_its_end_without_an_entry(
    store: MemorandaStore, memory: Memory[Any], clock: FrozenClock
) -> None:
    await store.aput(DOCS, "read", {"n": 1}, ttl=1)
    await store.aput(DOCS, "unread", {"n": 2}, ttl=1)
    await store.aput(DOCS, "stays", {"n": 3})
    size = (await memory.journal.head()).size

    for _ in range(20):
        await store.aget(DOCS, "read")
    assert (await memory.journal.head()).size == size

    for _ in range(4):  # for two minutes, far beyond what it was put for
        clock.advance(30_000)
        for _ in range(5):
            assert (await store.aget(DOCS, "read")) is not None
    assert (await memory.journal.head()).size <= size + 4
    item = await store.aget(DOCS, "read", refresh_ttl=False)
    assert item is not None
    assert item.updated_at == item.created_at
    assert await store.aget(DOCS, "unread") is None
    assert keys(await store.asearch(DOCS, refresh_ttl=False)) == ["read", "stays"]

    clock.advance(70_000)
    assert await store.asweep_ttl() == 2
    assert keys(await store.asearch(DOCS)) == ["stays"]
    assert await store.asweep_ttl() == 0


async def test_the_default_time_to_live_is_that_of_the_configuration(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    store = MemorandaStore(memory, clock=clock, ttl={"default_ttl": 1, "refresh_on_read": False})
    await store.aput(DOCS, "a", {"n": 1})
    await store.aput(DOCS, "b", {"n": 1}, ttl=None)

    clock.advance(59_000)
    assert await store.aget(DOCS, "a") is not None
    clock.advance(10_000)
    assert await store.aget(DOCS, "a") is None
    assert await store.aget(DOCS, "b") is not None


async def test_the_blocking_methods_work_from_a_thread_and_are_refused_in_the_loop(
    store: MemorandaStore,
) -> None:
    def work() -> int:
        store.put(DOCS, "a", {"n": 1})
        item = store.get(DOCS, "a")
        assert item is not None
        return int(item.value["n"])

    assert await asyncio.to_thread(work) == 1
    with pytest.raises(asyncio.InvalidStateError):
        store.get(DOCS, "a")


def test_a_blocking_handle_serves_both_kinds_of_methods(url: str, scope: str) -> None:
    with memoranda.open_sync(url, scope=scope, actor="agent:a") as memory:
        store = MemorandaStore(memory)
        store.put(DOCS, "a", {"n": 1})
        store.batch([PutOp(DOCS, "b", {"n": 2}), PutOp(DOCS, "a", None)])

        assert [item.value for item in asyncio.run(store.asearch(DOCS))] == [{"n": 2}]
        assert store.sweep_ttl() == 0


def test_what_is_no_handle_is_refused() -> None:
    with pytest.raises(InvalidOption):
        MemorandaStore("memory.db")  # type: ignore[arg-type]


async def test_many_tasks_write_at_once_and_nothing_is_lost(store: MemorandaStore) -> None:
    await asyncio.gather(*(store.aput(("t", str(i % 3)), f"k{i}", {"i": i}) for i in range(60)))

    assert len(await store.asearch(("t",), limit=100)) == 60


async def test_a_graph_uses_it_through_its_runtime(opens: Opens) -> None:
    async def note(state: State, *, store: BaseStore) -> State:
        await store.aput(DOCS, "note", {"text": state["said"]})
        return state

    async with opens() as memory:
        builder = StateGraph(State)
        builder.add_node("note", note)
        builder.add_edge(START, "note")
        builder.add_edge("note", END)
        graph = builder.compile(store=MemorandaStore(memory))

        await graph.ainvoke({"said": "hello"})

        (found,) = await memory.list(text="hello")
        assert found.id == "item:docs.kim..note"
