"""The handle for code that does not await: `open_sync`, `connect_sync` and what they open.

Each class here is the twin of an async one. A call waits on the process's one loop thread
(`portal`) for the async call of the same name, and has its signature and its docstring. A test
fails where a twin lacks what the async class has.
"""

from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from os import PathLike
from typing import Any, Concatenate, Generic, ParamSpec, Self, overload

from typing_extensions import TypeVar, Unpack

from memoranda.app.database import DEFAULT_ACTOR, Database
from memoranda.app.groups import Govern, Inbox, TurnsOf, Worlds
from memoranda.app.journal import Journal
from memoranda.app.memory import Memory
from memoranda.app.opening import Opening, connect, open
from memoranda.app.options import App, ConnectOptions
from memoranda.app.portal import PORTAL
from memoranda.app.upkeep import Maintain
from memoranda.journeys.access.keys import Keys
from memoranda.journeys.govern.batch import Batch
from memoranda.journeys.govern.objects import Receipt
from memoranda.journeys.recall.reasoning import Reasoning
from memoranda.journeys.recall.recalled import Recalled
from memoranda.journeys.records.store import Records
from memoranda.journeys.turn.turns import Turns
from memoranda.kernel.actors import ActorRef
from memoranda.plans.policy import Interpreted
from memoranda.plans.session import Session
from memoranda.records.store import Capabilities, MemoryStore
from memoranda.worlds.world import MAIN

T = TypeVar("T", default=Any)
M = TypeVar("M")
A = TypeVar("A")
C = TypeVar("C")
R = TypeVar("R")
P = ParamSpec("P")


class Twin(Generic[A]):
    """What all twins have in common."""

    def __init__(self, twin: A) -> None:
        self._twin = twin

    def __repr__(self) -> str:
        return f"<blocking {self._twin!r}>"


def twin(
    method: Callable[Concatenate[Any, P], C], come_to: Callable[[C], R]
) -> Callable[Concatenate[Any, P], R]:
    """The same method with the same signature, which answers what its result comes to."""

    @wraps(method)
    def called(self: Twin[Any], /, *given: P.args, **named: P.kwargs) -> R:
        return come_to(getattr(self._twin, method.__name__)(*given, **named))

    return called


def waits(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Any, P], R]:
    """The twin of an async method."""
    return twin(method, PORTAL.call)


def iterates(
    method: Callable[Concatenate[Any, P], AsyncGenerator[R, None]],
) -> Callable[Concatenate[Any, P], Iterator[R]]:
    """The twin of an async generator."""
    return twin(method, PORTAL.iterate)


