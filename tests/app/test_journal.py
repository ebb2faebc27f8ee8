"""`memory.journal`: the entries, their proofs, and what leaves a journal."""

import asyncio
from contextlib import aclosing
from io import BytesIO

import pytest

import memoranda
import memoranda_verify
from memoranda.errors import InvalidFilter
from tests.patience import PATIENCE


async def test_entries_are_numbered_from_the_first_and_chained(place: str) -> None:
    async with memoranda.open(place, scope="s", actor="agent:a") as memory:
        receipts = [await memory.remember(f"note {n}") for n in range(3)]
        head = await memory.journal.head()
        entries = await memory.journal.entries()

        assert [one.seq for one in entries] == list(range(head.size))
        assert [one.previous_hash for one in entries[1:]] == [one.hash for one in entries[:-1]]
        assert [entries[one.seq].hash for one in receipts] == [one.entry_hash for one in receipts]
        assert [one.seq for one in await memory.journal.entries(1, limit=2)] == [1, 2]
        assert list(await memory.journal.entries(head.size)) == []
        body = entries[receipts[0].seq].body
        assert body is not None
        assert body["statement"] == "note 0"


async def test_what_was_erased_has_an_entry_and_no_body(place: str) -> None:
    async with memoranda.open(place, scope="s", actor="human:lee") as memory:
        gone = await memory.remember("a secret")
        await memory.erase(gone.id, reason="asked for")

        assert (await memory.journal.entries(gone.seq, limit=1))[0].body is None


async def test_a_tail_has_what_others_write_meanwhile(place: str) -> None:
    async with (
        memoranda.open(place, scope="s", actor="agent:a") as memory,
        memoranda.open(place, scope="s", actor="agent:b") as other,
    ):
        await memory.remember("before")

        async def three() -> list[str]:
            found: list[str] = []
            async with aclosing(memory.journal.tail()) as tail:
                started.set()
                async for entry in tail:
                    if entry.kind == "create" and entry.body is not None:
                        found.append(str(entry.body["statement"]))
                    if len(found) == 3:
                        break
            return found

        started = asyncio.Event()
        watching = asyncio.ensure_future(three())
        await started.wait()
        await asyncio.sleep(0)
        head = await memory.journal.head()
        for n in range(3):
            await other.remember(f"after {n}")
        async with asyncio.timeout(PATIENCE):
            assert await watching == [f"after {n}" for n in range(3)]
        again = memory.journal.tail(after=head.size - 1)
        async with aclosing(again):
            assert (await anext(again)).seq == head.size


async def test_a_proof_leads_to_the_root_and_there_is_none_of_what_is_not_there(place: str) -> None:
    async with memoranda.open(place, scope="s", actor="agent:a") as memory:
        receipt = await memory.remember("something")
        proof = await memory.journal.proof(receipt.seq)

        assert proof is not None
        assert (proof.entry_hash, proof.holds) == (receipt.entry_hash, True)
        assert await memory.journal.proof(1_000) is None


async def test_exports_are_those_that_anyone_can_verify(place: str) -> None:
    async with memoranda.open(place, scope="s", actor="agent:a") as memory:
        await memory.remember("something", source="doc/1")
        journal = b"".join([line async for line in memory.journal.export()])
        objects = b"".join([line async for line in memory.journal.export("objects")])
        log = b"".join([line async for line in memory.journal.export("log")])

    assert memoranda_verify.verify(BytesIO(journal)).ok
    async with memoranda.open(place, scope="copy", actor="agent:b") as copy:
        report = await copy.journal.import_objects(objects, log=log)
        assert (report.objects, report.log) == (1, [])


@pytest.mark.parametrize("given", [-1, True, "0", 1.0, None])
async def test_a_number_that_is_none_is_refused(place: str, given: object) -> None:
    async with memoranda.open(place, scope="s", actor="agent:a") as memory:
        with pytest.raises(InvalidFilter):
            await memory.journal.proof(given)  # type: ignore[arg-type]
        with pytest.raises(InvalidFilter):
            await memory.journal.entries(given)  # type: ignore[arg-type]
