"""What a query finds, and in which order: as `plans.items.ranked` says, on every store."""

from collections.abc import Sequence
from typing import Any, cast
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidFilter
from memoranda.kernel.json import MAX_INTEGER
from memoranda.plans.items import ItemStore, MemoryItem, ranked, retrieved
from memoranda.testkit import contract, fresh_scope
from memoranda.testkit.items.opening import (
    OpenItems,
    asked_sessions,
    at,
    found,
    item,
    new_id,
    save_all,
)
from memoranda.testkit.strategies import shared_fixtures

_SESSION = "the session of the examples"

FINDS = (
    ("memory", "What about Memory?"),
    ("MEMORY", "in memory"),
    ("메모리", "메모리를 정리해 줘"),
    ("메모리", "장기메모리는 어떻게 됐어?"),
    ("메모리", normalize("NFD", "메모리")),
    (normalize("NFD", "기억"), "기억은"),
    ("c++", "is C++ faster?"),
    ("c++", "c++11"),
    ("api key", "where is the API key"),
    ("3.11", "on Python 3.11,"),
    ("🦜", "a 🦜!"),
    ("👍", "👍🏽"),
    ("straße", "STRASSE"),
    ("mem", "remember"),
    ("résumé", "re\u0301sume\u0301"),
)
FINDS_NOT = (
    ("memory", "memories"),
    ("memory", "m e m o r y"),
    ("메모리", "메모"),
    ("api key", "api  key"),
    ("resume", "résumé"),
    ("가", "각"),
    ("각", "가"),
    ("c++", "c+ +"),
    ("%", "100"),
    ("_", "a b"),
    ("a_b", "axb"),
)


@contract("ING-MATCH")
async def test_a_keyword_matches_where_it_occurs_in_the_query(
    items: ItemStore, session_ref: str
) -> None:
    for keyword, query in FINDS:
        kept = item(session_ref, keyword)
        await items.save(kept)
        assert kept.id in await found(items, query), (keyword, query)


@contract("ING-MATCH")
async def test_what_does_not_match_is_not_returned(items: ItemStore, session_ref: str) -> None:
    for keyword, query in FINDS_NOT:
        kept = item(session_ref, keyword)
        await items.save(kept)
        assert kept.id not in await found(items, query), (keyword, query)


@contract("ING-MATCH")
async def test_nothing_found_is_an_empty_result(items: ItemStore, session_ref: str) -> None:
    assert list(await items.search("memory", 3)) == []
    await items.save(item(session_ref, "memory"))

    for query in ("", " ", "session", "\u0000", "\ud800", "%", "'", '"', "\\"):
        assert list(await items.search(query, 3)) == []


@contract("ING-MATCH")
async def test_words_come_before_parts_of_words_then_more_matches_then_the_newest_then_the_id(
    items: ItemStore, session_ref: str
) -> None:
    low, high = sorted((new_id(), new_id()))
    in_order = [
        item(session_ref, "red", "blue", timestamp=at(0)),
        item(session_ref, "red", "gree", "yell", timestamp=at(1)),
        item(session_ref, "red", "gree", timestamp=at(0)),
        item(session_ref, "blue", timestamp=at(9)),
        item(session_ref, "red", "brown", id=low, timestamp=at(8)),
        item(session_ref, "red", id=high, timestamp=at(8)),
        item(session_ref, "green, yellow", timestamp=at(7)),
        item(session_ref, "gree", "yell", "ellow", timestamp=at(9)),
        item(session_ref, "gree", timestamp=at(9)),
        item(session_ref, "yello", timestamp=at(8)),
    ]
    await save_all(items, *in_order[1::2], *in_order[::2])

    ids = [each.id for each in in_order]
    for top_k in range(1, len(ids) + 2):
        assert await found(items, "red, blue, green, yellow", top_k) == ids[:top_k]


@contract("ING-MATCH")
async def test_a_word_that_is_a_part_first_and_a_word_later_is_a_word(
    items: ItemStore, session_ref: str
) -> None:
    newer = item(session_ref, "remember", "em", timestamp=at(9))
    older = item(session_ref, "mem", "_mem", timestamp=at(0))
    await save_all(items, newer, older)

    assert await found(items, "remembered (mem)") == [older.id, newer.id]
    assert await found(items, "remembered (mem_)") == [newer.id, older.id]


