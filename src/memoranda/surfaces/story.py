"""The demo story: an agent refunds 900 euros, and everything that can be asked of that afterwards.

`told` does it on a database and gives the scenes one after the other. The terminal shows them;
whoever only wants a database with something real in it runs through them. Nothing but the database
and a copy of it in `folder` is written, and no network is used.
"""

from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field

import memoranda
from memoranda import ActionContext, App, Database, Domain, Memory, Merge
from memoranda.app.surfaces import copy_scopes, default_url, hidden, verify_database
from memoranda.errors import MemorandaError, ScopeExists
from memoranda.policies import Custom, HumanInTheLoop, PolicyRule, PolicyRules, SeparateApprover
from memoranda.types import Proposal, Run, Seal

AGENT: Final = "agent:support"
MANAGER: Final = "human:lee"
LIMIT: Final = 500
LARGE: Final = 900
SMALL: Final = 20
FORGED: Final = 950
COPY: Final = "tampered-copy.db"


@dataclass(frozen=True, slots=True)
class Scene:
    """What was done, in a sentence; what came of it, in lines; and maybe the result itself."""

    title: str
    lines: tuple[str, ...] = ()
    result: object = None


# ----------------------------------------------------------------------- the agent's actions


class Refund(BaseModel):
    """What the action takes."""

    ticket: str
    customer: str
    euros: int = Field(gt=0)


class Books(BaseModel):
    """The state: how each ticket was paid back."""

    paid: dict[str, str] = Field(default_factory=dict)


def shop(always: str | None = None) -> Domain:
    """A shop that pays as its customers prefer; the changed one pays `always` in one way."""
    domain = Domain("demo-shop", "1", state=Books)

    @domain.action(input=Refund)
    async def refund(ctx: ActionContext[Refund]) -> Merge:
        known = [] if ctx.memory is None else [str(one["data"]) for one in ctx.memory["items"]]
        liked = "voucher" if any("voucher" in text for text in known) else "card"
        how = always or liked
        await ctx.effect("pay", _pay, customer=ctx.input.customer, euros=ctx.input.euros, how=how)
        return Merge("paid", {ctx.input.ticket: f"{ctx.input.euros} EUR by {how}"})

    return domain


def _pay(customer: str, euros: int, how: str) -> str:
    """An effect: a bank would be called here. It is called once, and never in a replay."""
    return f"receipt-{customer}-{euros}-{how}"


def _is_large(proposal: Proposal) -> bool:
    return bool(proposal.intent.body.input["euros"] > LIMIT)


def app() -> App[Any]:
    """What the agent runs with: its actions, and who decides about them."""
    asks = SeparateApprover(HumanInTheLoop([MANAGER]))
    rules = PolicyRules(
        [PolicyRule(Custom(f"above {LIMIT} euros", _is_large), "escalate")],
        default="approve",
        escalate_to=asks,
    )
    return App(domain=shop(), authority=rules)


# --------------------------------------------------------------------------------- the story


async def told(url: str, folder: Path, *, scope: str) -> AsyncGenerator[Scene, None]:
    """Do it all, scene by scene, in a scope that is new; ScopeExists where it is there."""
    async with memoranda.connect(url) as database:
        if await database.exists(scope):
            raise ScopeExists(hidden(default_url(url)), scope)
        story = _Story(database, url, folder / COPY, scope)
        async with aclosing(story.scenes()) as scenes:
            async for scene in scenes:
                yield scene


