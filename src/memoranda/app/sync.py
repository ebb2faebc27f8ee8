"""`memoranda.open_sync` and `memoranda.connect_sync`: for code that does not await."""

from os import PathLike
from types import TracebackType
from typing import Any, Generic

from typing_extensions import TypeVar, Unpack

from memoranda.app.blocking import BlockingDatabase, BlockingMemory
from memoranda.app.database import DEFAULT_ACTOR, Opening, connect, open
from memoranda.app.options import App, ConnectOptions
from memoranda.app.portal import PORTAL
from memoranda.kernel.actors import ActorRef

T = TypeVar("T", default=Any)


def connect_sync(
    url: str | PathLike[str] | None = None, **options: Unpack[ConnectOptions]
) -> BlockingDatabase:
    """The blocking twin of `connect`; the database is open when this returns."""
    database = BlockingDatabase(connect(url, **options))
    return database.__enter__()


class BlockingOpening(Generic[T]):
    """A database that is opened for one handle, with ``with``.

    It is no generator: one that is dropped would leave its block, and close the database under
    whoever still has the handle.
    """

    def __init__(self, opening: Opening[T]) -> None:
        self._opening = opening

    def __enter__(self) -> BlockingMemory[T]:
        return BlockingMemory(PORTAL.call(self._opening.__aenter__()))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        PORTAL.call(self._opening.__aexit__(kind, error, traceback))


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
