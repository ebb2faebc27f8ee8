"""How a SQLite file is written: one unit after the other, several to a commit.

A unit of work is a plain function, run whole between BEGIN IMMEDIATE and COMMIT. A caller only
awaits its result: when it is cancelled, the unit still lands whole or not at all, and no
transaction is left open. Units that are waiting share one commit, and units of the same kind may
share their statements. When one of a group fails, the group is rolled back and run again one by
one, each in a savepoint, so that it fails alone: a unit may run twice, and must depend on nothing
but the database.

A thread does this, so that the event loop does not wait for a disk. But to wake a thread and to be
woken by it takes as long as a short commit. So units that come in one turn of the loop are
gathered, and one that is short and alone runs on the loop's own thread, if the writer's thread has
nothing to do, nobody else holds the file, and commits have been quick lately.

Where another process holds the lock for too long, everybody who waits by then fails together:
to try once more for each of them would take as many times as long.

When nobody writes, the thread does what is left to it as spare time. If that becomes too much, it
is done between commits as well, for up to half as long as they take. It also tends the
write-ahead log (`wal`).
"""

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from math import inf
from operator import attrgetter
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import perf_counter
from typing import Any, Final, Protocol, TypeVar

import apsw

from memoranda.kernel.errors import StoreClosed, StoreFailed, StoreUnavailable
from memoranda.stores.sqlite.connection import explained, let_go
from memoranda.stores.sqlite.wal import WriteAheadLog

A = TypeVar("A")
R = TypeVar("R")

MAX_GROUP: Final = 256

IDLE_S: Final = 0.05
"""How long nobody must have written until time is spare."""

SLOW_S: Final = 0.003
"""A commit that takes longer must not hold up the event loop again soon."""

REST_S: Final = 1.0
"""For how long after such a commit every unit goes to the thread."""

AGAIN_S: Final = 1.0
"""How long it takes until a log is tried again that somebody still reads."""

_SHARE: Final = 0.5

log = logging.getLogger("memoranda.sqlite")


@dataclass(slots=True, eq=False)
class _Unit:
    work: Callable[[apsw.Connection, Sequence[Any]], Sequence[Any]]
    argument: Any
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"
    is_short: bool = False
    result: Any = None
    error: BaseException | None = None


class SpareTime(Protocol):
    """What is left for when nobody waits."""

    @property
    def is_due(self) -> bool:
        """Whether there is something to do once nobody waits."""
        ...

    @property
    def is_pressing(self) -> bool:
        """Whether there is so much to do that it is done although somebody may wait."""
        ...

    def use(self, connection: apsw.Connection, is_wanted: Callable[[], bool]) -> None:
        """Do some of it, in transactions of its own; give up at once when the writer is wanted."""
        ...

    def catch_up(self, connection: apsw.Connection, is_wanted: Callable[[], bool]) -> None:
        """The same for what is pressing, although somebody may wait."""
        ...

    def finish(self, connection: apsw.Connection) -> None:
        """Do all of it, before the connection is closed."""
        ...

    def give_up(self) -> None:
        """It could not be done now."""
        ...


