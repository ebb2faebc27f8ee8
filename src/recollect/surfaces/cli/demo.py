"""``recollect demo``: a short session on a SQLite file, told as it happens."""

import asyncio
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from recollect.app.memory import Memory, open
from recollect.kernel.errors import RecollectError
from recollect.records import MemoryFilter, MemoryRecordInput
from recollect.surfaces.cli.present import console

FILE = "sqlite:///recollect-demo.db"
AT_ONCE = 64


def demo(
    database: Annotated[
        str, typer.Option("--database", "-d", metavar="URL", help="Where the session is kept.")
    ] = FILE,
) -> None:
    """Show recollect at work on a SQLite file."""
    asyncio.run(_Session(console(), database).tell())


class _Session:
    def __init__(self, out: Console, database: str) -> None:
        self.out = out
        self.database = database

    async def tell(self) -> None:
        """The whole story, in order."""
        self.out.print(Text(f"recollect demo on {self.database}, scope 'support'", style="bold"))
        async with open(self.database, scope="support", actor="agent:support") as memory:
            await self.remember_from_last_time(memory)
            id = await self.create(memory)
            await self.find(memory)
            await self.change(memory, id)
            await self.retry(memory)
            await self.refuse(memory)
            await self.hurry(memory)
        await self.stay_apart(id)
        self.out.print("\nAll of it is in one file. README.md says what works today.")

    async def remember_from_last_time(self, memory: Memory) -> None:
        """Records of earlier runs are still there."""
        before = await memory.records.query(MemoryFilter())
        if before:
            self.say("0", f"{len(before)} records are still here from the last run.")

    async def create(self, memory: Memory) -> str:
        """Three records, in two scripts."""
        self.say("1", "Three things are remembered, each in one durable transaction.")
        ids = [
            await memory.records.create(MemoryRecordInput(data=data, tags=tags))
            for data, tags in (
                ({"text": "The customer prefers email", "ticket": 812}, ["customer"]),
                (
                    {"text": "고객은 서울에 살고 한국어로 답을 받고 싶어 한다"},
                    ["customer", "language"],
                ),
                ({"text": "Refunds need a manager above 500 EUR"}, ["policy"]),
            )
        ]
        for id in ids:
            self.show(f"stored {id}")
        return ids[0]

    async def find(self, memory: Memory) -> None:
        """A query by tag, newest first."""
        self.say("2", "What is known of the customer, newest first:")
        for record in await memory.records.query(MemoryFilter(tags=["customer"], limit=2)):
            self.show(record.data["text"])

    async def change(self, memory: Memory, id: str) -> None:
        """A patch, and a writer who was too late."""
        self.say("3", "A patch changes what it names; a writer who saw an older version is told.")
        await memory.records.update(id, {"verified": True}, expected_version=1)
        record = await memory.records.get(id)
        if record is not None:
            self.show(f"version {await memory.records.version(id)}: {record.data}")
        try:
            await memory.records.update(id, {"verified": False}, expected_version=1)
        except RecollectError as refused:
            self.show(f"refused: {refused}")

    async def retry(self, memory: Memory) -> None:
        """The same request twice lands once."""
        self.say("4", "A retry with the same idempotency key lands once.")
        record = MemoryRecordInput(data={"text": "The parcel arrived"}, created_at=1)
        key = "demo: the parcel"
        first = await memory.records.create(record, idempotency_key=key)
        again = await memory.records.create(record, idempotency_key=key)
        self.show(f"{first} and {again} are {'one record' if first == again else 'two records'}")

    async def refuse(self, memory: Memory) -> None:
        """Bad input is named, and nothing is stored."""
        self.say("5", "Bad input is refused with the place and the reason; nothing is stored.")
        try:
            data = {"scores": [0.5, float("nan")]}
            await memory.records.create(MemoryRecordInput(data=data))
        except RecollectError as refused:
            self.show(f"refused: {refused}")

    async def hurry(self, memory: Memory) -> None:
        """Many writers share commits."""
        self.say("6", f"{AT_ONCE} tasks write at once; they share commits, and each is durable.")
        ids = await asyncio.gather(
            *(
                memory.records.create(MemoryRecordInput(data={"step": n}, tags=["log"]))
                for n in range(AT_ONCE)
            )
        )
        found = await memory.records.query(MemoryFilter(ids=ids))
        self.show(f"{len(found)} of {AT_ONCE} are stored")
        await memory.records.delete_many(ids)

    async def stay_apart(self, id: str) -> None:
        """Another scope sees nothing."""
        self.say("7", "A handle on another scope can't see any of it.")
        async with open(self.database, scope="billing", actor="agent:billing") as other:
            self.show(f"billing asks for {id}: {await other.records.get(id)}")

    def say(self, number: str, sentence: str) -> None:
        """A step of the story."""
        self.out.print(Text(f"\n{number}. {sentence}", style="bold"))

    def show(self, line: str) -> None:
        """What came of it."""
        for part in Text(line).wrap(self.out, self.out.width - 3):
            self.out.print(f"   {part.plain.rstrip()}", soft_wrap=True)
