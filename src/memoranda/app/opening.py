"""`memoranda.connect` and `memoranda.open`: a database by its URL, or one behind a server."""

import os
from collections.abc import Generator, Mapping
from os import PathLike
from typing import Any, Final, Generic, Literal, overload

from typing_extensions import TypeVar, Unpack

from memoranda.app.connected import Connected
from memoranda.app.database import DEFAULT_ACTOR, Database
from memoranda.app.databases import file_of, is_server, url_of
from memoranda.app.memory import Memory
from memoranda.app.options import App, Clockwork, ConnectOptions, seal_from_environment
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.journeys.intent.phases import watch_recalls
from memoranda.kernel.actors import ActorRef, check_scope
from memoranda.kernel.errors import InvalidOption
from memoranda.kernel.given import check_has, check_kind, check_texts
from memoranda.ledger.codec import PLAIN, BodyCodec
from memoranda.recall.embedder import ROLE, Embedder, stored_as

T = TypeVar("T", default=Any)
M = TypeVar("M")

DEFAULT_URL: Final = "sqlite:///memoranda.db"


def connect(
    url: str | PathLike[str] | None = None,
    *,
    seal: Seal | None = None,
    embedder: Embedder | Literal["default"] | None = "default",
    codec: BodyCodec = PLAIN,
    models: Mapping[str, str] | None = None,
    create: bool = True,
    read_only: bool = False,
    clockwork: Clockwork | None = None,
    maintain: bool = False,
    key: str | None = None,
) -> Database:
    """Open a database for any number of scopes, making it if it is new.

    ``url`` is a URL or the path of a SQLite file; it defaults to MEMORANDA_DATABASE_URL, then to
    ``sqlite:///memoranda.db``. ``seal`` says who signs checkpoints and where they are kept; without
    it, the environment does (docs/checkpoints.md). ``embedder`` turns texts into vectors: by
    default the one of the extra ``meaning``, if that is installed; None means none. ``codec`` says
    how bodies are stored, say encrypted; whoever opens the database needs the same. ``models``
    names the identity of each model that memory rests on, by role: one that a scope does not
    declare is a conformance break, and the first one of a role is declared by this
    (docs/breaks.md). Without ``create`` nothing is made: StoreUnavailable where the database is not
    there. With ``read_only`` nothing is made, brought up to date or written, and a medium on which
    nothing can be written will do. ``clockwork`` is for tests: where times and ids come from. With
    ``maintain`` this process runs the maintenance that the policies of the scopes ask for, beside
    everything else that it does (docs/maintenance.md).

    The URL may be that of a server, ``https://…``. Then ``key`` opens it, or MEMORANDA_API_KEY, and
    the other options are the server's own (docs/server.md).
    """
    place = default_url(url)
    check_kind("maintain", maintain, bool, "True or False")
    if is_server(place):
        model = None if embedder == "default" else embedder
        given = {"seal": seal, "embedder": model, "models": models, "clockwork": clockwork}
        own = {**given, "codec": None if codec is PLAIN else codec, "maintain": maintain or None}
        return _of_server(place, key, own, read_only=read_only)
    if key is not None:
        raise InvalidOption("key", "it opens a server, https://…, and no database")
    if seal is not None:
        check_kind("seal", seal, Seal, "a Seal")
    if clockwork is not None:
        check_kind("clockwork", clockwork, Clockwork, "a Clockwork")
    if models is not None:
        check_kind("models", models, Mapping, "the identity of each model, by role")
        check_texts("models", [*models, *models.values()])
    if embedder != "default":
        check_has("embedder", embedder, "identity", "dimensions", "embed")
    check_has("codec", codec, "pack", "unpack")
    if maintain and read_only:
        raise InvalidOption("maintain", "what is only read can't be maintained")
    named = dict(models or {})
    if embedder is not None and embedder != "default":
        named[ROLE] = stored_as(embedder)
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
        ),
        maintain=maintain,
    )


def _of_server(
    url: str, key: str | None, given: Mapping[str, object], *, read_only: bool
) -> Database:
    from memoranda.app.remote.database import RemoteDatabase  # noqa: PLC0415 - for servers alone

    for option, value in given.items():
        if value is not None:
            raise InvalidOption(option, "a server has its own")
    return RemoteDatabase(url, key, read_only=read_only)


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
    memory = database._handle(  # noqa: SLF001 - the handle closes the database
        scope, actor, model, App() if app is None else app, closes=True
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
