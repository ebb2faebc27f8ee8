"""``memoranda demo``: a session with governed memory, and a forged one, as a story."""

import asyncio
import os
from collections.abc import Awaitable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

import memoranda
from memoranda import Clockwork, MemorandaError, Memory
from memoranda.app.surfaces import (
    file_of,
    opened_witness,
    seal_from_environment,
    verify_database,
)
from memoranda.errors import DependencyMissing
from memoranda.formats import Ed25519Signer, create_key, verifiers
from memoranda.surfaces.cli.groups import PlainGroup
from memoranda.surfaces.cli.present import console, item, statement
from memoranda.surfaces.cli.show_audits import verified
from memoranda.surfaces.cli.show_records import history
from memoranda.surfaces.witness import serving
from memoranda.types import FileAnchor, Randomness, Receipt, Seal, WitnessAnchor


class Story:
    """Tells a story on a console."""

    def __init__(self, out: Console) -> None:
        self.out = out
        self._number = 0

    def title(self, sentence: str) -> None:
        """What it is about."""
        self.out.print(Text(sentence, style="bold"))

    def say(self, sentence: str) -> None:
        """The next step of the story."""
        self._number += 1
        self.out.print()
        self.out.print(item(f"{self._number}. ", sentence, "bold"))

    def show(self, line: str) -> None:
        """What came of it."""
        self.out.print(item("   ", line))

    def show_receipt(self, whose: str, receipt: Receipt) -> None:
        """Which version was written, and where."""
        self.show(f"{whose}: version {receipt.version} of {receipt.id}, entry {receipt.seq}")
        self.show(receipt.entry_hash)

    async def show_refusal(self, act: Awaitable[object]) -> None:
        """Why something is refused."""
        try:
            await act
        except MemorandaError as refused:
            self.show(f"refused: {refused}")


FILE = "sqlite:///memoranda-demo.db"
AT_ONCE = 64

demo = typer.Typer(cls=PlainGroup, add_completion=False)


@demo.callback(invoke_without_command=True)
def show_session(
    context: typer.Context,
    database: Annotated[
        str, typer.Option("--database", "-d", metavar="URL|FILE", help="Where the session is kept.")
    ] = FILE,
) -> None:
    """Show memoranda at work on a SQLite file."""
    if context.invoked_subcommand is None:
        asyncio.run(_session(Story(console()), database))


async def _session(story: Story, database: str) -> None:
    story.title(f"memoranda demo on {database}, scope 'support'")
    async with memoranda.open(database, scope="support", actor="agent:support") as memory:
        if before := await memory.list():
            story.show(f"{len(before)} things are still remembered from the last run.")
        id = await _remember(story, memory)
        await _change(story, memory, id)
        await _write_at_once(story, memory)
    story.say("A handle on another scope can't see any of it.")
    async with memoranda.open(database, scope="billing", actor="agent:billing") as other:
        story.show(f"billing gets {await other.get(id, include=['invalidated'])}")
    story.say("Verify walks everything, and says what it can't know.")
    seal = seal_from_environment(os.environ, file_of(database))
    story.out.print(verified(await verify_database(database, seal=seal), seal).words)
    kept = f"\nThe session is kept in {database}. Next: memoranda demo tamper."
    story.out.print(kept, soft_wrap=True)


async def _remember(story: Story, memory: Memory[Any]) -> str:
    story.say("Three things are remembered, each in one durable transaction.")
    receipt = await memory.remember(
        "The customer prefers email", source="ticket/812", tags=["customer"]
    )
    await memory.remember("고객은 서울에 살고 한국어로 답을 받고 싶어 한다", tags=["customer"])
    await memory.remember({"rule": "Refunds above 500 EUR need a manager"}, tags=["policy"])
    story.show_receipt("The receipt of the first", receipt)
    story.show("What is known of the customer, newest first:")
    for found in await memory.list(tags=["customer"], limit=2):
        story.show(f"  {statement(found.data)} ({found.statement_type}, {found.verdict})")
    story.say("A recall says why it picked what, and is in the journal before it answers.")
    for question in ("how does the customer like to be reached?", "서울 고객"):
        recalled = await memory.recall(question, top_k=1)
        story.show(f"{question}  {recalled.outcome}")
        for chosen in recalled:
            known = "verified" if chosen.verified else "not verified"
            story.show(f"  {statement(chosen.data)} ({known})")
            story.show(f"  why: {chosen.reason}; on record as {recalled.trace_id}")
    return receipt.id


async def _change(story: Story, memory: Memory[Any], id: str) -> None:
    story.say("An update is the next version; a writer who saw an older one is told.")
    text = "The customer prefers a call, after 14:00"
    receipt = await memory.update(id, text, expected_version=1, reason="said so on the phone")
    story.show_receipt("The receipt", receipt)
    await story.show_refusal(memory.update(id, "The customer prefers fax", expected_version=1))
    story.say("Forgetting needs a reason. Nothing is deleted; it is no longer returned.")
    await story.show_refusal(memory.forget(id, reason=" "))
    await memory.forget(id, reason="the customer left", cause="obsolescence")
    story.show(f"get returns {await memory.get(id)}")
    story.say("Its history has every version, who made it, when and why.")
    story.out.print(history(await memory.history(id)))


