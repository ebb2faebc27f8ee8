"""`recollect.open`: a handle on one scope of one database.

A handle is opened for one scope and one actor, and can't reach another scope.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Generic

from typing_extensions import TypeVar

from recollect.app.databases import acquire, release
from recollect.kernel.actors import ActorRef, parse_actor
from recollect.kernel.clock import Clock, SystemClock
from recollect.kernel.ids import IdSource, TimeOrderedIds
from recollect.kernel.scopes import check_scope
from recollect.records.hooks import MemoryHooks
from recollect.stores.codec import DataCodec, JsonCodec, ModelCodec
from recollect.stores.records import Records

T = TypeVar("T", default=Any)

DEFAULT_URL: Final = "sqlite:///recollect.db"
DEFAULT_SCOPE: Final = "default"
DEFAULT_ACTOR: Final = "system:recollect"


@dataclass(frozen=True)
class Memory(Generic[T]):
    """A handle on one scope. `records` is its memory store."""

    scope: str
    actor: ActorRef
    records: Records[T]


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
) -> AsyncIterator[Memory[T]]:
    """Open one scope of a database, making the database if it is new.

    ``url`` and ``scope`` default to RECOLLECT_DATABASE_URL and RECOLLECT_SCOPE, then to
    ``sqlite:///recollect.db`` and ``default``. With ``model``, data goes in and comes out as that
    type; without it, data is any JSON value.
    """
    if scope is None:  # and only then: an empty one is a mistake, not a wish for the default
        scope = os.environ.get("RECOLLECT_SCOPE", DEFAULT_SCOPE)
    checked = check_scope(scope)
    who = parse_actor(actor)
    clock = clock or SystemClock()
    codec: DataCodec[Any] = JsonCodec() if model is None else ModelCodec(model)
    database, lease = await acquire(default_url(url), clock)
    try:
        table = await database.records(checked, clock.now_ms())
        ids = ids or TimeOrderedIds(clock)
        records = Records[T](table, codec=codec, actor=who, clock=clock, ids=ids, hooks=hooks)
        try:
            yield Memory(checked, who, records)
        finally:
            records.close()
    finally:
        await release(lease)


async def scopes(url: str | None = None) -> list[str]:
    """Every scope that was ever opened in a database, sorted."""
    database, lease = await acquire(default_url(url), SystemClock(), create=False)
    try:
        return await database.scopes()
    finally:
        await release(lease)
