"""A search finds what the definition says, whatever is in the index and whatever is not yet."""

from collections.abc import Container, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memoranda
from memoranda import Memory
from memoranda.kernel.clock import Randomness, SystemClock, TimeOrderedIds
from memoranda.kernel.errors import InvalidFilter, InvalidPatch, RecordError
from memoranda.testkit.strategies import FrozenClock, shared_fixtures
from memoranda.text import matches, query, terms, terms_of
from tests.handles import inside
from tests.handles import verb as verb_of
from tests.stores.search.conftest import Opens, merge, merge_all

WORDS = [
    "고객은", "고객에게", "이메일을", "고객센터", "물은", "물", "건물", "USB케이블을", "ㅋㅋ",
    "東京都", "京都", "犬が", "タワー", "東京タワー", "ไทย", "customers", "customer's",
    "John.Smith", "smith", "v2.10", "3.14", "naïve", "résumé", "o'reilly", "don't", "#️⃣", "👩‍💻",
    "🇰🇷", "a_b", "billing@Example.com", "x:y;z", "STRASSE", "straße", "ﬁle", "12,000.50", "-", '"',
]  # fmt: skip

text = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
data = st.one_of(
    text.filter(bool), st.builds(lambda one, two: {"글": one, "n": [two, 7]}, text, text)
)
number = st.integers(0, 30)
step = st.one_of(
    st.tuples(st.just("remember"), data, st.integers(-50, 5)),
    st.tuples(st.just("update"), number, data),
    st.tuples(st.just("forget"), number),
    st.tuples(st.just("archive"), number),
    st.tuples(st.just("reinstate"), number),
    st.tuples(st.just("erase"), number),
    st.tuples(st.just("merge")),
    st.tuples(st.just("merge")),
    st.tuples(st.just("reindex")),
)


async def take(memory: Memory[Any], clock: FrozenClock, ids: list[str], made: Any) -> None:
    """One step in the life of a memory; what can't be done to an object is not done."""
    match made:
        case ("remember", said, passes):
            clock.advance(passes)
            ids.append((await memory.remember(said)).id)
        case ("merge",):
            await merge(memory)
        case ("reindex",):
            await memory.maintain.reindex()
        case (verb, number, *rest) if ids:
            id = ids[number % len(ids)]
            reason = {} if verb == "update" else {"reason": "a test"}
            with suppress(RecordError, InvalidPatch):
                await verb_of(memory, verb)(id, *rest, **reason)


async def defined(memory: Memory[Any], asked: str, *, every: bool) -> list[str]:
    """What a search should find: the definition, asked of all that is active."""
    return [
        id for id, tokens in await everything(memory) if matches(query(asked), tokens, every=every)
    ]


async def everything(memory: Memory[Any]) -> list[tuple[str, Container[str]]]:
    """All that is active, newest first, with its tokens."""
    found = await memory.list()
    return [(one.id, terms_of(one.data).counts) for one in found]


async def check(memory: Memory[Any], asked: Sequence[str]) -> None:
    active = await everything(memory)
    for words in asked:
        for every in (True, False):
            found = await memory.list(text=words, every=every, limit=None)
            wanted = [id for id, tokens in active if matches(query(words), tokens, every=every)]
            assert [one.id for one in found] == wanted, words
    report = (await memory.verify()).report
    assert report.damages.found == []


@settings(shared_fixtures, max_examples=20)
@given(steps=st.lists(step, max_size=25), asked=st.lists(text, min_size=3, max_size=6))
async def test_a_search_finds_what_the_definition_says(
    opens: Opens, steps: list[Any], asked: list[str]
) -> None:
    clock, ids = FrozenClock(), list[str]()
    scope = TimeOrderedIds(SystemClock(), Randomness()).new_id()
    async with opens(scope, clock=clock) as memory:
        for made in steps:
            await take(memory, clock, ids, made)
        await check(memory, asked)
    async with opens(scope, clock=clock) as memory:
        index, head = await inside(memory).ledger.index(), await inside(memory).ledger.head()
        assert bool(index.indexed) == bool(head.size), "closing has merged it"
        await check(memory, asked)


