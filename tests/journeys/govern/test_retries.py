"""A retry is answered with its own write, or it is refused."""

import asyncio
from typing import Any

import pytest

from memoranda import Memory
from memoranda.journeys.govern.table import GovernedTable
from memoranda.kernel.errors import EntryDamaged, WorldErased
from memoranda.ledger.unit import Committed, Unit
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.govern.conftest import Tampers


@pytest.mark.rule("R-2")
async def test_a_key_that_was_led_to_another_write_is_found_and_refused(
    opens: Opens, scope: str, tampers: Tampers
) -> None:
    async with opens() as memory:
        mine = await memory.remember("mine", idempotency_key="a")
        other = await memory.remember("somebody else's", idempotency_key="b")
        assert await memory.remember("mine", idempotency_key="a") == mine
        assert (await memory.verify()).is_sound

    with tampers() as tables:
        (journal,) = tables.rows("journals", scope=scope)
        number = journal["number"]
        (led,) = tables.rows("retries", journal=number, about=other.id)
        told = {name: led[name] for name in ("about", "seq", "entries", "at", "nonce")}
        tables.change("retries", {"journal": number, "about": mine.id}, **told)

    async with opens() as memory:
        with pytest.raises(EntryDamaged) as caught:
            await memory.remember("mine", idempotency_key="a")
        assert (caught.value.entry, caught.value.part) == (other.size - 1, "retry")
        assert await memory.remember("somebody else's", idempotency_key="b") == other
        assert [one.check for one in (await memory.verify()).report.damages.found] == ["retry"]


async def test_the_keys_of_one_text_leave_no_salt_in_common(memory: Memory[Any]) -> None:
    first = await memory.remember("a text", idempotency_key="a")
    again = await memory.remember("a text", idempotency_key="b")

    salts = [
        stored.salt
        for stored in await inside(memory).ledger.entries_at([first.size - 1, again.size - 1])
    ]
    assert len(set(salts)) == 2
    assert all(salt is not None and len(salt) == 16 for salt in salts)


@pytest.mark.rule("R-2")
async def test_retries_that_share_a_commit_with_the_first_get_its_receipt(
    memory: Memory[Any],
) -> None:
    written = await asyncio.gather(
        *(memory.remember("once", idempotency_key="a") for _ in range(20))
    )

    assert len({one.entry_hash for one in written}) == 1
    assert [one.id for one in await memory.list()] == [written[0].id]
    assert (await memory.verify()).is_sound


@pytest.mark.rule("GOV-FORGET")
async def test_after_any_of_many_is_erased_the_same_request_is_a_new_one(
    memory: Memory[Any],
) -> None:
    texts = ["one", "two", "three"]
    first = await memory.remember_many(texts, idempotency_key="k")
    kept = await memory.remember("another", idempotency_key="other")
    assert await memory.remember_many(texts, idempotency_key="k") == first

    await memory.erase(first[1].id, reason="asked")

    again = await memory.remember_many(texts, idempotency_key="k")
    assert not {one.id for one in again} & {one.id for one in first}
    assert await memory.remember_many(texts, idempotency_key="k") == again
    assert await memory.remember("another", idempotency_key="other") == kept
    assert (await memory.verify()).is_sound


async def test_after_an_erasure_the_key_may_be_of_another_request(memory: Memory[Any]) -> None:
    single = await memory.remember("one", idempotency_key="single")
    _, erased = await memory.remember_many(["two", "three"], idempotency_key="many")
    for id in (single.id, erased.id):
        await memory.erase(id, reason="asked")

    await memory.remember("something else", idempotency_key="single")
    await memory.remember_many(["something", "else"], idempotency_key="many")

    assert len(await memory.list()) == 4


@pytest.mark.rule("R-2")
@pytest.mark.parametrize("table", ["bodies", "versions"])
async def test_a_retry_of_what_is_lost_is_refused(
    opens: Opens, scope: str, tampers: Tampers, table: str
) -> None:
    async with opens() as memory:
        written = await memory.remember_many(["one", "two"], idempotency_key="k")
    with tampers() as tables:
        (journal,) = tables.rows("journals", scope=scope)
        tables.remove(table, journal=journal["number"], seq=written[0].seq)

    async with opens() as memory:
        with pytest.raises(EntryDamaged) as caught:
            await memory.remember_many(["one", "two"], idempotency_key="k")
        assert caught.value.entry == written[0].seq


async def test_a_retry_of_what_is_erased_meanwhile_makes_nothing_up(
    memory: Memory[Any], opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["one", "two"]
    first = await memory.remember_many(texts, idempotency_key="k")
    commit = GovernedTable.commit

    async def committed_and_erased(self: GovernedTable, unit: Unit) -> Committed:
        committed = await commit(self, unit)
        if not committed.fresh:
            await memory.erase(first[1].id, reason="asked")
        return committed

    async with opens() as other:
        monkeypatch.setattr(GovernedTable, "commit", committed_and_erased)
        with pytest.raises(WorldErased) as caught:
            await other.remember_many(texts, idempotency_key="k")
        monkeypatch.undo()
        assert caught.value.code == "world.erased"
        assert await other.remember_many(texts, idempotency_key="k") != first
