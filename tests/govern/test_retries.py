"""A retry is answered with its own write, or it is refused."""

import asyncio
from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.errors import EntryDamaged
from tests.govern.conftest import Opens, Tampers


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
        stored.salt for stored in await memory._ledger.entries_at([first.size - 1, again.size - 1])
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
