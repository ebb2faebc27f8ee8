"""A shop that pays its customers back: small sums by rule, large ones when a human agrees."""

from typing import Any

from pydantic import BaseModel, Field

import memoranda
from memoranda import ActionContext, App, Domain, Merge
from memoranda.policies import Custom, HumanInTheLoop, PolicyRule, PolicyRules, SeparateApprover
from memoranda.types import Proposal

LIMIT = 100
DAY_MS = 24 * 60 * 60 * 1000


# ------------------------------------------------------------- what can be done


class Payment(BaseModel):
    """Money that went back to a customer."""

    customer: str
    amount: int
    how: str
    receipt: str


class Books(BaseModel):
    """The state: every payment, by its ticket."""

    paid: dict[str, Payment] = Field(default_factory=dict)


class Refund(BaseModel):
    """What the action takes."""

    ticket: str
    customer: str
    amount: int = Field(gt=0)


shop = Domain("shop", "1", state=Books)


@shop.action(input=Refund)
async def refund(ctx: ActionContext[Refund]) -> Merge | None:
    """Pay a customer back once for each ticket, in the way that the customer prefers."""
    asked = ctx.input
    if asked.ticket in ctx.state["paid"]:
        return None
    how = "voucher" if any("voucher" in said for said in sayings(ctx.memory)) else "card"
    receipt = await ctx.effect("pay", pay, customer=asked.customer, amount=asked.amount, how=how)
    paid = {"customer": asked.customer, "amount": asked.amount, "how": how, "receipt": receipt}
    return Merge("paid", {asked.ticket: paid})


def sayings(memory: Any) -> list[str]:
    """What is remembered, as texts: what was recalled for the proposal, or what a provider said."""
    if isinstance(memory, dict):
        return [one["data"] for one in memory["items"]]
    return memory or []


async def pay(customer: str, amount: int, how: str) -> str:
    """An effect: the bank would be called here. It is called once, and never in a replay."""
    print(f"    (the bank pays {customer} {amount} by {how})")
    return f"receipt-{customer}-{amount}"


# ------------------------------------------------------------------ who decides


def is_large(proposal: Proposal) -> bool:
    """Whether a refund is above the limit."""
    return bool(proposal.intent.body.input["amount"] > LIMIT)


authority = PolicyRules(
    [PolicyRule(Custom("above the limit", is_large), "escalate")],
    default="approve",
    escalate_to=SeparateApprover(
        HumanInTheLoop(["human:lee"], timeout_ms=DAY_MS, on_timeout="reject")
    ),
)


# ------------------------------------------------------------------- what is known


class Preferences:
    """A provider of one's own, for `App(provider=…)`.

    It is asked when a refund runs, and told what came of it. Without it an action gets what was
    recalled for its proposal.
    """

    def __init__(self, memory: memoranda.Memory[Any]) -> None:
        """It reads and writes the memory of this handle."""
        self._memory = memory

    async def recall(self, query: memoranda.MemoryQuery) -> list[str]:
        """What the memory says of the customer; it is frozen before the action runs."""
        customer = query.intent.input["customer"]
        return [one.data for one in await self._memory.list(tags=[customer])]

    async def remember(self, experience: memoranda.MemoryExperience) -> None:
        """Runs in the background, after the world is sealed."""
        asked = experience.intent.input
        if experience.outcome == "completed":
            text = f"{asked['customer']} was paid {asked['amount']} for {asked['ticket']}"
            await self._memory.remember(text, tags=[asked["customer"]])


app = App(domain=shop, authority=authority)
"""For `memoranda serve --app examples.refunds.shop:app`."""
