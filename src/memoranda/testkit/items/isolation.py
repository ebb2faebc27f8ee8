"""Two sessions see nothing of each other, in one scope or in two (ING-SESSION)."""

from memoranda.plans.items import ItemStore
from memoranda.testkit.items.giving import at, found, item, save_all
from memoranda.testkit.items.opening import OpenItems, fresh_name
from memoranda.testkit.records.marks import contract


@contract("ING-SESSION")
async def test_two_handles_on_one_session_see_the_same_items(
    items: ItemStore, twin: ItemStore, session_ref: str
) -> None:
    first, second = item(session_ref, "memory"), item(session_ref, "memory", timestamp=at(1))
    await items.save(first)
    await twin.save(second)

    assert await found(items, "memory") == [second.id, first.id] == await found(twin, "memory")


@contract("ING-SESSION")
async def test_another_session_finds_nothing_of_this_one(
    items: ItemStore, stranger: ItemStore, session_ref: str
) -> None:
    await items.save(item(session_ref, "memory", "session"))

    assert await found(stranger, "memory session") == []


@contract("ING-SESSION")
async def test_the_same_session_of_another_scope_finds_nothing_of_this_one(
    open_items: OpenItems, items: ItemStore, session_ref: str
) -> None:
    await items.save(item(session_ref, "memory"))

    async with open_items(fresh_name(), session_ref) as elsewhere:
        assert await found(elsewhere, "memory") == []


@contract("ING-SESSION")
async def test_one_id_and_one_keyword_may_be_used_in_every_session(
    open_items: OpenItems, items: ItemStore, scope: str, session_ref: str
) -> None:
    mine = item(session_ref, "memory", "mine", summary="mine")
    theirs = item("theirs", "memory", "theirs", id=mine.id, summary="theirs")
    elsewhere = item(session_ref, "memory", "elsewhere", id=mine.id, summary="elsewhere")
    await items.save(mine)
    async with (
        open_items(scope, "theirs") as of_them,
        open_items(fresh_name(), session_ref) as of_another_scope,
    ):
        await of_them.save(theirs)
        await of_another_scope.save(elsewhere)

        for store, kept in ((items, mine), (of_them, theirs), (of_another_scope, elsewhere)):
            for query in ("memory", "mine theirs elsewhere", "memory mine theirs elsewhere"):
                assert [each.summary for each in await store.search(query, 9)] == [kept.summary]


@contract("ING-SESSION")
async def test_what_another_session_has_changes_no_order_and_no_count(
    items: ItemStore, stranger: ItemStore, scope: str, session_ref: str
) -> None:
    older = item(session_ref, "memory", "session", timestamp=at(0))
    newer = item(session_ref, "memory", timestamp=at(1))
    await save_all(items, older, newer)
    for minute in range(5):
        other = item(f"another than {scope}", "memory", "session", timestamp=at(minute))
        await stranger.save(other)

    assert await found(items, "memory session", 1) == [older.id]
    assert await found(items, "memory", 1) == [newer.id]
    assert await found(items, "memory session") == [older.id, newer.id]


@contract("ING-SESSION")
async def test_sessions_that_look_alike_are_not_the_same(open_items: OpenItems, scope: str) -> None:
    names = ("s1", "S1", "s1 ", "s%", "s_", "ß", "ss", "é", "e\u0301", "세션", "s\t", "1", "01")
    for name in names:
        async with open_items(scope, name) as one:
            await one.save(item(name, "memory", summary=f"of {name}"))

    for name in names:
        async with open_items(scope, name) as one:
            assert [each.summary for each in await one.search("memory", 99)] == [f"of {name}"]