async def _write_at_once(story: Story, memory: Memory[Any]) -> None:
    story.say("A retry with the same idempotency key lands once.")
    first, again = [
        await memory.remember("The parcel arrived", idempotency_key="demo: the parcel")
        for _ in range(2)
    ]
    same = "one entry" if first == again else "two entries"
    story.show(f"{first.id} and {again.id} are {same}")
    story.say(f"{AT_ONCE} tasks write at once; they share commits, each is durable.")
    receipts = await asyncio.gather(
        *(memory.remember({"step": n}, tags=["log"]) for n in range(AT_ONCE))
    )
    stored = len({receipt.entry_hash for receipt in receipts})
    story.show(f"{stored} of {AT_ONCE} are in the journal")


TRUE, FORGED = "500 EUR", "900 EUR"
_ENOUGH = 4096
"""So many random bytes are more than a few records take."""


@demo.command()
def tamper() -> None:
    """Forge a database, and watch verify name what was forged."""
    with TemporaryDirectory(prefix="memoranda-demo-") as folder:
        asyncio.run(_Tampering(Story(console()), Path(folder)).run())


class _Tampering:
    def __init__(self, story: Story, folder: Path) -> None:
        self.story = story
        self.folder = folder
        self.file = folder / "data" / "memory.db"
        anchor = folder / "elsewhere" / "anchor.txt"
        for path in (self.file, anchor):
            path.parent.mkdir()
        self.kept = Seal(anchors=[FileAnchor(anchor, database=self.file)])
        self.drawn = Randomness().take(_ENOUGH)

    async def run(self) -> None:
        self.story.title(f"memoranda demo tamper in {self.folder}")
        self.story.say("An agent's memory is written; its checkpoint goes to an anchor elsewhere.")
        await self.write(self.file, TRUE, self.kept)
        await self.verify(self.file, self.kept, is_sound=True)
        await self.edit()
        await self.rewrite()
        await self.rewrite_signed()
        self.story.out.print(
            "\nSo keep checkpoints where the database's writers can't reach them, or let others\n"
            "witness them: docs/checkpoints.md. The folder of this demo is removed again."
        )

    async def write(self, file: Path, amount: str, seal: Seal) -> None:
        """A few decisions; closing the handle makes a checkpoint.

        A journal has a random name. Whoever forges it can read that name, and give it to another:
        here both are written with the same random bytes.
        """
        clockwork = Clockwork(randomness=Randomness(lambda _: self.drawn))
        async with memoranda.open(
            file, scope="support", actor="agent:support", seal=seal, clockwork=clockwork
        ) as memory:
            await memory.remember("The customer prefers email", tags=["customer"])
            await memory.remember(f"Refunds above {amount} need a manager", tags=["policy"])
            await memory.remember("A refund of 700 EUR was approved by the manager")

    async def edit(self) -> None:
        self.story.say("Somebody changes one digit in a copy of the file.")
        copy = self.folder / "edited.db"
        copy.write_bytes(self.file.read_bytes().replace(TRUE.encode(), FORGED.encode()))
        self.story.show(f"{TRUE} becomes {FORGED}")
        self.story.say("Verify names the entry: its body is not the one that was chained.")
        await self.verify(copy, Seal(), is_sound=False)

    async def rewrite(self) -> None:
        self.story.say("Somebody better writes the whole database anew, under the same name.")
        copy = self.folder / "rewritten.db"
        await self.write(copy, FORGED, Seal())
        self.story.say("By itself that one agrees with itself, and verify says what it can't know:")
        await self.verify(copy, Seal(), is_sound=True)
        self.story.say("The checkpoint that was kept elsewhere catches it:")
        await self.verify(copy, self.kept, is_sound=False)

    async def rewrite_signed(self) -> None:
        try:
            await self._be_witnessed()
        except DependencyMissing as missing:
            self.story.say("What a witness finds is left out here:")
            self.story.show(str(missing))

    async def _be_witnessed(self) -> None:
        """A witness on a port of this machine; in earnest it is somebody else's."""
        signer = Ed25519Signer.generate("memory.example")
        logs, key_file = self.folder / "logs", self.folder / "key"
        logs.write_text(f"memoranda/ {signer.key}\n")
        key = create_key(key_file, self.folder / "ring", name="witness.example", cosigns=True)
        memory = self.folder / "witness.db"
        with opened_witness(logs=logs, key_file=key_file, memory=memory) as witness:
            async with serving(witness) as (url, _):
                known = verifiers([signer.key, key])
                seal = Seal([signer], [WitnessAnchor(url, key)], known)
                self.story.say("An owner has each checkpoint signed, and cosigned by a witness.")
                await self.write(self.folder / "witnessed.db", TRUE, seal)
                self.story.say("The owner rewrites it all, and signs it anew with the same key.")
                copy = self.folder / "signed-anew.db"
                await self.write(copy, FORGED, Seal([signer]))
                await self.verify(copy, Seal(known=known), is_sound=True)
                self.story.say("The witness has cosigned another history, and no key changes that:")
                await self.verify(copy, seal, is_sound=False)

    async def verify(self, file: Path, seal: Seal, *, is_sound: bool) -> None:
        found = await verify_database(str(file), seal=seal)
        self.story.out.print(verified(found, seal).words)
        if found.is_sound != is_sound:
            raise AssertionError(f"{file} should be {'sound' if is_sound else 'damaged'}")
