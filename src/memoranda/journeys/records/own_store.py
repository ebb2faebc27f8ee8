"""`OwnRecords`: a store of the user's own, with our contract over it (D-MEM-2, MEM-INT-1).

Whatever is asked is checked as it is for our own records, the policy of the handle is asked before
each change, and its hooks hear of what was done. What the store does not declare is refused with
CapabilityMissing. Records of such a store are not objects of the journal: nothing of it notes that
they were read.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, Final, Protocol, TypeVar, cast

from memoranda.identity import canonical_bytes, decode
from memoranda.journeys.records.changes import Kind, Planned, RequestedChange, plain, planned, typed
from memoranda.journeys.records.codec import DataCodec
from memoranda.journeys.records.contents import (
    UNCHANGED,
    Unchanged,
    annotating,
    batch,
    check_batch,
    check_expected,
    check_reason,
    check_updates,
    is_possible_id,
    patching,
    retry_key,
)
from memoranda.journeys.records.notify import notify
from memoranda.journeys.records.own_hooks import OwnTelling
from memoranda.journeys.records.store import Records
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.ambient import check_reach
from memoranda.kernel.clock import Clock, IdSource
from memoranda.kernel.errors import CapabilityMissing, InvalidFilter, InvalidPatch, StoreClosed
from memoranda.kernel.given import RetryKey
from memoranda.records.filter import MemoryFilter
from memoranda.records.model import MemoryRecordInput, StoredMemoryRecord
from memoranda.records.pages import Page
from memoranda.records.store import Capabilities, Capability, MemoryHooks, MemoryStore, MemoryUpdate
from memoranda.records.table import NewRow, Note

T = TypeVar("T")
R = TypeVar("R")

Found = Mapping[str, StoredMemoryRecord[Any] | None]

EVERYTHING: Final = MemoryFilter()


class Gate(Protocol):
    """Asks the handle's policy before a change (`journeys.govern.own_store`)."""

    async def passes(
        self, wanted: Sequence[RequestedChange], found: Found, note: Note, key: RetryKey | None
    ) -> Sequence[str] | None:
        """None where it may be done; else it was approved and is done, to the records of these ids.

        ApprovalPending while somebody has to decide, DecisionRefused if it was rejected.
        """
        ...


