"""One connection: opening it with the settings that our promises rest on, and a call on it."""

import asyncio
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from psycopg import AsyncConnection, generators, waiting
from psycopg.adapt import PyFormat, Transformer
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGresult

from memoranda.kernel.errors import (
    InvalidUrl,
    MemorandaError,
    SchemaTooOld,
    StoreFailed,
    StoreReadOnly,
    StoreUnavailable,
)
from memoranda.stores.postgres.arrays import register

# ------------------------------------------------------------------------------------------------
# Where a PostgreSQL database is, and how it is called in messages: never with its password.

CONNECT_S: Final = 5

# What a URL may set otherwise. A server that went silent is noticed within half a minute:
# TCP itself would wait for hours.
_DEFAULTS: Final[dict[str, str | int | None]] = {
    "connect_timeout": CONNECT_S,
    "fallback_application_name": "memoranda",
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
_QUOTING: Final = "write @ / ? # % in a user or a password as %40 %2F %3F %23 %25"


@dataclass(frozen=True, slots=True)
class Address:
    """What libpq is given, and a name for people."""

    conninfo: str = field(repr=False)
    name: str


def parse_address(url: str) -> Address:
    """The address in a URL; InvalidUrl, which repeats nothing of it, if it can't be read.

    A password with a bare @ or / in it shifts what follows, so that a piece of it would be taken
    for a host, a port or a database, and be shown as one: refused.
    """
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:
        raise _unreadable() from None
    where = str(given.get("host") or given.get("hostaddr") or "localhost")
    database = str(given.get("dbname") or "the default database")
    ports = str(given.get("port") or "").split(",")
    is_shifted = "@" in where or ("@" in database and "%40" not in url)
    if is_shifted or not all(port.isdecimal() for port in ports if port):
        raise _unreadable()
    conninfo = make_conninfo("", **(_DEFAULTS | given | {"client_encoding": "UTF8"}))
    return Address(conninfo, f"{database} at {where}")


def _unreadable() -> InvalidUrl:
    return InvalidUrl("postgresql://…", f"it can't be read; check its options, and {_QUOTING}")


# ------------------------------------------------------------------------------------------------
# What PostgreSQL's errors mean, in plain words and with what to do about them.

# libpq has no codes for a connection that was refused, only words. They are English where the
# server's lc_messages is; the server's own words are shown otherwise.
_REFUSALS: Final = (
    ("no password supplied", "it wants a password; put one into the URL, PGPASSWORD or ~/.pgpass"),
    ("authentication failed", "the user or the password is wrong; check both"),
    ("no pg_hba.conf entry", "the server lets nobody in from here this way; see its pg_hba.conf"),
    ("the database system is", "the server is starting or stopping; retry in a moment"),
    ("server closed the connection", "the server closed the connection; see its log, then retry"),
    ("too many clients", "the server has no connection left; raise max_connections, or use fewer"),
    ("remaining connection slots", "the server has no connection left; raise max_connections"),
    ("server does not support SSL", "it offers no TLS; set it up there, or choose another sslmode"),
    ("certificate", "its TLS certificate is not trusted; check sslmode and sslrootcert"),
    ("SSL", "the TLS connection failed; check sslmode and the certificates"),
    ("could not translate host name", "there is no such host; check the name"),
    ("failed to resolve host", "there is no such host; check the name"),
    ("Connection refused", "no server listens there; start it, or check host and port"),
    ("No such file or directory", "no server listens there; start it, or check host and port"),
    ("timeout", f"no answer within {CONNECT_S} s; check host, port and firewall"),
)
_MISSING: Final = (
    ("database", "there is no such database; make it first, with: createdb"),
    ("role", "there is no such role; make it first, as docs/postgres.md shows"),
)


@contextmanager
def plain_errors(database: str, *, writes: bool = False) -> Iterator[None]:
    """Whatever PostgreSQL raises inside becomes an error of ours, with what to do about it.

    When the connection is lost during a write nobody knows whether it landed: StoreFailed.
    """
    try:
        yield
    except psycopg.Error as error:
        raise explained(error, database, writes=writes) from error


def explained(error: psycopg.Error, database: str, *, writes: bool) -> MemorandaError:
    """The error of ours for an error of a connection that was open."""
    said = _lines(error)[0]
    match error.sqlstate or "":
        case "55P03":
            return StoreUnavailable(database, "others have been writing it for too long; retry")
        case "57014" | "40P01" | "40001":
            return StoreUnavailable(database, f"the call was stopped ({said}); retry")
        case "25006":
            return StoreReadOnly(
                database, "the server is read-only; name the primary, not a replica"
            )
        case "42501":
            why = f"the role lacks a right ({said}); grant what docs/postgres.md lists"
            return StoreUnavailable(database, why)
        case "42P01" | "42703" | "42883":  # no such table, column, function
            return SchemaTooOld(database, said)
        case "53100":
            return StoreFailed(database, "the server's disk is full; make room")
        case "" | "57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "08000" | "08003" | "08006":
            why = f"the connection was lost ({said})"
            return StoreFailed(database, why) if writes else StoreUnavailable(database, why)
        case _:
            return StoreFailed(database, said)


def refused(error: psycopg.Error, database: str) -> StoreUnavailable:
    """The error of ours for a connection that could not be opened."""
    said = str(error)
    for what, advice in _MISSING:
        if f'{what} "' in said and "does not exist" in said:
            return StoreUnavailable(database, advice)
    for words, advice in _REFUSALS:
        if words in said:
            return StoreUnavailable(database, advice)
    return StoreUnavailable(database, _lines(error)[-1])


def _lines(error: psycopg.Error) -> list[str]:
    """What the server said, or libpq; not the details, which repeat data and SQL."""
    said = error.diag.message_primary or str(error)
    return [line.strip().rstrip(".") for line in said.splitlines()] or [type(error).__name__]


Connection: TypeAlias = AsyncConnection[tuple[Any, ...]]

BUSY_MS: Final = 5_000

# 1. nothing but the server's own functions and operators is found without a schema's name
# 2. what a call sees after it waited for a lock is what was committed meanwhile
# 3. a write that was acknowledged is on disk, whatever the role's or the database's default says
# 4. nobody waits for a lock for ever
# 5. no query is compiled: that takes longer than most of ours take to run
# 6. one plan for all values, made once: the walk along an index that each statement is written
#    for. Left to its estimates, the planner would plan anew for each call, keep what it planned
#    while a table was empty, and for some tags read and sort the whole table
_SETTINGS: Final = f"""
SELECT set_config('search_path', '', false),
       set_config('default_transaction_isolation', 'read committed', false),
       CASE current_setting('synchronous_commit') WHEN 'off'
         THEN set_config('synchronous_commit', 'on', false) END,
       set_config('lock_timeout', '{BUSY_MS}', false),
       set_config('jit', 'off', false),
       set_config('plan_cache_mode', 'force_generic_plan', false),
       set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false),
       set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false)
"""


_READ_ONLY: Final = "SELECT set_config('default_transaction_read_only', 'on', false)"


async def connect(address: Address, *, read_only: bool = False) -> Connection:
    """A connection where each statement outside BEGIN is a transaction of its own."""
    try:
        connection = await AsyncConnection.connect(address.conninfo, autocommit=True)
    except psycopg.Error as error:
        raise refused(error, address.name) from error
    register(connection)
    try:
        with plain_errors(address.name):
            await connection.execute(_SETTINGS)
            if read_only:
                await connection.execute(_READ_ONLY)
    except BaseException:
        await connection.close()
        raise
    return connection


# ------------------------------------------------------------------------------------------------
# A call: one statement, prepared once on each connection, whose rows come back in binary form.
#
# A cursor of psycopg looks at the statement and chooses how to send each parameter anew each time;
# that, and its way to wait, is half of the client's time in a short call. So outside of a
# transaction a call uses the layer below: psycopg's own adaptation, generators and connection.

_CANCEL_S: Final = 5.0
_numbers: Final = count()
_Results = Generator[Any, Any, list[PGresult]]


class _Prepared:
    """A statement on one connection: its name there, and what dumps and loads its values."""

    def __init__(self, connection: Connection, statement: str) -> None:
        parts = statement.split("%s")
        self.sql = "".join(f"{part}${place}" for place, part in enumerate(parts[:-1], 1))
        self.sql += parts[-1]
        self.name = b"memoranda_%d" % next(_numbers)
        self._formats = [PyFormat.AUTO] * (len(parts) - 1)
        self._values = Transformer(connection)
        self._has_loaders = False

    def sent(self, connection: Connection, values: Sequence[object]) -> _Results:
        parameters = self._values.dump_sequence(values, self._formats)
        connection.pgconn.send_query_prepared(
            self.name, parameters, self._values.formats, Format.BINARY
        )
        results: _Results = generators.execute(connection.pgconn)
        return results

    def rows(self, result: PGresult) -> list[tuple[Any, ...]]:
        self._values.set_pgresult(result, set_loaders=not self._has_loaders)
        self._has_loaders = True
        return self._values.load_rows(0, result.ntuples, tuple)


_prepared: WeakKeyDictionary[Connection, dict[str, _Prepared]] = WeakKeyDictionary()


async def call(
    connection: Connection, statement: str, values: Sequence[object]
) -> list[tuple[Any, ...]]:
    """The rows of a statement; its values are of the very types that it takes (`Int8`, not int)."""
    if connection.pgconn.transaction_status != TransactionStatus.IDLE:
        found = await connection.execute(statement, values, prepare=True, binary=True)
        return await found.fetchall()
    known = _prepared.setdefault(connection, {})
    if statement in known:
        try:
            return await _called(connection, known[statement], values)
        except psycopg.errors.InvalidSqlStatementName:
            del known[statement]  # psycopg lets go of all that was prepared, after a rollback
    made = _Prepared(connection, statement)
    connection.pgconn.send_prepare(made.name, made.sql.encode())
    await _answer(connection, generators.execute(connection.pgconn))
    known[statement] = made
    return await _called(connection, made, values)


async def _called(
    connection: Connection, prepared: _Prepared, values: Sequence[object]
) -> list[tuple[Any, ...]]:
    return prepared.rows(await _answer(connection, prepared.sent(connection, values)))


async def _answer(connection: Connection, results: _Results) -> PGresult:
    """What the server answers; who is cancelled meanwhile stops the statement, if that works."""
    loop, socket = asyncio.get_running_loop(), connection.pgconn.socket
    try:
        ready = next(results)
        while True:
            if ready != waiting.Wait.R:  # what is sent doesn't fit into the socket's buffer
                rest = _begun(ready, results)
                return _checked(connection, await waiting.wait_async(rest, socket, _CANCEL_S))
            arrived = loop.create_future()
            loop.add_reader(socket, _wake, arrived)
            try:
                await arrived
            finally:
                loop.remove_reader(socket)
            ready = results.send(waiting.Ready.R)
    except StopIteration as ended:
        return _checked(connection, ended.value)
    except asyncio.CancelledError:
        with suppress(psycopg.Error, TimeoutError):
            await connection.cancel_safe(timeout=_CANCEL_S)
            async with asyncio.timeout(_CANCEL_S):
                await waiting.wait_async(_begun(waiting.Wait.R, results), socket, _CANCEL_S)
        raise


def _begun(ready: Any, results: _Results) -> _Results:
    """The rest of what waits for the server, from where it is."""
    try:
        while True:
            ready = results.send((yield ready))
    except StopIteration as ended:
        return list(ended.value)


def _wake(arrived: "asyncio.Future[None]") -> None:
    if not arrived.done():
        arrived.set_result(None)


def _checked(connection: Connection, results: Sequence[PGresult]) -> PGresult:
    result = results[-1]
    if result.status == ExecStatus.FATAL_ERROR:
        raise psycopg.errors.error_from_result(result, encoding=connection.info.encoding)
    return result


# ------------------------------------------------------------------------------------------------
# Work that takes long is done off the event loop, so that others have their turn.

R = TypeVar("R")

LOOP_BYTES: Final = 64 * 1024
"""How much is decoded on the loop itself: less than a change of threads is worth."""


async def off_the_loop(size: int, work: Callable[[], R]) -> R:
    return work() if size <= LOOP_BYTES else await asyncio.to_thread(work)
