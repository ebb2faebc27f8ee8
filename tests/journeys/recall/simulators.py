"""Selectors that lie, fail, and wait; and memory that nobody trusts."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.actors import ActorRef
from memoranda.ledger.unit import Unit
from memoranda.recall.selector import Chosen, Request, Selection, Sources
from tests.handles import inside


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


@contextmanager
def writing_untrusted(memory: Memory[Any]) -> Iterator[None]:
    """In this block a handle remembers what nobody trusts: no call of ours makes such."""
    commit = inside(memory).table.commit

    async def untrusted(unit: Unit) -> Any:
        def decide(found: Any) -> Any:
            return [
                draft._replace(body=draft.body.replace(b'"unreviewed"', b'"untrusted"'))
                for draft in unit.decide(found)
            ]

        return await commit(unit._replace(decide=decide))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inside(memory).table, "commit", untrusted)
        yield
