"""`Database`: one open database, and a handle for each scope and actor that asks.

A database has one pool, one writer and one set of timers, however many scopes it serves. A handle
is a value that costs no I/O: a server makes one for each request.
"""

import asyncio
import os
from collections.abc import Collection, Generator
from typing import Any, Final, Self, overload

from typing_extensions import TypeVar

from memoranda.app.connected import Connected, Endable
from memoranda.app.handle import Handle
from memoranda.app.memory import Memory
from memoranda.app.options import App
from memoranda.journeys.access.keys import Keys
from memoranda.journeys.intent.phases import watch_recalls
from memoranda.journeys.maintain.jobs import ACTOR as MAINTAINER
from memoranda.journeys.maintain.jobs import JOBS
from memoranda.journeys.maintain.worker import Worker
from memoranda.journeys.records.codec import DataCodec, JsonCodec, ModelCodec
from memoranda.kernel.access import WriterTrust
from memoranda.kernel.actors import ActorRef, check_scope, parse_actor
from memoranda.kernel.errors import CapabilityMissing
from memoranda.kernel.given import check_kind
from memoranda.stores.dictionary import DictDatabase

M = TypeVar("M")

_JSON: Final = JsonCodec()
_NO_APP: Final = App[Any]()

DEFAULT_SCOPE: Final = "default"
DEFAULT_ACTOR: Final = "system:memoranda"


class Database:
    """One open database. Made by `connect`; await it, or use it with ``async with``.

    ::

        async with memoranda.connect("memory.db") as db:
            memory = db.scope("support", actor="agent:support")
    """

    def __init__(self, connected: Connected, *, maintain: bool = False) -> None:
        self._connected = connected
        self._maintain = maintain
        self._working: asyncio.Task[None] | None = None

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
        if self._maintain and self._working is None:
            work = self._worker().work()
            self._working = asyncio.get_running_loop().create_task(work, name="memoranda-worker")
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
        return self._handle(name, actor, model, app)

    def _handle(
        self,
        name: str | None,
        given: ActorRef | str,
        model: type[Any] | None,
        app: App[Any] | None,
        *,
        closes: bool = False,
        trust: WriterTrust = "unreviewed",
    ) -> Memory[Any]:
        """`trust` is that of what the handle states: the library's, or a credential's."""
        if name is None:  # and only then: an empty name is a mistake, and does not mean the default
            name = os.environ.get("MEMORANDA_SCOPE", DEFAULT_SCOPE)
        scope, actor = check_scope(name), parse_actor(given)
        app = _NO_APP if app is None else app
        check_kind("app", app, App, "an App")
        codec: DataCodec[Any] = _JSON if model is None else ModelCodec(model)
        handle = Handle(self._connected, scope, actor, codec, app, closes=closes, trust=trust)
        memory = handle.memory = Memory(scope, actor, handle)
        watch_recalls()
        return memory

    @property
    def keys(self) -> Keys:
        """The keys that open the doors of a server: create, list, revoke (docs/server.md)."""
        connected = self._connected
        connected.check_loop()
        clockwork = connected.clockwork
        return Keys(connected.key_rows(), clockwork.clock, clockwork.randomness)

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
        if self._working is not None:
            self._connected.check_loop()
            working, self._working = self._working, None
            working.cancel()
            await asyncio.wait({working})
        await self._connected.close()

    def _worker(self, **how: Any) -> Worker:
        """What runs the maintenance jobs of this database that are due (docs/maintenance.md)."""
        connected = self._connected
        if isinstance(connected.opened, DictDatabase):
            raise CapabilityMissing("maintenance")

        def possible() -> Collection[str]:
            has = {"": True, "embedder": connected.embedder is not None}
            has["own_records"] = any(handle.has_own_store for handle in connected.handles())
            return [job.name for job in JOBS.values() if has[job.needs]]

        return Worker(
            connected.opened,
            lambda scope: self._maintainer(scope).maintenance(),
            possible,
            connected.clockwork.clock,
            **how,
        )

    def _maintainer(self, scope: str) -> Endable:
        """A handle that has a store of its own, if this process uses one; else any."""
        for handle in self._connected.handles():
            if handle.scope == scope and handle.has_own_store:
                return handle
        return Handle(self._connected, scope, parse_actor(MAINTAINER), _JSON, _NO_APP, closes=False)
