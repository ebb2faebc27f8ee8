"""Records a history of the example as a file: ``python -m tests.campaigns.histories.record``.

A file that is kept is never made anew: the point of it is that it is old. A release adds its own.
"""

import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import memoranda
from examples.refunds import shop
from memoranda.app.audit import export_scope
from tests.handles import opened as handle_on

SCOPE = "shop"


class Forgetful(shop.Preferences):
    """Fails to recall what it is asked about one customer."""

    async def recall(self, query: memoranda.MemoryQuery) -> list[str]:
        if query.intent.input["customer"] == "nobody":
            raise LookupError("nothing is known of nobody")
        return await super().recall(query)


async def bank(customer: str, amount: int, how: str) -> str:
    """Stands for the bank, which refuses one customer."""
    if customer == "eve":
        raise PermissionError("the account is closed")
    return f"receipt-{customer}-{amount}-{how}"


async def record(url: str) -> None:
    """One of each: by rule, by a human, rejected, twice, failed, without memory, on a branch."""
    shop.pay = bank
    async with AsyncExitStack() as handles:

        async def opened(actor: str, **more: Any) -> memoranda.Memory[Any]:
            handle = handle_on(url, scope=SCOPE, actor=actor, **more)
            return await handles.enter_async_context(handle)

        memory = await opened("agent:support")
        agent = await opened(
            "agent:support",
            domain=shop.shop,
            authority=shop.authority,
            provider=Forgetful(memory),
        )
        lee = await opened("human:lee")
        await memory.remember("kim prefers a voucher", tags=["kim"], source="ticket/7", id="kim-1")

        async def refund(ticket: str, customer: str, amount: int, **more: Any) -> Any:
            given = {"ticket": ticket, "customer": customer, "amount": amount}
            return await agent.act("refund", given, **more)

        first = await refund("t1", "ann", 20)
        large = await refund("t2", "kim", 250, trace="the parcel never arrived")
        await lee.inbox.approve(large.proposal_id, reason="the carrier lost it")
        await agent.worlds.run(large.proposal_id)
        refused = await refund("t3", "kim", 900, trace="the same parcel")
        await lee.inbox.reject(refused.proposal_id, reason="it was paid already")
        await refund("t1", "ann", 20)
        await refund("t4", "eve", 30)
        await refund("t5", "nobody", 40)
        await agent.worlds.branch("what-if", at=first.world)
        await refund("t6", "서연", 50, branch="what-if")


async def main(file: Path) -> None:
    """Record one, and export it."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/shop.db"
        await record(url)
        with file.open("xb") as out:
            async for line in export_scope(url, SCOPE):
                out.write(line)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
