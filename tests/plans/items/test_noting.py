"""What a search notes for the next one is never stale, whoever writes in between.

Two databases on one file, in one process, are to each other what two processes are: each has its
own connections, and learns from the file alone that the other has written.
"""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.ledger.attachments import AllErased
from memoranda.ledger.unit import Unit
from memoranda.plans.items import ItemStore, MemoryItem, ranked, retrieved
from memoranda.stores.sqlite.database import SqliteDatabase
from memoranda.stores.sqlite.items import LONG
from memoranda.testkit.items import fresh_scope
from memoranda.testkit.items.opening import found, item, queries, sessions_items
from memoranda.testkit.strategies import shared_fixtures

SCOPE = "shop"
WORDS = ("메모리", "메모", "c++", "C", "api", "apiary", "3", "🦜")

Two = tuple[SqliteDatabase, SqliteDatabase]


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[Two]:
    """The same file, opened twice."""
    path = str(tmp_path / "items.db")
    first = await SqliteDatabase.open(path, 0, create=True)
    await first.ledger(SCOPE, SCOPE, 0)
    second = await SqliteDatabase.open(path, 0, create=False)
    yield first, second
    await first.close()
    await second.close()


async def both(two: Two, session: str) -> Sequence[ItemStore]:
    return [await database.items(SCOPE, session) for database in two]


async def test_a_keyword_that_was_missing_is_found_as_soon_as_somebody_saves_it(two: Two) -> None:
    mine, theirs = await both(two, "s1")
    assert await found(mine, "about memory") == []

    ids: list[str] = []
    for saving in (theirs, mine, theirs):
        given = item("s1", "memory", f"word{len(ids)}")
        await saving.save(given)
        ids.append(given.id)
        for one in (mine, theirs):
            assert set(await found(one, "about memory")) == set(ids)
            assert await found(one, f"word{len(ids) - 1}") == [given.id]
            assert await found(one, f"word{len(ids)}") == []


async def test_what_somebody_else_erases_is_not_found_any_more(two: Two) -> None:
    mine, _ = await both(two, "s1")
    await mine.save(item("s1", "memory"))
    assert len(await found(mine, "memory")) == 1
    ledger = await two[1].ledger(SCOPE, SCOPE, 0)

    await ledger.commit(Unit("system:test", 1, lambda _: (), attachments=[AllErased()]))

    assert await found(mine, "memory") == []
    again = item("s1", "memory", "mem")
    await mine.save(again)
    assert await found(mine, "memory") == [again.id]


async def test_a_query_of_any_length_is_answered(two: Two) -> None:
    mine, _ = await both(two, "s1")
    given = item("s1", "메모리", "c++")
    await mine.save(given)

    for size in (LONG - 10, LONG, LONG + 1, 10 * LONG):
        query = "x " * (size // 2) + "메모리를"
        assert await found(mine, query) == [given.id]


@given(
    kept=sessions_items("s", WORDS, max_size=6),
    asked=st.lists(queries(WORDS), min_size=1, max_size=3),
    sides=st.lists(st.integers(0, 1), min_size=24, max_size=24),
    top_k=st.integers(1, 4),
)
@settings(shared_fixtures, max_examples=25)
async def test_searches_between_saves_find_what_the_pure_definition_says(
    two: Two, kept: Sequence[MemoryItem], asked: Sequence[str], sides: list[int], top_k: int
) -> None:
    session = fresh_scope()
    stores, turns = await both(two, session), iter(sides)
    there: list[MemoryItem] = []
    for given_one in kept:
        one = given_one.model_copy(update={"session_ref": session})
        for query in asked:
            expected = [retrieved(each) for each in ranked(there, query, top_k)]
            assert list(await stores[next(turns)].search(query, top_k)) == expected
        await stores[next(turns)].save(one)
        there.append(one)
