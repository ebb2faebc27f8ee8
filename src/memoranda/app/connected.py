"""An open database with all that its handles share: its checkpointer, and its scopes."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, Protocol
from weakref import WeakSet

from memoranda.app.databases import Database as AnyDatabase
from memoranda.app.databases import LedgerDatabase, Share, acquire, hidden, release
from memoranda.app.idle import IdleEmbedding
from memoranda.app.options import Clockwork
from memoranda.journeys.audit.checkpoints import Checkpointer, Checkpoints, Seal
from memoranda.journeys.govern.conformance import Conformance
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.table import FilteredLedger, GovernedTable
from memoranda.journeys.govern.unwritten import ScopeLedger
from memoranda.journeys.maintain.schedule import Maintenance
from memoranda.journeys.maintain.upkeep import refresh
from memoranda.kernel.access import KeyRows
from memoranda.kernel.errors import CapabilityMissing, ScopeNotFound, StoreClosed
from memoranda.ledger.checkpoint import scope_origin
from memoranda.ledger.codec import BodyCodec
from memoranda.recall.embedder import Embedder
from memoranda.stores.access import StoredKeys
from memoranda.stores.dictionary import DictDatabase
from memoranda.stores.home import Home

if TYPE_CHECKING:
    from memoranda.journeys.recall.verification import Verifying

_JOURNAL_ID_BYTES: Final = 16


class _ActorRecalls:
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
        self.is_ready = False
        """Whether it was opened, and nothing is left to wait for."""
        self._opening: asyncio.Task[None] | None = None
        self._recalls: dict[str, _ActorRecalls] = {}
        self.verifying: Verifying | None = None
        """What verifies recalls, once there was one."""
        self._origin = scope_origin(new_id, scope)
        self.ledger: Final = ScopeLedger(
            partial(database.existing, scope),
            self._begin,
            self._origin,
            partial(database.items, scope),
        )
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
        return self._recalls.setdefault(actor, _ActorRecalls())

    async def ready(self) -> None:
        """Compare, once, what memory rests on with what the journal says; nothing is written.

        ScopeNotFound where the scope must be there and is not.
        """
        self._check_loop()
        if self._opening is None or (self._opening.done() and not self.is_ready):
            self._opening = asyncio.get_running_loop().create_task(self._open())
        await asyncio.shield(self._opening)

    async def _open(self) -> None:
        if self._must_exist and await self._database.existing(self.scope) is None:
            raise ScopeNotFound(self._database.name, self.scope)
        await self.conformance.on_open()
        self.table.opening = None
        self.is_ready = True

    async def _begin(self, at: int | None) -> FilteredLedger:
        now = self._clockwork.clock.now_ms() if at is None else at
        return await self._database.ledger(self.scope, self._origin, now)

    async def _before_first(self, at: int) -> None:
        """What is written before the first write: an index of another tokenizer, what was found."""
        logged = await self.table.rulebook.logged()
        await refresh(self.table, self.drafts, at, logged.fingerprint)
        await self.conformance.log_opening(at)


class Endable(Protocol):
    """A handle that ends with its database."""

    @property
    def scope(self) -> str:
        """The scope that it is on."""
        ...

    @property
    def has_own_store(self) -> bool:
        """Whether its app was given a store of its own."""
        ...

    async def maintenance(self) -> Maintenance:
        """What maintains its scope."""
        ...

    async def end(self) -> None:
        """Refuse everything from now on."""
        ...


class Connected:
    """What stands behind a `Database`; it is opened once, and closed once."""

    def __init__(
        self,
        url: str,
        *,
        seal: Seal,
        embedder: Embedder | Literal["default"] | None,
        codec: BodyCodec,
        models: Mapping[str, str],
        create: bool,
        read_only: bool,
        clockwork: Clockwork,
    ) -> None:
        self._url = url
        self._seal = seal
        self._codec = codec
        self._models = models
        self._create = create
        self.read_only: Final = read_only
        self._embedder = embedder
        self.clockwork: Final = clockwork
        self._opening: asyncio.Lock | None = None
        self._home: Home | None = None
        self._share: Share | None = None
        self._opened: AnyDatabase | None = None
        self.checkpointer: Checkpointer | None = None
        self._scopes: dict[str, Scoped] = {}
        self._handles: WeakSet[Endable] = WeakSet()
        self.idle: Final = IdleEmbedding()
        self.background: Final[set[asyncio.Task[None]]] = set()
        """What goes on after a run was answered; it is waited for, also of dropped handles."""

    async def open(self) -> None:
        """Open the database, once, in the running loop."""
        self.check_loop()
        if self._home is None:
            self._home, self._opening = Home(self.name), asyncio.Lock()
        assert self._opening is not None  # noqa: S101 - it was made with the home
        async with self._opening:  # two tasks may open it at once
            if self._opened is None:
                await self._acquire()

    async def _acquire(self) -> None:
        clock, randomness = self.clockwork.clock, self.clockwork.randomness
        database, self._share = await acquire(
            self._url,
            clock,
            create=self._create,
            read_only=self.read_only,
            bodies=self._codec,
        )
        if not isinstance(database, DictDatabase):
            self.checkpointer = Checkpointer(database, self._seal, clock, randomness)
        self._opened = database

    async def close(self) -> None:
        """Finish what is under way, make the last checkpoints, and let go of the database."""
        self.check_loop()
        share, self._share = self._share, None
        if share is None:
            return
        try:
            await self.idle.close()
            for handle in list(self._handles):
                await handle.end()
            if self.background:
                await asyncio.wait(set(self.background))
            if self.checkpointer is not None:
                await self.checkpointer.close()
        finally:
            self._opened = self._home = None
            self._scopes.clear()
            await release(share)

    @property
    def embedder(self) -> Embedder | None:
        """What turns texts into vectors: what was given, or what is installed."""
        if self._embedder != "default":
            return self._embedder
        from memoranda.outside.embedders import default_embedder  # noqa: PLC0415 - numpy

        return default_embedder()

    @property
    def is_embedder_default(self) -> bool:
        """Whether nobody named it."""
        return self._embedder == "default"

    @property
    def has_default_model(self) -> bool:
        """Whether a model is there that nobody had to name."""
        return self.is_embedder_default and self.embedder is not None

    @property
    def name(self) -> str:
        """What messages call it."""
        return hidden(self._url)

    def check_loop(self) -> None:
        """Refuse with WrongLoop whoever does not run in the loop that it was opened in."""
        if self._home is not None:
            self._home.check()

    @property
    def opened(self) -> AnyDatabase:
        """The database itself; StoreClosed before it is opened and after it is closed."""
        if self._opened is None:
            raise StoreClosed
        return self._opened

    def key_rows(self) -> KeyRows:
        """The keys that open a server's doors; CapabilityMissing for ``dict://``."""
        database = self.opened
        if isinstance(database, DictDatabase):
            raise CapabilityMissing("keys")
        return StoredKeys(database)

    def keep(self, verbs: Endable) -> None:
        """Remember a handle that was used: it ends with the database."""
        self._handles.add(verbs)

    def handles(self) -> list[Endable]:
        """The handles that were used and are still there."""
        return list(self._handles)

    def scoped(self, scope: str) -> Scoped | None:
        """What all handles of a scope share; None where nothing is governed (``dict://``)."""
        database = self.opened
        if isinstance(database, DictDatabase) or self.checkpointer is None:
            return None
        found = self._scopes.get(scope)
        if found is None:
            found = self._scopes[scope] = self._new_scope(database, self.checkpointer, scope)
        return found

    def _new_scope(
        self, database: LedgerDatabase, checkpointer: Checkpointer, scope: str
    ) -> Scoped:
        return Scoped(
            database,
            scope,
            checkpointer=checkpointer,
            models=self._models,
            clockwork=self.clockwork,
            check_loop=self.check_loop,
            must_exist=self.read_only or not self._create,
            read_only=self.read_only,
        )
