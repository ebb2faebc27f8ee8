"""What turns are taken in: one scope, for one actor."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from recollect.kernel.clock import Clock
from recollect.kernel.ids import IdSource
from recollect.kernel.randomness import Randomness
from recollect.ledger.unit import Committed, Ledger, Unit
from recollect.plans.items import ItemStore
from recollect.plans.steps.repo_scan import Scanner

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


@dataclass(frozen=True, slots=True)
class Scope:
    """One scope, for one actor, with where its items are and where time and ids come from."""

    actor: str
    table: Table
    items: ItemsOf
    clock: Clock
    ids: IdSource
    randomness: Randomness


@dataclass(frozen=True, slots=True)
class Turning:
    """What a handle needs to take turns: its scope, and who scans folders."""

    scope: Scope
    scanner: Scanner
