"""Databases by URL, shared by all handles of one event loop."""

import asyncio
import os
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from os import PathLike, fsdecode, fsencode, fspath
from pathlib import Path
from typing import Literal, Protocol
from urllib.parse import quote, unquote_to_bytes
from weakref import WeakKeyDictionary

from memoranda.journeys.govern.table import FilteredLedger
from memoranda.kernel.clock import Clock, SystemClock
from memoranda.kernel.errors import CapabilityMissing, DependencyMissing, InvalidUrl
from memoranda.kernel.json import storable
from memoranda.ledger.anchor import Journals
from memoranda.ledger.codec import PLAIN, BodyCodec
from memoranda.ledger.lease import DueJob
from memoranda.ledger.port import Adoption
from memoranda.plans.items import ItemStore
from memoranda.stores.access import AsksDatabase
from memoranda.stores.dictionary import DictDatabase
from memoranda.stores.sqlite.connection import MEMORY
from memoranda.stores.sqlite.database import SqliteDatabase

# ------------------------------------------------------------------------------------------------
# Database URLs: which store, and where.

StoreKind = Literal["dict", "sqlite", "postgresql", "server"]


@dataclass(frozen=True, slots=True)
class DatabaseUrl:
    """A database by kind and place: a path for SQLite, the URL itself for PostgreSQL."""

    kind: StoreKind
    place: str

    @property
    def is_private(self) -> bool:
        """Whether each opening is a database of its own, which ends when it is closed."""
        return self.kind == "dict" or (self.kind == "sqlite" and self.place == MEMORY)


def url_of(given: str | PathLike[str]) -> str:
    """The URL that was given; for a path, that of a SQLite file. InvalidUrl for neither."""
    if isinstance(given, PathLike) and isinstance(path := fspath(given), str):
        return f"sqlite:///{_quoted(path)}"
    if not isinstance(given, str) or not given or not storable(given):
        raise InvalidUrl("…", "it is neither a URL nor a path")
    if "://" in given:
        return given
    if "@" in given or "=" in given or given.lower().startswith("postgres"):
        # What it is nobody knows, so it is not repeated: it might hold a password.
        raise InvalidUrl("…", "it is neither a URL nor the path of a file")
    return f"sqlite:///{_quoted(given)}"


def parse_url(url: str | PathLike[str]) -> DatabaseUrl:
    """What a URL or a path names; InvalidUrl, with the forms that are understood, otherwise."""
    url = url_of(url)
    scheme, _, rest = url.partition("://")
    match scheme.lower():
        case "dict" if not rest:
            return DatabaseUrl("dict", "")
        case "dict":
            raise InvalidUrl(hidden(url), "dict:// takes no path: it is always in memory")
        case "sqlite":
            return DatabaseUrl("sqlite", _sqlite_path(url, rest))
        case "postgresql" | "postgres":
            return DatabaseUrl("postgresql", "postgresql://" + rest)
        case "http" | "https":
            return DatabaseUrl("server", url)
        case _:
            raise InvalidUrl(hidden(url), f"there is no store called {scheme!r}")


def is_server(url: str) -> bool:
    """Whether a URL names a server, and no database."""
    return parse_url(url).kind == "server"


def file_of(url: str) -> str | None:
    """The database's own file; None where it has none (PostgreSQL), or a private one."""
    named = parse_url(url)
    return None if named.kind != "sqlite" or named.is_private else named.place


def file_url(path: str | Path) -> str:
    """The URL of a SQLite file, whatever characters its name has."""
    return f"sqlite:///{_quoted(str(Path(path).absolute()))}"


def _quoted(path: str) -> str:
    """The path as a part of a URL."""
    try:
        return quote(fsencode(path))
    except UnicodeEncodeError:
        raise InvalidUrl("…", "no file can have this name") from None


def hidden(url: str) -> str:
    """The URL as far as it can hold no password, for messages: no user, no options."""
    scheme, _, rest = url.partition("://")
    place = rest.partition("?")[0].partition("#")[0].rpartition("@")
    return f"{scheme}://{'…@' if place[1] else ''}{place[2]}"


def _sqlite_path(url: str, rest: str) -> str:
    if rest == MEMORY:
        return rest
    if not rest.startswith("/"):
        raise InvalidUrl(hidden(url), "a file has three slashes, as in sqlite:///memory.db")
    if "?" in rest or "#" in rest:
        raise InvalidUrl(hidden(url), "a file takes no options (write ? as %3F and # as %23)")
    path = fsdecode(unquote_to_bytes(rest[1:]))
    if not path or "\x00" in path:
        raise InvalidUrl(hidden(url), "it names no file")
    if not storable(path):
        raise InvalidUrl("…", "the name of the file is not UTF-8; SQLite takes no other")
    return path


# ------------------------------------------------------------------------------------------------
# Databases by URL, shared by all handles of one event loop.
#
# Two handles on one file, say of two scopes, have one writer between them: their writes share
# commits instead of waiting for each other's locks.


