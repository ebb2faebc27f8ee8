"""The records of one scope in PostgreSQL."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, Final, TypeVar

from psycopg import sql
from psycopg.types.numeric import Int8

from recollect.identity import sha256
from recollect.kernel.errors import IdempotencyConflict, RecordExists, RecordNotFound
from recollect.kernel.json import MAX_INTEGER, storable
from recollect.records.filter import MemoryFilter
from recollect.stores.postgres.batches import edit_all, insert_all, remove_all
from recollect.stores.postgres.connection import Connection
from recollect.stores.postgres.pool import Pool
from recollect.stores.selection import Dialect, Selection, selection
from recollect.stores.table import Change, Edit, Inserted, NewRow, Note, RetryKey, Row

R = TypeVar("R")

DIALECT: Final = Dialect(
    id_in_list="r.id = ANY (?::text[])",
    list_parameter=list,
    no_limit=None,
    schema="recollect.",
    tag="recollect.tag_key(?)",
)
ROWS_AT_ONCE: Final = 256
LOOP_BYTES: Final = 64 * 1024

_CREATE: Final = """
SELECT outcome, first_id
FROM recollect.create_record(%s, %s, %s, %s, %s, %s::text[], %s, %s, %s, %s, %s)
"""
_GET: Final = """
SELECT id, version, created_at, updated_at, body FROM recollect.get_record(%s, %s)
"""
_NEWEST: Final = """
SELECT id, version, created_at, updated_at, body
FROM recollect.newest_records(%s, %s, %s, %s, %s, %s)
"""
_GET_FOR_EDIT: Final = """
SELECT outcome, id, version, created_at, updated_at, body
FROM recollect.get_for_edit(%s, %s, %s, %s)
"""
_EDIT: Final = """
SELECT recollect.edit_record(
  %s, %s, %s, %s, %s, %s, %s::text[], %s::text[], %s, %s, %s, %s, %s)