def hands_on(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """The twin of a method that awaits nothing."""
    return twin(method, lambda result: result)


class BlockingRecords(Twin[Records[T]], Generic[T]):
    """Memory records of one scope; made by `memoranda.open_sync(...)`, as its `.records`."""

    create = waits(Records[T].create)
    get = waits(Records[T].get)
    version = waits(Records[T].version)
    update = waits(Records[T].update)
    annotate = waits(Records[T].annotate)
    delete = waits(Records[T].delete)
    create_many = waits(Records[T].create_many)
    update_many = waits(Records[T].update_many)
    delete_many = waits(Records[T].delete_many)
    clear = waits(Records[T].clear)
    consolidate = waits(Records[T].consolidate)
    forget_where = waits(Records[T].forget_where)
    query = waits(Records[T].query)
    page = waits(Records[T].page)
    ids = waits(Records[T].ids)
    count = waits(Records[T].count)
    tags = waits(Records[T].tags)
    stream = iterates(Records[T].stream)
    close = hands_on(Records[T].close)

    @property
    def capabilities(self) -> Capabilities:
        return self._twin.capabilities

    @property
    def given(self) -> MemoryStore[T]:
        return self._twin.given


class BlockingBatch(Twin[Batch[T]], Generic[T]):
    """Collects writes; they land together when its block ends, or none of them does."""

    remember = hands_on(Batch[T].remember)
    put = hands_on(Batch[T].put)
    update = hands_on(Batch[T].update)
    forget = hands_on(Batch[T].forget)

    @property
    def receipts(self) -> Sequence[Receipt | None]:
        return self._twin.receipts

    def __enter__(self) -> Self:
        PORTAL.call(self._twin.__aenter__())
        return self

    def __exit__(self, *error: object) -> None:
        PORTAL.call(self._twin.__aexit__(*error))  # type: ignore[arg-type]


class BlockingInbox(Twin[Inbox]):
    """What waits for a decision, and the answers to it."""

    list = waits(Inbox.list)
    approve = waits(Inbox.approve)
    reject = waits(Inbox.reject)
    abstain = waits(Inbox.abstain)


class BlockingWorlds(Twin[Worlds]):
    """Proposals, runs, snapshots, branches and replay."""

    propose = waits(Worlds.propose)
    project = waits(Worlds.project)
    run = waits(Worlds.run)
    resume = waits(Worlds.resume)
    standing = waits(Worlds.standing)
    restore = waits(Worlds.restore)
    branch = waits(Worlds.branch)
    branches = waits(Worlds.branches)
    lineage = waits(Worlds.lineage)
    replay = waits(Worlds.replay)
    replay_branch = iterates(Worlds.replay_branch)


class BlockingTurns(Twin[Turns]):
    """A session's turns through a plan."""

    start = waits(Turns.start)
    take = waits(Turns.take)
    close = hands_on(Turns.close)

    @property
    def session(self) -> Session | None:
        return self._twin.session

    @property
    def planned(self) -> Interpreted | None:
        return self._twin.planned

    @property
    def is_stopped(self) -> bool:
        return self._twin.is_stopped


class BlockingTurnsOf(Twin[TurnsOf]):
    """Turns of an agent through an execution plan."""

    open = twin(TurnsOf.open, lambda opening: BlockingTurns(PORTAL.call(opening)))
    account = waits(TurnsOf.account)
    take = waits(TurnsOf.take)
    sessions = waits(TurnsOf.sessions)
    replay = waits(TurnsOf.replay)


class BlockingGovern(Twin[Govern[T]], Generic[T]):
    """Governed acts on memory, its policies, audits and status."""

    archive = waits(Govern[T].archive)
    reinstate = waits(Govern[T].reinstate)
    supersede = waits(Govern[T].supersede)
    revise = waits(Govern[T].revise)
    consolidate = waits(Govern[T].consolidate)
    approve = waits(Govern[T].approve)
    change_policy = waits(Govern[T].change_policy)
    record_audit = waits(Govern[T].record_audit)
    status = waits(Govern[T].status)


class BlockingJournal(Twin[Journal[T]], Generic[T]):
    """The journal itself: entries, proofs, originals, exports and imports."""

    head = waits(Journal[T].head)
    entries = waits(Journal[T].entries)
    backwards = waits(Journal[T].backwards)
    latest = waits(Journal[T].latest)
    activity = waits(Journal[T].activity)
    subjects = waits(Journal[T].subjects)
    tail = iterates(Journal[T].tail)
    ids = waits(Journal[T].ids)
    proof = waits(Journal[T].proof)
    checkpoints = waits(Journal[T].checkpoints)
    original = waits(Journal[T].original)
    object = waits(Journal[T].object)
    export = iterates(Journal[T].export)
    import_objects = waits(Journal[T].import_objects)


class BlockingMaintain(Twin[Maintain]):
    """Jobs by policy: retention, indexes, vectors, checkpoints; bytes of what was erased."""

    configure = waits(Maintain.configure)
    status = waits(Maintain.status)
    run = waits(Maintain.run)
    reindex = waits(Maintain.reindex)
    embed = waits(Maintain.embed)
    evaluate = waits(Maintain.evaluate)
    scrub = waits(Maintain.scrub)


class BlockingReasoning(Twin[Reasoning[T]], Generic[T]):
    """A phase in which memory is selected for one proposal."""

    original = waits(Reasoning[T].original)
    propose = waits(Reasoning[T].propose)
    act = waits(Reasoning[T].act)

    def recall(self, query: str, *, top_k: int, **asked: Any) -> Recalled[T]:
        """Select memory, as `Memory.recall` does; what it says is kept with this phase."""
        return PORTAL.call(self._twin.recall(query, top_k=top_k, **asked))

    @property
    def branch(self) -> str:
        return self._twin.branch

    @property
    def actor(self) -> ActorRef:
        return self._twin.actor

    @property
    def id(self) -> str:
        return self._twin.id

    @property
    def recalled(self) -> Sequence[Recalled[T]]:
        return self._twin.recalled


class BlockingMemory(Twin[Memory[T]], Generic[T]):
    """What one actor can do with one scope."""

    remember = waits(Memory[T].remember)
    remember_many = waits(Memory[T].remember_many)
    put = waits(Memory[T].put)
    update = waits(Memory[T].update)
    learn = waits(Memory[T].learn)
    forget = waits(Memory[T].forget)
    erase = waits(Memory[T].erase)
    get = waits(Memory[T].get)
    list = waits(Memory[T].list)
    history = waits(Memory[T].history)
    recall = waits(Memory[T].recall)
    why = waits(Memory[T].why)
    verify = waits(Memory[T].verify)
    act = waits(Memory[T].act)
    close = waits(Memory[T].close)

    def __dir__(self) -> Iterable[str]:
        return dir(self._twin)

    def batch(
        self, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> BlockingBatch[T]:
        """Many writes in one transaction: all of them land when the block ends, or none."""
        return BlockingBatch(self._twin.batch(reason=reason, idempotency_key=idempotency_key))

    @contextmanager
    def reasoning(self, *, branch: str = MAIN) -> Iterator[BlockingReasoning[T]]:
        """A phase in which memory is selected; its proposal closes it and carries all its traces.

        `branch` is the one that it is for: traces name its head, and the proposal is made on it.
        """
        with PORTAL.entered(self._twin.reasoning(branch=branch)) as twin:
            yield BlockingReasoning(twin)

    @property
    def awaited(self) -> Memory[T]:
        """The handle that this one waits for, on the loop of all blocking handles."""
        return self._twin

    @property
    def scope(self) -> str:
        return self._twin.scope

    @property
    def actor(self) -> ActorRef:
        return self._twin.actor

    @property
    def records(self) -> BlockingRecords[T]:
        return BlockingRecords(self._twin.records)

    @property
    def inbox(self) -> BlockingInbox:
        return BlockingInbox(self._twin.inbox)

    @property
    def worlds(self) -> BlockingWorlds:
        return BlockingWorlds(self._twin.worlds)

    @property
    def turns(self) -> BlockingTurnsOf:
        return BlockingTurnsOf(self._twin.turns)

    @property
    def govern(self) -> BlockingGovern[T]:
        return BlockingGovern(self._twin.govern)

    @property
    def journal(self) -> BlockingJournal[T]:
        return BlockingJournal(self._twin.journal)

    @property
    def maintain(self) -> BlockingMaintain:
        return BlockingMaintain(self._twin.maintain)


async def _keys_of(database: Database) -> Keys:
    return database.keys  # in its own loop, which it checks


class BlockingKeys(Twin[Keys]):
    """The keys of one database: made, listed, revoked."""

    create = waits(Keys.create)
    list = waits(Keys.list)
    revoke = waits(Keys.revoke)


class BlockingDatabase(Twin[Database]):
    """One open database. Made by `connect_sync`; use it with ``with``, or close it."""

    scopes = waits(Database.scopes)
    exists = waits(Database.exists)
    close = waits(Database.close)

    def __enter__(self) -> Self:
        PORTAL.call(self._twin.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def read_only(self) -> bool:
        return self._twin.read_only

    @property
    def keys(self) -> BlockingKeys:
        """The keys that open the doors of a server: create, list, revoke (docs/server.md)."""
        return BlockingKeys(PORTAL.call(_keys_of(self._twin)))

    @overload
    def scope(
        self,
        name: str | None = ...,
        *,
        actor: ActorRef | str = ...,
        model: None = ...,
        app: App[Any] | None = ...,
    ) -> BlockingMemory[Any]: ...
    @overload
    def scope(
        self,
        name: str | None = ...,
        *,
        actor: ActorRef | str = ...,
        model: type[M],
        app: App[M] | None = ...,
    ) -> BlockingMemory[M]: ...
    def scope(
        self,
        name: str | None = None,
        *,
        actor: ActorRef | str = DEFAULT_ACTOR,
        model: type[Any] | None = None,
        app: App[Any] | None = None,
    ) -> BlockingMemory[Any]:
        """A handle on one scope, for one actor, as `Database.scope` makes it."""
        return BlockingMemory(self._twin.scope(name, actor=actor, model=model, app=app))


def connect_sync(
    url: str | PathLike[str] | None = None, **options: Unpack[ConnectOptions]
) -> BlockingDatabase:
    """The blocking twin of `connect`; the database is open when this returns."""
    database = BlockingDatabase(connect(url, **options))
    return database.__enter__()


class BlockingOpening(Twin[Opening[T]], Generic[T]):
    """A database that is opened for one handle, with ``with``.

    It is no generator: one that is dropped would leave its block, and close the database under
    whoever still has the handle.
    """

    def __enter__(self) -> BlockingMemory[T]:
        return BlockingMemory(PORTAL.call(self._twin.__aenter__()))

    def __exit__(self, *error: object) -> None:
        PORTAL.call(self._twin.__aexit__(*error))


def open_sync(
    url: str | PathLike[str] | None = None,
    *,
    scope: str | None = None,
    actor: ActorRef | str = DEFAULT_ACTOR,
    model: type[Any] | None = None,
    app: App[Any] | None = None,
    **options: Unpack[ConnectOptions],
) -> BlockingOpening[Any]:
    """The blocking twin of `open`, for scripts, notebooks and threads.

    ::

        with memoranda.open_sync("memory.db", scope="support", actor="agent:support") as memory:
            memory.remember("The customer prefers email")
    """
    return BlockingOpening(open(url, scope=scope, actor=actor, model=model, app=app, **options))
