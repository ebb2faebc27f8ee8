"""The certificate of an erasure is there for whoever asks, when they ask, and later."""

from typing import Any

import pytest

import memoranda
from memoranda import Memory
from memoranda.journeys.audit.export import export_log
from memoranda.journeys.govern.certificate import ErasureCounts
from memoranda.journeys.govern.objects import Receipt
from memoranda.kernel.errors import RecordNotFound
from memoranda.ledger.log import read_log
from memoranda.ledger.validate_events import validate_log
from tests.handles import inside

pytestmark = [pytest.mark.anyio, pytest.mark.rule("GOV-FORGET")]


async def test_asking_again_gives_the_same_certificate(memory: Memory[Any]) -> None:
    one = (await memory.remember("Kim likes tea", source="doc/1", tags=["a"], subject="kim")).id
    two = (await memory.remember("Kim likes rice", source="doc/2", subject="kim")).id
    made = await memory.govern.consolidate(
        [one, two], "Kim likes both", justification="same person"
    )
    assert isinstance(made, Receipt)
    found = await memory.recall("tea", top_k=1)
    before = await memory.remember("an entry before", id="other")
    first = await memory.erase(one, reason="asked for", cause="user_request")
    await memory.erase(before.id, reason="another one")
    await memory.remember("an entry after")
    size = (await inside(memory).ledger.head()).size

    assert await memory.erase(one, reason="asked again", cause="policy") == first
    assert await memory.erase(made.id, reason="it went with the other") == first
    assert await memory.erase(found.trace_id, reason="so did this") == first
    assert await memory.erase(one, reason="dry", dry_run=True) == first
    assert (first.counts.objects, first.counts.traces) == (2, 1)
    assert (await inside(memory).ledger.head()).size == size
    with pytest.raises(RecordNotFound):
        await memory.erase("nowhere", reason="r")


async def test_so_it_does_for_what_went_with_a_person_or_a_whole_scope(
    memory: Memory[Any],
) -> None:
    kim = [(await memory.remember(f"Kim {n}", subject="kim")).id for n in range(3)]
    first = await memory.erase(subject="kim", reason="asked for")
    rest = (await memory.remember("x")).id
    await memory.recall("x", top_k=1)
    second = await memory.erase(whole_scope=True, reason="the end")

    assert [await memory.erase(id, reason="again") for id in kim] == [first] * 3
    assert await memory.erase(rest, reason="again") == second
    assert second.counts.traces == 1
    assert (await memory.erase(subject="kim", reason="again")).counts.objects == 0


async def test_a_whole_scope_of_many_portions_has_one_certificate(opens: Any) -> None:
    async with opens() as memory:
        ids = [one.id for one in await memory.remember_many([f"text {n}" for n in range(2_100)])]
        first = await memory.erase(whole_scope=True, reason="the end")
        await memory.remember("afterwards", id="z")
        await memory.erase("z", reason="likewise")

        assert first.counts.objects == 2_100
        assert await memory.erase(ids[0], reason="again") == first
        assert await memory.erase(ids[-1], reason="again") == first


async def test_a_whole_scope_that_was_erased_has_the_same_certificate_until_something_is_written(
    memory: Memory[Any],
) -> None:
    await memory.remember("Kim likes tea", subject="kim", tags=["a"])
    await memory.recall("tea", top_k=1)
    first = await memory.erase(whole_scope=True, reason="the end")
    await memory.maintain.reindex()  # which is noted, and nothing that could be erased
    size = (await inside(memory).ledger.head()).size

    assert await memory.erase(whole_scope=True, reason="again", cause="policy") == first
    assert await memory.erase(whole_scope=True, reason="dry", dry_run=True) == first
    assert (await inside(memory).ledger.head()).size == size
    assert first.counts.objects == first.counts.traces == 1

    await memory.recall("tea", top_k=1)
    second = await memory.erase(whole_scope=True, reason="a question was asked")

    assert (second.reason, second.counts.objects, second.counts.traces) == (
        "a question was asked", 0, 1,
    )  # fmt: skip
    assert await memory.erase(whole_scope=True, reason="again") == second


async def test_one_that_is_empty_for_other_reasons_has_a_certificate_of_nothing(
    memory: Memory[Any],
) -> None:
    never = await memory.erase(whole_scope=True, reason="there is nothing")
    one = (await memory.remember("the only one")).id
    await memory.erase(one, reason="asked for")
    after = await memory.erase(whole_scope=True, reason="nothing is left")

    for certificate in (never, after):
        assert (certificate.counts, certificate.tombstones) == (ErasureCounts(), [])
    assert after.reason == "nothing is left"


@pytest.mark.backend("sqlite")
async def test_an_erasure_that_landed_is_certified_while_somebody_reads(tmp_path: Any) -> None:
    path = tmp_path / "memory.db"
    async with (
        memoranda.open(f"sqlite:///{path}") as memory,
        memoranda.open(f"sqlite:///{path}") as other,
    ):
        await memory.remember("a secret", id="x")
        await memory.remember("others")
        async with inside(other).ledger.snapshot() as snapshot:
            await snapshot.head()
            certificate = await memory.erase("x", reason="asked for")

            assert certificate.counts.objects == 1
            assert not certificate.is_scrubbed
            assert "maintain scrub" in str(certificate.to_do)
            assert certificate.to_wire()["scrubbed"] is False
            assert certificate.to_wire()["toDo"] == certificate.to_do
            assert await memory.get("x") is None

        again = await memory.erase("x", reason="again")
        assert (again.is_scrubbed, again.to_do) == (True, None)
        assert again.tombstones == certificate.tombstones
        assert "toDo" not in again.to_wire()
    assert b"a secret" not in path.read_bytes()


@pytest.mark.rule("GOV-LOG", "GOV-CONS-4")
async def test_the_log_is_valid_after_the_input_of_a_consolidation_was_erased(
    memory: Memory[Any],
) -> None:
    one = (await memory.remember("Kim likes tea", source="doc/1")).id
    two = (await memory.remember("Kim likes rice", source="doc/2")).id
    made = await memory.govern.consolidate(
        [one, two], "Kim likes both", justification="a word of it"
    )
    assert isinstance(made, Receipt)
    await memory.update(made.id, "Kim likes both, a lot", source="doc/3")

    await memory.erase(one, reason="asked for")

    log = b"".join([line async for line in export_log(inside(memory).ledger)])
    assert validate_log(log) == []
    events = read_log(log).documents
    (event,) = [event for event in events if event["event_type"] == "consolidate"]
    assert (event["input_ids"], event["output_id"]) == ([one, two], made.id)
    assert (event["justification"], event["diff"]) == ("[erased]", "[erased]")
    assert b"a word of it" not in log
    assert (await memory.verify()).is_sound
