"""`memoranda.open`: a handle on one scope of one database.

A handle is opened for one scope and one actor, and can't reach another scope.
"""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, cast

from typing_extensions import TypeVar

from memoranda.app.databases import Database, LedgerDatabase, acquire, release
from memoranda.app.seal import seal_from_environment
from memoranda.app.url import file_of, hidden
from memoranda.journeys.audit.checkpoints import Checkpoints, Seal
from memoranda.journeys.audit.watch import Watch
from memoranda.journeys.audit.why import Explainer
from memoranda.journeys.govern.authority import MemoryAuthority
from memoranda.journeys.govern.conformance import Conformance
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.gate import GatedTable
from memoranda.journeys.govern.memory import GovernedMemory
from memoranda.journeys.govern.table import FilteredLedger, GovernedTable
from memoranda.journeys.govern.telling import Telling
from memoranda.journeys.govern.unwritten import items_later, later
from memoranda.journeys.intent.app import App
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.phases import watch_recalls
from memoranda.journeys.intent.proposing import Proposer
from memoranda.journeys.intent.recalling import RECALL_LIMIT_S
from memoranda.journeys.intent.runtime import Runtime, of_domain
from memoranda.journeys.maintain.reindex import refresh
from memoranda.journeys.recall.originals import Originals
from memoranda.journeys.recall.recaller import Recaller
from memoranda.journeys.recall.selections import ScopeSelections
from memoranda.journeys.records.absent import absent
from memoranda.journeys.records.codec import DataCodec, JsonCodec, ModelCodec
from memoranda.journeys.records.foreign import check_limit
from memoranda.journeys.records.store import Records
from memoranda.journeys.turn.scope import ItemsOf, Turning
from memoranda.journeys.turn.scope import Scope as TurnScope
from memoranda.kernel.actors import ActorRef, parse_actor
from memoranda.kernel.clock import Clock, SystemClock
from memoranda.kernel.errors import CapabilityMissing, InvalidOption, ScopeNotFound
from memoranda.kernel.ids import IdSource, TimeOrderedIds
from memoranda.kernel.randomness import Randomness
from memoranda.kernel.scopes import check_scope
from memoranda.ledger.checkpoint import directory_origin, scope_origin
from memoranda.ledger.codec import PLAIN, BodyCodec
from memoranda.ledger.directory import SCOPE as DIRECTORY
from memoranda.outside.folders import FolderScanner
from memoranda.recall.embedder import Embedder, stored_as
from memoranda.recall.meaning import Meaning
from memoranda.recall.provider import NEEDED, MemoryProvider, OfHandle, checked_provider
from memoranda.recall.selector import Selector
from memoranda.records.authority import MemoryAuthorityPolicy
from memoranda.records.hooks import MemoryHooks
from memoranda.stores.dictionary import DictDatabase
from memoranda.worlds.authority import AuthorityPolicy
from memoranda.worlds.domain import Domain
from memoranda.worlds.policies import AutoApprove
from memoranda.worlds.policy_reading import policy_from_wire

T = TypeVar("T", default=Any)

Memory = GovernedMemory
"""A handle on one scope. `records` is its memory store; the verbs are those of governed memory."""

Provider = MemoryProvider[Any] | Callable[[Memory[Any]], MemoryProvider[Any]]
"""A provider, or what makes one of the handle that it recalls through, such as its class."""

DEFAULT_URL: Final = "sqlite:///memoranda.db"
DEFAULT_SCOPE: Final = "default"
DEFAULT_ACTOR: Final = "system:memoranda"
EMBEDDER: Final = "embedder"
"""How the embedder is called among the models that memory rests on."""

_JOURNAL_ID_BYTES: Final = 16