class SqliteWriter:
    """Runs units of work one after the other, several to a commit."""

    def __init__(
        self,
        connection: apsw.Connection,
        database: str,
        *,
        reconnect: Callable[[], apsw.Connection],
        spare_time: SpareTime | None = None,
    ) -> None:
        self._connection: apsw.Connection | None = None
        self._spare_time = spare_time
        self._owed_s = 0.0
        self._reconnect = reconnect
        self._database = database
        self._log = WriteAheadLog(connection.filename, reconnect)
        self._use(connection)
        self._gathered: dict[asyncio.AbstractEventLoop, list[_Unit]] = {}
        """What came in this turn of a loop, and is neither run nor in the queue yet."""
        self._gate = Lock()
        """Held to gather units, or to take what was gathered."""
        self._queue: SimpleQueue[list[_Unit] | None] = SimpleQueue()
        """What the thread is to run; None ends it, and an empty list only wakes it."""
        self._turn = Lock()
        """Held by whoever uses the connection."""
        self._is_asleep = False
        self._written_at = perf_counter()
        self._rests_until = 0.0
        self._process = os.getpid()
        self._is_open = True
        self._is_drained = False
        self._thread = Thread(target=self._run, name="memoranda-writer", daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[apsw.Connection], R]) -> R:
        """Run one unit of work in a transaction; its result once the commit is durable."""
        return await self.join(_each, work)

    async def join(
        self,
        work: Callable[[apsw.Connection, Sequence[A]], Sequence[R]],
        argument: A,
        *,
        is_short: bool = False,
    ) -> R:
        """Run a unit that units of the same work may join: one call with all their arguments.

        One that `is_short` may run on the thread of the caller.
        """
        if self._process != os.getpid():
            why = "it was opened before a fork; open it anew in the new process"
            raise StoreUnavailable(self._database, why)
        loop = asyncio.get_running_loop()
        # Cancelling the caller cancels this future, which is a mailbox and nothing more.
        future: asyncio.Future[R] = loop.create_future()
        with self._gate:
            if not self._is_open:
                raise StoreClosed
            if loop not in self._gathered:
                self._gathered[loop] = []
                loop.call_soon(self._begin, loop)
            self._gathered[loop].append(_Unit(work, argument, loop, future, is_short))
        return await future

    def close(self) -> None:
        """Finish what came before, then close the connection. Blocks until that is done."""
        with self._gate:
            if not self._is_open:
                return
            self._is_open = False
            for units in self._gathered.values():
                self._queue.put(units)
            self._gathered.clear()
            self._queue.put(None)
        self._thread.join()

    # ---------------------------------------------------------------- on the event loop

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run what came in this turn of a loop here, or hand it to the thread."""
        with self._gate:
            units = self._gathered.pop(loop, [])
            # Only what is short and alone, while nobody else is at work: then it is our turn.
            if not (
                len(units) == 1
                and units[0].is_short
                and self._rests_until < perf_counter()
                and self._queue.empty()
                and self._turn.acquire(blocking=False)
            ):
                if units:
                    self._queue.put(units)
                return
        try:
            self._run_here(units)
        finally:
            self._turn.release()

    def _run_here(self, units: list[_Unit]) -> None:
        started = perf_counter()
        connection = self._connection
        try:
            if connection is None or not _begins_at_once(connection, self._busy_ms):
                self._queue.put(units)  # to wait is for the thread
                return
            self._commit(connection, units, started)
        except BaseException as error:
            self._fail(units, error)
            _settle(units)
            if not isinstance(error, Exception):
                raise
        else:
            _settle(units)
        if self._written_at - started > SLOW_S:
            self._rests_until = self._written_at + REST_S
        spare_time = self._spare_time
        if self._is_urgent or (self._is_asleep and spare_time is not None and spare_time.is_due):
            self._is_asleep = False
            self._queue.put([])

    # ------------------------------------------------------------------ on the thread

    def _run(self) -> None:
        while not self._is_drained:
            group: list[_Unit] = []
            self._take_first(group)
            with self._turn:
                if group:
                    try:
                        self._transaction(group)
                    except BaseException as error:  # noqa: BLE001 - a thread that dies would hang everyone
                        self._fail(group, error)
                    _deliver(group)
                if self._is_urgent:
                    self._catch_up()
        with self._turn:
            if self._spare_time is not None and self._connection is not None:
                self._try(self._spare_time.finish)
            self._log.close()
            self._let_go()

    def _transaction(self, group: list[_Unit]) -> None:
        """Run units and whatever else is waiting, and commit them together."""
        started = perf_counter()
        connection = self._connected()
        try:
            connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            self._take_waiting(group, inf)
            raise
        self._commit(connection, group, started)

    def _commit(self, connection: apsw.Connection, group: list[_Unit], started: float) -> None:
        """Run a group, and who joins it, in the transaction that was begun since it started."""
        done = 0
        try:
            while done < len(group):
                taken, done = group[done:], len(group)
                for work, units in groupby(taken, key=attrgetter("work")):
                    _run_together(connection, work, list(units))
                if not self._queue.empty():
                    self._take_waiting(group)
        except BaseException as error:
            if not connection.in_transaction:
                raise  # SQLite itself gave up the whole transaction: full disk, I/O error
            connection.execute("ROLLBACK")
            self._one_by_one(connection, group, error)
        else:
            connection.execute("COMMIT")
        self._written_at = perf_counter()
        self._owed_s += _SHARE * (self._written_at - started)

    @property
    def _is_urgent(self) -> bool:
        """Whether something is to be done although somebody may wait."""
        return self._log.is_due or (
            self._spare_time is not None and self._spare_time.is_pressing and self._owed_s > 0
        )

    def _catch_up(self) -> None:
        if self._log.is_due and self._connection is not None:
            self._try(self._log.tend)
        if self._spare_time is not None and self._spare_time.is_pressing and self._owed_s > 0:
            started = perf_counter()
            catch_up = self._spare_time.catch_up
            self._try(lambda connection: catch_up(connection, _never))
            self._owed_s = min(self._owed_s - (perf_counter() - started), 0.0)

    def _take_first(self, group: list[_Unit]) -> None:
        """Wait for a unit, or to be woken, and use the time if it is long."""
        idle_s = IDLE_S
        while not self._falls_asleep():
            quiet_s = perf_counter() - self._written_at
            try:
                self._take(group, timeout=max(idle_s - quiet_s, 0.001))
            except Empty:
                if perf_counter() - self._written_at < idle_s:
                    continue  # somebody wrote on the event loop
                with self._turn:
                    while self._is_due and self._queue.empty():
                        self._use_spare_time()
                    if self._log.is_long:
                        self._try(self._log.shorten)
                        idle_s = perf_counter() - self._written_at + AGAIN_S
            else:
                return
        self._take(group)
        self._is_asleep = False

    def _falls_asleep(self) -> bool:
        """Say so before looking: who leaves something to spare time wakes only who sleeps."""
        self._is_asleep = True
        self._is_asleep = not (self._is_due or self._log.is_long)
        return self._is_asleep

    @property
    def _is_due(self) -> bool:
        return self._spare_time is not None and self._spare_time.is_due

    def _is_wanted(self) -> bool:
        return not self._queue.empty()

    def _use_spare_time(self) -> None:
        assert self._spare_time is not None  # noqa: S101 - it is due, so it is there
        use = self._spare_time.use
        self._try(lambda connection: use(connection, self._is_wanted))

    def _try(self, work: Callable[[apsw.Connection], None]) -> None:
        """Do what nobody waits for; if it fails, that is a line in the log."""
        try:
            work(self._connected())
        except BaseException as error:  # noqa: BLE001 - a thread that dies would hang everyone
            log.warning("could not use spare time for %s: %r", self._database, error)
            self._fail([], error)
            if self._spare_time is not None:
                self._spare_time.give_up()

    def _take(self, group: list[_Unit], *, timeout: float | None = None) -> None:
        units = self._queue.get(timeout=timeout)
        if units is None:
            self._is_drained = True
        else:
            group += units

    def _take_waiting(self, group: list[_Unit], most: float = MAX_GROUP) -> None:
        while len(group) < most and not self._queue.empty():
            self._take(group)

    def _one_by_one(
        self, connection: apsw.Connection, group: list[_Unit], error: BaseException
    ) -> None:
        if len(group) == 1:
            group[0].error = self._failure(error)
            return
        connection.execute("BEGIN IMMEDIATE")
        for unit in group:
            connection.execute("SAVEPOINT unit")
            try:
                _run_together(connection, unit.work, [unit])
            except BaseException as own:
                if not connection.in_transaction:
                    raise
                connection.execute("ROLLBACK TO unit")
                unit.error = self._failure(own)
            connection.execute("RELEASE unit")
        connection.execute("COMMIT")

    def _failure(self, error: BaseException) -> Exception:
        """The error that a caller gets. What would end a program ends at most a unit here."""
        if isinstance(error, apsw.Error):
            return explained(error, self._database)
        if isinstance(error, Exception):
            return error
        return StoreFailed(self._database, f"the call raised {error!r} on the writer's thread")

    def _fail(self, group: list[_Unit], error: BaseException) -> None:
        """Nothing of this group has landed, as far as can be known: tell all of them."""
        failure = self._failure(error)
        for unit in group:
            unit.error = unit.error or failure
        connection = self._connection
        if connection is not None and connection.in_transaction:
            with suppress(apsw.Error):  # a connection that can't even roll back is let go below
                connection.execute("ROLLBACK")
        if isinstance(failure, StoreFailed):
            # After a failed write or fsync this connection's view can't be trusted.
            log.error("will reopen %s after: %s", self._database, error)
            self._let_go()

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            let_go(connection)  # a commit was done, or refused

    def _connected(self) -> apsw.Connection:
        if self._connection is None:
            self._use(self._reconnect())
        assert self._connection is not None  # noqa: S101 - it is in use now
        return self._connection

    def _use(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._busy_ms = int(connection.pragma("busy_timeout"))
        self._log.watch(connection)


def _begins_at_once(connection: apsw.Connection, busy_ms: int) -> bool:
    """Begin a transaction, unless somebody else is in one; the connection waits as before."""
    connection.set_busy_timeout(0)
    try:
        connection.execute("BEGIN IMMEDIATE")
    except apsw.BusyError:
        return False
    finally:
        connection.set_busy_timeout(busy_ms)
    return True


def _never() -> bool:
    return False


def _each(connection: apsw.Connection, works: Sequence[Callable[[apsw.Connection], R]]) -> list[R]:
    return [work(connection) for work in works]


def _run_together(connection: apsw.Connection, work: Any, units: Sequence[_Unit]) -> None:
    results = work(connection, [unit.argument for unit in units])
    for unit, result in zip(units, results, strict=True):
        unit.result = result


def _deliver(group: list[_Unit]) -> None:
    for loop in {unit.loop for unit in group}:
        mine = [unit for unit in group if unit.loop is loop]
        try:
            loop.call_soon_threadsafe(_settle, mine)
        except RuntimeError:
            log.warning("%d callers had left before their writes were done", len(mine))


def _settle(units: list[_Unit]) -> None:
    for unit in units:
        if unit.future.done():
            continue
        if unit.error is None:
            unit.future.set_result(unit.result)
        else:
            unit.future.set_exception(unit.error)
