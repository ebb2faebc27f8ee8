"""`Records`: the contract of a memory store, kept once over any `RecordTable`.

Validation, canonical bytes, ids, times, merging, retries and hooks are here; how rows are kept is
the table's.
"""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from functools import partial
from operator import attrgetter
from typing import Any, Final, Generic, TypeVar

from memoranda.identity import decode
from memoranda.journeys.records.codec import DataCodec, read
from memoranda.journeys.records.contents import (
    UNCHANGED,
    Unchanged,
    annotating,
    batch,
    check_batch,
    check_expected,
    check_reason,
    check_text,
    check_updates,
    is_possible_id,
    new_row,
    patching,
    retry_key,
)
from memoranda.journeys.records.notify import notify
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.ambient import check_reach, check_writable, reached
from memoranda.kernel.clock import Clock, IdSource
from memoranda.kernel.errors import InvalidFilter, StoreClosed
from memoranda.kernel.given import RetryKey
from memoranda.records.filter import (
    MemoryFilter,
    Page,
    Position,
    cut,
    position,
    position_in,
    refuse_unknown_keys,
)
from memoranda.records.model import MemoryRecordInput, StoredMemoryRecord
from memoranda.records.store import Capabilities, Capability, MemoryHooks, MemoryStore, MemoryUpdate
from memoranda.records.table import Edit, Note, RecordTable, Row, RowEdit

T = TypeVar("T")

DELETED_BY_CALLER: Final = "deleted by caller"

_ABILITIES: Final = frozenset(Capability)


