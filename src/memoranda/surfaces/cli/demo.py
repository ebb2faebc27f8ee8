"""``memoranda demo``: an agent's refund, and a forged database, each told as a story."""

import asyncio
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

import memoranda
from memoranda import Clockwork
from memoranda.app.surfaces import opened_witness, verify_database
from memoranda.errors import DependencyMissing
from memoranda.formats import Ed25519Signer, create_key, verifiers
from memoranda.surfaces.cli import show_actions, show_records  # noqa: F401 - words for results
from memoranda.surfaces.cli.groups import PlainGroup
from memoranda.surfaces.cli.present import console, in_words, item, show
from memoranda.surfaces.cli.show_audits import verified
from memoranda.surfaces.story import Scene, told
from memoranda.surfaces.witness import serving
from memoranda.types import DatabaseAudit, FileAnchor, Randomness, Seal, WitnessAnchor


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
        show(item(f"{self._number}. ", sentence, "bold"))

    def show(self, line: str) -> None:
        """What came of it."""
        show(item("   ", line))

    def show_scene(self, scene: Scene) -> None:
        """What was done, and what came of it."""
        self.say(scene.title)
        for line in scene.lines:
            self.show(line)
        match scene.result:
            case None:
                pass
            case DatabaseAudit():
                show(verified(scene.result, Seal()).words)
            case _:
                show(in_words(scene.result))


SCOPE = "refunds"
FILE = "memory.db"

demo = typer.Typer(cls=PlainGroup, add_completion=False)


@demo.callback(invoke_without_command=True)
def show_session(
    context: typer.Context,
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            "-d",
            metavar="URL|FILE",
            help="Keep what is made there; else it is removed again.",
        ),
    ] = None,
) -> None:
    """Show an agent that refunds 900 euros, and what can be asked of that afterwards."""
    if context.invoked_subcommand is None:
        asyncio.run(_session(Story(console()), database))


async def _session(story: Story, kept: str | None) -> None:
    with TemporaryDirectory(prefix="memoranda-demo-") as folder:
        url = str(Path(folder) / FILE) if kept is None else kept
        where = "a temporary folder" if kept is None else kept
        story.title(f"memoranda demo in {where}: scope '{SCOPE}', no network, no key")
        async with aclosing(told(url, Path(folder), scope=SCOPE)) as scenes:
            async for scene in scenes:
                story.show_scene(scene)
    after = "The folder is removed again. To keep the database: memoranda demo -d demo.db"
    if kept is not None:
        after = f"It is kept. Look around: memoranda list -s {SCOPE} -d {kept}"
    story.out.print(f"\n{after}\nNext: memoranda demo tamper", soft_wrap=True)


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
