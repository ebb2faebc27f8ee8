"""One scope of an open database: what all of its handles share, made when it is first asked for."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from memoranda.app.databases import LedgerDatabase
from memoranda.app.options import Clockwork
from memoranda.journeys.audit.checkpointer import Checkpointer
from memoranda.journeys.audit.checkpoints import Checkpoints
from memoranda.journeys.govern.conformance import Conformance
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.table import FilteredLedger, GovernedTable
from memoranda.journeys.govern.unwritten import items_later, later
from memoranda.journeys.maintain.reindex import refresh
from memoranda.kernel.errors import ScopeNotFound
from memoranda.ledger.checkpoint import scope_origin

if TYPE_CHECKING:
    from memoranda.journeys.turn.scope import ItemsOf

_JOURNAL_ID_BYTES: Final = 16


class _Recalls:
    """Stands for the recalls of one actor; it has nothing but its identity."""


class Scoped:
    """The ledger of one scope, its table and its conformance.

    Making one reads nothing. A scope without a journal reads as empty, and its journal begins with
    the first write.
    """

    def __init__(
        self,
        database: LedgerDatabase,
        scope: str,
        *,
        checkpointer: Checkpointer,
        models: Mapping[str, str],
        clockwork: Clockwork,
        check_loop: Callable[[], None],
        must_exist: bool,
        read_only: bool,
    ) -> None:
        self.scope: Final = scope
        clock, randomness = clockwork.clock, clockwork.randomness
        new_id = randomness.take(_JOURNAL_ID_BYTES).hex()
        self._database = database
        self._clockwork = clockwork
        self._check_loop = check_loop
        self._must_exist = must_exist
        self._ready: asyncio.Task[None] | None = None
        self._recalls: dict[str, _Recalls] = {}
        self.ledger: Final = self._journal(scope_origin(new_id, scope))
        self.items: Final[ItemsOf] = items_later(partial(database.items, scope), self.ledger)
        self.drafts: Final = Drafts(scope, randomness)
        checkpoints = Checkpoints(scope, self.ledger, checkpointer.seal, checkpointer.failures)
        on_commit = partial(checkpointer.committed, scope)
        self.table: Final = GovernedTable(self.ledger, self.drafts, on_commit)
        self.conformance: Final = Conformance(
            scope, self.table, self.drafts, clock, checkpoints, models
        )
        self.table.opening = self.ready
        if not read_only:
            self.table.before_first = self._before_first

    def recalls_of(self, actor: str) -> object:
        """What the recalls of an actor are known by: all its handles on the scope share them."""
        return self._recalls.setdefault(actor, _Recalls())

    @property
    def is_ready(self) -> bool:
        """Whether it was opened, and nothing is left to wait for."""
        return self._ready is not None and self._ready.done() and self._ready.exception() is None

    async def ready(self) -> None:
        """Compare, once, what memory rests on with what the journal says; nothing is written.

        ScopeNotFound where the scope must be there and is not.
        """
        self._check_loop()
        if self._ready is None or (self._ready.done() and not self.is_ready):
            self._ready = asyncio.get_running_loop().create_task(self._open())
        await asyncio.shield(self._ready)

    async def _open(self) -> None:
        if self._must_exist and await self._database.existing(self.scope) is None:
            raise ScopeNotFound(self._database.name, self.scope)
        await self.conformance.on_open()
        self.table.opening = None

    def _journal(self, origin: str) -> FilteredLedger:
        async def begin(at: int | None) -> FilteredLedger:
            now = self._clockwork.clock.now_ms() if at is None else at
            return await self._database.ledger(self.scope, origin, now)

        return later(partial(self._database.existing, self.scope), begin, origin)

    async def _before_first(self, at: int) -> None:
        """What is written before the first write: an index of another tokenizer, what was found."""
        conformance = self.conformance
        await refresh(self.table, self.drafts, at, (await conformance.logged()).fingerprint)
        await conformance.log_opening(at)
