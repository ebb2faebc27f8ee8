"""The records of one scope in SQLite."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any, Final, Protocol, TypeVar

import apsw
import orjson

from recollect.kernel.errors import RecordNotFound
from recollect.records.filter import MemoryFilter
from recollect.stores.selection import Dialect, selection
from recollect.stores.sqlite.inserts import Create, index_tags, insert_new
from recollect.stores.sqlite.keys import first_outcome, remember
from recollect.stores.sqlite.reader import Read, Reader
from recollect.stores.table import Change, Edit, Inserted, NewRow, Note, RetryKey, Row

A = TypeVar("A")
R = TypeVar("R")

DIALECT: Final = Dialect(
    id_in_list="r.id IN (SELECT value FROM json_each(?))",
    list_parameter=lambda ids: orjson.dumps(ids).decode(),  # noqa: TID251 - a parameter
    no_limit=-1,
)

_UNTAG: Final = "DELETE FROM record_tags WHERE scope = ? AND tag = ? AND created_at = ? AND id = ?"
_GET: Final = """
SELECT id, version, created_at, updated_at, body FROM records
WHERE scope = ? AND id = ? AND body IS NOT NULL
"""
_EDIT: Final = """
UPDATE records SET version = ?, updated_at = ?, body = ?, actor = ?, reason = ?
WHERE scope = ? AND id = ?
"""
_REMOVE: Final = """
UPDATE records SET body = NULL, updated_at = ?, actor = ?, reason = ?
WHERE scope = ? AND id = ?
"""
_CLEAR: Final = """
UPDATE records SET body = NULL, updated_at = ?, actor = ?, reason = ?
WHERE scope = ? AND body IS NOT NULL
"""
_CLEAR_TAGS: Final = "DELETE FROM record_tags WHERE scope = ?"


class Database(Protocol):
    """What a table needs of its database."""

    @property
    def reader(self) -> Reader | None:
        """The readers; None in memory."""
        ...

    async def write(self, work: Callable[[apsw.Connection], R]) -> R:
        """Run one unit of work in a transaction."""
        ...

    async def write_joined(
        self, work: Callable[[apsw.Connection, Sequence[A]], Sequence[R]], argument: A
    ) -> R:
        """Run one unit of work together with others of the same kind."""
        ...

    async def read(self, read: Read, make: Callable[[Any], R]) -> list[R]:
        """The rows of a read, each made into a value."""
        ...


class SqliteTable:
    """Rows of one scope; every statement names it."""

    def __init__(self, database: Database, scope: str) -> None:
        self._database = database
        self._scope = scope

    async def insert(
        self, rows: Sequence[NewRow], note: Note, key: RetryKey | None = None
    ) -> Inserted:
        """Store new rows; RecordExists if an id is in use."""
        return await self._database.write_joined(insert_new, Create(self._scope, rows, note, key))

    async def edit(
        self, edits: Sequence[Edit], note: Note, key: RetryKey | None = None
    ) -> list[Change]:
        """Edit rows in the order given."""

        def work(connection: apsw.Connection) -> list[Change]:
            if first_outcome(connection, self._scope, key) is not None:
                return []
            changes = [self._edit(connection, edit, note) for edit in edits]
            remember(connection, self._scope, key, edits[0].id, note.at)
            return changes

        return await self._database.write(work)

    async def remove(
        self,
        ids: Sequence[str],
        note: Note,
        *,
        expected_version: int | None = None,
        key: RetryKey | None = None,
    ) -> list[Row]:
        """Remove rows and return what they were."""

        def work(connection: apsw.Connection) -> list[Row]:
            if first_outcome(connection, self._scope, key) is not None:
                return []
            found = [self._find(connection, id) for id in ids]
            removed = [row for row in found if row is not None]
            for row in removed:
                row.check_version(expected_version)
                self._remove(connection, row, note)
            remember(connection, self._scope, key, ids[0], note.at)
            return removed

        return await self._database.write(work)

    async def clear(self, note: Note) -> int:
        """Remove every row of the scope and return how many there were."""

        def work(connection: apsw.Connection) -> int:
            connection.execute(_CLEAR_TAGS, (self._scope,))
            connection.execute(_CLEAR, (note.at, note.actor, note.reason, self._scope))
            return connection.changes()

        return await self._database.write(work)

    async def get(self, id: str, make: Callable[[Row], R]) -> R | None:
        """The row under this id, made into a value where it was read."""
        found = await self._database.read(
            lambda connection: connection.execute(_GET, (self._scope, id)).fetchall(),
            lambda row: make(Row._make(row)),
        )
        return found[0] if found else None

    async def select(self, filter: MemoryFilter, make: Callable[[Row], R]) -> list[R]:
        """What the filter asks for, each row made into a value where it was read."""
        chosen = selection(filter, self._scope, DIALECT)
        if chosen is None:
            return []

        return await self._database.read(
            lambda connection: connection.execute(chosen.sql, chosen.parameters).fetchall(),
            lambda row: make(Row._make(row)),
        )

    async def stream(self, filter: MemoryFilter) -> AsyncGenerator[Row, None]:
        """The same rows, as they are when the stream starts, a few at a time."""
        chosen = selection(filter, self._scope, DIALECT)
        if chosen is None:
            return
        if self._database.reader is None:
            # In memory there is one connection, which a stream must not hold.
            for row in await self.select(filter, Row.itself):
                yield row
            return
        async with aclosing(self._database.reader.stream(chosen.sql, chosen.parameters)) as rows:
            async for found in rows:
                yield Row._make(found)

    # ------------------------------------------------------------- inside a transaction

    def _find(self, connection: apsw.Connection, id: str) -> Row | None:
        found = connection.execute(_GET, (self._scope, id)).fetchall()
        return Row._make(found[0]) if found else None

    def _edit(self, connection: apsw.Connection, edit: Edit, note: Note) -> Change:
        before = self._find(connection, edit.id)
        if before is None:
            raise RecordNotFound(edit.id)
        change, edited = before.edited(edit, note.at)
        after = change.after
        connection.execute(
            _EDIT,
            (
                after.version,
                after.updated_at,
                after.body,
                note.actor,
                note.reason,
                self._scope,
                after.id,
            ),
        )
        for tag in edited.tags_gone:
            connection.execute(_UNTAG, (self._scope, tag, after.created_at, after.id))
        new = [(self._scope, tag, after.created_at, after.id) for tag in edited.tags_new]
        index_tags(connection, new)
        return change

    def _remove(self, connection: apsw.Connection, row: Row, note: Note) -> None:
        connection.execute(_REMOVE, (note.at, note.actor, note.reason, self._scope, row.id))
        for tag in row.tags():
            connection.execute(_UNTAG, (self._scope, tag, row.created_at, row.id))