async def test_a_frequent_word_is_found_as_a_rare_one_is(opens: Opens) -> None:
    clock = FrozenClock()
    async with opens(clock=clock) as memory:
        ids = []
        for first in range(0, 1_400, 7):
            clock.advance(-7 if first % 3 else 20)
            said = [
                f"often {'sometimes' if n % 2 else ''} {'once' if n == 700 else ''} n{n}"
                for n in range(first, first + 7)
            ]
            ids += [one.id for one in await memory.remember_many(said)]
        for n in range(0, 1_400, 100):
            await memory.update(ids[n], f"never again n{n}")
            await memory.forget(ids[n + 1], reason="a test")
        for _ in range(3):
            await check(memory, ["often", "often sometimes", "once", "often n1300", "never often"])
            newest = await memory.list(text="often", limit=3)
            assert [one.id for one in newest] == (await defined(memory, "often", every=True))[:3]
            await merge(memory)
            await merge(memory)


async def test_a_journal_in_another_order_than_creation_is_found_in_order(
    memory: Memory[Any],
) -> None:
    given = [
        memoranda.MemoryRecordInput[Any](data="common", created_at=n * 37 % 1_009)
        for n in range(1_000)
    ]
    await memory.records.create_many(given)
    await merge_all(memory)

    found = await memory.list(text="common", limit=50)

    assert [one.id for one in found] == (await defined(memory, "common", every=True))[:50]


async def test_what_was_just_written_is_found(memory: Memory[Any]) -> None:
    receipt = await memory.remember("고객은 이메일을 선호합니다")

    (found,) = await memory.list(text="고객")

    assert (found.id, found.data) == (receipt.id, "고객은 이메일을 선호합니다")


async def test_what_was_replaced_is_not_found_by_its_old_words(memory: Memory[Any]) -> None:
    receipt = await memory.remember("telephone")
    await merge_all(memory)
    await memory.update(receipt.id, "email")

    assert await memory.list(text="telephone") == []
    await merge_all(memory)
    assert await memory.list(text="telephone") == []
    assert [one.version for one in await memory.list(text="email")] == [2]


async def test_what_is_not_current_is_only_found_when_it_is_asked_for(
    memory: Memory[Any],
) -> None:
    await memory.remember("old news", expires=1)
    await memory.remember("false news", verdict="False")

    assert await memory.list(text="news") == []
    assert len(await memory.list(text="news", include=["expired"])) == 1
    assert len(await memory.list(text="news", include=["expired", "false"])) == 2

    archived = await memory.remember("archived news")
    await memory.govern.archive(archived.id, reason="old", cause="obsolescence")
    found = await memory.list(text="news", include=["archived"])
    assert [one.id for one in found] == [archived.id]


async def test_a_limit_counts_what_is_current_only(memory: Memory[Any]) -> None:
    for n in range(30):
        await memory.remember(f"news {n}", expires=1 if n % 3 else None)

    found = await memory.list(text="news", limit=5)

    assert [one.data for one in found] == ["news 27", "news 24", "news 21", "news 18", "news 15"]
    assert await memory.list(text="news", limit=0) == []


@pytest.mark.parametrize("nothing", ["", "   ", "...", "!?"])
async def test_a_text_without_words_finds_nothing(memory: Memory[Any], nothing: str) -> None:
    await memory.remember("something")

    assert await memory.list(text=nothing) == []
    assert await memory.list(text=nothing, every=False) == []


async def test_a_text_of_too_many_words_is_refused(memory: Memory[Any]) -> None:
    await memory.remember("w7 w8")
    many = " ".join(f"w{n}" for n in range(256))

    assert len(await memory.list(text=many, every=False)) == 1
    with pytest.raises(InvalidFilter):
        await memory.list(text=many + " more", every=False)


async def test_scopes_do_not_find_each_others_words(opens: Opens) -> None:
    async with opens("mine") as mine, opens("yours") as yours:
        await mine.remember("secret of mine")
        await yours.remember("secret of yours")
        for _ in range(2):
            assert [one.data for one in await mine.list(text="secret")] == ["secret of mine"]
            assert [one.data for one in await yours.list(text="secret")] == ["secret of yours"]
            await merge_all(mine)
            await merge_all(yours)


async def test_every_mark_that_a_token_can_have_is_found(memory: Memory[Any]) -> None:
    marks = [f"1{chr(mark)}2" for mark in range(0x21, 0x7F)] + ["v2.10", "a'b1", "x_9", "#️⃣", "*️⃣"]
    await memory.remember_many(marks)
    for _ in range(2):
        for mark in marks:
            found = {one.data for one in await memory.list(text=mark, limit=None)}
            assert found == {one for one in marks if matches(query(mark), terms(one).counts)}
        await merge_all(memory)