"""
_CLAIM: Final = "SELECT outcome FROM recollect.claim_key(%s, %s, %s, %s, %s)"
_REMOVE: Final = """
SELECT outcome, id, version, created_at, updated_at, body
FROM recollect.remove_record(%s, %s, %s, %s, %s, %s, %s, %s)
"""
_CLEAR: Final = "SELECT recollect.clear_records(%s, %s, %s, %s)"

# Both in one trip: two statements without parameters. The scope is quoted by psycopg.
_BEGIN_WRITE: Final = sql.SQL("BEGIN; SELECT set_config('recollect.scope', {}, true)")
# One plan for all values, made once: the walk along an index that `selection` asks for. Left to
# its estimates, the planner would for some tags rather read and sort the whole table.
_BEGIN_QUERY: Final = sql.SQL(
    "BEGIN READ ONLY; SELECT set_config('recollect.scope', {}, true),"
    " set_config('plan_cache_mode', 'force_generic_plan', true),"
    " set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),"
    " set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)"
)
_BEGIN_STREAM: Final = sql.SQL(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
    " SELECT set_config('recollect.scope', {}, true)"
)


class PostgresTable:
    """Rows of one scope; every statement names it, and the database checks it again."""

    def __init__(self, calls: Pool, streams: Pool, scope: str) -> None:
        self._calls = calls
        self._streams = streams
        self._scope = scope
        self._begin_write = _BEGIN_WRITE.format(scope).as_bytes()
        self._begin_query = _BEGIN_QUERY.format(scope).as_bytes()
        self._begin_stream = _BEGIN_STREAM.format(scope).as_bytes()

    async def insert(
        self, rows: Sequence[NewRow], note: Note, key: RetryKey | None = None
    ) -> Inserted:
        """Store new rows; RecordExists if an id is in use."""
        if len(rows) == 1:
            return await self._create(rows[0], note, key)
        async with self._calls.transaction(self._begin_write, writes=True) as connection:
            await insert_all(connection, self._scope, rows, note)
        return Inserted([row.id for row in rows])

    async def edit(
        self, edits: Sequence[Edit], note: Note, key: RetryKey | None = None
    ) -> list[Change]:
        """Edit rows in the order given.

        One row is read, edited and written if it is still the same: two trips, and no lock while
        Python works. If it moved on meanwhile it is locked first, as several rows always are, so
        that an edit never has to give way twice.
        """
        if len(edits) == 1:
            changes = await self._edit_unlocked(edits[0], note, key)
            if changes is not None:
                return changes
        async with self._calls.transaction(self._begin_write, writes=True) as connection:
            if key is not None and await self._is_repeated(connection, key, edits[0].id, note):
                return []
            return await edit_all(connection, self._scope, edits, note)

    async def remove(
        self,
        ids: Sequence[str],
        note: Note,
        *,
        expected_version: int | None = None,
        key: RetryKey | None = None,
    ) -> list[Row]:
        """Remove rows and return what they were."""
        if len(ids) == 1:
            return await self._remove(ids[0], note, expected_version, key)
        async with self._calls.transaction(self._begin_write, writes=True) as connection:
            if key is not None and await self._is_repeated(connection, key, ids[0], note):
                return []
            return await remove_all(connection, self._scope, ids, note, expected_version)

    async def clear(self, note: Note) -> int:
        """Remove every row of the scope and return how many there were."""
        values = (self._scope, Int8(note.at), note.actor, note.reason)
        ((count,),) = await self._call(_CLEAR, values, writes=True)
        return int(count)

    async def get(self, id: str, make: Callable[[Row], R]) -> R | None:
        """The row under this id, made into a value."""
        made = await _made(await self._call(_GET, (self._scope, id)), make)
        return made[0] if made else None

    async def select(self, filter: MemoryFilter, make: Callable[[Row], R]) -> list[R]:
        """What the filter asks for; other tasks get their turn while many rows are made."""
        newest = _newest(filter)
        if newest is not None:
            async with self._calls.connection() as connection:
                values = (self._scope, *newest)
                found = await connection.execute(_NEWEST, values, prepare=True, binary=True)
        else:
            chosen = selection(filter, self._scope, DIALECT)
            if chosen is None:
                return []
            async with self._calls.transaction(self._begin_query) as connection:
                found = await connection.execute(*_for_psycopg(chosen), prepare=True, binary=True)
        made: list[R] = []
        while rows := await found.fetchmany(ROWS_AT_ONCE):
            made += await _made(rows, make)
            if len(rows) == ROWS_AT_ONCE:
                await asyncio.sleep(0)
        return made

    async def stream(self, filter: MemoryFilter) -> AsyncGenerator[Row, None]:
        """The same rows, as they are when the stream starts, a few at a time."""
        chosen = selection(filter, self._scope, DIALECT)
        if chosen is None:
            return
        async with (
            self._streams.transaction(self._begin_stream) as connection,
            connection.cursor("recollect_stream") as cursor,
        ):
            await cursor.execute(*_for_psycopg(chosen), binary=True)
            while rows := await cursor.fetchmany(ROWS_AT_ONCE):
                for row in rows:
                    yield Row._make(row)

    # ------------------------------------------------------------------ single calls

    async def _create(self, row: NewRow, note: Note, key: RetryKey | None) -> Inserted:
        times = (Int8(row.created_at), Int8(row.updated_at))
        noted = (Int8(note.at), note.actor, note.reason)
        values = (self._scope, row.id, *times, row.body, list(row.tags), *noted, *_pair(key))
        ((outcome, first_id),) = await self._call(_CREATE, values, writes=True)
        if outcome == "exists":
            raise RecordExists(row.id)
        if _is_repeated(outcome, key):
            return Inserted([first_id], fresh=False)
        return Inserted([row.id])

    async def _edit_unlocked(
        self, edit: Edit, note: Note, key: RetryKey | None
    ) -> list[Change] | None:
        """The change, or None if the row moved on between the two trips."""
        asked = (self._scope, edit.id, *_pair(key))
        ((outcome, *found),) = await self._call(_GET_FOR_EDIT, asked)
        if _is_repeated(outcome, key):
            return []
        before = Row._make(found)
        if before.body is None:
            raise RecordNotFound(edit.id)
        change, edited = before.edited(edit, note.at)
        values = (
            *(self._scope, edit.id, Int8(before.version), Int8(before.created_at)),
            *(
                Int8(change.after.updated_at),
                edited.body,
                list(edited.tags_gone),
                list(edited.tags_new),
            ),
            *(Int8(note.at), note.actor, note.reason, *_pair(key)),
        )
        ((outcome,),) = await self._call(_EDIT, values, writes=True)
        if outcome == "moved":
            return None
        return [] if _is_repeated(outcome, key) else [change]

    async def _remove(
        self, id: str, note: Note, expected_version: int | None, key: RetryKey | None
    ) -> list[Row]:
        expected = None if expected_version is None else Int8(expected_version)
        noted = (Int8(note.at), note.actor, note.reason)
        values = (self._scope, id, expected, *noted, *_pair(key))
        ((outcome, *row),) = await self._call(_REMOVE, values, writes=True)
        if outcome == "conflict":
            Row._make(row).check_version(expected_version)
        if outcome == "unknown" or _is_repeated(outcome, key):
            return []
        return [Row._make(row)]

    async def _is_repeated(
        self, connection: Connection, key: RetryKey, record_id: str, note: Note
    ) -> bool:
        """Whether the call was made before; if not, the key is this one's."""
        values = (self._scope, *_pair(key), record_id, Int8(note.at))
        found = await connection.execute(_CLAIM, values, prepare=True)
        ((outcome,),) = await found.fetchall()
        return _is_repeated(outcome, key)

    async def _call(
        self, statement: str, values: Sequence[object], *, writes: bool = False
    ) -> list[tuple[Any, ...]]:
        """One statement: a transaction of its own, in one trip."""
        async with self._calls.connection(writes=writes) as connection:
            found = await connection.execute(statement, values, prepare=True, binary=True)
            return await found.fetchall()


