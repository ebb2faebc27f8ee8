"""Faults in the commit of a turn: before it, after it landed, or while it is cancelled."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from memoranda import Memory
from memoranda.journeys.turn.sessions import Turning
from memoranda.ledger.port import Ledger, LedgerTable
from memoranda.ledger.unit import Committed, Unit
from tests.handles import inside


class FaultyTable:
    """Commits, but for the n-th unit, at which it does something else before or after."""

    def __init__(
        self,
        table: LedgerTable,
        *,
        before: Callable[[Unit], None] | None = None,
        after: Callable[[Unit], None] | None = None,
    ) -> None:
        self._table = table
        self._before = before
        self._after = after
        self.units: list[Unit] = []
        """Those that landed."""

    @property
    def ledger(self) -> Ledger:
        return self._table.ledger

    async def commit(self, unit: Unit) -> Committed:
        if self._before is not None:
            self._before(unit)
        await asyncio.sleep(0)
        committed = await self._table.commit(unit)
        self.units.append(unit)
        if self._after is not None:
            self._after(unit)
        return committed


def with_table(memory: Memory[Any], **faults: Any) -> FaultyTable:
    """Put a faulty table between the turns of a handle and its ledger."""
    turning = inside(memory).turning
    table = FaultyTable(turning.scope.table, **faults)
    parts: Any = inside(memory)
    parts.turning = Turning(replace(turning.scope, table=table), turning._scanner)
    return table
