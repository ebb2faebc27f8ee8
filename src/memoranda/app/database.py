"""`memoranda.connect`: one open database, and a handle for each scope and actor that asks.

A database has one pool, one writer and one set of timers, however many scopes it serves. A handle
is a value that costs no I/O: a server makes one for each request.
"""

import os
from collections.abc import Generator, Mapping
from os import PathLike
from typing import Any, Final, Generic, Self, overload

from typing_extensions import TypeVar, Unpack

from memoranda.app.connected import Connected
from memoranda.app.databases import file_of, url_of
from memoranda.app.handle import Handle
from memoranda.app.memory import Memory
from memoranda.app.options import App, Clockwork, ConnectOptions, seal_from_environment
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.journeys.intent.phases import watch_recalls
from memoranda.journeys.records.codec import DataCodec, JsonCodec, ModelCodec
from memoranda.kernel.actors import ActorRef, check_scope, parse_actor
from memoranda.kernel.given import check_has, check_kind, check_texts
from memoranda.ledger.codec import PLAIN, BodyCodec
from memoranda.recall.embedder import Embedder, stored_as
from memoranda.stores.dictionary import DictDatabase

T = TypeVar("T", default=Any)
M = TypeVar("M")

_JSON: Final = JsonCodec()
_NO_APP: Final = App[Any]()

DEFAULT_URL: Final = "sqlite:///memoranda.db"
DEFAULT_SCOPE: Final = "default"
DEFAULT_ACTOR: Final = "system:memoranda"
EMBEDDER: Final = "embedder"
"""The role of the embedder among the models that memory rests on."""


class Database:
    """One open database. Made by `connect`; await it, or use it with ``async with``.

    ::

        async with memoranda.connect("memory.db") as db:
            memory = db.scope("support", actor="agent:support")
    """

    def __init__(self, connected: Connected) -> None:
        self._connected = connected

    def __repr__(self) -> str:
        return f"<Database {self._connected.name}>"

    @property
    def read_only(self) -> bool:
        """Whether nothing is ever written through it."""
        return self._connected.read_only

    def __await__(self) -> Generator[Any, None, Self]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        await self._connected.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @overload
    def scope(
        self,
        name: str | None = ...,
        *,
        actor: ActorRef | str = ...,
        model: None = ...,
        app: App[Any] | None = ...,
    ) -> Memory[Any]: ...
    @overload
    def scope(
        self,
        name: str | None = ...,
        *,
        actor: ActorRef | str = ...,
        model: type[M],
        app: App[M] | None = ...,
    ) -> Memory[M]: ...
    def scope(
        self,
        name: str | None = None,
        *,
        actor: ActorRef | str = DEFAULT_ACTOR,
        model: type[Any] | None = None,
        app: App[Any] | None = None,
    ) -> Memory[Any]:
        """A handle on one scope, for one actor. It reads nothing and is dropped at no cost.

        ``name`` defaults to MEMORANDA_SCOPE, then to ``default``. With ``model``, data goes in and
        comes out as that type; without it, data is any JSON value. ``app`` says what actions, which
        authority and whose memory it runs with.

        A scope that is new reads as empty, and its journal begins with the first write, which a
        recall is as well: it leaves a trace. Where the database is read-only, or was opened with
        ``create=False``, a scope that is not there is refused with ScopeNotFound when it is used.
        """
        if name is None:  # and only then: an empty name is a mistake, and does not mean the default
            name = os.environ.get("MEMORANDA_SCOPE", DEFAULT_SCOPE)
        return self._handle(
            check_scope(name), parse_actor(actor), model, _NO_APP if app is None else app
        )

    def _handle(
        self,
        scope: str,
        actor: ActorRef,
        model: type[Any] | None,
        app: App[Any],
        *,
        closes: bool = False,
    ) -> Memory[Any]:
        check_kind("app", app, App, "an App")
        codec: DataCodec[Any] = _JSON if model is None else ModelCodec(model)
        handle = Handle(self._connected, scope, actor, codec, app, closes=closes)
        memory = handle.memory = Memory(scope, actor, handle)
        watch_recalls()
        return memory

    async def scopes(self) -> list[str]:
        """Every scope that was ever written to, sorted."""
        self._connected.check_loop()
        return await self._connected.opened.scopes()

    async def exists(self, scope: str) -> bool:
        """Whether anything was ever written to a scope. Nothing is made."""
        self._connected.check_loop()
        checked, database = check_scope(scope), self._connected.opened
        if isinstance(database, DictDatabase):
            return checked in await database.scopes()
        return await database.existing(checked) is not None

    async def close(self) -> None:
        """Finish what is under way, make the last checkpoints, and let go of the database.

        Every handle refuses everything from then on with StoreClosed. WrongLoop in another event
        loop than the one it was opened in: what is under way there could not be waited for.
        """
        await self._connected.close()