@contract("ING-MATCH")
async def test_a_word_with_a_korean_particle_is_a_word(items: ItemStore, session_ref: str) -> None:
    three = item(session_ref, "메모리", "이메일", "서버", timestamp=at(0))
    latin = item(session_ref, "api", "beta", timestamp=at(9))
    parts = item(session_ref, "메모", "이메", "서", "버에서", timestamp=at(9))
    await save_all(items, latin, parts, three)

    query = "메모리를 이메일로 서버에서는 api 볼까"
    assert await found(items, query) == [three.id, latin.id, parts.id]
    long = "메" * 64
    exact, longer = (item(session_ref, text, timestamp=at(0)) for text in (long, long + "메"))
    await save_all(items, exact, longer)
    assert await found(items, f"{long}에 {long}메에") == [exact.id, longer.id]


@contract("ING-MATCH")
async def test_of_equal_summaries_only_the_newest_is_found(
    items: ItemStore, session_ref: str
) -> None:
    same = [
        item(session_ref, "memory", summary="Same.", timestamp=at(minute)) for minute in range(9)
    ]
    others = [item(session_ref, "memory", timestamp=at(minute)) for minute in (-3, -2)]
    await save_all(items, *same, *others)

    expected = [same[-1].id, others[1].id, others[0].id]
    for query in ("memory", "memory of others"):
        for top_k in range(5):
            assert await found(items, query, top_k) == expected[:top_k]


@contract("ING-MATCH")
async def test_keywords_that_fold_to_the_same_count_once(
    items: ItemStore, session_ref: str
) -> None:
    thrice = item(
        session_ref, "Memory", "MEMORY", "\uff4d\uff45\uff4d\uff4f\uff52\uff59", timestamp=at(0)
    )
    twice = item(session_ref, "memory", "session", timestamp=at(0))
    newer = item(session_ref, "memory", timestamp=at(1))
    await save_all(items, thrice, newer, twice)

    assert await found(items, "memory of a session") == [twice.id, newer.id, thrice.id]


@contract("ING-MATCH", "ING-OUTPUT")
async def test_at_most_top_k_come_back_the_best_ones(items: ItemStore, session_ref: str) -> None:
    kept = [item(session_ref, "memory", timestamp=at(minute)) for minute in range(5)]
    await save_all(items, *kept)
    newest_first = [each.id for each in reversed(kept)]

    for top_k in (0, 1, 3, 5, 6, MAX_INTEGER, 2**70):
        assert await found(items, "memory", top_k) == newest_first[:top_k]


@contract("ING-MATCH")
async def test_a_top_k_or_a_query_that_is_none_is_refused(
    items: ItemStore, session_ref: str
) -> None:
    await items.save(item(session_ref, "memory"))

    for query, top_k, where in (
        ("memory", -1, "$.topK"),
        ("memory", True, "$.topK"),
        ("memory", 1.0, "$.topK"),
        ("memory", "1", "$.topK"),
        ("memory", None, "$.topK"),
        (None, 1, "$.query"),
        (b"memory", 1, "$.query"),
        (["memory"], 1, "$.query"),
    ):
        with pytest.raises(InvalidFilter) as caught:
            await items.search(cast("str", query), cast("int", top_k))
        assert (caught.value.code, caught.value.where) == ("input.filter", where)


@contract("ING-TOPK")
async def test_a_search_has_no_default_for_top_k(items: ItemStore) -> None:
    search: Any = items.search
    with pytest.raises(TypeError):
        await search("memory")


@contract("ING-MATCH")
@given(session=asked_sessions(_SESSION), top_k=st.integers(0, 9))
@shared_fixtures
async def test_random_queries_find_what_the_pure_definition_says(
    open_items: OpenItems,
    items: ItemStore,
    session: tuple[Sequence[MemoryItem], Sequence[str]],
    top_k: int,
) -> None:
    del items  # held open, so that the examples don't each open the database anew
    kept, asked = session
    async with open_items(fresh_scope(), _SESSION) as own:
        await save_all(own, *kept)
        for query in asked:
            expected = [retrieved(each) for each in ranked(kept, query, top_k)]
            assert list(await own.search(query, top_k)) == expected
