"""What an erasure says that it took is what the tables have lost, and what a dry run foretold."""

from collections.abc import Callable
from typing import Any

import pytest

from memoranda import Memo, Memory, MemoryRecordInput
from memoranda.journeys.govern.certificate import ErasureCertificate, ErasureCounts
from memoranda.journeys.govern.objects import Receipt
from memoranda.ledger.attachments import Holdings
from tests.journeys.govern.counting import Rows


async def _filled(memory: Memory[Any]) -> tuple[str, str]:
    """Objects with everything that goes with one: the ids of an input and of what it led to."""
    one = await memory.remember(
        "Kim likes tea", source="doc/1", tags=["a", "b"], subject="kim", idempotency_key="k1"
    )
    two = await memory.remember("Kim likes rice", source="doc/2", tags=["a"], subject="kim")
    await memory.update(one.id, "Kim likes some tea", source="doc/1", idempotency_key="k2")
    await memory.update(one.id, "Kim likes green tea", source="doc/1", idempotency_key="k3")
    made = await memory.govern.consolidate(
        [one.id, two.id], "Kim likes green tea and rice", justification="same person"
    )
    assert isinstance(made, Receipt)
    await memory.maintain.reindex()
    return one.id, made.id


async def _checked(
    memory: Memory[Any], url: str, **named: Any
) -> tuple[ErasureCertificate, ErasureCounts]:
    """Erase after a dry run, with all counts compared with the rows before and after."""
    before = Rows.of(url, memory.scope)
    dry = await memory.erase(**named, reason="asked", dry_run=True)
    assert Rows.of(url, memory.scope) == before

    done = await memory.erase(**named, reason="asked")

    after, counts = Rows.of(url, memory.scope), done.counts
    assert counts == dry.counts
    assert counts.objects == len(done.tombstones)
    assert before.bodies - after.bodies == counts.versions - len(done.tombstones)
    assert before.tags - after.tags == counts.tags
    assert before.retries - after.retries == counts.retries
    assert before.derivations - after.derivations == counts.derivations
    assert (await memory.verify()).is_sound
    return done, counts


@pytest.mark.rule("GOV-FORGET")
async def test_everything_that_goes_with_an_object_is_counted(
    memory: Memory[Any], url: str
) -> None:
    id, _ = await _filled(memory)
    before = Rows.of(url, memory.scope)

    done, counts = await _checked(memory, url, id=id)

    assert (counts.objects, counts.derived, counts.versions) == (2, 1, 4)
    assert (counts.tags, counts.retries, counts.derivations) == (2, 3, 2)
    assert counts.postings == before.postings - Rows.of(url, memory.scope).postings > 0
    assert done.to_wire()["counts"]["postings"] == counts.postings


@pytest.mark.parametrize("named", [{"subject": "kim"}, {"whole_scope": True}])
async def test_a_person_and_a_scope_are_counted_likewise(
    memory: Memory[Any], url: str, named: dict[str, Any]
) -> None:
    await _filled(memory)
    before = Rows.of(url, memory.scope)

    _, counts = await _checked(memory, url, **named)

    assert counts.objects == 3
    assert counts.postings == before.postings
    assert Rows.of(url, memory.scope).postings == 0


async def _remember_many(memory: Memory[Any]) -> None:
    memos = [Memo(n, id=f"kim/{n}", subject="kim") for n in range(2)]
    await memory.remember_many([Memo("theirs", id="other"), *memos], idempotency_key="k")


async def _create_many(memory: Memory[Any]) -> None:
    ids = ["other", "kim/0", "kim/1"]
    given = [MemoryRecordInput(id=id, data="x") for id in ids]
    await memory.records.create_many(given, idempotency_key="k")


async def _batch(memory: Memory[Any]) -> None:
    async with memory.batch(reason="r", idempotency_key="k") as batch:
        batch.put("other", 1)
        batch.forget("nowhere")
        batch.put("kim/0", 2, subject="kim")
        batch.put("kim/1", 3, subject="kim")
        batch.forget("kim/1")


_ONE, _PERSON, _ALL = {"id": "kim/0"}, {"subject": "kim"}, {"whole_scope": True}


@pytest.mark.rule("GOV-FORGET")
@pytest.mark.parametrize(
    ("write", "named"),
    [
        *[(write, _ONE) for write in (_remember_many, _create_many, _batch)],
        *[(write, _ALL) for write in (_remember_many, _create_many, _batch)],
        *[(write, _PERSON) for write in (_remember_many, _batch)],
    ],
)
async def test_a_request_goes_with_anything_that_it_wrote(
    memory: Memory[Any], url: str, write: Callable[[Memory[Any]], Any], named: dict[str, Any]
) -> None:
    await memory.remember("before", id="before", idempotency_key="before")
    await write(memory)
    await memory.remember("after", id="after", idempotency_key="after")

    _, counts = await _checked(memory, url, **named)

    is_whole = named == _ALL
    assert counts.retries == (3 if is_whole else 1)
    assert Rows.of(url, memory.scope).retries == (0 if is_whole else 2)


async def test_with_a_whole_scope_go_the_requests_that_wrote_nothing(
    memory: Memory[Any], url: str
) -> None:
    await memory.remember("x", idempotency_key="a")
    await memory.forget("nowhere", reason="r", idempotency_key="b")
    await memory.records.delete_many(["nowhere", "neither"], idempotency_key="c")

    _, counts = await _checked(memory, url, whole_scope=True)

    assert (counts.retries, Rows.of(url, memory.scope).retries) == (3, 0)


async def test_requests_of_more_than_a_portion_are_counted_once(
    memory: Memory[Any], url: str
) -> None:
    await memory.remember_many([f"{n}" for n in range(1_100)], idempotency_key="k")
    await memory.maintain.reindex()

    _, counts = await _checked(memory, url, whole_scope=True)

    assert counts.retries == 1


async def test_what_is_not_in_the_index_has_no_postings(memory: Memory[Any], url: str) -> None:
    receipt = await memory.remember("Kim likes tea")
    await memory.forget(receipt.id, reason="old")
    await memory.maintain.reindex()

    _, counts = await _checked(memory, url, id=receipt.id)

    assert (counts.versions, counts.postings, counts.retries, counts.derivations) == (2, 0, 0, 0)


async def test_the_words_of_another_tokenizers_index_are_counted_too(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    id, _ = await _filled(memory)
    here = await memory.erase(id, reason="asked", dry_run=True)
    monkeypatch.setattr("memoranda.stores.merge.INDEX_FORM", "another/1")

    dry = await memory.erase(whole_scope=True, reason="asked", dry_run=True)
    assert (await memory.erase(id, reason="asked", dry_run=True)).counts == here.counts
    assert (await memory.erase(whole_scope=True, reason="asked")).counts == dry.counts


def test_every_kind_that_a_database_counts_is_in_the_certificate() -> None:
    assert set(Holdings._fields) < set(ErasureCounts.__dataclass_fields__)
