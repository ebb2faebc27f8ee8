"""The composition root of a handle: each journey is made here, when it is first used.

Most handles use few of them, and what a journey needs is loaded with it.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic

from typing_extensions import TypeVar

from memoranda.journeys.govern.authority import GatedTable, HandleTable
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.objects import Telling
from memoranda.journeys.govern.read import Reading
from memoranda.journeys.govern.writer import Writer
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.records.store import Records
from memoranda.worlds.policies import AutoApprove

if TYPE_CHECKING:
    from memoranda.app.connected import Connected, Scoped
    from memoranda.app.options import App, Clockwork
    from memoranda.journeys.audit.why import Explainer
    from memoranda.journeys.govern.authority import MemoryAuthority
    from memoranda.journeys.govern.erase import Eraser
    from memoranda.journeys.govern.imports import Importing
    from memoranda.journeys.govern.operations import Operations
    from memoranda.journeys.govern.own_store import StoreChanges
    from memoranda.journeys.govern.table import FilteredLedger, GovernedTable
    from memoranda.journeys.govern.transitions import Transitions
    from memoranda.journeys.intent.intents import Intents
    from memoranda.journeys.intent.proposals import Proposer
    from memoranda.journeys.learn.learner import Learner
    from memoranda.journeys.learn.lessons import Lessons
    from memoranda.journeys.maintain.schedule import Maintenance
    from memoranda.journeys.recall.originals import Originals
    from memoranda.journeys.recall.reasoning import Recalling
    from memoranda.journeys.recall.recaller import Recaller
    from memoranda.journeys.records.codec import DataCodec
    from memoranda.journeys.records.own_store import Gate
    from memoranda.journeys.turn.sessions import Turning
    from memoranda.kernel.access import WriterTrust
    from memoranda.kernel.actors import ActorRef
    from memoranda.recall.embedder import Embedder
    from memoranda.recall.meaning import Meaning
    from memoranda.recall.provider import MemoryProvider
    from memoranda.records.table import RecordTable
    from memoranda.worlds.authority import AuthorityPolicy

T = TypeVar("T", default=Any)


class Parts(Generic[T]):
    """The journeys of one handle, on what its scope shares with other handles."""

    def __init__(
        self,
        database: Connected,
        scoped: Scoped,
        actor: ActorRef,
        codec: DataCodec[T],
        app: App[T],
        provider: MemoryProvider[Any] | None,
        trust: WriterTrust,
    ) -> None:
        self.scoped = scoped
        self.actor = actor
        self._database = database
        self._codec = codec
        self._app = app
        self._provider = provider
        self.clock = database.clockwork.clock
        self._ids = database.clockwork.id_source
        self._chronicle = Chronicle(scoped.table, database.clockwork.randomness)
        self._authority: AuthorityPolicy = app.authority or AutoApprove()
        self._drafts = scoped.drafts
        if trust != self._drafts.trust:
            self._drafts = Drafts(scoped.scope, database.clockwork.randomness, trust)

    async def close(self) -> None:
        """Wait for what runs in the background; turns refuse everything from now on."""
        made = vars(self)
        if "intents" in made:
            await self.intents.close()
        if "turning" in made:
            self.turning.close()

    @property
    def embedder(self) -> Embedder | None:
        """What turns texts into vectors, if the database has one."""
        return self._database.embedder

    @property
    def ledger(self) -> FilteredLedger:
        """The journal of the scope, and what follows from it."""
        return self.scoped.ledger

    # ------------------------------------------------------------------ writing and reading

    @cached_property
    def table(self) -> GovernedTable:
        """The objects of the scope; changes go through the app's policy for memory, if any."""
        shared, policy, drafts = self.scoped.table, self._app.memory_policy, self._drafts
        if policy is None:
            return shared if drafts is self.scoped.drafts else HandleTable(shared, drafts)
        return GatedTable(shared, drafts, policy, self.actor, self._memory_authority)

    @cached_property
    def writer(self) -> Writer[T]:
        """Makes writes, commits them, and answers with receipts."""
        return Writer(
            self.table,
            self._drafts,
            self._codec,
            self._ids,
            self._telling,
            self.actor,
            self.clock,
            self._embed_soon if self._database.has_default_model else None,
        )

    def _embed_soon(self) -> None:
        """Make the vectors of what was written, if a model is there that nobody had to name."""
        if self.meaning is not None:
            self._database.idle.soon(self.scoped.scope, self.meaning)

    def _without_vector(self) -> None:
        """Make the vectors that a recall found missing."""
        if self.meaning is not None and not self._database.read_only:
            self._database.idle.soon(self.scoped.scope, self.meaning)

    @cached_property
    def reading(self) -> Reading[T]:
        """Gets, lists, and tells the history of objects."""
        return Reading(self.table, self._codec, self.clock)

    @cached_property
    def records(self) -> Records[T]:
        """The memory store: the scope's own, or the one that the app was given."""
        gate = None if self._app.memory_policy is None else self._store_changes
        clockwork = self._database.clockwork
        return records_on(self.table, self._app, self._codec, self.actor, clockwork, gate)

    @cached_property
    def _telling(self) -> Telling[T]:
        return Telling(self._app.hooks, self._codec)

    @cached_property
    def lessons(self) -> Lessons:
        """Compares what somebody says with what is known."""
        from memoranda.journeys.govern.operations import Operations
        from memoranda.journeys.intent.proposals import Proposer
        from memoranda.journeys.learn.lessons import Lessons
        from memoranda.worlds.policies import AnyHuman, HumanInTheLoop, Tribunal

        asked = self._authority
        if not isinstance(asked, HumanInTheLoop | Tribunal):
            asked = AnyHuman()  # nothing that is known is changed unless somebody says so
        proposer = Proposer(self._chronicle, asked, self._ids)
        return Lessons(
            self.table,
            self._chronicle,
            self.writer,
            self.transitions,
            Operations(self._chronicle, proposer, self.clock, self._ids, self.actor),
            self._ids,
        )

    @cached_property
    def learner(self) -> Learner[T]:
        """Learns from conversations."""
        from memoranda.journeys.learn.learner import Learner

        return Learner(
            self.lessons,
            self.table,
            self.writer,
            self._telling,
            self._chronicle,
            self.scoped.conformance,
            self._ids,
        )

    # ---------------------------------------------------------------------------- governing

    @cached_property
    def transitions(self) -> Transitions[T]:
        """Archives, reinstates, supersedes, consolidates and approves."""
        from memoranda.journeys.govern.transitions import Transitions

        return Transitions(self.table, self._drafts, self.writer, self._ids)

    @cached_property
    def eraser(self) -> Eraser:
        """Removes content for good."""
        from memoranda.journeys.govern.erase import Eraser

        scoped = self.scoped
        return Eraser(
            self.table,
            scoped.drafts,
            self.writer,
            self._telling,
            scoped.conformance,
            self._chronicle,
        )

    @cached_property
    def importing(self) -> Importing:
        """Brings MemoryObjects in."""
        from memoranda.journeys.govern.imports import Importing

        return Importing(self.table, self._drafts, self.writer)

    @cached_property
    def maintenance(self) -> Maintenance:
        """Maintains the scope by its policy."""
        from memoranda.journeys.maintain.jobs import Work
        from memoranda.journeys.maintain.schedule import Maintenance
        from memoranda.records.model import MemoryRetentionPolicy

        scoped, checkpointer = self.scoped, self._database.checkpointer
        assert checkpointer is not None  # noqa: S101 - the database keeps governed memory
        own = None
        if self._app.store is not None:  # the policy of the scope is the approval: no gate
            own = records_on(
                scoped.table, self._app, self._codec, self.actor, self._database.clockwork
            )
        work = Work(
            table=scoped.table,
            drafts=scoped.drafts,
            conformance=scoped.conformance,
            clock=self.clock,
            telling=self._telling,
            retention=MemoryRetentionPolicy(),
            checkpoint=partial(checkpointer.make, scoped.scope),
            embedder=self.embedder,
            own_records=own,
            state={},
            is_dry=False,
        )
        randomness = self._database.clockwork.randomness
        return Maintenance(scoped.scope, work, randomness)

    # ----------------------------------------------------------------------------- recalling

    @cached_property
    def recalling(self) -> Recalling[T]:
        """Selects memory, and loads what references lead to."""
        from memoranda.journeys.recall.reasoning import Recalling

        return Recalling(
            self.recaller,
            self._originals,
            self.ledger,
            actor=self.actor,
            clock=self.clock,
            ids=self._ids,
            recalls=self.scoped.recalls_of(str(self.actor)),
        )

    @cached_property
    def meaning(self) -> Meaning | None:
        """The model that the scope is asked with, if there is one."""
        from memoranda.recall.meaning import Meaning

        if self.embedder is None:
            return None
        return Meaning(self.embedder, self.ledger.vectors, self._database.is_embedder_default)

    @cached_property
    def recaller(self) -> Recaller[T]:
        """Selects, verifies and records one recall."""
        from memoranda.journeys.recall.recaller import Recaller
        from memoranda.journeys.recall.verification import Verifying

        if self.scoped.verifying is None:  # what it knows of the tree serves every handle
            self.scoped.verifying = Verifying(self.ledger)
        return Recaller(
            self.ledger,
            self._chronicle,
            self.scoped.conformance,
            self._codec,
            self.clock,
            self._ids,
            self.scoped.verifying,
            self.meaning,
            self._without_vector,
        )

    @cached_property
    def _originals(self) -> Originals[T]:
        from memoranda.journeys.recall.originals import Originals

        verifying, conformance = self.recaller.verifying, self.scoped.conformance
        return Originals(
            self.ledger, self._chronicle, conformance, verifying, self._codec, self.clock
        )

    @cached_property
    def explainer(self) -> Explainer:
        """Says why."""
        from memoranda.journeys.audit.why import Explainer

        return Explainer(self.ledger, self._chronicle)

    # -------------------------------------------------------------------------------- acting

    @cached_property
    def intents(self) -> Intents:
        """Proposes and runs actions on the scope's worlds."""
        from memoranda.journeys.intent.branches import of_domain
        from memoranda.journeys.intent.intents import Intents
        from memoranda.journeys.recall.selections import ScopeSelections
        from memoranda.worlds.composites import policy_from_wire
        from memoranda.worlds.domain import Domain

        given, domain = self._app, self._app.domain
        return Intents(
            chronicle=self._chronicle,
            actor=self.actor,
            policy=self._authority,
            read_policy=policy_from_wire,
            carries_out=self._memory_authority,
            clock=self.clock,
            ids=self._ids,
            selections=ScopeSelections(self._chronicle, self._originals, self.actor),
            runtime=of_domain(domain) if isinstance(domain, Domain) else domain,
            store=self.records.given,
            store_changes=self._store_changes,
            provider=self._provider,
            recalls=self.scoped.recalls_of(str(self.actor)),
            background=self._database.background,
            recall_limit=given.recall_limit,
            timeout_ms=None if given.run_limit is None else round(given.run_limit * 1000),
        )

    @cached_property
    def _proposer(self) -> Proposer:
        from memoranda.journeys.intent.proposals import Proposer

        return Proposer(self._chronicle, self._authority, self._ids)

    @cached_property
    def _operations(self) -> Operations:
        from memoranda.journeys.govern.operations import Operations

        return Operations(self._chronicle, self._proposer, self.clock, self._ids, self.actor)

    @cached_property
    def _memory_authority(self) -> MemoryAuthority:
        from memoranda.journeys.govern.authority import MemoryAuthority

        return MemoryAuthority(
            self._chronicle,
            self.scoped.drafts,
            self._operations,
            self.scoped.table,
            self._telling,
        )

    @cached_property
    def _store_changes(self) -> StoreChanges[T] | None:
        """What carries out approved changes of a store of the user's own."""
        app = self._app
        if app.store is None:
            return None
        from memoranda.journeys.govern.own_store import StoreChanges
        from memoranda.journeys.records.notify import OwnTelling

        return StoreChanges(
            app.store,
            self._chronicle,
            self._operations,
            policy=app.memory_policy,
            codec=self._codec,
            actor=self.actor,
            clock=self.clock,
            telling=OwnTelling(app.store, self._codec, app.hooks),
            limit=app.run_limit,
        )

    # --------------------------------------------------------------------------------- turns

    @cached_property
    def turning(self) -> Turning:
        """Takes turns through execution plans."""
        from memoranda.journeys.learn.turn_lessons import TurnLessons
        from memoranda.journeys.recall.turn_memory import TurnMemory
        from memoranda.journeys.turn.cycle import Scope
        from memoranda.journeys.turn.sessions import Turning
        from memoranda.outside.files import FolderScanner

        scope = Scope(
            str(self.actor),
            self.table,
            self.scoped.ledger.items,
            TurnMemory(self.recalling),
            TurnLessons(self.lessons, self._telling, str(self.actor)),
            self.clock,
            self._ids,
            self._database.clockwork.randomness,
            self.scoped.conformance,
        )
        return Turning(scope, FolderScanner())


def records_on(
    table: RecordTable,
    app: App[T],
    codec: DataCodec[T],
    actor: ActorRef,
    clockwork: Clockwork,
    gate: Gate | None = None,
) -> Records[T]:
    """The records of a table; where the app has a store of its own, the records of that.

    `gate` asks for approval of changes to such a store.
    """
    clock, ids, hooks = clockwork.clock, clockwork.id_source, app.hooks
    if app.store is None:
        return Records(table, codec=codec, actor=actor, clock=clock, ids=ids, hooks=hooks)
    from memoranda.journeys.records.own_store import OwnRecords

    return OwnRecords(
        app.store, codec=codec, actor=actor, clock=clock, ids=ids, hooks=hooks, gate=gate
    )
