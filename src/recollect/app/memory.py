"""`recollect.open`: a handle on one scope of one database.

A handle is opened for one scope and one actor, and can't reach another scope.
"""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, cast

from typing_extensions import TypeVar

from recollect.app.databases import Database, acquire, release
from recollect.app.seal import seal_from_environment
from recollect.app.url import file_of, hidden
from recollect.journeys.audit.checkpoints import Checkpoints, Seal
from recollect.journeys.audit.watch import Watch
from recollect.journeys.audit.why import Explainer
from recollect.journeys.govern.authority import MemoryAuthority
from recollect.journeys.govern.conformance import Conformance
from recollect.journeys.govern.drafts import Drafts
from recollect.journeys.govern.gate import GatedTable
from recollect.journeys.govern.memory import GovernedMemory
from recollect.journeys.govern.table import FilteredLedger, GovernedTable
from recollect.journeys.intent.app import App
from recollect.journeys.intent.chronicle import Chronicle
from recollect.journeys.intent.proposing import Proposer
from recollect.journeys.intent.recalling import RECALL_LIMIT_S
from recollect.journeys.intent.runtime import Runtime, of_domain
from recollect.journeys.maintain.reindex import refresh
from recollect.journeys.recall.originals import Originals
from recollect.journeys.recall.recaller import Recaller
from recollect.journeys.records.absent import absent
from recollect.journeys.records.codec import DataCodec, JsonCodec, ModelCodec
from recollect.journeys.records.store import Records
from recollect.journeys.turn.scope import Scope as TurnScope
from recollect.journeys.turn.scope import Turning
from recollect.kernel.actors import ActorRef, parse_actor
from recollect.kernel.clock import Clock, SystemClock
from recollect.kernel.errors import CapabilityMissing, StoreUnavailable
from recollect.kernel.ids import IdSource, TimeOrderedIds
from recollect.kernel.randomness import Randomness
from recollect.kernel.scopes import check_scope
from recollect.ledger.checkpoint import directory_origin, scope_origin
from recollect.ledger.codec import PLAIN, BodyCodec
from recollect.ledger.directory import SCOPE as DIRECTORY
from recollect.outside.folders import FolderScanner
from recollect.recall.embedder import Embedder, stored_as
from recollect.recall.meaning import Meaning
from recollect.recall.provider import MemoryProvider, OfHandle
from recollect.recall.selector import Selector
from recollect.records.authority import MemoryAuthorityPolicy
from recollect.records.hooks import MemoryHooks
from recollect.stores.dictionary import DictDatabase
from recollect.worlds.authority import AuthorityPolicy
from recollect.worlds.domain import Domain
from recollect.worlds.policies import AutoApprove
from recollect.worlds.policy_reading import policy_from_wire

T = TypeVar("T", default=Any)

Memory = GovernedMemory
"""A handle on one scope. `records` is its memory store; the verbs are those of governed memory."""

Provider = MemoryProvider[Any] | Callable[[Memory[Any]], MemoryProvider[Any]]
"""A provider, or what makes one of the handle that it recalls through, such as its class."""

DEFAULT_URL: Final = "sqlite:///recollect.db"
DEFAULT_SCOPE: Final = "default"
DEFAULT_ACTOR: Final = "system:recollect"
EMBEDDER: Final = "embedder"
"""How the embedder is called among the models that memory rests on."""

_JOURNAL_ID_BYTES: Final = 16


def default_url(url: str | None) -> str:
    """The URL given, or RECOLLECT_DATABASE_URL, or the file recollect.db."""
    return os.environ.get("RECOLLECT_DATABASE_URL", DEFAULT_URL) if url is None else url


