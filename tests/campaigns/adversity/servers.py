"""kill -9 of a PostgreSQL server, and of single connections, under two writers.

Two clients write one scope through handles of their own, each on an event loop of its own, and
keep them: whatever dies, the same handle works again when the server is back.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import Any, Final

import psycopg

import memoranda
from memoranda import Memory
from tests.campaigns.adversity.chance import Random
from tests.campaigns.adversity.client import Client, perform
from tests.campaigns.adversity.counts import Counts
from tests.campaigns.adversity.history import History
from tests.campaigns.adversity.judge import SCOPE, judge, tell
from tests.patience import PATIENCE
from tests.stores.postgres.server import PostgresServer

WRITERS: Final = 2
LANES: Final = 4
LONGEST_QUIET: Final = 0.3
RESTART_GOAL: Final = 2.0
ROUNDS_ON_A_DATABASE: Final = 4

_CUT: Final = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.7
"""


@dataclass(slots=True)
class _Writer:
    """A client on a thread of its own, until it is told to stop."""

    url: str
    name: str
    seed: int
    history: History = field(default_factory=History)
    opened: Event = field(default_factory=Event)
    stop: Event = field(default_factory=Event)

    def run(self) -> None:
        """Write until told to stop."""
        asyncio.run(self._write())

    def ended(self, _future: object) -> None:
        """It writes no more, for whatever reason."""
        self.stop.set()

    async def _write(self) -> None:
        async with memoranda.open(self.url, scope=SCOPE, actor=f"agent:{self.name}") as memory:
            client = Client(self.name, memory, Random(self.seed), self.history)
            self.opened.set()
            await asyncio.gather(*(self._lane(memory, client) for _ in range(LANES)))

    async def _lane(self, memory: Memory[Any], client: Client) -> None:
        own: list[str] = []
        while not self.stop.is_set():
            if await perform(memory, client.next_call(own), self.history, own) is not None:
                await asyncio.sleep(0.01)  # nobody hammers a server that is down


@dataclass(slots=True)
class ServerKills:
    """Rounds in which a server is killed, or the connections to it are."""

    server: PostgresServer
    chance: Random
    counts: Counts = field(default_factory=Counts)
    _rounds: int = 0

    def run(self, rounds: int, tell_done: Callable[[], None] = lambda: None) -> Counts:
        """Kill the server once, and connections twice, in each round."""
        for first in range(0, rounds, ROUNDS_ON_A_DATABASE):
            url, history = self.server.create_database(), History()
            for _ in range(min(ROUNDS_ON_A_DATABASE, rounds - first)):
                self._round(url, history)
                tell_done()
            tell(history, self.counts)
            self.server.drop_database(url)
        return self.counts

    def _round(self, url: str, history: History) -> None:
        self._rounds += 1
        names = [f"r{self._rounds}w{number}" for number in range(WRITERS)]
        writers = [_Writer(url, name, self.chance.getrandbits(32)) for name in names]
        with ThreadPoolExecutor(WRITERS) as threads:
            running = [threads.submit(writer.run) for writer in writers]
            for writer, future in zip(writers, running, strict=True):
                future.add_done_callback(partial(_Writer.ended, writer))
            try:
                self._until(writers, lambda writer: writer.opened.is_set(), "could not open")
                self._wreck(url, writers)
            finally:
                for writer in writers:
                    writer.stop.set()
            for future in running:
                if (error := future.exception()) is not None:
                    self.counts.wrong("untyped", f"a writer ended with {error!r}")
        history.merge(writer.history for writer in writers)
        asyncio.run(judge(url, history, self.counts))

    def _wreck(self, url: str, writers: list[_Writer]) -> None:
        self._quiet()
        self._cut_connections(url)
        self._quiet()
        self.server.kill()
        self.counts.add("server kills")
        self._quiet()
        started = time.monotonic()
        self.server.start()
        self._works_again(writers)
        self.counts.add("slow restarts", time.monotonic() - started > RESTART_GOAL)
        self._cut_connections(url)
        self._works_again(writers)

    def _quiet(self) -> None:
        time.sleep(self.chance.uniform(0, LONGEST_QUIET))

    def _cut_connections(self, url: str) -> None:
        with suppress(psycopg.OperationalError), psycopg.connect(url, autocommit=True) as other:
            found = other.execute(_CUT).fetchone()
            self.counts.add("connections cut", found[0] if found else 0)

    def _works_again(self, writers: list[_Writer]) -> None:
        """Each handle makes a write that is acknowledged, without a hand's turn."""
        before = {writer.name: len(writer.history.answers) for writer in writers}
        self._until(
            writers,
            lambda writer: len(writer.history.answers) > before[writer.name],
            "writes no more",
        )

    def _until(
        self, writers: list[_Writer], has_happened: Callable[[_Writer], bool], otherwise: str
    ) -> None:
        deadline = time.monotonic() + PATIENCE
        for writer in writers:
            while not has_happened(writer):
                if writer.stop.is_set() or time.monotonic() > deadline:
                    self.counts.wrong("stuck", f"{writer.name} {otherwise}")
                    break
                time.sleep(0.005)
