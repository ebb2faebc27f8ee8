"""`OwnRecords`: a store of the user's own, with our contract over it (D-MEM-2, MEM-INT-1).

Whatever is asked is checked as it is for our own records, the policy of the handle is asked before
each change, and its hooks hear of what was done. What the store does not declare is refused with
CapabilityMissing. Records of such a store are not objects of the journal: nothing of it notes that
they were read.
"""

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from functools import partial, wraps
from types import SimpleNamespace
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar, cast

from memoranda.identity import canonical_bytes, decode
from memoranda.journeys.records.changes import Kind, Planned, RequestedChange, plain, planned, typed
from memoranda.journeys.records.codec import DataCodec
from memoranda.journeys.records.contents import (
    UNCHANGED,
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
from memoranda.journeys.records.notify import OwnTelling, notify
from memoranda.journeys.records.store import Records
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.ambient import check_reach
from memoranda.kernel.clock import Clock, IdSource
from memoranda.kernel.errors import CapabilityMissing, InvalidFilter, InvalidPatch, StoreClosed
from memoranda.kernel.given import RetryKey
from memoranda.records.filter import MemoryFilter, Page
from memoranda.records.model import MemoryRecordInput, StoredMemoryRecord
from memoranda.records.store import Capabilities, Capability, MemoryHooks, MemoryStore, MemoryUpdate
from memoranda.records.table import Note, Row

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")

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


def like(
    verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]],
) -> Callable[
    [Callable[[Any, Any], Coroutine[Any, Any, R]]],
    Callable[Concatenate[Any, P], Coroutine[Any, Any, R]],
]:
    """Give a method the signature and the docstring of a verb; it gets all arguments by name."""
    signature = inspect.signature(verb)

    def decorate(
        method: Callable[[Any, Any], Coroutine[Any, Any, R]],
    ) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
        @wraps(verb)
        async def called(self: Any, /, *given: P.args, **named: P.kwargs) -> R:
            bound = signature.bind(self, *given, **named)
            bound.apply_defaults()
            return await method(self, SimpleNamespace(**bound.arguments))

        return called

    return decorate


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
        """What the store declares, and hooks."""
        declared = self._store.capabilities
        return Capabilities(declared.abilities | {Capability.HOOKS}, declared.filter_keys)

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

    # ------------------------------------------------------------------------ its verbs

    @like(Records[T].create)
    async def create(self, given: Any) -> str:
        record, note = given.record, self._note(given.reason)
        options = self._versioned(given, "idempotency_key", "reason")
        row = self._new_row(record, note.at)
        request = [record.id, record.created_at, record.updated_at]
        key = retry_key(given.idempotency_key, "create", request, row.content)
        call = partial(self._store.create, self._copied(record, row), **options)
        ids = await self._creating([record], [row], note, key, lambda: _alone(call()))
        return ids[0]

    @like(Records[T].get)
    async def get(self, given: Any) -> StoredMemoryRecord[T] | None:
        store = self._asked()
        return await store.get(given.id) if is_possible_id(given.id) else None

    @like(Records[T].version)
    async def version(self, given: Any) -> int | None:
        store = self._asked(Capability.VERSIONED)
        return await store.version(given.id) if is_possible_id(given.id) else None

    @like(Records[T].update)
    async def update(self, given: Any) -> None:
        note, id, expected = self._note(given.reason), given.id, given.expected_version
        options = self._versioned(given, "expected_version", "idempotency_key", "reason")
        patching(self._codec, id, given.patch, expected)
        patch = self._codec.encode_patch(given.patch)
        key = retry_key(given.idempotency_key, "update", id, expected, patch)
        wanted = [RequestedChange("update", id, _own(patch), expected)]
        await self._change(
            wanted, note, key, lambda: self._store.update(id, _own(patch), **options)
        )

    @like(Records[T].annotate)
    async def annotate(self, given: Any) -> None:
        note, id = self._note(given.reason), given.id
        self._needs(Capability.ANNOTATED)
        self._lacks("annotate", given, "expected_version", "reason")
        annotating(id, given.tags, given.meta)
        named = {"tags": given.tags, "meta": given.meta}
        said = _own({name: value for name, value in named.items() if value is not UNCHANGED})
        wanted = [RequestedChange("annotate", id, said)]
        await self._change(wanted, note, None, lambda: self._store.annotate(id, **said))

    @like(Records[T].delete)
    async def delete(self, given: Any) -> None:
        note, id, expected = self._note(given.reason), given.id, given.expected_version
        check_expected(expected)
        options = self._versioned(given, "expected_version", "idempotency_key", "reason")
        if is_possible_id(id):
            key = retry_key(given.idempotency_key, "delete", id, expected)
            wanted = [RequestedChange("delete", id, version=expected)]
            await self._change(wanted, note, key, lambda: self._store.delete(id, **options))

    @like(Records[T].create_many)
    async def create_many(self, given: Any) -> list[str]:
        records = given.records
        check_batch(records)
        note = self._note(given.reason)
        self._needs(Capability.CREATE_MANY)
        self._lacks("create_many", given, "idempotency_key", "reason")
        if not records:
            return []
        rows = batch(records, lambda record: self._new_row(record, note.at))
        copied = [self._copied(*pair) for pair in zip(records, rows, strict=True)]
        call = partial(self._store.create_many, copied)
        return list(await self._creating(records, rows, note, None, call))

    @like(Records[T].update_many)
    async def update_many(self, given: Any) -> None:
        updates: Sequence[MemoryUpdate] = given.updates
        check_updates(updates)
        note = self._note(given.reason)
        self._needs(Capability.UPDATE_MANY)
        self._lacks("update_many", given, "idempotency_key", "reason")
        if any(update.expected_version is not None for update in updates):
            self._needs(Capability.VERSIONED)
        for update in updates:
            patching(self._codec, update.id, update.patch, update.expected_version)
        patches = [_own(self._codec.encode_patch(update.patch)) for update in updates]
        wanted = [
            RequestedChange("update", update.id, patch, update.expected_version)
            for update, patch in zip(updates, patches, strict=True)
        ]
        copied = [MemoryUpdate(change.id, _own(change.given), change.version) for change in wanted]
        if copied:
            await self._change(wanted, note, None, lambda: self._store.update_many(copied))

    @like(Records[T].delete_many)
    async def delete_many(self, given: Any) -> None:
        check_batch(given.ids)
        note = self._note(given.reason)
        self._needs(Capability.DELETE_MANY)
        self._lacks("delete_many", given, "idempotency_key", "reason")
        possible = list(dict.fromkeys(id for id in given.ids if is_possible_id(id)))
        if possible:
            wanted = [RequestedChange("delete", id) for id in possible]
            await self._change(wanted, note, None, lambda: self._store.delete_many(possible))

    async def clear(self) -> None:
        note = self._note(None)
        self._needs(Capability.CLEAR)
        await self._deleting(EVERYTHING, note, self._store.clear)

    async def consolidate(self) -> None:
        """Let the store fold what belongs together, in whatever way it documents."""
        self._note(None)
        self._needs(Capability.CONSOLIDATE)
        await self._store.consolidate()

    @like(Records[T].forget_where)
    async def forget_where(self, given: Any) -> int:
        self._check(given.filter)
        check_reason(given.reason)
        note = self._note(given.reason)
        self._needs(Capability.FORGETS_WHERE)
        call = partial(self._store.forget_where, given.filter, reason=given.reason)
        return cast("int", await self._deleting(given.filter, note, call))

    @like(Records[T].query)
    async def query(self, given: Any) -> list[StoredMemoryRecord[T]]:
        found = await self._asked(None, given.filter).query(given.filter)
        return await self._told_of(given.filter, found)

    @like(Records[T].page)
    async def page(self, given: Any) -> Page[StoredMemoryRecord[T]]:
        store = self._asked(Capability.PAGED, given.filter)
        found = await store.page(given.filter, cursor=given.cursor)
        return Page(await self._told_of(given.filter, list(found)), found.next)

    @like(Records[T].ids)
    async def ids(self, given: Any) -> list[str]:
        return cast(
            "list[str]", await self._asked(Capability.COUNTED, given.filter).ids(given.filter)
        )

    @like(Records[T].count)
    async def count(self, given: Any) -> int:
        store = self._asked(Capability.COUNTED, given.filter)
        return cast("int", await store.count(given.filter))

    @like(Records[T].tags)
    async def tags(self, given: Any) -> dict[str, int]:
        if not isinstance(given.prefix, str):
            raise InvalidFilter("prefix", "it is a text that tags begin with")
        return cast("dict[str, int]", await self._asked(Capability.COUNTED).tags(given.prefix))

    async def stream(self, filter: MemoryFilter) -> AsyncGenerator[StoredMemoryRecord[T], None]:
        """What `query` would return when the stream starts; hooks are not called."""
        store = self._asked(Capability.STREAMED, filter)
        async with aclosing(store.stream(filter)) as records:
            async for record in records:
                yield record

    def _asked(self, needs: Capability | None = None, filter: MemoryFilter | None = None) -> Any:
        """The store, once it is known that it can be asked this, here."""
        if filter is not None:
            self._check(filter)
        check_reach()
        if needs is not None:
            self._needs(needs)
        return self._store

    # ------------------------------------------------------------------------- changing

    async def _creating(
        self,
        records: Sequence[MemoryRecordInput[T]],
        rows: Sequence[Row],
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

    def _versioned(self, given: Any, *names: str) -> dict[str, Any]:
        """The options that only a store takes that is VERSIONED, as far as they are given."""
        options = {name: getattr(given, name) for name in names}
        options = {name: value for name, value in options.items() if value is not None}
        if options:
            self._needs(Capability.VERSIONED)
        return options

    def _lacks(self, verb: str, given: Any, *names: str) -> None:
        """Refuse options of our own records that the contract of a store does not have."""
        for name in names:
            if getattr(given, name) is not None:
                raise CapabilityMissing(f"{name} in {verb}")

    def _copied(self, record: MemoryRecordInput[T], row: Row) -> MemoryRecordInput[T]:
        """The record as it was checked: what it leaves to the store is left to it."""
        content = row.content
        copied = {"data": self._codec.decode(content.value), "meta": content.meta_value}
        return record.model_copy(update={**copied, "tags": content.tags})


async def _alone(created: Awaitable[str]) -> Sequence[str]:
    return [await created]


def _own(value: Any) -> Any:
    """A JSON value, made anew."""
    return decode(canonical_bytes(value))


def _wire(row: Row) -> dict[str, Any]:
    id, created_at, updated_at, content, *_ = row
    return StoredMemoryRecord(
        id, content.value, created_at, updated_at, content.tags, content.meta_value
    ).to_wire()


def _of_all(wanted: Sequence[RequestedChange], found: Found) -> Found:
    return {change.id: found.get(change.id) for change in wanted}
