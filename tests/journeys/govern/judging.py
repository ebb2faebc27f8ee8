"""Facts that somebody else judged, re-audits, and the breaks that stand."""

from typing import Any

from memoranda import Memory
from memoranda.journeys.govern.objects import Receipt
from tests.fixtures import Opens


async def fact(opens: Opens, memory: Memory[Any], data: Any) -> str:
    """Something that is remembered, and judged Factual by somebody else; its id."""
    receipt = await memory.remember(data, source="doc/1")
    async with opens(actor="human:judge") as judge:
        await judge.govern.approve(receipt.id, reason="looked it up", verdict="Factual")
    return receipt.id


async def audited(
    memory: Memory[Any], ref: str = "audit/1", *, accept: list[int | str] | None = None
) -> Receipt:
    """A re-audit of the memory as it is."""
    report = await memory.verify()
    return await memory.govern.record_audit(
        ref, report=report, reason="drift checked, none found", accept=accept or ()
    )


async def breaks(memory: Memory[Any]) -> list[str]:
    """Why breaks stand."""
    return list((await memory.govern.status()).breaks.values())