async def _made(rows: Sequence[tuple[Any, ...]], make: Callable[[Row], R]) -> list[R]:
    """Each row made into a value; where that takes long, beside the event loop."""
    found = [Row._make(row) for row in rows]
    if sum(len(row.body) for row in found) <= LOOP_BYTES:
        return [make(row) for row in found]
    return await asyncio.to_thread(lambda: [make(row) for row in found])


def _pair(key: RetryKey | None) -> tuple[bytes | None, bytes | None]:
    """The digest under which a key is kept, and that of its request."""
    return (None, None) if key is None else (sha256(key.key.encode()), key.fingerprint)


def _is_repeated(outcome: str | None, key: RetryKey | None) -> bool:
    """Whether the call was made before; IdempotencyConflict if its key stood for another one."""
    if outcome == "key_used" and key is not None:
        raise IdempotencyConflict(key.key)
    return outcome == "repeated"


def _newest(filter: MemoryFilter) -> tuple[object, ...] | None:
    """What `recollect.newest_records` is asked; None if the filter wants something else."""
    tags = set(filter.tags or ())
    if (
        (filter.ids, filter.order_by, filter.order) != (None, "createdAt", "desc")
        or not filter.limit
        or len(tags) > 1
        or not all(storable(tag) for tag in tags)
    ):
        return None
    after = -MAX_INTEGER if filter.created_after is None else filter.created_after
    before = MAX_INTEGER if filter.created_before is None else filter.created_before
    tag = tags.pop() if tags else None
    return tag, Int8(after), Int8(before), Int8(filter.limit), Int8(filter.offset)


def _for_psycopg(chosen: Selection) -> tuple[str, list[object]]:
    """Its placeholders, and integers of one size: else each size would be a plan of its own."""
    parameters = [Int8(each) if isinstance(each, int) else each for each in chosen.parameters]
    return chosen.sql.replace("?", "%s"), parameters
