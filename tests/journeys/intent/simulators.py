"""Providers that misbehave, and a ledger that dies: adversaries in place of mocks."""

import asyncio
from collections.abc import Callable
from typing import Any

from memoranda import Memory
from memoranda.ledger.port import Ledger
from memoranda.ledger.unit import Committed, Unit
from memoranda.recall.provider import MemoryExperience, MemoryQuery
from tests.handles import inside


class Provider:
    """Answers what it is told to, and keeps what it was asked and told."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.queries: list[MemoryQuery] = []
        self.experiences: list[MemoryExperience] = []

    async def recall(self, query: MemoryQuery) -> Any:
        """What it was told to answer, or what that raises."""
        self.queries.append(query)
        if isinstance(self.answer, BaseException):
            raise self.answer
        if callable(self.answer):
            found = self.answer(query)
            return await found if asyncio.iscoroutine(found) else found
        return self.answer

    async def remember(self, experience: MemoryExperience) -> None:
        """Keep it."""
        self.experiences.append(experience)


class HangingProvider(Provider):
    """Never answers; heeds a cancellation."""

    async def recall(self, query: MemoryQuery) -> Any:
        self.queries.append(query)
        await asyncio.Event().wait()

    async def remember(self, experience: MemoryExperience) -> None:
        self.experiences.append(experience)
        await asyncio.Event().wait()


class StubbornProvider(Provider):
    """Never answers, and ignores every cancellation until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = asyncio.Event()

    async def recall(self, query: MemoryQuery) -> Any:
        self.queries.append(query)
        while not self.let_go.is_set():
            try:
                await self.let_go.wait()
            except asyncio.CancelledError:
                continue
        return "too late"


class BrokenProvider(Provider):
    """Fails, whatever it is asked or told."""

    async def recall(self, query: MemoryQuery) -> Any:
        self.queries.append(query)
        raise ConnectionError("the store is gone")

    async def remember(self, experience: MemoryExperience) -> None:
        self.experiences.append(experience)
        raise ConnectionError("the store is gone")


class Died(BaseException):
    """The process ended here, as far as this run is concerned."""


class DyingLedger:
    """A ledger that dies at one of its commits: before it lands, or right after."""

    def __init__(self, ledger: Ledger, at: int, *, landed: bool) -> None:
        self._ledger = ledger
        self._left = at
        self._landed = landed

    async def commit(self, unit: Unit) -> Committed:
        """Commit, as long as it is alive."""
        if self._left < 0:
            raise Died
        self._left -= 1
        if self._left >= 0:
            return await self._ledger.commit(unit)
        if self._landed:
            await self._ledger.commit(unit)
        raise Died

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)


class SlowLedger:
    """A ledger whose commits land, and which then says so when it may."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.landed = asyncio.Event()
        self.may_say = asyncio.Event()
        self.may_say.set()

    async def commit(self, unit: Unit) -> Committed:
        """Commit, and be slow about it."""
        committed = await self._ledger.commit(unit)
        self.landed.set()
        await self.may_say.wait()
        return committed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)


def dies_at(memory: Memory[Any], at: int, *, landed: bool) -> None:
    """Let a handle die at its commit of this number from now on, counted from 0."""
    inside(memory).table.ledger = DyingLedger(inside(memory).table.ledger, at, landed=landed)


def read_now(make: Callable[[], Any]) -> Any:
    """Start a read of memory from code that awaits nothing, as far as it gets by itself."""
    reading = make()
    try:
        reading.send(None)
    except StopIteration as done:
        return done.value
    finally:
        reading.close()
    return "it waits"
