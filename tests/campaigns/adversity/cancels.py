"""Callers that give up: tasks cancelled and timed out at random, under load.

A cancelled caller learns nothing, so its call has an unknown outcome: it landed whole or not at
all. No transaction is left open, and nobody finds the database locked afterwards.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

import apsw

import memoranda
from memoranda import Memory, MemoryFilter
from memoranda.journeys.audit.verify import verify
from memoranda.stores.sqlite.connection import connect
from tests.campaigns.adversity.chance import Random
from tests.campaigns.adversity.client import Client, perform
from tests.campaigns.adversity.counts import Counts
from tests.campaigns.adversity.history import Call, History
from tests.campaigns.adversity.judge import SCOPE, judge, settle, tell
from tests.handles import inside
from tests.patience import PATIENCE

LANES: Final = 12
LONGEST_PATIENCE: Final = 0.06


@dataclass(slots=True)
class Cancels:
    """Many callers on one database, by URL, most of whom give up."""

    url: str
    chance: Random
    counts: Counts = field(default_factory=Counts)
    _stopped: int = 0

    def run(self, stops: int, tell_done: Callable[[], None] = lambda: None) -> Counts:
        """Go on until this many callers have given up."""
        asyncio.run(self.run_async(stops, tell_done))
        return self.counts

    async def run_async(self, stops: int, tell_done: Callable[[], None] = lambda: None) -> Counts:
        """The same, inside a loop."""
        history = History()
        async with memoranda.open(self.url, scope=SCOPE) as memory:
            client = Client("c", memory, self.chance, history)
            while self._stopped < stops:
                await asyncio.gather(*(self._lane(client, memory, history) for _ in range(LANES)))
                await self._probe(memory, history)
                tell_done()
            await settle(memory, history, self.counts)
            await self._probe(memory, history)
        await judge(self.url, history, self.counts)
        tell(history, self.counts)
        return self.counts

    async def _lane(self, client: Client, memory: Memory[Any], history: History) -> None:
        own: list[str] = []
        for _ in range(20):
            if self.chance.random() < 0.15:
                await self._giving_up(self._reading(memory))
            else:
                call = client.next_call(own)
                await self._giving_up(perform(memory, call, history, own))

    async def _giving_up(self, work: Any) -> None:
        """Wait for something, but not for long: by a timeout, or cancelled from outside."""
        patience = self.chance.uniform(-0.2, 1) ** 2 * LONGEST_PATIENCE
        if self.chance.random() < 0.5:
            try:
                async with asyncio.timeout(patience):
                    await work
            except TimeoutError:
                self._stop("timeouts")
            return
        task = asyncio.ensure_future(work)
        await asyncio.wait({task}, timeout=patience)
        if not task.done():
            task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            self._stop("cancellations")

    def _stop(self, how: str) -> None:
        self._stopped += 1
        self.counts.add(how)

    async def _reading(self, memory: Memory[Any]) -> None:
        """Reads, streams, a verification, and another handle that is opened and closed."""
        match self.chance.randrange(4):
            case 0:
                await memory.records.query(MemoryFilter(tags=["t"], limit=5))
            case 1:
                await memory.list()
            case 2:
                await verify(inside(memory).ledger)
            case _:
                scope = f"other-{self.chance.randrange(3)}"
                async with memoranda.open(self.url, scope=scope) as other:
                    await other.remember("x")

    async def _probe(self, memory: Memory[Any], history: History) -> None:
        """Somebody else can write soon, and nobody pins the past; SQLite only."""
        # What was given up may still be on its way: this write waits until all of it has landed.
        self.counts.add("probes")
        await perform(memory, Call(f"probe-{self.counts['probes']}", "remember"), history)
        if self.url.startswith("sqlite:///"):
            await asyncio.to_thread(self._write_and_empty, self.url.removeprefix("sqlite:///"))

    def _write_and_empty(self, path: str) -> None:
        other = connect(path, busy_ms=int(PATIENCE * 1_000))
        try:
            other.execute("BEGIN IMMEDIATE; ROLLBACK")
            # Another thread of ours may be writing the log back: SQLite doesn't wait for that.
            until = monotonic() + PATIENCE
            busy: object = 1
            while busy and monotonic() < until:
                ((busy, *_),) = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except apsw.BusyError:
            self.counts.wrong("stuck", "the database is locked and nobody writes")
        else:
            if busy:
                self.counts.wrong("stuck", "the WAL can't be emptied and nobody reads")
        finally:
            other.close()