class OwnRecords(Records[T]):
    """The records of a store that was given to an app."""

    def __init__(
        self,
        store: MemoryStore[T],
        *,
        codec: DataCodec[T],
        actor: ActorRef,
        clock: Clock,
        ids: IdSource,
        hooks: MemoryHooks[T] | None,
        gate: Gate | None,
    ) -> None:
        # Every verb is the store's own: there is no table.
        super().__init__(None, codec=codec, actor=actor, clock=clock, ids=ids, hooks=hooks)
        self._given = store
        self._is_closed = False
        self._telling = OwnTelling(store, codec, hooks)
        self._gate = gate

    @property
    def capabilities(self) -> Capabilities:
        """What the store declares, and hooks; to consolidate it, ask the store itself."""
        declared = self._store.capabilities
        abilities = declared.abilities - {Capability.CONSOLIDATE} | {Capability.HOOKS}
        return Capabilities(abilities, declared.filter_keys)

    @property
    def given(self) -> MemoryStore[T]:
        """The store that the app was given, as it is (MEM-INT-2)."""
        return self._given

    def close(self) -> None:
        """Refuse everything from now on with StoreClosed; the store itself is its owner's."""
        self._is_closed = True

    @property
    def _store(self) -> Any:
        if self._is_closed:
            raise StoreClosed
        return self._given

    # ---------------------------------------------------------------------- one record

    async def create(
        self,
        record: MemoryRecordInput[T],
        *,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> str:
        """Store a new record and return its id; RecordExists if the id is in use (MEM-CRUD-4)."""
        note = self._note(reason)
        options = self._versioned(idempotency_key=idempotency_key, reason=reason)
        row = self._new_row(record, note.at)
        request = [record.id, record.created_at, record.updated_at]
        key = retry_key(idempotency_key, "create", request, row.content)
        call = partial(self._store.create, self._copied(record, row), **options)
        ids = await self._creating([record], [row], note, key, lambda: _alone(call()))
        return ids[0]

    async def get(self, id: str) -> StoredMemoryRecord[T] | None:
        """The record under this id, or None (MEM-CRUD-2)."""
        check_reach()
        return await self._store.get(id) if is_possible_id(id) else None

    async def version(self, id: str) -> int | None:
        """The version of the record under this id, counted from 1, or None."""
        check_reach()
        self._needs(Capability.VERSIONED)
        return await self._store.version(id) if is_possible_id(id) else None

    async def update(
        self,
        id: str,
        patch: Any,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Merge a patch into a record's data; RecordNotFound if there is none (MEM-CRUD-3)."""
        note = self._note(reason)
        options = self._versioned(
            expected_version=expected_version, idempotency_key=idempotency_key, reason=reason
        )
        patching(self._codec, id, patch, expected_version)
        given = self._codec.encode_patch(patch)
        key = retry_key(idempotency_key, "update", id, expected_version, given)
        wanted = [RequestedChange("update", id, _own(given), expected_version)]
        await self._change(
            wanted, note, key, lambda: self._store.update(id, _own(given), **options)
        )

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
        note = self._note(reason)
        self._needs(Capability.ANNOTATED)
        self._lacks("annotate", expected_version=expected_version, reason=reason)
        annotating(id, tags, meta)
        named = {"tags": tags, "meta": meta}
        given = _own({name: one for name, one in named.items() if one is not UNCHANGED})
        wanted = [RequestedChange("annotate", id, given)]
        await self._change(wanted, note, None, lambda: self._store.annotate(id, **given))

    async def delete(
        self,
        id: str,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Let get and query no longer return this record; an unknown id is no error."""
        note = self._note(reason)
        check_expected(expected_version)
        options = self._versioned(
            expected_version=expected_version, idempotency_key=idempotency_key, reason=reason
        )
        if is_possible_id(id):
            key = retry_key(idempotency_key, "delete", id, expected_version)
            wanted = [RequestedChange("delete", id, version=expected_version)]
            await self._change(wanted, note, key, lambda: self._store.delete(id, **options))

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
        note = self._note(reason)
        self._needs(Capability.CREATE_MANY)
        self._lacks("create_many", idempotency_key=idempotency_key, reason=reason)
        if not records:
            return []
        rows = batch(records, lambda record: self._new_row(record, note.at))
        copied = [self._copied(*pair) for pair in zip(records, rows, strict=True)]
        call = partial(self._store.create_many, copied)
        return list(await self._creating(records, rows, note, None, call))

    async def update_many(
        self,
        updates: Sequence[MemoryUpdate],
        *,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Make all of the updates in their order, or none."""
        check_updates(updates)
        note = self._note(reason)
        self._needs(Capability.UPDATE_MANY)
        self._lacks("update_many", idempotency_key=idempotency_key, reason=reason)
        if any(update.expected_version is not None for update in updates):
            self._needs(Capability.VERSIONED)
        for update in updates:
            patching(self._codec, update.id, update.patch, update.expected_version)
        wanted = [
            RequestedChange("update", update.id, _own(self._codec.encode_patch(update.patch)),
                   update.expected_version)
            for update in updates
        ]  # fmt: skip
        given = [MemoryUpdate(change.id, _own(change.given), change.version) for change in wanted]
        if given:
            await self._change(wanted, note, None, lambda: self._store.update_many(given))

    async def delete_many(
        self,
        ids: Sequence[str],
        *,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Delete all of these records, or none; unknown ids are no error."""
        check_batch(ids)
        note = self._note(reason)
        self._needs(Capability.DELETE_MANY)
        self._lacks("delete_many", idempotency_key=idempotency_key, reason=reason)
        possible = list(dict.fromkeys(id for id in ids if is_possible_id(id)))
        if possible:
            wanted = [RequestedChange("delete", id) for id in possible]
            await self._change(wanted, note, None, lambda: self._store.delete_many(possible))

    async def clear(self) -> None:
        note = self._note(None)
        self._needs(Capability.CLEAR)
        await self._deleting(EVERYTHING, note, self._store.clear)

    async def forget_where(self, filter: MemoryFilter, *, reason: str) -> int:
        """Delete what `query` would return; how many they were."""
        self._check(filter)
        check_reason(reason)
        note = self._note(reason)
        self._needs(Capability.FORGETS_WHERE)
        call = partial(self._store.forget_where, filter, reason=reason)
        return cast("int", await self._deleting(filter, note, call))

    # ------------------------------------------------------------------------- finding

    async def query(self, filter: MemoryFilter) -> list[StoredMemoryRecord[T]]:
        """The records that the filter asks for; UnknownFilterKey if the store does not know one."""
        self._check(filter)
        check_reach()
        return await self._told_of(filter, await self._store.query(filter))

    async def page(
        self, filter: MemoryFilter, *, cursor: str | None = None
    ) -> Page[StoredMemoryRecord[T]]:
        """What `query` would return, and in `next` the cursor of what follows."""
        self._check(filter)
        check_reach()
        self._needs(Capability.PAGED)
        found = await self._store.page(filter, cursor=cursor)
        return Page(await self._told_of(filter, list(found)), found.next)

    async def ids(self, filter: MemoryFilter) -> list[str]:
        """The ids of what `query` would return, in the same order; hooks are not called."""
        self._check(filter)
        check_reach()
        self._needs(Capability.COUNTED)
        return cast("list[str]", await self._store.ids(filter))

    async def count(self, filter: MemoryFilter) -> int:
        """How many records `query` would return."""
        self._check(filter)
        check_reach()
        self._needs(Capability.COUNTED)
        return cast("int", await self._store.count(filter))

    async def tags(self, prefix: str = "") -> dict[str, int]:
        """The tags that begin so, by code point, each with how many records have it."""
        if not isinstance(prefix, str):
            raise InvalidFilter("prefix", "it is a text that tags begin with")
        check_reach()
        self._needs(Capability.COUNTED)
        return cast("dict[str, int]", await self._store.tags(prefix))

    async def stream(self, filter: MemoryFilter) -> AsyncGenerator[StoredMemoryRecord[T], None]:
        """What `query` would return when the stream starts; hooks are not called."""
        self._check(filter)
        check_reach()
        self._needs(Capability.STREAMED)
        async with aclosing(self._store.stream(filter)) as records:
            async for record in records:
                yield record

    # ------------------------------------------------------------------------- changing

    async def _creating(
        self,
        records: Sequence[MemoryRecordInput[T]],
        rows: Sequence[NewRow],
        note: Note,
        key: RetryKey | None,
        call: Callable[[], Awaitable[Sequence[str]]],
    ) -> Sequence[str]:
        """Create records; where they are proposed, with the ids and times that the rows have."""
        wanted = [RequestedChange("create", row.id, _wire(row)) for row in rows]
        known = [record.id for record in records if record.id is not None]
        found = await self._found("create", known, is_keyed=key is not None)
        if self._gate is not None:
            done = await self._gate.passes(wanted, _of_all(wanted, found), note, key)
            if done is not None:
                return done
        ids = await call()
        # A retry finds what it has created: the hook is not called again.
        await self._telling.created([id for id in ids if key is None or found.get(id) is None])
        return ids

    async def _change(
        self,
        wanted: Sequence[RequestedChange],
        note: Note,
        key: RetryKey | None,
        call: Callable[[], Awaitable[R]],
    ) -> R | None:
        """Make changes of one kind; None where the gate has made them."""
        kind, ids = wanted[0].kind, list(dict.fromkeys(change.id for change in wanted))
        found = await self._found(kind, ids, is_keyed=key is not None)
        if self._gate is not None and await self._gate.passes(wanted, found, note, key) is not None:
            return None
        plan = self._to_tell(wanted, found, note.at)
        result = await call()
        if key is not None and kind == "update" and plan:
            # A retry changes nothing, and calls no hook again.
            plan = [] if await self._store.get(ids[0]) == found[ids[0]] else plan
        await self._telling.changed(plan)
        return result

    async def _deleting(
        self, filter: MemoryFilter, note: Note, call: Callable[[], Awaitable[R]]
    ) -> R | int:
        """Delete what a filter finds, by a call of the store's own or by proposal."""
        if self._gate is None and not self._telling.hears("delete"):
            return await call()
        found = {record.id: record for record in await self._store.query(filter)}
        wanted = [RequestedChange("delete", id) for id in found]
        if self._gate is not None:
            done = await self._gate.passes(wanted, found, note, None)
            if done is not None:
                return len(done)
        plan = self._to_tell(wanted, found, note.at)
        result = await call()
        await self._telling.changed(plan)
        return result

    def _to_tell(self, wanted: Sequence[RequestedChange], found: Found, at: int) -> list[Planned]:
        """What hooks hear of changes once they are made; what can't be made, the store refuses."""
        if not wanted or not self._telling.hears(wanted[0].kind):
            return []
        there = [change for change in wanted if found[change.id] is not None]
        try:
            return planned(self._codec, there, found, at)
        except InvalidPatch:
            return []

    async def _found(self, kind: Kind, ids: Sequence[str], *, is_keyed: bool) -> Found:
        for_hook = self._telling.hears(kind) and (kind != "create" or is_keyed)
        if self._gate is None and not for_hook:
            return {}
        return {id: await self._store.get(id) for id in ids}

    async def _told_of(
        self, filter: MemoryFilter, found: list[StoredMemoryRecord[T]]
    ) -> list[StoredMemoryRecord[T]]:
        if self._hooks.on_queried is not None:
            codec = self._codec
            copies = [typed(codec, plain(codec, record)) for record in found]
            await notify(self._hooks, "on_queried", None, lambda: (filter, copies))
        return found

    # --------------------------------------------------------------- what it can do

    def _needs(self, capability: Capability) -> None:
        self._store.capabilities.require(capability)

    def _versioned(self, **given: Any) -> dict[str, Any]:
        """The options that only a store takes that is VERSIONED, as far as they are given."""
        options = {name: value for name, value in given.items() if value is not None}
        if options:
            self._needs(Capability.VERSIONED)
        return options

    def _lacks(self, verb: str, **given: object) -> None:
        """Refuse options of our own records that the contract of a store does not have."""
        for name, value in given.items():
            if value is not None:
                raise CapabilityMissing(f"{name} in {verb}")

    def _copied(self, record: MemoryRecordInput[T], row: NewRow) -> MemoryRecordInput[T]:
        """The record as it was checked: what it leaves to the store is left to it."""
        data, tags, meta = row.content.thaw()
        copied = self._codec.decode(data)
        return record.model_copy(update={"data": copied, "tags": tags, "meta": meta})


async def _alone(created: Awaitable[str]) -> Sequence[str]:
    return [await created]


def _own(value: Any) -> Any:
    """A JSON value, made anew."""
    return decode(canonical_bytes(value))


def _wire(row: NewRow) -> dict[str, Any]:
    data, tags, meta = row.content.thaw()
    return StoredMemoryRecord(row.id, data, row.created_at, row.updated_at, tags, meta).to_wire()


def _of_all(wanted: Sequence[RequestedChange], found: Found) -> Found:
    return {change.id: found.get(change.id) for change in wanted}
