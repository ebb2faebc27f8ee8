"""What turns are taken in: one scope, for one actor."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memoranda.kernel.clock import Clock
from memoranda.kernel.ids import IdSource
from memoranda.kernel.randomness import Randomness
from memoranda.ledger.unit import Committed, Draft, Ledger, Unit
from memoranda.plans.items import ItemStore
from memoranda.plans.steps.repo_scan import Scanner

ItemsOf = Callable[[str], Awaitable[ItemStore]]
"""Gives the items of one session, by its reference."""


class Table(Protocol):
    """What units of work go through, so that whoever watches the journal is told."""

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        ...

    async def commit(self, unit: Unit) -> Committed:
        """Run a unit."""
        ...


class Conforming(Protocol):
    """Keeps watch over what memory rests on (GOV-BREAK)."""

    async def used_models(self, used: Mapping[str, Collection[str]], at: int, /) -> Sequence[Draft]:
        """What is to be logged of models that were used, by role, with what was made with them."""
        ...

    async def note(self, failed: BaseException | None, /) -> None:
        """Log the damage that something failed of, if that is what it failed of."""
        ...


@dataclass(frozen=True, slots=True)
class Scope:
    """One scope, for one actor, with where its items are and where time and ids come from."""

    actor: str
    table: Table
    items: ItemsOf
    clock: Clock
    ids: IdSource
    randomness: Randomness
    conformance: Conforming


@dataclass(frozen=True, slots=True)
class Turning:
    """What a handle needs to take turns: its scope, and who scans folders."""

    scope: Scope
    scanner: Scanner
