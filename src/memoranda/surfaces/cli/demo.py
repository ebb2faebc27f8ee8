"""``memoranda demo``: a first session with governed memory, told as it happens."""

import asyncio
import os
from typing import Annotated, Any

import typer

from memoranda.app.audit import verify_database
from memoranda.app.database import open
from memoranda.app.memory import Memory
from memoranda.app.seal import seal_from_environment
from memoranda.app.url import file_of
from memoranda.journeys.govern.receipts import Receipt
from memoranda.kernel.errors import MemorandaError
from memoranda.surfaces.cli.demo_tamper import tamper
from memoranda.surfaces.cli.help import PlainGroup
from memoranda.surfaces.cli.memories import history
from memoranda.surfaces.cli.present import console, statement
from memoranda.surfaces.cli.report import Verified, verified
from memoranda.surfaces.cli.story import Story

FILE = "sqlite:///memoranda-demo.db"
AT_ONCE = 64

demo = typer.Typer(cls=PlainGroup)
demo.command("tamper")(tamper)


@demo.callback(invoke_without_command=True)
def tell(
    context: typer.Context,
    database: Annotated[
        str, typer.Option("--database", "-d", metavar="URL|FILE", help="Where the session is kept.")
    ] = FILE,
) -> None:
    """Show memoranda at work on a SQLite file."""
    if context.invoked_subcommand is None:
        asyncio.run(_Session(Story(console()), database).tell())


class _Session:
    def __init__(self, story: Story, database: str) -> None:
        self.story = story
        self.database = database

    async def tell(self) -> None:
        """The whole story, in order."""
        self.story.title(f"memoranda demo on {self.database}, scope 'support'")
        async with open(self.database, scope="support", actor="agent:support") as memory:
            await self.greet(memory)
            id = await self.remember(memory)
            await self.recall(memory)
            await self.update(memory, id)
            await self.forget(memory, id)
            await self.history(memory, id)
            await self.retry(memory)
            await self.hurry(memory)
        await self.stay_apart(id)
        await self.verify()
        self.story.out.print(
            f"\nThe session is kept in {self.database}. Next: memoranda demo tamper.",
            soft_wrap=True,
        )

    async def greet(self, memory: Memory[Any]) -> None:
        """What earlier runs left is still there."""
        before = await memory.list()
        if before:
            self.story.show(f"{len(before)} things are still remembered from the last run.")

    async def remember(self, memory: Memory[Any]) -> str:
        """Three statements, in two scripts."""
        story = self.story
        story.say("Three things are remembered, each in one durable transaction.")
        receipt = await memory.remember(
            "The customer prefers email", source="ticket/812", tags=["customer"]
        )
        await memory.remember("고객은 서울에 살고 한국어로 답을 받고 싶어 한다", tags=["customer"])
        await memory.remember({"rule": "Refunds above 500 EUR need a manager"}, tags=["policy"])
        self.receipt("The receipt of the first", receipt)
        story.show("What is known of the customer, newest first:")
        for found in await memory.list(tags=["customer"], limit=2):
            story.show(f"  {statement(found.data)} ({found.statement_type}, {found.verdict})")
        return receipt.id

    async def recall(self, memory: Memory[Any]) -> None:
        """Selections that say why, and are on record."""
        self.story.say("A recall says why it picked what, and is in the journal before it answers.")
        for question in ("how does the customer like to be reached?", "서울 고객"):
            found = await memory.recall(question, top_k=1)
            self.story.show(f"{question}  {found.outcome}")
            for item in found:
                known = "verified" if item.verified else "not verified"
                self.story.show(f"  {statement(item.data)} ({known})")
                self.story.show(f"  why: {item.reason}; on record as {found.trace_id}")

    async def update(self, memory: Memory[Any], id: str) -> None:
        """The next version, and a writer who was too late."""
        self.story.say("An update is the next version; a writer who saw an older one is told.")
        text = "The customer prefers a call, after 14:00"
        receipt = await memory.update(id, text, expected_version=1, reason="said so on the phone")
        self.receipt("The receipt", receipt)
        await self.refused(memory.update(id, "The customer prefers fax", expected_version=1))

    async def forget(self, memory: Memory[Any], id: str) -> None:
        """Forgetting is an act, with a reason."""
        self.story.say("Forgetting needs a reason. Nothing is deleted; it is no longer returned.")
        await self.refused(memory.forget(id, reason=" "))
        await memory.forget(id, reason="the customer left", cause="obsolescence")
        self.story.show(f"get returns {await memory.get(id)}")

    async def history(self, memory: Memory[Any], id: str) -> None:
        """Everything that happened to one object."""
        self.story.say("Its history has every version, who made it, when and why.")
        self.story.out.print(history(await memory.history(id)))

    async def retry(self, memory: Memory[Any]) -> None:
        """The same request twice lands once."""
        self.story.say("A retry with the same idempotency key lands once.")
        first, again = [
            await memory.remember("The parcel arrived", idempotency_key="demo: the parcel")
            for _ in range(2)
        ]
        same = "one entry" if first == again else "two entries"
        self.story.show(f"{first.id} and {again.id} are {same}")

    async def hurry(self, memory: Memory[Any]) -> None:
        """Many writers share commits."""
        self.story.say(f"{AT_ONCE} tasks write at once; they share commits, each is durable.")
        receipts = await asyncio.gather(
            *(memory.remember({"step": n}, tags=["log"]) for n in range(AT_ONCE))
        )
        stored = len({receipt.entry_hash for receipt in receipts})
        self.story.show(f"{stored} of {AT_ONCE} are in the journal")

    async def stay_apart(self, id: str) -> None:
        """Another scope sees nothing."""
        self.story.say("A handle on another scope can't see any of it.")
        async with open(self.database, scope="billing", actor="agent:billing") as other:
            self.story.show(f"billing gets {await other.get(id, include=['invalidated'])}")

    async def verify(self) -> None:
        """All of it is walked, and nothing is claimed that can't be known."""
        self.story.say("Verify walks everything, and says what it can't know.")
        seal = seal_from_environment(os.environ, file_of(self.database))
        found = await verify_database(self.database, seal=seal)
        self.story.out.print(verified(Verified(found, seal)))

    def receipt(self, whose: str, receipt: Receipt) -> None:
        """A receipt, told."""
        self.story.show(f"{whose}: version {receipt.version} of {receipt.id}, entry {receipt.seq}")
        self.story.show(receipt.entry_hash)

    async def refused(self, act: Any) -> None:
        """An act that is refused, and in which words."""
        try:
            await act
        except MemorandaError as refused:
            self.story.show(f"refused: {refused}")
