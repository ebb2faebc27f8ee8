"""The parts of one handle, each made when it is first asked for: most handles use few of them."""

from asyncio import Task
from functools import cached_property
from typing import Any, Generic, NamedTuple

from typing_extensions import TypeVar

from memoranda.app.options import App, Clockwork
from memoranda.journeys.audit.why import Explainer
from memoranda.journeys.govern.authority import MemoryAuthority
from memoranda.journeys.govern.conformance import Conformance
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.own_store import StoreChanges
from memoranda.journeys.govern.sealing_operations import OperationSealer
from memoranda.journeys.govern.table import FilteredLedger, GovernedTable
from memoranda.journeys.govern.telling import Telling
from memoranda.journeys.intent.app import App as ActingApp
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.proposing import Proposer
from memoranda.journeys.intent.runtime import of_domain
from memoranda.journeys.recall.originals import Originals
from memoranda.journeys.recall.recaller import Recaller
from memoranda.journeys.recall.selections import ScopeSelections
from memoranda.journeys.records.codec import DataCodec
from memoranda.journeys.records.own_store import OwnRecords
from memoranda.journeys.records.own_telling import OwnTelling
from memoranda.journeys.records.store import Records
from memoranda.journeys.turn.scope import ItemsOf, Turning
from memoranda.journeys.turn.scope import Scope as TurnScope
from memoranda.kernel.actors import ActorRef
from memoranda.outside.folders import FolderScanner
from memoranda.recall.embedder import Embedder
from memoranda.recall.meaning import Meaning
from memoranda.recall.provider import MemoryProvider
from memoranda.records.table import RecordTable
from memoranda.worlds.authority import AuthorityPolicy
from memoranda.worlds.domain import Domain
from memoranda.worlds.policies import AutoApprove
from memoranda.worlds.policy_reading import policy_from_wire

T = TypeVar("T", default=Any)


class Shared(NamedTuple):
    """What a handle shares with all others of its scope, but for a table that is gated for it."""

    records: RecordTable
    table: GovernedTable
    ledger: FilteredLedger
    drafts: Drafts
    conformance: Conformance
    items: ItemsOf
    recalls: object
    """What recalls of one actor in the scope are known by, whichever handle made them."""


class HandleParts(Generic[T]):
    """Wires the parts of a handle on what its scope has."""

    def __init__(
        self,
        shared: Shared,
        actor: ActorRef,
        codec: DataCodec[T],
        app: App[T],
        provider: MemoryProvider[Any] | None,
        clockwork: Clockwork,
        embedder: Embedder | None,
        background: set[Task[None]],
    ) -> None:
        self._shared = shared
        self._actor = actor
        self._codec = codec
        self._given = app
        self._provider = provider
        self._clock = clockwork.clock
        self._ids = clockwork.id_source
        self._randomness = clockwork.randomness
        self._embedder = embedder
        self._background = background

    async def close(self) -> None:
        """Wait for what runs in the background; what was made refuses everything from now on."""
        if "app" in vars(self):
            await self.app.close()
        if "_kept" in vars(self):
            self.records.close()

    # ------------------------------------------------------------- what a handle asks for

    @property
    def records(self) -> Records[T]:
        """The scope's own records, or those of the store that the app was given."""
        return self._kept[0]

    @cached_property
    def telling(self) -> Telling[T]:
        """Tells the hooks of what was written."""
        return Telling(self._given.hooks, self._codec)

    @cached_property
    def memory_authority(self) -> MemoryAuthority:
        """Puts operations on memory to the authority, and carries them out."""
        return MemoryAuthority(
            self._chronicle,
            self._shared.drafts,
            self._proposer,
            self._shared.table,
            actor=self._actor,
            clock=self._clock,
            ids=self._ids,
            telling=self.telling,
        )

    @cached_property
    def recaller(self) -> Recaller[T]:
        """Selects memory."""
        shared, embedder = self._shared, self._embedder
        meaning = None if embedder is None else Meaning(embedder, shared.ledger.vectors)
        chronicle, conformance = self._chronicle, shared.conformance
        return Recaller(
            shared.ledger, chronicle, conformance, self._codec, self._clock, self._ids, meaning
        )

    @cached_property
    def originals(self) -> Originals[T]:
        """Loads what references lead to."""
        shared, verifying = self._shared, self.recaller.verifying
        chronicle, conformance = self._chronicle, shared.conformance
        return Originals(shared.ledger, chronicle, conformance, verifying, self._codec, self._clock)

    @cached_property
    def explainer(self) -> Explainer:
        """Says why."""
        return Explainer(self._shared.ledger, self._chronicle)

    @cached_property
    def app(self) -> ActingApp:
        """Runs intents on the scope's worlds."""
        given, domain = self._given, self._given.domain
        return ActingApp(
            self._chronicle,
            actor=self._actor,
            policy=self._authority,
            read_policy=policy_from_wire,
            carries_out=self.memory_authority,
            clock=self._clock,
            ids=self._ids,
            selections=ScopeSelections(self._chronicle, self.originals, self._actor),
            runtime=of_domain(domain) if isinstance(domain, Domain) else domain,
            store=self.records.given,
            store_changes=self._kept[1],
            provider=self._provider,
            recalls=self._shared.recalls,
            background=self._background,
            recall_limit=given.recall_limit,
            timeout_ms=None if given.run_limit is None else round(given.run_limit * 1000),
        )

    @cached_property
    def turning(self) -> Turning:
        """What turns are taken in, and who scans folders."""
        table, conformance, items = (
            self._shared.table,
            self._shared.conformance,
            self._shared.items,
        )
        scope = TurnScope(
            str(self._actor), table, items, self._clock, self._ids, self._randomness, conformance
        )
        return Turning(scope, FolderScanner())

    # ------------------------------------------------------------------ what these rest on

    @cached_property
    def _chronicle(self) -> Chronicle:
        return Chronicle(self._shared.table, self._randomness)

    @cached_property
    def _authority(self) -> AuthorityPolicy:
        return self._given.authority or AutoApprove()

    @cached_property
    def _proposer(self) -> Proposer:
        return Proposer(self._chronicle, self._authority, self._ids)

    @cached_property
    def _kept(self) -> tuple[Records[T], StoreChanges[T] | None]:
        """Records, and what carries out approved changes of a store of the user's own."""
        app, actor, codec, clock, ids = (
            self._given, self._actor, self._codec, self._clock, self._ids
        )  # fmt: skip
        if app.store is None:
            table = self._shared.records
            own = Records(table, codec=codec, actor=actor, clock=clock, ids=ids, hooks=app.hooks)
            return own, None
        telling = OwnTelling(app.store, codec, app.hooks)
        changes = StoreChanges(
            app.store,
            self._chronicle,
            self._proposer,
            OperationSealer(self._chronicle, clock, ids),
            policy=app.memory_policy,
            codec=codec,
            actor=actor,
            clock=clock,
            telling=telling,
            limit=app.run_limit,
        )
        records = OwnRecords(
            app.store,
            codec=codec,
            actor=actor,
            clock=clock,
            ids=ids,
            telling=telling,
            gate=None if app.memory_policy is None else changes,
        )
        return records, changes