class LedgerDatabase(Journals, AsksDatabase, Protocol):
    """A database that keeps governed memory."""

    async def ledger(self, scope: str, origin: str, now: int) -> FilteredLedger:
        """The ledger of one scope; a scope that is new gets a journal of this origin."""
        ...

    async def existing(self, scope: str) -> FilteredLedger | None:
        """The ledger of one scope; None if it has no journal, and none is made."""
        ...

    async def items(self, scope: str, session_ref: str) -> ItemStore:
        """The items of one session; ScopeNotFound if nothing was written to its scope."""
        ...

    def adoption(self, scope: str, origin: str, now: int) -> AbstractAsyncContextManager[Adoption]:
        """Takes over the journal of this scope from another database."""
        ...

    async def journals(self) -> dict[str, str]:
        """The origin of every journal, by scope; that of the directory is under no name."""
        ...

    async def scopes(self) -> list[str]:
        """Every scope that was ever written to here, sorted."""
        ...

    async def due_jobs(self, names: Collection[str], now: int, limit: int) -> list[DueJob]:
        """Jobs of these names that are due by then and that nobody holds, in all scopes."""
        ...

    async def upgrade(self) -> Sequence[str]:
        """Bring the schema up to date, as the first write does; which migrations were applied."""
        ...

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    async def close(self) -> None:
        """Finish what is under way, then let go."""
        ...


Database = LedgerDatabase | DictDatabase


@dataclass(eq=False, slots=True)
class Share:
    """A database that is open, and how many handles use it."""

    key: "Key"
    bodies: BodyCodec
    opening: "asyncio.Task[Database]"
    creates: bool
    holders: int = 0


Key = tuple[DatabaseUrl, int, bool]
"""What handles share: a database as one codec reads it, and whether it is only read. The share
keeps its codec, so that no other can have the same id."""

_shares: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Key, Share]] = WeakKeyDictionary()


_closing: set["asyncio.Task[None]"] = set()


async def acquire(
    url: str,
    clock: Clock,
    *,
    create: bool = True,
    read_only: bool = False,
    bodies: BodyCodec = PLAIN,
) -> tuple[Database, Share]:
    """The database behind a URL, opened if this event loop has not opened it yet.

    Without `create` it must be there already. With `read_only` it must, too, and nothing is ever
    written to it. `bodies` says how bodies are stored.
    """
    named = _resolved(parse_url(url))
    key = (named, id(bodies), read_only)
    loop = asyncio.get_running_loop()
    opened = _shares.setdefault(loop, {})
    share = None if named.is_private else opened.get(key)
    if share is not None and create and not share.creates and not share.opening.done():
        share = None  # it may be about to find that there is no database, and this caller makes one
    if share is None:
        opening = loop.create_task(
            _open(named, clock.now_ms(), create=create, read_only=read_only, bodies=bodies)
        )
        share = Share(key, bodies, opening, creates=create)
        if not named.is_private:
            opened[key] = share
    share.holders += 1
    try:
        return await asyncio.shield(share.opening), share
    except BaseException:
        await release(share)
        raise


@asynccontextmanager
async def journals_at(
    url: str, *, create: bool = True, read_only: bool = False, bodies: BodyCodec = PLAIN
) -> AsyncIterator[LedgerDatabase]:
    """The database behind a URL, inside a block; CapabilityMissing for one without journals."""
    clock = SystemClock()
    database, share = await acquire(url, clock, create=create, read_only=read_only, bodies=bodies)
    try:
        if isinstance(database, DictDatabase):
            raise CapabilityMissing("a journal")
        yield database
    finally:
        await release(share)


async def release(share: Share) -> None:
    """Give a database back; the last one to do so closes it, also when it is cancelled."""
    share.holders -= 1
    if share.holders:
        return
    loop = asyncio.get_running_loop()
    opened = _shares.get(loop, {})
    if opened.get(share.key) is share:
        del opened[share.key]
    closing = loop.create_task(_close(share))
    _closing.add(closing)  # the loop itself keeps no task alive
    closing.add_done_callback(_closing.discard)
    try:
        await asyncio.shield(closing)
    except asyncio.CancelledError:
        await asyncio.wait({closing})
        raise


async def _close(share: Share) -> None:
    # An opening that was cancelled or failed has nothing to close, and has told its callers.
    await asyncio.wait({share.opening})
    if not share.opening.cancelled() and share.opening.exception() is None:
        await share.opening.result().close()


def _resolved(named: DatabaseUrl) -> DatabaseUrl:
    """The same file under one name, whatever folder or link it was named by."""
    if named.kind == "sqlite" and not named.is_private:
        return DatabaseUrl("sqlite", os.path.realpath(named.place))
    return named


async def _open(
    named: DatabaseUrl, now: int, *, create: bool, read_only: bool, bodies: BodyCodec
) -> Database:
    match named.kind:
        case "dict":
            if bodies is not PLAIN:
                raise CapabilityMissing("a codec for bodies")
            if read_only:
                raise CapabilityMissing("opening to read: it is new, and empty")
            return DictDatabase()
        case "sqlite":
            return await SqliteDatabase.open(
                named.place, now, create=create, read_only=read_only, bodies=bodies
            )
        case "server":
            raise CapabilityMissing("the database itself: name that, and not a server of it")
        case "postgresql":
            try:
                from memoranda.stores.postgres.database import (  # noqa: PLC0415 - an extra
                    PostgresDatabase,
                )
            except ModuleNotFoundError as missing:
                if (missing.name or "").partition(".")[0] != "psycopg":
                    raise
                raise DependencyMissing(str(missing.name), "postgres") from missing
            return await PostgresDatabase.open(
                named.place, now, create=create, read_only=read_only, bodies=bodies
            )
