"""The verbs of one handle, wired together when the first of them is used."""

from functools import partial
from typing import TYPE_CHECKING, Any, Generic, cast

from typing_extensions import TypeVar

from memoranda.app.connected import Connected
from memoranda.app.options import App, Provider
from memoranda.app.parts import HandleParts, Shared
from memoranda.app.scoped import Scoped
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.gate import GatedTable
from memoranda.journeys.govern.memory import GovernedMemory
from memoranda.journeys.records.absent import absent
from memoranda.journeys.records.codec import DataCodec
from memoranda.journeys.records.store import Records
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import CapabilityMissing, InvalidOption
from memoranda.recall.provider import NEEDED, MemoryProvider, OfHandle, checked_provider

if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.app.memory import Memory
    from memoranda.stores.dictionary import DictDatabase

T = TypeVar("T", default=Any)


class HandleVerbs(Generic[T]):
    """What a handle does its work with: nothing is made before it is needed."""

    memory: "Memory[T]"
    """The handle itself, for a provider that recalls through it."""

    def __init__(
        self,
        database: Connected,
        scope: str,
        actor: ActorRef,
        codec: DataCodec[T],
        app: App[T],
        *,
        closes: bool,
    ) -> None:
        self._database = database
        self._scope = scope
        self._actor = actor
        self._codec = codec
        self._app = app
        self._closes = closes
        self._provider = checked(app.provider)
        self._made: GovernedMemory[T] | None = None

    @property
    def records(self) -> Records[T]:
        """The memory store of the scope."""
        return self.verbs.records

    async def ready(self) -> GovernedMemory[T]:
        """All verbs, once the scope is opened."""
        self._database.check_loop()
        verbs = self.verbs
        scoped = self._database.scoped(self._scope)
        if scoped is not None and not scoped.is_ready:
            await scoped.ready()
        return verbs

    @property
    def verbs(self) -> GovernedMemory[T]:
        """All verbs; StoreClosed once the database is closed."""
        if self._made is None:
            scoped = self._database.scoped(self._scope)
            self._made = self._ungoverned() if scoped is None else self._governed(scoped)
            self._database.keep(self)
            if isinstance(self._provider, OfHandle):
                self._provider.given(self.memory)
        return self._made

    async def end(self) -> None:
        """Wait for what runs in the background, and refuse everything from now on."""
        if self._made is not None:
            await self._made.close()

    async def close(self) -> None:
        """Close the database, if it was opened for this handle alone."""
        if self._closes:
            await self._database.close()

    # -------------------------------------------------------------------------- wiring

    def _ungoverned(self) -> GovernedMemory[T]:
        """Records in a dict: whatever needs a journal is refused with CapabilityMissing."""
        if self._app.memory_policy is not None:
            raise CapabilityMissing("approval of operations on memory (memory_policy=)")
        database = cast("DictDatabase", self._database.opened)
        missing = absent(partial(CapabilityMissing, "governed memory"))
        return self._wired(
            Shared(
                database.records(self._scope),
                missing,
                missing,
                Drafts(self._scope, self._database.clockwork.randomness),
                missing,
                partial(database.items, self._scope),
                self,
            )
        )

    def _governed(self, scoped: Scoped) -> GovernedMemory[T]:
        table, policy = scoped.table, self._app.memory_policy
        if policy is not None:
            table = GatedTable(scoped.table, scoped.drafts, policy, self._actor)
        return self._wired(
            Shared(
                table,
                table,
                scoped.ledger,
                scoped.drafts,
                scoped.conformance,
                scoped.items,
                scoped.recalls_of(str(self._actor)),
            )
        )

    def _wired(self, shared: Shared) -> GovernedMemory[T]:
        clockwork, embedder = self._database.clockwork, self._database.embedder
        parts = HandleParts(
            shared,
            self._actor,
            self._codec,
            self._app,
            self._provider,
            clockwork,
            embedder,
            self._database.background,
        )
        if isinstance(shared.table, GatedTable):
            shared.table.authority = parts.memory_authority
        return GovernedMemory(
            scope=self._scope,
            actor=self._actor,
            ledger=shared.ledger,
            table=shared.table,
            drafts=shared.drafts,
            codec=self._codec,
            clock=clockwork.clock,
            ids=clockwork.id_source,
            conformance=shared.conformance,
            telling=parts.telling,
            parts=parts,
            embedder=embedder,
        )


def checked(given: Provider | None) -> MemoryProvider[Any] | None:
    """A provider as it is; what makes one is asked when the handle is there.

    InvalidOption for what is not a provider, and makes none.
    """
    if given is None:
        return None
    if isinstance(given, type) or not (hasattr(given, "recall") or hasattr(given, "remember")):
        if not callable(given):
            raise InvalidOption("provider", f"a {type(given).__name__} makes no provider; {NEEDED}")
        return OfHandle(cast("Callable[[Memory[Any]], MemoryProvider[Any]]", given))
    return checked_provider(cast("MemoryProvider[Any]", given))