@asynccontextmanager
async def open(
    url: str | None = None,
    *,
    scope: str | None = None,
    actor: ActorRef | str = DEFAULT_ACTOR,
    model: type[T] | None = None,
    hooks: MemoryHooks[T] | None = None,
    clock: Clock | None = None,
    ids: IdSource | None = None,
    randomness: Randomness | None = None,
    seal: Seal | None = None,
    models: Mapping[str, str] | None = None,
    embedder: Embedder | None = None,
    selectors: Sequence[Selector] = (),
    bodies: BodyCodec = PLAIN,
    domain: Domain | Runtime | None = None,
    provider: Provider | None = None,
    authority: AuthorityPolicy | None = None,
    memory_policy: MemoryAuthorityPolicy | None = None,
    recall_limit: float = RECALL_LIMIT_S,
    run_limit: float | None = None,
    create: bool = True,
) -> AsyncIterator[Memory[T]]:
    """Open one scope of a database, making the database if it is new.

    ``url`` and ``scope`` default to RECOLLECT_DATABASE_URL and RECOLLECT_SCOPE, then to
    ``sqlite:///recollect.db`` and ``default``. With ``model``, data goes in and comes out as that
    type; without it, data is any JSON value. ``seal`` says who signs checkpoints and where they are
    kept; without it, the environment does (docs/checkpoints.md). ``models`` names the identity of
    each model that memory rests on: one that changes without a re-audit is a conformance break.
    ``embedder`` turns texts into vectors, for the selector ``hybrid``; ``selectors`` are further
    ones that `recall` knows by their names.
    ``bodies`` says how bodies are stored, say encrypted; whoever opens the database needs the same.
    ``memory_policy`` says which operations on memory itself need approval.
    ``domain`` are the actions that `act` runs, or any other host (`hosted_by`); ``provider``, or
    one that its class makes of the handle, is asked for memory before each run, for
    ``recall_limit`` seconds; ``authority`` decides what may run, and without one everything may. A
    run that takes longer than ``run_limit`` seconds has failed.
    Without ``create`` nothing is made: StoreUnavailable where database or scope are not there.
    """
    if scope is None:  # and only then: an empty one is a mistake, not a wish for the default
        scope = os.environ.get("RECOLLECT_SCOPE", DEFAULT_SCOPE)
    checked = check_scope(scope)
    who = parse_actor(actor)
    clock = clock or SystemClock()
    codec: DataCodec[Any] = JsonCodec() if model is None else ModelCodec(model)
    place = default_url(url)
    if seal is None:
        seal = seal_from_environment(os.environ, file_of(place))
    database, lease = await acquire(place, clock, create=create, bodies=bodies)
    try:
        if not create and checked not in await database.scopes():
            raise StoreUnavailable(hidden(place), f"there is no scope {checked!r} in it")
        memory: Memory[T] = await opened(
            database,
            scope=checked,
            actor=who,
            codec=codec,
            hooks=hooks,
            clock=clock,
            ids=ids,
            randomness=randomness,
            seal=seal,
            models=models,
            embedder=embedder,
            selectors=selectors,
            domain=domain,
            provider=provider,
            authority=authority,
            memory_policy=memory_policy,
            recall_limit=recall_limit,
            run_limit=run_limit,
        )
        try:
            yield memory
        finally:
            await memory.close()
    finally:
        await release(lease)


