"""Many recall, write and open at once: nobody is told that something broke which did not."""

import asyncio
from typing import Any

import pytest

from memoranda import Memory
from tests.fixtures import Opens
from tests.handles import inside

pytestmark = pytest.mark.anyio


@pytest.mark.rule("M-1")
async def test_many_recalls_at_once_are_all_verified(memory: Memory[Any]) -> None:
    await memory.remember_many([f"the price is {n}" for n in range(20)])
    await memory.recall("price", top_k=5)
    verifying = inside(memory).recaller.verifying
    ledger = verifying._ledger

    class Slow:
        """A ledger that lets others have their turn before it answers."""

        def __getattr__(self, name: str) -> Any:
            return getattr(ledger, name)

        async def entries_at(self, seqs: Any) -> Any:
            found = await ledger.entries_at(seqs)
            for _ in range(10):
                await asyncio.sleep(0)
            return found

    verifying._ledger = Slow()

    async def recalled() -> list[bool]:
        return [item.verified for item in await memory.recall("price", top_k=5)]

    for _ in range(3):
        assert await asyncio.gather(*(recalled() for _ in range(5))) == [[True] * 5] * 5


@pytest.mark.rule("GOV-BREAK")
async def test_opening_while_somebody_writes_is_no_break(opens: Opens) -> None:
    async with opens() as memory:
        await memory.remember("the price is 10")
        ledger = inside(memory).scoped.conformance._ledger
        writes = [lambda: memory.remember("the price is 20")]

        class Busy:
            """A ledger that grows between two looks at it."""

            def __getattr__(self, name: str) -> Any:
                return getattr(ledger, name)

            async def bytes_at(self, seqs: Any) -> Any:
                if writes and seqs == [(await ledger.head()).size]:
                    await writes.pop()()
                return await ledger.bytes_at(seqs)

        conformance = inside(memory).scoped.conformance
        conformance._ledger = Busy()
        await conformance.on_open()

        assert not writes
        assert (await conformance.state()).breaks == {}


@pytest.mark.rule("GOV-BREAK")
async def test_an_entry_beyond_the_head_is_a_break(opens: Opens) -> None:
    async with opens() as memory:
        await memory.remember("the price is 10")
        ledger = inside(memory).scoped.conformance._ledger

        class Longer:
            """A ledger with an entry that its head does not know."""

            def __getattr__(self, name: str) -> Any:
                return getattr(ledger, name)

            async def bytes_at(self, seqs: Any) -> Any:
                last = (await ledger.head()).size - 1
                found = await ledger.bytes_at([min(seq, last) for seq in seqs])
                return {seq: found[min(seq, last)] for seq in seqs}

        conformance = inside(memory).scoped.conformance
        conformance._ledger = Longer()
        await conformance.on_open()

        assert len((await conformance.state()).breaks) == 1
