"""Selectors that lie, fail, and wait."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from recollect.kernel.actors import ActorRef
from recollect.recall.selector import Chosen, Request, Selection, Sources


@dataclass
class Saying:
    """A selector that says what it was told to say."""

    chosen: Sequence[Chosen] = ()
    notes: Sequence[str] = ()
    name: str = "saying"
    actor: ActorRef | None = None

    async def select(self, _request: Request, _sources: Sources, /) -> Selection:
        return Selection(self.chosen, notes=self.notes)


@dataclass
class Failing:
    """A selector whose store is down."""

    name: str = "failing"
    actor: ActorRef | None = None

    async def select(self, _request: Request, _sources: Sources, /) -> Selection:
        raise ConnectionError("the vector store does not answer")


@dataclass
class Waiting:
    """A selector that picks nothing, and waits until it may."""

    may: asyncio.Event = field(default_factory=asyncio.Event)
    waits: asyncio.Event = field(default_factory=asyncio.Event)
    name: str = "waiting"
    actor: ActorRef | None = None

    async def select(self, _request: Request, _sources: Sources, /) -> Selection:
        self.waits.set()
        await self.may.wait()
        return Selection(())


@dataclass
class Meanwhile:
    """A selector after which something happens, before its trace is written: once."""

    picked: Sequence[Chosen]
    happens: Callable[[], object]
    name: str = "meanwhile"
    actor: ActorRef | None = None

    async def select(self, _request: Request, _sources: Sources, /) -> Selection:
        happens, self.happens = self.happens, lambda: None
        found = happens()
        if asyncio.iscoroutine(found):
            await found
        return Selection(self.picked)
