"""Vectors on both databases: of what is active and newest, and of nothing else, ever."""

import asyncio
from random import Random  # noqa: TID251 - the same each time
from typing import Any

import pytest

from memoranda import Memory, MemoryRecordInput
from memoranda.identity import sha256
from memoranda.ledger.unit import Current
from memoranda.recall.embedder import embedded, embedded_each, stored_as
from memoranda.recall.vectors import Embedding, Near
from tests.journeys.embeddings.conftest import Opens, embed_all, index_of, nearest
from tests.journeys.embeddings.listing import by_definition
from tests.journeys.embeddings.toy import ToyEmbedder

TOY = ToyEmbedder()
MODEL = stored_as(TOY)


async def test_what_is_spelled_alike_is_near(memory: Memory[Any]) -> None:
    refund = await memory.remember("the refund was paid in March")
    await memory.remember("a cat sat on the mat")
    assert await embed_all(memory, TOY) == 2

    ((first, near), (_, far)) = await nearest(memory, TOY, "refunds are paid")

    assert first == refund.id
    assert near > far


async def test_what_has_no_vector_is_counted_and_listed_last_changed_first(
    memory: Memory[Any],
) -> None:
    for at, id in enumerate(("one", "two"), start=1):
        record = MemoryRecordInput(id=id, data=id, created_at=at, updated_at=at)
        await memory.records.create(record)
    await memory.update("one", "one again")
    index = index_of(memory)

    assert await index.count_missing(MODEL) == 2
    assert [(each.id, each.texts) for each in await index.missing(MODEL, 9)] == [
        ("one", ["one again"]),
        ("two", ["two"]),
    ]
    assert len(await index.missing(MODEL, 1)) == 1
    await embed_all(memory, TOY)
    assert await index.count_missing(MODEL) == 0
    assert await index.missing(MODEL, 9) == []


async def test_data_without_a_text_has_one_all_the_same(memory: Memory[Any]) -> None:
    await memory.remember({"done": True, "by": None})
    await memory.remember({"n": 7, "title": "seven"})

    texts = {text for one in await index_of(memory).missing(MODEL, 9) for text in one.texts}

    assert texts == {"by: null\ndone: true", "n: 7\ntitle: seven"}


async def test_equals_come_newest_first(memory: Memory[Any]) -> None:
    ids = [(await memory.remember("the same")).id for _ in range(5)]
    await embed_all(memory, TOY)

    found = await nearest(memory, TOY, "the same")

    assert [id for id, _ in found] == ids[::-1]
    assert [near for _, near in found] == [found[0][1]] * 5


async def test_a_replaced_version_is_not_found_any_more(memory: Memory[Any]) -> None:
    one = await memory.remember("the refund was paid")
    await embed_all(memory, TOY)

    await memory.update(one.id, "a cat sat on the mat")

    assert await nearest(memory, TOY, "the refund was paid") == []
    assert await index_of(memory).count_missing(MODEL) == 1
    await embed_all(memory, TOY)
    ((id, near),) = await nearest(memory, TOY, "the refund was paid")
    assert id == one.id
    assert near < 0.9


async def test_what_was_forgotten_or_erased_is_not_found_any_more(memory: Memory[Any]) -> None:
    gone = [(await memory.remember(f"refund {n}")).id for n in range(3)]
    stays = await memory.remember("refund 3")
    await embed_all(memory, TOY)

    await memory.forget(gone[0], reason="a test")
    await memory.erase(gone[1], reason="a test")
    await memory.erase(gone[2], reason="a test")

    assert [id for id, _ in await nearest(memory, TOY, "refund")] == [stays.id]
    assert await index_of(memory).count_missing(MODEL) == 0
    assert (await index_of(memory).contents(MODEL)).vectors == 1
    assert (await memory.verify()).report.damages.found == []


async def test_a_scope_that_is_erased_whole_has_no_vectors(memory: Memory[Any]) -> None:
    await memory.remember_many([f"refund {n}" for n in range(20)])
    await embed_all(memory, TOY)

    await memory.erase(whole_scope=True, reason="a test")

    assert (await index_of(memory).contents(MODEL)).vectors == 0
    assert await nearest(memory, TOY, "refund") == []


async def test_a_vector_of_what_was_replaced_meanwhile_is_passed_over(memory: Memory[Any]) -> None:
    one, two, three = [await memory.remember(text) for text in ("one", "two", "three")]
    index = index_of(memory)
    read = await index.missing(MODEL, 9)
    vectors = await embedded_each(TOY, [each.texts for each in read])
    late = [
        Embedding(each.id, each.seq, vector) for each, vector in zip(read, vectors, strict=True)
    ]
    await memory.update(one.id, "another")
    await memory.erase(two.id, reason="a test")

    assert await index.put(MODEL, late) == 1
    assert await index.put(MODEL, late) == 0, "once is enough"

    assert [id for id, _ in await nearest(memory, TOY, "one")] == [three.id]
    assert [each.texts for each in await index.missing(MODEL, 9)] == [["another"]]