def default_url(url: str | None) -> str:
    """The URL given, or MEMORANDA_DATABASE_URL, or the file memoranda.db."""
    return os.environ.get("MEMORANDA_DATABASE_URL", DEFAULT_URL) if url is None else url


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
    read_only: bool = False,
) -> AsyncIterator[Memory[T]]:
    """Open one scope of a database, making the database if it is new.

    A scope that is new reads as empty, and its journal begins with the first write, which a recall
    is as well: it leaves a trace. With ``read_only`` nothing is made, brought up to date or
    written, and a database where nothing can be written will do: ScopeNotFound where the scope is
    not there, StoreReadOnly for every write.

    ``url`` and ``scope`` default to MEMORANDA_DATABASE_URL and MEMORANDA_SCOPE, then to
    ``sqlite:///memoranda.db`` and ``default``. With ``model``, data goes in and comes out as that
    type; without it, data is any JSON value. ``seal`` says who signs checkpoints and where they are
    kept; without it, the environment does (docs/checkpoints.md). ``models`` names the identity of
    each model that memory rests on, by role: one that the scope does not declare is a conformance
    break, and the first one of a role is declared by this (docs/breaks.md).
    ``embedder`` turns texts into vectors, for the selector ``hybrid``; ``selectors`` are further
    ones that `recall` knows by their names.
    ``bodies`` says how bodies are stored, say encrypted; whoever opens the database needs the same.
    ``memory_policy`` says which operations on memory itself need approval.
    ``domain`` are the actions that `act` runs, or any other host (`hosted_by`); ``provider``, or
    one that its class makes of the handle, is asked for memory before each run, for
    ``recall_limit`` seconds; without one a run gets what was recalled for its proposal.
    ``authority`` decides what may run, and without one everything may. A
    run that takes longer than ``run_limit`` seconds has failed.
    Without ``create`` neither is made: StoreUnavailable where the database is not there,
    ScopeNotFound where the scope is not.
    """
    if scope is None:  # and only then: an empty one is a mistake, not a wish for the default
        scope = os.environ.get("MEMORANDA_SCOPE", DEFAULT_SCOPE)
    checked = check_scope(scope)
    who = parse_actor(actor)
    check_limit("recall_limit", recall_limit)
    if run_limit is not None:
        check_limit("run_limit", run_limit)
    if hooks is not None:
        check_limit("the time_limit of hooks", hooks.time_limit)
    asked = _provider(provider)
    clock = clock or SystemClock()
    codec: DataCodec[Any] = JsonCodec() if model is None else ModelCodec(model)
    place = default_url(url)
    if seal is None:
        seal = seal_from_environment(os.environ, file_of(place))
    database, lease = await acquire(place, clock, create=create, read_only=read_only, bodies=bodies)
    try:
        if (read_only or not create) and checked not in await database.scopes():
            raise ScopeNotFound(hidden(place), checked)
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
            provider=asked,
            authority=authority,
            memory_policy=memory_policy,
            recall_limit=recall_limit,
            run_limit=run_limit,
            read_only=read_only,
        )
        watch_recalls()
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
    provider: MemoryProvider[Any] | None = None,
    authority: AuthorityPolicy | None = None,
    memory_policy: MemoryAuthorityPolicy | None = None,
    recall_limit: float = RECALL_LIMIT_S,
    run_limit: float | None = None,
    read_only: bool = False,
) -> Memory[Any]:
    """A handle on one scope of a database that is open: governed, or plain in a dict.

    Nothing is written: what the handle finds is logged before its first write, and with `read_only`
    never.
    """
    clock = clock or SystemClock()
    randomness = randomness or Randomness()
    ids = ids or TimeOrderedIds(clock, randomness)
    drafts = Drafts(scope, randomness)
    ledger = governed = table = absent(partial(CapabilityMissing, "governed memory"))
    watch, conformance = None, ledger
    items: ItemsOf = partial(database.items, scope)
    if isinstance(database, DictDatabase):
        if memory_policy is not None:
            raise CapabilityMissing("approval of operations on memory (memory_policy=)")
        table = database.records(scope)
    else:
        new_id = randomness.take(_JOURNAL_ID_BYTES).hex()
        ledger = await _ledger(database, scope, scope_origin(new_id, scope), clock)
        directory = await _ledger(database, DIRECTORY, directory_origin(new_id), clock)
        items = items_later(items, ledger)
        seal = seal or Seal()
        checkpoints = Checkpoints(scope, ledger, directory, seal, clock, randomness)
        watch = Watch(checkpoints)
        table = governed = _table(ledger, drafts, watch, memory_policy, actor)
        rests_on = _models(models, embedder)
        conformance = Conformance(scope, governed, drafts, clock, checkpoints, rests_on)
        await conformance.on_open()
        if not read_only:
            governed.before_first = partial(_before_first, governed, drafts, conformance)
    records = Records(table, codec=codec, actor=actor, clock=clock, ids=ids, hooks=hooks)
    chronicle = Chronicle(governed, randomness)
    policy = authority or AutoApprove()
    telling = Telling(hooks, codec)
    carries_out = MemoryAuthority(
        chronicle,
        drafts,
        Proposer(chronicle, policy, ids),
        governed,
        actor=actor,
        clock=clock,
        ids=ids,
        telling=telling,
    )
    if isinstance(governed, GatedTable):
        governed.authority = carries_out
    meaning = None if embedder is None else Meaning(embedder, ledger.vectors)
    recaller = Recaller(ledger, chronicle, conformance, codec, clock, ids, meaning)
    originals = Originals(ledger, chronicle, conformance, recaller.verifying, codec, clock)
    app = App(
        chronicle,
        actor=actor,
        policy=policy,
        read_policy=policy_from_wire,
        carries_out=carries_out,
        clock=clock,
        ids=ids,
        selections=ScopeSelections(chronicle, originals, actor),
        runtime=of_domain(domain) if isinstance(domain, Domain) else domain,
        store=records,
        provider=provider,
        recall_limit=recall_limit,
        timeout_ms=None if run_limit is None else round(run_limit * 1000),
    )
    turns_in = TurnScope(str(actor), governed, items, clock, ids, randomness, conformance)
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
        originals=originals,
        turning=Turning(turns_in, FolderScanner()),
        telling=telling,
        watch=watch,
    )
    if isinstance(provider, OfHandle):
        provider.given(memory)
    return memory