def connect(
    url: str | PathLike[str] | None = None,
    *,
    seal: Seal | None = None,
    embedder: Embedder | None = None,
    codec: BodyCodec = PLAIN,
    models: Mapping[str, str] | None = None,
    create: bool = True,
    read_only: bool = False,
    clockwork: Clockwork | None = None,
) -> Database:
    """Open a database for any number of scopes, making it if it is new.

    ``url`` is a URL or the path of a SQLite file; it defaults to MEMORANDA_DATABASE_URL, then to
    ``sqlite:///memoranda.db``. ``seal`` says who signs checkpoints and where they are kept; without
    it, the environment does (docs/checkpoints.md). ``embedder`` turns texts into vectors. ``codec``
    says how bodies are stored, say encrypted; whoever opens the database needs the same. ``models``
    names the identity of each model that memory rests on, by role: one that a scope does not
    declare is a conformance break, and the first one of a role is declared by this
    (docs/breaks.md). Without ``create`` nothing is made: StoreUnavailable where the database is not
    there. With ``read_only`` nothing is made, brought up to date or written, and a medium on which
    nothing can be written will do. ``clockwork`` is for tests: where times and ids come from.
    """
    place = default_url(url)
    if seal is not None:
        check_kind("seal", seal, Seal, "a Seal")
    if clockwork is not None:
        check_kind("clockwork", clockwork, Clockwork, "a Clockwork")
    if models is not None:
        check_kind("models", models, Mapping, "the identity of each model, by role")
        check_texts("models", [*models, *models.values()])
    check_has("embedder", embedder, "identity", "dimensions", "embed")
    check_has("codec", codec, "pack", "unpack")
    named = dict(models or {})
    if embedder is not None:
        named[EMBEDDER] = stored_as(embedder)
    return Database(
        Connected(
            place,
            seal=seal_from_environment(os.environ, file_of(place)) if seal is None else seal,
            embedder=embedder,
            codec=codec,
            models=named,
            create=create,
            read_only=read_only,
            clockwork=clockwork or Clockwork(),
        )
    )


def default_url(url: str | PathLike[str] | None) -> str:
    """The URL, or that of the path, that was given; else what the environment says."""
    return url_of(os.environ.get("MEMORANDA_DATABASE_URL", DEFAULT_URL) if url is None else url)


class Opening(Generic[T]):
    """A database that is opened for one handle; await it, or use it with ``async with``."""

    def __init__(self, database: Database, memory: Memory[T]) -> None:
        self._database = database
        self._memory = memory

    def __await__(self) -> Generator[Any, None, Memory[T]]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Memory[T]:
        await self._database
        watch_recalls()
        try:
            await self._memory._handle.open()  # noqa: SLF001 - what is wrong is said when it is opened
        except BaseException:
            await self._database.close()
            raise
        return self._memory

    async def __aexit__(self, *_: object) -> None:
        await self._database.close()


@overload
def open(
    url: str | PathLike[str] | None = ...,
    *,
    scope: str | None = ...,
    actor: ActorRef | str = ...,
    model: None = ...,
    app: App[Any] | None = ...,
    **options: Unpack[ConnectOptions],
) -> Opening[Any]: ...
@overload
def open(
    url: str | PathLike[str] | None = ...,
    *,
    scope: str | None = ...,
    actor: ActorRef | str = ...,
    model: type[M],
    app: App[M] | None = ...,
    **options: Unpack[ConnectOptions],
) -> Opening[M]: ...
def open(
    url: str | PathLike[str] | None = None,
    *,
    scope: str | None = None,
    actor: ActorRef | str = DEFAULT_ACTOR,
    model: type[Any] | None = None,
    app: App[Any] | None = None,
    **options: Unpack[ConnectOptions],
) -> Opening[Any]:
    """Open a database for one handle: `connect` and `Database.scope` in one line.

    ::

        async with memoranda.open("memory.db", scope="support", actor="agent:support") as memory:
            await memory.remember("The customer prefers email")
    """
    database = connect(url, **options)
    name = os.environ.get("MEMORANDA_SCOPE", DEFAULT_SCOPE) if scope is None else scope
    memory = database._handle(  # noqa: SLF001 - the handle closes the database
        check_scope(name),
        parse_actor(actor),
        model,
        App() if app is None else app,
        closes=True,
    )
    return Opening(database, memory)


async def scopes(url: str | PathLike[str] | None = None) -> list[str]:
    """Every scope that was ever written to in a database, sorted. Nothing is made."""
    async with connect(url, read_only=True) as database:
        return await database.scopes()


async def exists(scope: str, url: str | PathLike[str] | None = None) -> bool:
    """Whether anything was ever written to a scope of a database. Nothing is made.

    StoreUnavailable where there is no database.
    """
    checked = check_scope(scope)
    async with connect(url, read_only=True) as database:
        return await database.exists(checked)