async def test_scopes_and_models_don_t_see_each_other(opens: Opens) -> None:
    other = ToyEmbedder("toy/2")
    async with opens("mine") as mine, opens("theirs") as theirs:
        ours = await mine.remember("the refund was paid")
        await theirs.remember("the refund was paid by others")
        await embed_all(mine, TOY)
        await embed_all(theirs, TOY)

        assert [id for id, _ in await nearest(mine, TOY, "refund")] == [ours.id]
        assert await nearest(mine, other, "refund") == []
        assert await index_of(mine).count_missing(stored_as(other)) == 1

        await embed_all(mine, other)
        assert [id for id, _ in await nearest(mine, other, "refund")] == [ours.id]
        assert await index_of(mine).forget_others(stored_as(other)) == 1
        assert await index_of(mine).count_missing(MODEL) == 1
        assert await index_of(theirs).count_missing(MODEL) == 0


async def test_what_is_made_into_nothing_is_passed_over(memory: Memory[Any]) -> None:
    await memory.remember_many([f"refund {n}" for n in range(100)])
    await embed_all(memory, TOY)
    (vector,) = await embedded(TOY, ["refund"])

    def every_third(current: Current, near: Near) -> int | None:
        return near.seq if current.body and near.seq % 3 == 0 else None

    found = await index_of(memory).nearest(MODEL, vector, 25, every_third)

    assert len(found.made) == 25
    assert await index_of(memory).nearest(MODEL, vector, 0, every_third) == ([], 0)


async def test_a_digest_is_that_of_the_vectors(memory: Memory[Any]) -> None:
    await memory.remember_many(["one", "two"])
    index = index_of(memory)
    read = await index.missing(MODEL, 9)
    empty = await index.contents(MODEL)
    await embed_all(memory, TOY)

    found = await index.contents(MODEL)

    vectors = await embedded_each(TOY, [one.texts for one in read])
    digests = [sha256(b"%d:%b" % (read[n].seq, vector)) for n, vector in enumerate(vectors)]
    total = sum(map(int.from_bytes, digests)) % (1 << 256)
    assert empty == (0, "0" * 64)
    assert found == (2, total.to_bytes(32).hex())


async def test_whatever_is_done_both_databases_find_what_comparing_all_finds(
    memory: Memory[Any],
) -> None:
    chance = Random(11)
    first = await memory.remember_many([f"refund {n} of the cat" for n in range(40)])
    said = {one.id: f"refund {n} of the cat" for n, one in enumerate(first)}
    order = {one.id: n for n, one in enumerate(first)}
    for step in range(40, 110):
        text = f"{chance.choice(['refund', 'cat', 'refunds paid', 'mat'])} {chance.randrange(9)}"
        deed = chance.choice(["remember", "remember", "update", "forget", "erase", "embed"])
        id = chance.choice(sorted(said))
        if deed == "remember":
            id = (await memory.remember(text)).id
            said[id], order[id] = text, step
        elif deed == "update" and said[id] != text:
            await memory.update(id, text)
            said[id], order[id] = text, step
        elif deed == "forget":
            await memory.forget(id, reason="a test")
            del said[id]
        elif deed == "erase":
            await memory.erase(id, reason="a test")
            del said[id]
        elif deed == "embed":
            await embed_all(memory, TOY)
    await embed_all(memory, TOY)

    query = "refund 3"
    (own, *others) = await embedded(TOY, [query, *said.values()])
    near = dict(zip(said, by_definition(own, others), strict=True))
    expected = sorted(said, key=lambda id: (-near[id], -order[id]))
    found = await nearest(memory, TOY, query, limit=100)

    assert len(expected) > 15
    assert found == [(id, near[id]) for id in expected]
    assert await index_of(memory).count_missing(MODEL) == 0


async def test_many_that_embed_at_once_keep_each_vector_once(memory: Memory[Any]) -> None:
    await memory.remember_many([f"note {n}" for n in range(50)])

    kept = await asyncio.gather(*(embed_all(memory, TOY) for _ in range(5)))

    assert sum(kept) == 50
    assert (await index_of(memory).contents(MODEL)).vectors == 50


@pytest.mark.parametrize("dimensions", [1, 1536])
async def test_vectors_are_small_or_large(memory: Memory[Any], dimensions: int) -> None:
    toy = ToyEmbedder(dimensions=dimensions)
    one = await memory.remember("the refund was paid")
    await embed_all(memory, toy)

    ((id, near),) = await nearest(memory, toy, "the refund was paid")

    assert id == one.id
    assert near == pytest.approx(1, abs=1e-5)
