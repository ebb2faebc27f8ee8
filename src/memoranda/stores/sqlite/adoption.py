"""Taking over a journal from another database, in one transaction on a thread of its own."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import apsw

from memoranda.kernel.errors import ScopeExists
from memoranda.ledger.attachments import Attachment
from memoranda.ledger.entry import genesis
from memoranda.ledger.snapshot import StoredRow
from memoranda.ledger.unit import StoredEntry
from memoranda.stores.attachments import landed
from memoranda.stores.shorthand import InShorthand
from memoranda.stores.sqlite.append import Appender
from memoranda.stores.sqlite.connection import plain_errors
from memoranda.stores.sqlite.reader import run

R = TypeVar("R")

_OPEN: Final = """
INSERT INTO journals (scope, origin, opened_at, size, head, head_at) VALUES (?, ?, ?, 0, ?, ?)
RETURNING number
"""
_NOTE: Final = "INSERT INTO checkpoints (journal, size, note, at) VALUES (?, ?, ?, ?)"


class SqliteAdoption:
    """One transaction: it lands when the block is left without an error."""

    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        path: str,
        journal: tuple[str, str, int],
        bodies: InShorthand,
    ) -> None:
        self._bodies = bodies
        self._connect = connect
        self._path = path
        self._scope, self._origin, self._now = journal
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="memoranda-adoption")
        self._connection: apsw.Connection | None = None
        self._appender: Appender | None = None

    async def __aenter__(self) -> Self:
        await self._run(self._begin)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        await self._run(partial(self._end, "COMMIT" if kind is None else "ROLLBACK"))
        self._thread.shutdown()

    async def entries(self, stored: Sequence[StoredEntry]) -> None:
        await self._run(partial(self._appending.adopt_entries, stored))

    async def rows(self, rows: Sequence[StoredRow]) -> None:
        await self._run(partial(self._appending.adopt_rows, rows))

    async def attachments(self, attachments: Sequence[Attachment]) -> None:
        await self._run(partial(self._land, attachments))

    async def notes(self, notes: Sequence[tuple[int, str]], at: int) -> None:
        await self._run(partial(self._keep, [(size, note, at) for size, note in notes]))

    # ------------------------------------------------------------------ on the thread

    @property
    def _appending(self) -> Appender:
        assert self._appender is not None  # noqa: S101 - it is entered first
        return self._appender

    def _begin(self) -> None:
        connection = self._connection = self._connect()
        connection.execute("BEGIN IMMEDIATE")
        head = bytes.fromhex(genesis(self._origin))
        row = (self._scope, self._origin, self._now, head, 0)
        try:
            found: Any = connection.execute(_OPEN, row).fetchall()
        except apsw.ConstraintError:
            connection.close(True)
            raise ScopeExists(self._path, self._scope) from None
        self._appender = Appender(connection, found[0][0], self._bodies)

    def _end(self, word: str) -> None:
        if self._connection is not None:
            if self._connection.in_transaction:
                self._connection.execute(word)
            self._connection.close()

    def _land(self, attachments: Sequence[Attachment]) -> None:
        assert self._connection is not None  # noqa: S101 - it is entered first
        run(self._connection, self._appending.journal, landed(attachments, self._bodies))

    def _keep(self, notes: Sequence[tuple[int, str, int]]) -> None:
        assert self._connection is not None  # noqa: S101 - it is entered first
        for note in notes:
            self._connection.execute(_NOTE, (self._appending.journal, *note))

    async def _run(self, work: Callable[[], R]) -> R:
        with plain_errors(self._path):
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
