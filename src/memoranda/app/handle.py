"""What stands behind a `Memory`: its scope is opened, and its parts are made, when it is used."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, cast

from typing_extensions import TypeVar

from memoranda.app.connected import Connected
from memoranda.app.options import App, Provider
from memoranda.app.parts import Parts, records_on
from memoranda.journeys.govern.soundness import damage_of
from memoranda.journeys.records.codec import DataCodec
from memoranda.journeys.records.store import Records
from memoranda.kernel.access import WriterTrust
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import (
    CapabilityMissing,
    InvalidOption,
    MemorandaError,
    StoreClosed,
)
from memoranda.recall.provider import NEEDED, MemoryProvider, OfHandle, checked_provider
from memoranda.stores.dictionary import DictDatabase

if TYPE_CHECKING:
    from memoranda.app.memory import Memory
    from memoranda.journeys.maintain.schedule import Maintenance
    from memoranda.journeys.turn.sessions import Plan
    from memoranda.plans.models import Model

T = TypeVar("T", default=Any)
R = TypeVar("R")
P = ParamSpec("P")
V = TypeVar("V", bound="Verbs[Any]")


class Handle(Generic[T]):
    """One actor's access to one scope of an open database; making it reads nothing."""

    memory: "Memory[T]"
    """The public handle, for a provider that recalls through it."""

    def __init__(
        self,
        database: Connected,
        scope: str,
        actor: ActorRef,
        codec: DataCodec[T],
        app: App[T],
        *,
        closes: bool,
        trust: WriterTrust = "unreviewed",
    ) -> None:
        self._trust: WriterTrust = trust
        self._database = database
        self._scope = scope
        self._actor = actor
        self._codec = codec
        self._app = app
        self._closes = closes
        self._provider = _checked(app.provider)
        self._has_ended = False
        self.ready_in: asyncio.AbstractEventLoop | None = None
        """The loop in which it was found ready, and may be used; None once it has ended."""

    @cached_property
    def parts(self) -> Parts[T]:
        """The journeys that the verbs call.

        CapabilityMissing for ``dict://``, which has records and no journal; StoreClosed once the
        database is closed.
        """
        scoped = self._database.scoped(self._scope)
        if scoped is None:
            raise CapabilityMissing("governed memory")
        given = (self._actor, self._codec, self._app, self._provider, self._trust)
        parts = Parts(self._database, scoped, *given)
        self._database.keep(self)
        if isinstance(self._provider, OfHandle):
            self.parts = parts  # a provider may be made of what the handle has
            self._provider.given(self.memory)
        return parts

    @cached_property
    def records(self) -> Records[T]:
        """The memory store of the scope, or the one that the app was given."""
        database = self._database.opened
        if not isinstance(database, DictDatabase):
            return self.parts.records
        if self._app.memory_policy is not None:
            raise CapabilityMissing("approval of operations on memory (memory_policy=)")
        self._database.keep(self)
        table, clockwork = database.records(self._scope), self._database.clockwork
        return records_on(table, self._app, self._codec, self._actor, clockwork)

    async def open(self) -> None:
        """Open the scope now, so that what is wrong with it is said now."""
        if isinstance(self._database.opened, DictDatabase):
            _ = self.records
        else:
            await self.ready()

    async def ready(self) -> Parts[T]:
        """The journeys, once the scope is opened."""
        if self._has_ended:
            raise StoreClosed
        self._database.check_loop()
        parts = self.parts
        if not parts.scoped.is_ready:
            await parts.scoped.ready()
        self.ready_in = asyncio.get_running_loop()
        return parts

    @property
    def model(self) -> "Model":
        """The model that answers turns; CapabilityMissing where the app has none."""
        if self._app.model is None:
            raise CapabilityMissing("turns, for which an app has a model (App(model=…))")
        return self._app.model

    @property
    def plan(self) -> "Plan":
        """The plan that turns go through: the app's, or the chat that memoranda brings along."""
        if self._app.plan is None:
            from memoranda.outside.profiles import chat_profile  # noqa: PLC0415 - rarely needed

            return chat_profile()
        return self._app.plan

    @property
    def scope(self) -> str:
        """The scope that it is on."""
        return self._scope

    @property
    def has_own_store(self) -> bool:
        """Whether its app was given a store of its own."""
        return self._app.store is not None

    async def maintenance(self) -> "Maintenance":
        """What maintains its scope, once that is opened."""
        return (await self.ready()).maintenance

    async def end(self) -> None:
        """Wait for what runs in the background, and refuse everything from now on."""
        if "parts" in vars(self):
            await self.parts.close()  # what runs in the background may still use the handle
        self._has_ended, self.ready_in = True, None
        if "records" in vars(self):
            self.records.close()

    async def close(self) -> None:
        """Close the database, if it was opened for this handle alone."""
        if self._closes:
            await self._database.close()


class Verbs(Generic[T]):
    """Verbs of a handle: the handle itself, or a group of it."""

    def __init__(self, handle: Handle[T]) -> None:
        self._handle = handle


def verb(
    method: Callable[Concatenate[V, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[V, P], Coroutine[Any, Any, R]]:
    """A verb: its scope is opened first, and damage that it meets is logged (GOV-BREAK)."""

    @wraps(method)
    async def called(self: V, /, *given: P.args, **named: P.kwargs) -> R:
        handle = self._handle
        if handle.ready_in is not asyncio.get_running_loop():
            await handle.ready()
        try:
            return await method(self, *given, **named)
        except MemorandaError as failed:
            if damage_of(failed) is not None:
                await handle.parts.scoped.conformance.note(failed)
            raise

    return called


def _checked(given: Provider | None) -> MemoryProvider[Any] | None:
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