class _Story:
    def __init__(self, database: Database, url: str, copy: Path, scope: str) -> None:
        self.url = url
        self.copy = copy
        self.scope = scope
        self.agent: Memory[Any] = database.scope(scope, actor=AGENT, app=app())
        self.manager: Memory[Any] = database.scope(scope, actor=MANAGER)
        self.changed: Memory[Any] = database.scope(scope, actor=AGENT, app=App(domain=shop("card")))

    async def scenes(self) -> AsyncGenerator[Scene, None]:
        yield await self.remember()
        yield await self.recall()
        asked = await self.ask("t-812", "kim", LARGE, "the parcel never arrived")
        yield Scene(
            f"Kim asks for {LARGE} euros back. The agent proposes it, and may not do it alone.",
            (f"above {LIMIT} euros a human decides: {MANAGER}",),
            (await self.manager.inbox.list())[0],
        )
        yield await self.decide(asked)
        yield Scene(
            "Why was it done? One tree: who asked, who approved, what was known then.",
            result=await self.agent.why(asked.proposal_id),
        )
        yield await self.replay()
        yield await self.replay_changed()
        yield await self.tamper()
        yield Scene(
            "The database itself is sound; and it says what it can't know.",
            result=await verify_database(self.url, scopes=[self.scope], seal=Seal()),
        )
        yield await self.erase()
        audit = await self.agent.verify()
        yield Scene(
            "The journal still verifies, with the proof that something was there.",
            (f"{'sound' if audit.is_sound else 'DAMAGED'}, {audit.report.size} entries",),
        )

    async def remember(self) -> Scene:
        receipt = await self.agent.remember(
            "Kim wants refunds as a voucher", subject="kim", source="ticket/811"
        )
        await self.agent.remember(
            f"Refunds above {LIMIT} EUR need a manager", source="handbook", tags=["policy"]
        )
        await self.agent.remember(
            "민지는 한국어로 답을 받고 싶어 한다", subject="minji", source="ticket/790"
        )
        await self.agent.remember("Ann wants refunds on her card", subject="ann")
        return Scene(
            "An agent remembers four things. Each is on the disk when the call returns.",
            (f"{receipt.id}, version {receipt.version}", f"entry hash {receipt.entry_hash}"),
        )

    async def recall(self) -> Scene:
        lines = []
        for question in ("how does Kim want to be paid back?", "민지에게 어떤 언어로 답할까?"):
            (item,) = await self.agent.recall(question, top_k=1)
            known = "verified" if item.verified else "not verified"
            lines += [question, f"  {item.data} ({item.reason}; {known})"]
        return Scene("It recalls. What was picked and why is on record before it answers.",
                     tuple(lines))  # fmt: skip

    async def ask(self, ticket: str, customer: str, euros: int, reason: str) -> Run:
        found = await self.agent.recall(f"how does {customer} want refunds?", top_k=1)
        asked = {"ticket": ticket, "customer": customer, "euros": euros}
        return await self.agent.act("refund", asked, memory=found, reason=reason)

    async def decide(self, asked: Run) -> Scene:
        refused = await _refusal(self.agent.inbox.approve(asked.proposal_id, reason="I want it"))
        await self.manager.inbox.approve(asked.proposal_id, reason="the carrier lost it")
        done = await self.agent.worlds.run(asked.proposal_id)
        return Scene(
            "Lee, a manager, approves. Only now the refund runs, with the memory frozen for it.",
            (f"the agent can't approve it itself: {refused}", f"done: {done.data['paid']}"),
        )

    async def replay(self) -> Scene:
        found = [one async for one in self.agent.worlds.replay_branch()]
        return Scene(
            "Would it happen again? A replay runs it from what was recorded; nobody is paid.",
            result=found,
        )

    async def replay_changed(self) -> Scene:
        found = [one async for one in self.changed.worlds.replay_branch()]
        return Scene(
            "Somebody changes the code to pay by card. The same replay is a regression test.",
            result=found,
        )

    async def tamper(self) -> Scene:
        await copy_scopes(self.url, str(self.copy), scopes=[self.scope])
        before = self.copy.read_bytes()
        after = before.replace(f"above {LIMIT} EUR".encode(), f"above {FORGED} EUR".encode())
        self.copy.write_bytes(after)
        return Scene(
            "Somebody edits a copy of the file, so that no manager was needed. Verify names it.",
            (f"{LIMIT} EUR becomes {FORGED} EUR in {self.copy.name}",),
            await verify_database(str(self.copy), scopes=[self.scope], seal=Seal()),
        )

    async def erase(self) -> Scene:
        await self.ask("t-813", "ann", SMALL, "it was broken")
        certificate = await self.manager.erase(subject="ann", reason="she asked to be forgotten")
        return Scene(
            f"Ann got {SMALL} euros by rule, and asks to be forgotten. Erasing follows her traces:",
            result=certificate,
        )


async def _refusal(act: Awaitable[object]) -> str:
    """Why something is refused."""
    try:
        await act
    except MemorandaError as refused:
        return str(refused)
    raise AssertionError("it should have been refused")