class Records(Generic[T]):
    """Memory records of one scope; made by `memoranda.open(...)`, as its `.records`."""

    def __init__(
        self,
        table: RecordTable | None,
        *,
        codec: DataCodec[T],
        actor: ActorRef,
        clock: Clock,
        ids: IdSource,
        hooks: MemoryHooks[T] | None = None,
    ) -> None:
        self._open_table = table
        self._codec = codec
        self._actor = str(actor)
        self._clock = clock
        self._ids = ids
        self._hooks = hooks or MemoryHooks()

    @property
    def capabilities(self) -> Capabilities:
        """Everything of the contract."""
        return Capabilities(_ABILITIES, self._table.filter_keys)

    @property
    def given(self) -> MemoryStore[T]:
        """The store that the app was given, as it is; without one, these records (MEM-INT-2).

        It knows nothing of the hooks and the policy of this handle.
        """
        return self

    def close(self) -> None:
        """Refuse everything from now on with StoreClosed."""
        self._open_table = None

    @property
    def _table(self) -> RecordTable:
        if self._open_table is None:
            raise StoreClosed
        return self._open_table

    # ---------------------------------------------------------------------- one record

    async def create(
        self,
        record: MemoryRecordInput[T],
        *,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> str:
        """Store a new record and return its id; RecordExists if the id is in use (MEM-CRUD-4).

        With the id of a deleted record it is that record's next version. A retry with the same
        idempotency key returns the first id and writes nothing.
        """
        note = self._note(reason)
        row = self._new_row(record, note.at)
        key = None
        if idempotency_key is not None:
            given = [record.id, record.created_at, record.updated_at]
            key = retry_key(idempotency_key, "create", given, row.content)
        (id,), is_fresh = await self._table.insert([row], note, key)
        if is_fresh:
            await self._tell_created([row])
        return id

    async def get(self, id: str) -> StoredMemoryRecord[T] | None:
        """The record under this id, or None (MEM-CRUD-2)."""
        check_reach()
        found = await self._table.get(id, self._record) if is_possible_id(id) else None
        if found is not None:
            reached((id,))
        return found

    async def version(self, id: str) -> int | None:
        """The version of the record under this id, counted from 1, or None."""
        check_reach()
        found = await self._table.get(id, attrgetter("version")) if is_possible_id(id) else None
        if found is not None:
            reached((id,))
        return found

    async def update(
        self,
        id: str,
        patch: Any,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Merge a patch into a record's data (MEM-PATCH-1).

        RecordNotFound if there is none (MEM-CRUD-3). Tags and meta stay: see `annotate`.
        """
        note = self._note(reason)
        edit = patching(self._codec, id, patch, expected_version)
        key = None
        if idempotency_key is not None:
            patched = self._codec.encode_patch(patch)
            key = retry_key(idempotency_key, "update", id, expected_version, patched)
        await self._edit([edit], note, key)

    async def annotate(
        self,
        id: str,
        *,
        tags: Sequence[str] | Unchanged | None = UNCHANGED,
        meta: dict[str, Any] | Unchanged | None = UNCHANGED,
        expected_version: int | None = None,
        reason: str | None = None,
    ) -> None:
        """Replace a record's tags, its meta, or both; what is not named stays; None removes it."""
        edit = annotating(id, tags, meta, expected_version)
        await self._edit([edit], self._note(reason), None)

    async def delete(
        self,
        id: str,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Let get and query no longer return this record; an unknown id is no error."""
        note = self._note(reason or None, DELETED_BY_CALLER)
        check_expected(expected_version)
        if not is_possible_id(id):
            return
        key = retry_key(idempotency_key, "delete", id, expected_version)
        removed = await self._table.remove([id], note, expected_version=expected_version, key=key)
        await self._tell_deleted(removed)

    # -------------------------------------------------------------------- many records

    async def create_many(
        self,
        records: Sequence[MemoryRecordInput[T]],
        *,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> list[str]:
        """Store all of the records, or none; their ids in the same order."""
        check_batch(records)
        if not records:
            return []
        note = self._note(reason)
        codec, ids, now = self._codec, self._ids, note.at
        rows = batch(records, lambda record: new_row(record, codec, ids, now))
        key = None
        if idempotency_key is not None:
            given = [(record.id, record.created_at, record.updated_at) for record in records]
            contents = tuple(row.content for row in rows)
            key = retry_key(idempotency_key, "create_many", given, contents)
        inserted = await self._table.insert(rows, note, key)
        if inserted.fresh:
            await self._tell_created(rows)
        return list(inserted.ids)

    async def update_many(
        self,
        updates: Sequence[MemoryUpdate],
        *,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Make all of the updates in their order, or none."""
        check_updates(updates)
        if updates:
            note = self._note(reason)
            edits = [
                patching(self._codec, update.id, update.patch, update.expected_version)
                for update in updates
            ]
            key = None
            if idempotency_key is not None:
                asked = tuple(
                    (update.id, update.expected_version, self._codec.encode_patch(update.patch))
                    for update in updates
                )
                key = retry_key(idempotency_key, "update_many", asked)
            await self._edit(edits, note, key)

    async def delete_many(
        self,
        ids: Sequence[str],
        *,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Delete all of these records, or none; unknown ids are no error."""
        check_batch(ids)
        possible = [id for id in ids if is_possible_id(id)]
        if possible:
            note = self._note(reason or None, DELETED_BY_CALLER)
            possible = list(dict.fromkeys(possible))
            key = retry_key(idempotency_key, "delete_many", possible)
            await self._tell_deleted(await self._table.remove(possible, note, key=key))

    async def clear(self) -> None:
        """Delete every record of this scope."""
        removed: list[Row] | None = None if self._hooks.on_deleted is None else []
        await self._table.clear(self._note(DELETED_BY_CALLER), removed)
        await self._tell_deleted(removed or ())

    async def consolidate(self) -> None:
        """Put away exact duplicates: one of each stays, and no statement is made (MEM-MAINT-3).

        Governed memory archives those that say the same of the same, from the same sources, a text
        as it is folded; ``dict://`` deletes them.
        """
        await self._tell_deleted(await self._table.consolidate(self._note(None)))

    async def forget_where(self, filter: MemoryFilter, *, reason: str) -> int:
        """Delete what `query` would return, in one transaction; how many they were.

        What fits only later, and what no longer fits when it is its turn, stays.
        """
        self._check(filter)
        check_reason(reason)
        removed = await self._table.forget_where(filter, self._note(reason))
        await self._tell_deleted(removed)
        return len(removed)

    # ------------------------------------------------------------------------- finding

    async def query(self, filter: MemoryFilter) -> list[StoredMemoryRecord[T]]:
        """The records that the filter asks for, as `records.filter.select` defines it."""
        self._check(filter)
        check_reach()
        if self._hooks.on_queried is None:
            found = await self._table.select(filter, self._record)
            reached(record.id for record in found)
            return found
        return await self._handed_out(filter, await self._table.select(filter, Row.itself))

    async def page(
        self, filter: MemoryFilter, *, cursor: str | None = None
    ) -> Page[StoredMemoryRecord[T]]:
        """What `query` would return, and in `next` the cursor of what follows.

        With that cursor and the same filter the next page begins, whatever was written meanwhile:
        what is there all the time comes exactly once. The offset counts from the cursor.
        """
        self._check(filter)
        check_reach()
        asked = filter.unpaged.model_dump(mode="json", exclude_defaults=True)
        after = None if cursor is None else position_in(cursor, asked)
        limit = filter.limit
        more = filter if not limit else filter.model_copy(update={"limit": limit + 1})
        rows = await self._table.select(more, Row.itself, after)

        def where(row: Row) -> Position:
            return position(filter, row.created_at, row.updated_at, row.since)

        page = cut(rows, limit, where, asked)
        return Page(await self._handed_out(filter, page.found), page.next)

    async def ids(self, filter: MemoryFilter) -> list[str]:
        """The ids of what `query` would return, in the same order; hooks are not called."""
        self._check(filter)
        check_reach()
        found = await self._table.ids(filter)
        reached(found)
        return found

    async def count(self, filter: MemoryFilter) -> int:
        """How many records `query` would return."""
        self._check(filter)
        check_reach()
        return await self._table.count(filter)

    async def tags(self, prefix: str = "") -> dict[str, int]:
        """The tags that begin so, by code point, each with how many records have it."""
        if not isinstance(prefix, str):
            raise InvalidFilter("prefix", "it is a text that tags begin with")
        check_reach()
        return await self._table.tags(prefix)

    async def stream(self, filter: MemoryFilter) -> AsyncGenerator[StoredMemoryRecord[T], None]:
        """What `query` would return when the stream starts, a few records at a time.

        Hooks are not called. Close it with `aclose` when you leave it early.
        """
        self._check(filter)
        check_reach()
        async with aclosing(self._table.stream(filter)) as rows:
            async for row in rows:
                reached((row.id,))
                yield self._record(row)

    # ------------------------------------------------------------------ rows and values

    def _new_row(self, record: MemoryRecordInput[T], now: int) -> Row:
        return new_row(record, self._codec, self._ids, now)

    def _record(self, row: Row) -> StoredMemoryRecord[T]:
        """The row as a record, made of values of its own."""
        id, created_at, updated_at, (raw, tags, meta, is_raw) = row[:4]
        data = raw if is_raw else self._codec.decode(decode(raw))
        known = None if meta is None else decode(meta)
        return StoredMemoryRecord(id, data, created_at, updated_at, tags, known)  # type: ignore[arg-type]

    async def _handed_out(
        self, filter: MemoryFilter, rows: Sequence[Row]
    ) -> list[StoredMemoryRecord[T]]:
        """Rows as records, noted for whoever observes reads; the hook is called with them."""
        found = [self._record(row) for row in rows]
        reached(record.id for record in found)
        if self._hooks.on_queried is not None:
            told = partial(self._told_queried, filter, rows)
            await notify(self._hooks, "on_queried", None, told)
        return found

    async def _edit(self, edits: Sequence[Edit], note: Note, key: RetryKey | None) -> None:
        changes = await self._table.edit(edits, note, key)
        if self._hooks.on_updated is not None:
            for change in changes:
                await notify(
                    self._hooks, "on_updated", change.before.id, partial(self._told_update, change)
                )

    async def _tell_created(self, rows: Sequence[Row]) -> None:
        if self._hooks.on_created is not None:
            for row in rows:
                await notify(self._hooks, "on_created", row.id, partial(self._told_created, row))

    async def _tell_deleted(self, rows: Iterable[Row]) -> None:
        if self._hooks.on_deleted is not None:
            for row in rows:
                await notify(self._hooks, "on_deleted", row.id, partial(self._told_deleted, row))

    def _told_queried(
        self, filter: MemoryFilter, rows: Sequence[Row]
    ) -> tuple[MemoryFilter, list[StoredMemoryRecord[T]]]:
        return filter, [self._record(row) for row in rows]

    def _told_update(self, change: RowEdit) -> tuple[str, T, T]:
        before, after = change
        return (
            before.id,
            self._record(before).data,
            read(self._codec, after.value),
        )

    def _told_created(self, row: Row) -> tuple[StoredMemoryRecord[T]]:
        return (self._record(row),)

    def _told_deleted(self, row: Row) -> tuple[str, StoredMemoryRecord[T]]:
        return row.id, self._record(row)

    def _note(self, reason: str | None, otherwise: str | None = None) -> Note:
        check_writable()
        if reason is not None:
            check_text("reason", reason)
        return Note(self._actor, self._clock.now_ms(), reason or otherwise)

    def _check(self, filter: MemoryFilter) -> None:
        if not isinstance(filter, MemoryFilter):
            raise InvalidFilter("$", f"a filter is a MemoryFilter, not {type(filter).__name__}")
        refuse_unknown_keys(filter, self.capabilities.filter_keys)
