"""``memoranda demo tamper``: forge a copy of a database, and watch verify name it.

1. a database is written; its checkpoints go to an anchor, a file elsewhere
2. a copy is edited with plain SQL: the hashes no longer fit
3. another copy is edited, and every hash made anew: it agrees with itself
4. only the checkpoint that was kept elsewhere tells that copy from the true one
"""

import asyncio
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from memoranda.app.audit import DatabaseAudit, verify_database
from memoranda.app.database import open
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.outside.anchors import FileAnchor
from memoranda.surfaces.cli import forger
from memoranda.surfaces.cli.present import console
from memoranda.surfaces.cli.report import Verified, verified
from memoranda.surfaces.cli.story import Story

TRUE, FORGED = "500 EUR", "900 EUR"


def tamper() -> None:
    """Forge a copy of a database, and watch verify name what was forged."""
    with TemporaryDirectory(prefix="memoranda-demo-") as folder:
        asyncio.run(_Tampering(Story(console()), Path(folder)).tell())


class _Tampering:
    def __init__(self, story: Story, folder: Path) -> None:
        self.story = story
        self.folder = folder
        self.file = folder / "data" / "memory.db"
        self.anchor = folder / "elsewhere" / "anchor.txt"
        self.kept = Seal(anchors=[FileAnchor(self.anchor, database=self.file)])

    async def tell(self) -> None:
        """The whole story, in order."""
        self.story.title(f"memoranda demo tamper in {self.folder}")
        await self.write()
        await self.edit()
        await self.rewrite()
        self.story.out.print(
            "\nSo keep checkpoints where the database's writers can't reach them:\n"
            "docs/checkpoints.md. The folder of this demo is removed again."
        )

    async def write(self) -> None:
        """A few decisions; closing the handle makes a checkpoint."""
        self.story.say("An agent's memory is written; its checkpoint goes to an anchor elsewhere.")
        self.file.parent.mkdir()
        self.anchor.parent.mkdir()
        async with open(
            self.url(self.file), scope="support", actor="agent:support", seal=self.kept
        ) as memory:
            await memory.remember("The customer prefers email", tags=["customer"])
            await memory.remember(f"Refunds above {TRUE} need a manager", tags=["policy"])
            await memory.remember("A refund of 700 EUR was approved by the manager")
        await self.verify(self.file, self.kept, is_sound=True)

    async def edit(self) -> None:
        """Plain SQL: the triggers are against accidents, not against attackers."""
        self.story.say("Somebody edits a copy of the file with SQL: triggers dropped, one word.")
        copy = self.copied("edited")
        forger.edit(copy, TRUE, FORGED)
        for statement in (*forger.DROP, f"{forger.EDIT}  -- {TRUE!r}, {FORGED!r}"):
            self.story.show(statement)
        self.story.say("Verify names the entry: its body is not the one that was chained.")
        await self.verify(copy, Seal(), is_sound=False)

    async def rewrite(self) -> None:
        """Everything that follows from the edit is made anew."""
        self.story.say("Somebody better edits another copy, and makes every hash anew.")
        copy = self.copied("rewritten")
        forger.edit(copy, TRUE, FORGED)
        forger.rehash(copy)
        self.story.say(
            "By itself that copy agrees with itself, and verify says what it can't know:"
        )
        await self.verify(copy, Seal(), is_sound=True)
        self.story.say("The checkpoint that was kept elsewhere catches it:")
        await self.verify(copy, self.kept, is_sound=False)

    async def verify(self, file: Path, seal: Seal, *, is_sound: bool) -> DatabaseAudit:
        """Verify as the command does, and make sure that the story is true."""
        found = await verify_database(self.url(file), seal=seal)
        self.story.out.print(verified(Verified(found, seal)))
        if found.is_sound != is_sound:
            raise AssertionError(f"{file} should be {'sound' if is_sound else 'damaged'}")
        return found

    def copied(self, name: str) -> Path:
        """The database's folder, copied."""
        shutil.copytree(self.file.parent, self.folder / name)
        return self.folder / name / self.file.name

    @staticmethod
    def url(file: Path) -> str:
        """The URL of a file whose path has nothing to escape."""
        return f"sqlite:///{file}"
