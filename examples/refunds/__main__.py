"""A refund by rule, one that a human approves, why that was done, and whether it would be again.

Run it with `python -m examples.refunds`. It needs no network, and leaves nothing behind.
"""

import asyncio
import tempfile
from contextlib import AbstractAsyncContextManager
from typing import Any

import memoranda
from examples.refunds.shop import authority, shop
from memoranda import App, Memory


def agent(url: str) -> AbstractAsyncContextManager[Memory[Any]]:
    """The support agent: it has memory, may act, and asks the authority first."""
    app = App(domain=shop, authority=authority)
    return memoranda.open(url, actor="agent:support", app=app)


async def main(url: str) -> None:
    """The whole journey."""
    async with agent(url) as support:
        await support.remember("kim prefers a voucher", tags=["kim"], source="ticket/7")

        print("1. A small refund is approved by rule, and runs at once.")
        small = await support.act("refund", {"ticket": "t1", "customer": "ann", "amount": 20})
        print("  ", small.status, "by", small.data["paid"]["t1"]["how"])

        print("2. A large one waits for a human.")
        found = await support.recall("how does kim want to be paid back?", top_k=3)
        large = await support.act(
            "refund",
            {"ticket": "t2", "customer": "kim", "amount": 250},
            memory=found,
            reason="the parcel never arrived",
        )
        print("  ", "waiting" if large.is_pending else large.status)

    async with memoranda.open(url, actor="human:lee") as lee:
        print("3. Lee finds it in the inbox, and approves it.")
        for waiting in await lee.inbox.list():
            proposal = waiting.proposal
            asked, why = proposal.intent.body.input, proposal.trace and proposal.trace.summary
            print("  ", asked["amount"], "to", asked["customer"], "because", why)
            await lee.inbox.approve(proposal.proposal_id, reason="the carrier lost it")

    async with agent(url) as support:
        print("4. Now it runs, with what is known of the customer.")
        done = await support.worlds.run(large.proposal_id)
        print("  ", done.status, "by", done.data["paid"]["t2"]["how"])

        print("5. Why? Who asked, who approved, and what was remembered then:")
        show(await support.why(large.proposal_id))

        print("6. Would it happen again? Run from what was recorded, nobody is paid twice.")
        async for replay in support.worlds.replay_branch():
            print("  ", replay.action, replay.verdict)

        audit = await support.verify()
        print("7. Is the record sound?", audit.is_sound)


def show(why: Any, depth: int = 1) -> None:
    """A tree of reasons, a line each."""
    shown = ("used by", "decided by", "reasoning", "content", "now", "result")
    known = [f"{name}: {why.known[name]}" for name in shown if isinstance(why.known.get(name), str)]
    print("   " * depth + why.what, ", ".join(known))
    for part in why.parts:
        show(part, depth + 1)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(f"sqlite:///{folder}/shop.db"))
