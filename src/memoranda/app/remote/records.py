"""The store of plain records, on a server: the contract of a `MemoryStore`, over HTTP."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Final, Generic, TypeVar

from memoranda.app.remote.calls import RemoteHandle, wire_members
from memoranda.app.service.vocabulary import MOST
from memoranda.journeys.records.contents import (
    UNCHANGED,
    Unchanged,
    annotating,
    batch,
    check_batch,
    check_reason,
    check_updates,
    is_possible_id,
    new_row,
)
from memoranda.kernel.clock import IdSource, SystemClock, TimeOrderedIds
from memoranda.kernel.errors import InvalidFilter, InvalidJson, RecordNotFound
from memoranda.kernel.json import check, storable
from memoranda.records.filter import GOVERNED_KEYS, MemoryFilter, Page, refuse_unknown_keys
from memoranda.records.model import MemoryRecordInput, StoredMemoryRecord
from memoranda.records.store import Capabilities, Capability, MemoryStore, MemoryUpdate

T = TypeVar("T")

_LONGEST: Final = 512
_ABILITIES: Final = frozenset(Capability) - {Capability.CONSOLIDATE, Capability.HOOKS}


class RemoteRecords(Generic[T]):
    """Memory records of one scope of a server."""

    def __init__(self, handle: RemoteHandle[T]) -> None:
        self._handle = handle
        self._ids: IdSource = TimeOrderedIds()

    @property
    def capabilities(self) -> Capabilities:
        """Everything of the contract but consolidate, and hooks, which are code."""
        return Capabilities(_ABILITIES, GOVERNED_KEYS)

    @property
    def given(self) -> MemoryStore[T]:
        """These records."""
        return self

    def close(self) -> None:
        """Nothing: the database is closed, and not its records."""

    # ---------------------------------------------------------------------- one record

    async def create(
        self,
        record: MemoryRecordInput[T],
        *,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> str:
        """Store a new record and return its id; RecordExists if the id is in use."""
        said = {**self._record(record), **_said(idempotency_key, reason)}
        found: str = await self._handle.call("records.create", said)
        return found

    async def get(self, id: str) -> StoredMemoryRecord[T] | None:
        """The record under this id, or None."""
        if not _is_possible(id):
            return None
        found: StoredMemoryRecord[T] | None = await self._handle.call("records.get", {"id": id})
        return found

    async def version(self, id: str) -> int | None:
        """The version of the record under this id, counted from 1, or None."""
        if not _is_possible(id):
            return None
        found: int | None = await self._handle.call("records.version", {"id": id})
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
        """Merge a patch into a record's data."""
        if not _is_possible(id):
            raise RecordNotFound(id)
        check_updates([MemoryUpdate(id, patch, expected_version)])
        members = {"id": id, "patch": self._handle.codec.encode_patch(patch)}
        said = wire_members(members) | _said(idempotency_key, reason, expected_version)
        await self._handle.call("records.update", said)

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
        annotating(id, tags, meta, expected_version)
        if not _is_possible(id):
            raise RecordNotFound(id)
        members = wire_members({"id": id, "tags": tags, "meta": meta})
        await self._handle.call("records.annotate", members | _said(None, reason, expected_version))

    async def delete(
        self,
        id: str,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Let get and query no longer return this record; an unknown id is no error."""
        if _is_possible(id):
            said = {"id": id, **_said(idempotency_key, reason, expected_version)}
            await self._handle.call("records.delete", said)

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
        said = {"records": batch(records, self._record), **_said(idempotency_key, reason)}
        found: list[str] = await self._handle.call("records.create_many", said)
        return found

    async def update_many(
        self,
        updates: Sequence[MemoryUpdate],
        *,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Make all of the updates in their order, or none."""
        check_updates(updates)
        if not updates:
            return
        for update in updates:
            if not _is_possible(update.id):
                raise RecordNotFound(update.id)
        encode = self._handle.codec.encode_patch
        made = [
            {
                "id": update.id,
                "patch": encode(update.patch),
                **_said(None, None, update.expected_version),
            }
            for update in updates
        ]
        members = wire_members({"updates": made})
        await self._handle.call("records.update_many", members | _said(idempotency_key, reason))

    async def delete_many(
        self, ids: Sequence[str], *, idempotency_key: str | None = None, reason: str | None = None
    ) -> None:
        """Delete all of these records, or none; unknown ids are no error."""
        check_batch(ids)
        possible = [id for id in ids if _is_possible(id)]
        if possible:
            said = {"ids": possible, **_said(idempotency_key, reason)}
            await self._handle.call("records.delete_many", said)

    async def clear(self) -> None:
        """Delete every record of this scope."""
        await self._handle.call("records.clear", {})

    async def forget_where(self, filter: MemoryFilter, *, reason: str) -> int:
        """Delete what `query` would return, in one transaction; how many they were."""
        said = {"filter": self._filter(filter), "reason": reason}
        check_reason(reason)
        found: int = await self._handle.call("records.forget_where", said)
        return found

    # ------------------------------------------------------------------------- finding

    async def query(self, filter: MemoryFilter) -> list[StoredMemoryRecord[T]]:
        """The records that the filter asks for, a page after another."""
        self._filter(filter)
        limit, found = filter.limit, list[StoredMemoryRecord[T]]()
        cursor: str | None = None
        while limit is None or len(found) < limit or cursor is None:
            most = MOST if limit is None else min(MOST, limit - len(found))
            offset = filter.offset if cursor is None else 0
            page = await self.page(
                filter.model_copy(update={"limit": most, "offset": offset}), cursor=cursor
            )
            found += page
            cursor = page.next
            if cursor is None:
                break
        return found

    async def page(
        self, filter: MemoryFilter, *, cursor: str | None = None
    ) -> Page[StoredMemoryRecord[T]]:
        """What `query` would return, and in `next` the cursor of what follows."""
        if cursor is not None and not (isinstance(cursor, str) and storable(cursor)):
            raise InvalidFilter("cursor", "it is not the `next` of a page")
        said = {"filter": self._filter(filter)} | ({} if cursor is None else {"cursor": cursor})
        found: Page[StoredMemoryRecord[T]] = await self._handle.call("records.page", said)
        return found

    async def ids(self, filter: MemoryFilter) -> list[str]:
        """The ids of what `query` would return, in the same order."""
        found: list[str] = await self._handle.call("records.ids", {"filter": self._filter(filter)})
        return found

    async def count(self, filter: MemoryFilter) -> int:
        """How many records `query` would return."""
        found: int = await self._handle.call("records.count", {"filter": self._filter(filter)})
        return found

    async def tags(self, prefix: str = "") -> dict[str, int]:
        """The tags that begin so, each with how many records have it."""
        if not isinstance(prefix, str):
            raise InvalidFilter("prefix", "it is a text that tags begin with")
        if not storable(prefix):
            return {}
        found: dict[str, int] = await self._handle.call(
            "records.tags", {"prefix": prefix} if prefix else {}
        )
        return found

    async def stream(self, filter: MemoryFilter) -> AsyncGenerator[StoredMemoryRecord[T], None]:
        """What `query` would return when the stream starts, a few records at a time."""
        stream = self._handle.stream("records.stream", {"filter": self._filter(filter)})
        async with aclosing(stream) as records:
            async for record in records:
                yield record

    # ------------------------------------------------------------------ rows and values

    def _record(self, record: MemoryRecordInput[T]) -> dict[str, Any]:
        """A record as it is sent; refused as a store of this process would refuse it."""
        new_row(record, self._handle.codec, self._ids, SystemClock().now_ms())
        members = {
            "id": record.id,
            "data": self._handle.codec.encode(record.data),
            "created_at": record.created_at,
            "updated_at": record.updated_at,
            "tags": record.tags,
            "meta": record.meta,
        }
        given = {k: v for k, v in members.items() if v is not None or k == "data"}
        return wire_members(given)

    def _filter(self, filter: MemoryFilter) -> dict[str, Any]:
        if not isinstance(filter, MemoryFilter):
            raise InvalidFilter("$", f"a filter is a MemoryFilter, not {type(filter).__name__}")
        refuse_unknown_keys(filter, GOVERNED_KEYS)
        found: dict[str, Any] = filter.model_dump(mode="json", exclude_defaults=True)
        if "ids" in found:
            found["ids"] = [id for id in found["ids"] if _is_possible(id)]
        try:
            check(found)
        except InvalidJson:  # no record has a text that can't be sent
            return {"ids": []}
        return found


def _is_possible(id: str) -> bool:
    """Whether a record may have this id: others can't be asked for, and are unknown."""
    return is_possible_id(id) and 0 < len(id) <= _LONGEST


def _said(
    idempotency_key: str | None, reason: str | None, expected_version: int | None = None
) -> dict[str, Any]:
    members = {
        "idempotency_key": idempotency_key,
        "reason": reason,
        "expected_version": expected_version,
    }
    return wire_members({name: value for name, value in members.items() if value is not None})