async def _ledger(
    database: LedgerDatabase, scope: str, origin: str, clock: Clock
) -> FilteredLedger:
    """The ledger of a scope; one that is not there begins with its first write."""
    existing = partial(database.existing, scope)

    async def begin(at: int | None) -> FilteredLedger:
        return await database.ledger(scope, origin, clock.now_ms() if at is None else at)

    return await existing() or later(existing, begin, origin)


async def _before_first(
    table: GovernedTable, drafts: Drafts, conformance: Conformance, at: int
) -> None:
    """What a handle writes before it first writes: an index of another tokenizer, what it found."""
    await refresh(table, drafts, at, (await conformance.logged()).fingerprint)
    await conformance.log_opening(at)


def _models(named: Mapping[str, str] | None, embedder: Embedder | None) -> Mapping[str, str]:
    """The models that memory rests on: those that are named, and the embedder (GOV-BREAK)."""
    return {**(named or {}), **({} if embedder is None else {EMBEDDER: stored_as(embedder)})}


def _provider(given: Provider | None) -> MemoryProvider[Any] | None:
    """A provider as it is; what makes one is asked when the handle is there.

    InvalidOption for what is no provider, and makes none.
    """
    if given is None:
        return None
    if isinstance(given, type) or not (hasattr(given, "recall") or hasattr(given, "remember")):
        if not callable(given):
            raise InvalidOption("provider", f"a {type(given).__name__} makes no provider; {NEEDED}")
        return OfHandle(cast("Callable[[Memory[Any]], MemoryProvider[Any]]", given))
    return checked_provider(cast("MemoryProvider[Any]", given))


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
    """Every scope that was ever written to in a database, sorted. Nothing is made."""
    database, lease = await acquire(default_url(url), SystemClock(), read_only=True)
    try:
        return await database.scopes()
    finally:
        await release(lease)


async def exists(scope: str, url: str | None = None) -> bool:
    """Whether anything was ever written to a scope of a database. Nothing is made.

    StoreUnavailable where there is no database.
    """
    return check_scope(scope) in await scopes(url)
