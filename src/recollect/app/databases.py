"""Databases by URL, shared by all handles of one event loop.

Two handles on one file, say of two scopes, have one writer between them: their writes share
commits instead of waiting for each other's locks.
"""

import asyncio
import logging
import os
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeVar
from weakref import WeakKeyDictionary

from recollect.app.url import DatabaseUrl, parse_url
from recollect.journeys.govern.table import FilteredLedger
from recollect.journeys.maintain.adopt import PlainDatabase, adopt_plain
from recollect.kernel.clock import Clock
from recollect.kernel.errors import CapabilityMissing, DependencyMissing
from recollect.kernel.randomness import Randomness
from recollect.ledger.codec import PLAIN, BodyCodec
from recollect.ledger.unit import Adoption
from recollect.plans.items import ItemStore
from recollect.stores.dictionary import DictDatabase
from recollect.stores.sqlite.connection import MEMORY
from recollect.stores.sqlite.database import SqliteDatabase

log = logging.getLogger("recollect.databases")


class LedgerDatabase(PlainDatabase, Protocol):
    """A database that keeps governed memory."""

    async def ledger(self, scope: str, origin: str, now: int) -> FilteredLedger:
        """The ledger of one scope; a scope that is new gets a journal of this origin."""
        ...

    async def items(self, scope: str, session_ref: str) -> ItemStore:
        """The items of one session; StoreUnavailable if its scope was never opened here."""
        ...

    def adoption(self, scope: str, origin: str, now: int) -> AbstractAsyncContextManager[Adoption]:
        """Takes over the journal of this scope from another database."""
        ...

    async def journals(self) -> dict[str, str]:
        """The origin of every journal, by scope; that of the directory is under no name."""
        ...

    async def scopes(self) -> list[str]:
        """Every scope that was ever opened here, sorted."""
        ...

    async def close(self) -> None:
        """Finish what is under way, then let go."""
        ...


Database = LedgerDatabase | DictDatabase
D = TypeVar("D", bound=LedgerDatabase)


@dataclass(eq=False, slots=True)
class Lease:
    """A database that is open, and how many handles use it."""

    key: "Key"
    bodies: BodyCodec
    opening: "asyncio.Task[Database]"
    creates: bool
    holders: int = 0


Key = tuple[DatabaseUrl, int]
"""What handles share: a database as one codec reads it. The lease keeps its codec, so that no
other can have the same id."""

_leases: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Key, Lease]] = WeakKeyDictionary()


_closing: set["asyncio.Task[None]"] = set()


async def acquire(
    url: str, clock: Clock, *, create: bool = True, bodies: BodyCodec = PLAIN
) -> tuple[Database, Lease]:
    """The database behind a URL, opened if this event loop has not opened it yet.

    Without `create` it must be there already: looking at a database never makes one. `bodies`
    says how bodies are stored.
    """
    named = _resolved(parse_url(url))
    key = (named, id(bodies))
    loop = asyncio.get_running_loop()
    opened = _leases.setdefault(loop, {})
    is_private = named.kind == "dict" or named.place == MEMORY
    lease = None if is_private else opened.get(key)
    if lease is not None and create and not lease.creates and not lease.opening.done():
        lease = None  # it may be about to find that there is no database, and this caller makes one
    if lease is None:
        opening = loop.create_task(_open(named, clock.now_ms(), create=create, bodies=bodies))
        lease = Lease(key, bodies, opening, creates=create)
        if not is_private:
            opened[key] = lease
    lease.holders += 1
    try:
        return await asyncio.shield(lease.opening), lease
    except BaseException:
        await release(lease)
        raise


async def release(lease: Lease) -> None:
    """Give a database back; the last one to do so closes it, also when it is cancelled."""
    lease.holders -= 1
    if lease.holders:
        return
    loop = asyncio.get_running_loop()
    opened = _leases.get(loop, {})
    if opened.get(lease.key) is lease:
        del opened[lease.key]
    closing = loop.create_task(_close(lease))
    _closing.add(closing)  # the loop itself keeps no task alive
    closing.add_done_callback(_closing.discard)
    try:
        await asyncio.shield(closing)
    except asyncio.CancelledError:
        await asyncio.wait({closing})
        raise


async def _close(lease: Lease) -> None:
    # An opening that was cancelled or failed has nothing to close, and has told its callers.
    await asyncio.wait({lease.opening})
    if not lease.opening.cancelled() and lease.opening.exception() is None:
        await lease.opening.result().close()


def _resolved(named: DatabaseUrl) -> DatabaseUrl:
    """The same file under one name, whatever folder or link it was named by."""
    if named.kind == "sqlite" and named.place != MEMORY:
        return DatabaseUrl("sqlite", os.path.realpath(named.place))
    return named


async def _open(named: DatabaseUrl, now: int, *, create: bool, bodies: BodyCodec) -> Database:
    match named.kind:
        case "dict":
            if bodies is not PLAIN:
                raise CapabilityMissing("a codec for bodies")
            return DictDatabase()
        case "sqlite":
            file = await SqliteDatabase.open(named.place, now, create=create, bodies=bodies)
            return await _adopted(file, now)
        case "postgresql":
            try:
                from recollect.stores.postgres.database import (  # noqa: PLC0415 - an extra
                    PostgresDatabase,
                )
            except ModuleNotFoundError as missing:
                if (missing.name or "").partition(".")[0] != "psycopg":
                    raise
                raise DependencyMissing(str(missing.name), "postgres") from missing
            database = await PostgresDatabase.open(named.place, now, create=create, bodies=bodies)
            return await _adopted(database, now)


async def _adopted(database: D, now: int) -> D:
    """The database, with what it stored before there was a journal in journals."""
    try:
        adopted = await adopt_plain(database, Randomness(), now)
    except BaseException:
        await database.close()
        raise
    if adopted:
        log.warning("%d records from before there was a journal are in journals now", adopted)
    return database