async def opened(
    database: Database,
    *,
    scope: str,
    actor: ActorRef,
    codec: DataCodec[Any],
    hooks: MemoryHooks[Any] | None = None,
    clock: Clock | None = None,
    ids: IdSource | None = None,
    randomness: Randomness | None = None,
    seal: Seal | None = None,
    models: Mapping[str, str] | None = None,
    embedder: Embedder | None = None,
    selectors: Sequence[Selector] = (),
    domain: Domain | Runtime | None = None,
    provider: Provider | None = None,
    authority: AuthorityPolicy | None = None,
    memory_policy: MemoryAuthorityPolicy | None = None,
    recall_limit: float = RECALL_LIMIT_S,
    run_limit: float | None = None,
) -> Memory[Any]:
    """A handle on one scope of a database that is open: governed, or plain in a dict."""
    clock = clock or SystemClock()
    randomness = randomness or Randomness()
    ids = ids or TimeOrderedIds(clock, randomness)
    drafts = Drafts(scope, randomness)
    ledger = governed = table = absent(partial(CapabilityMissing, "governed memory"))
    watch, conformance = None, ledger
    if isinstance(database, DictDatabase):
        table = database.records(scope)
    else:
        new_id, now = randomness.take(_JOURNAL_ID_BYTES).hex(), clock.now_ms()
        ledger = await database.ledger(scope, scope_origin(new_id, scope), now)
        directory = await database.ledger(DIRECTORY, directory_origin(new_id), now)
        seal = seal or Seal()
        checkpoints = Checkpoints(scope, ledger, directory, seal, clock, randomness)
        watch = Watch(checkpoints)
        table = governed = _table(ledger, drafts, watch, memory_policy, actor)
        rests_on = _models(models, embedder)
        conformance = Conformance(scope, governed, drafts, clock, checkpoints, rests_on)
        await refresh(governed, drafts, now, (await conformance.state()).fingerprint)
        await conformance.on_open()
    records = Records(table, codec=codec, actor=actor, clock=clock, ids=ids, hooks=hooks)
    chronicle = Chronicle(governed, randomness)
    policy = authority or AutoApprove()
    asked = _provider(provider)
    carries_out = MemoryAuthority(
        chronicle, drafts, Proposer(chronicle, policy, ids), actor=actor, clock=clock, ids=ids
    )
    if isinstance(governed, GatedTable):
        governed.authority = carries_out
    app = App(
        chronicle,
        actor=actor,
        policy=policy,
        read_policy=policy_from_wire,
        carries_out=carries_out,
        clock=clock,
        ids=ids,
        runtime=of_domain(domain) if isinstance(domain, Domain) else domain,
        store=records,
        provider=asked,
        recall_limit=recall_limit,
        timeout_ms=None if run_limit is None else round(run_limit * 1000),
    )
    turns_in = TurnScope(
        str(actor), governed, partial(database.items, scope), clock, ids, randomness
    )
    meaning = None if embedder is None else Meaning(embedder, ledger.vectors)
    recaller = Recaller(ledger, chronicle, conformance, codec, clock, ids, meaning)
    memory: Memory[Any] = Memory(
        scope=scope,
        actor=actor,
        records=records,
        ledger=ledger,
        table=governed,
        drafts=drafts,
        codec=codec,
        clock=clock,
        ids=ids,
        conformance=conformance,
        app=app,
        explainer=Explainer(ledger, chronicle),
        recaller=recaller,
        selectors={one.name: one for one in selectors},
        embedder=embedder,
        originals=Originals(ledger, chronicle, conformance, recaller.verifying, codec, clock),
        turning=Turning(turns_in, FolderScanner()),
        watch=watch,
    )
    if isinstance(asked, OfHandle):
        asked.given(memory)
    return memory


def _models(named: Mapping[str, str] | None, embedder: Embedder | None) -> Mapping[str, str]:
    """The models that memory rests on: those that are named, and the embedder (GOV-BREAK)."""
    return {**(named or {}), **({} if embedder is None else {EMBEDDER: stored_as(embedder)})}


def _provider(given: Provider | None) -> MemoryProvider[Any] | None:
    """A provider as it is; what makes one is asked when the handle is there."""
    if given is None or (hasattr(given, "recall") and not isinstance(given, type)):
        return cast("MemoryProvider[Any] | None", given)
    return OfHandle(cast("Callable[[Memory[Any]], MemoryProvider[Any]]", given))


def _table(
    ledger: FilteredLedger,
    drafts: Drafts,
    watch: Watch,
    policy: MemoryAuthorityPolicy | None,
    actor: ActorRef,
) -> GovernedTable:
    if policy is None:
        return GovernedTable(ledger, drafts, watch.committed)
    return GatedTable(ledger, drafts, watch.committed, policy, actor)


async def scopes(url: str | None = None) -> list[str]:
    """Every scope that was ever opened in a database, sorted."""
    database, lease = await acquire(default_url(url), SystemClock(), create=False)
    try:
        return await database.scopes()
    finally:
        await release(lease)
