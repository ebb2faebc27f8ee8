"""`memoranda.connect("https://…", key=…)`: a database behind a server."""

import os
from typing import Any, Final, Self, cast

from memoranda.app.database import DEFAULT_ACTOR, Database
from memoranda.app.memory import Memory
from memoranda.app.options import App
from memoranda.app.remote.calls import RemoteHandle
from memoranda.app.remote.memory import RemoteMemory
from memoranda.app.remote.values import not_over_the_wire
from memoranda.journeys.access.keys import Keys
from memoranda.journeys.records.codec import DataCodec, JsonCodec, ModelCodec
from memoranda.kernel.access import WriterTrust
from memoranda.kernel.actors import ActorRef, check_scope, parse_actor
from memoranda.kernel.errors import RightMissing
from memoranda.outside.server import MemorandaServer
from memoranda.stores.home import Home

KEY: Final = "MEMORANDA_API_KEY"
"""The variable that has the key, where none is given."""
_NOBODY: Final = ActorRef(actor_id="unknown", kind="system")


class RemoteDatabase(Database):
    """A server that was connected to; each of its handles is for whoever the key is of."""

    def __init__(self, url: str, key: str | None, *, read_only: bool) -> None:
        super().__init__(cast("Any", None))  # there is no database in this process
        self._server = MemorandaServer(url, key or os.environ.get(KEY) or None)
        self._is_read_only = read_only
        self._home: Home | None = None
        self._identity: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<Database {self._server.url}>"

    @property
    def read_only(self) -> bool:
        """Whether nothing is ever written through it."""
        return self._is_read_only

    async def __aenter__(self) -> Self:
        """Connect, and ask whom the key is of; KeyRefused, KeyMissing where it is not let in."""
        if self._home is None:
            self._home = Home(self._server.url)
            await self._server.open()
            try:
                self._identity = await self._remote(JsonCodec(), None, None).call("whoami", {})
            except RightMissing:
                self._identity = {}  # a key that may not read is of whom it is of
            except BaseException:
                await self.close()
                raise
        return self

    async def close(self) -> None:
        """Let go of the connections."""
        if self._home is not None:
            self._home.check()
        self._home = None
        await self._server.close()

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
        """A handle; its trust is the key's.

        A scope or an actor that is not the key's is refused when it is used.
        """
        del trust
        if app is not None and app != App():
            raise not_over_the_wire("an app, which the server has")
        name = os.environ.get("MEMORANDA_SCOPE") if name is None else name
        scope = None if name is None else check_scope(name)
        actor = None if given == DEFAULT_ACTOR else parse_actor(given)
        codec: DataCodec[Any] = JsonCodec() if model is None else ModelCodec(model)
        handle = self._remote(codec, scope, actor)
        memory = handle.memory = RemoteMemory(scope or "", actor or _NOBODY, handle)
        handle.closes = self.close if closes else None
        self._identify(memory)
        return memory

    def _remote(
        self, codec: DataCodec[Any], scope: str | None, actor: ActorRef | None
    ) -> RemoteHandle[Any]:
        return RemoteHandle(
            self._server,
            codec,
            scope=scope,
            actor=None if actor is None else str(actor),
            read_only=self._is_read_only,
            identify=self._identify,
        )

    def _identify(self, memory: RemoteMemory[Any]) -> None:
        """Tell a handle whose it is, as soon as that is known."""
        if self._identity:
            memory.scope = memory.scope or self._identity["scope"]  # type: ignore[misc]
            if memory.actor is _NOBODY:
                memory.actor = parse_actor(self._identity["actor"])  # type: ignore[misc]

    # ---------------------------------------------------------- what is of no single scope

    @property
    def keys(self) -> Keys:
        """Keys are made where the database is."""
        raise not_over_the_wire("keys")

    async def scopes(self) -> list[str]:
        """A key opens one scope, and lists no others."""
        raise not_over_the_wire("the list of all scopes")

    async def exists(self, scope: str) -> bool:
        """Likewise."""
        raise not_over_the_wire(f"the scope {check_scope(scope)!r} of others")
