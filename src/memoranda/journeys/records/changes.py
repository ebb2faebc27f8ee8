"""Changes of a store that is not ours: what each makes of its record, and how it is carried out.

A store of the user's own shares no transaction with the journal. A change that was approved is
therefore carried out at least once: a second attempt finds out what the first one did, and does
what is left. A record that is neither as it was nor as it would become was changed by somebody
else meanwhile, and then nothing is done.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, cast

from memoranda.identity import canonical_bytes, decode
from memoranda.journeys.records.codec import DataCodec
from memoranda.journeys.records.contents import UNCHANGED, annotating, patching
from memoranda.kernel.errors import RecordError, RecordExists, RecordNotFound
from memoranda.kernel.json import JsonValue
from memoranda.records.model import MemoryRecordInput, StoredMemoryRecord
from memoranda.records.store import (
    Annotated,
    Capability,
    CreatesMany,
    DeletesMany,
    MemoryStore,
    MemoryUpdate,
    UpdatesMany,
    Versioned,
)
from memoranda.records.table import Content

Kind = Literal["create", "update", "annotate", "delete"]
Plain = StoredMemoryRecord[JsonValue]
"""A record whose data is JSON, and belongs to whoever has it."""


class RequestedChange(NamedTuple):
    """A change that somebody asks for, before anything is known of the record."""

    kind: Kind
    id: str
    given: JsonValue = None
    """The record that is created, the patch, or those of tags and meta that are named."""
    version: int | None = None
    """The version that the record must have."""


class Planned(NamedTuple):
    """A change of a record as it is now: what is there before it, and after it."""

    wanted: RequestedChange
    before: Plain | None
    after: Plain | None

    def to_wire(self) -> dict[str, JsonValue]:
        """The change as a proposal holds it, so that whoever approves it sees all of it."""
        kind, id, given, version = self.wanted
        wire: dict[str, JsonValue] = {"event": kind, "id": id}
        if kind in ("update", "annotate"):
            wire["given"] = given
        if version is not None:
            wire["version"] = version
        for name, record in (("before", self.before), ("after", self.after)):
            if record is not None:
                wire[name] = record.to_wire()
        return wire

    @classmethod
    def from_wire(cls, wire: JsonValue) -> "Planned":
        before, after = (record_of(wire[name]) if name in wire else None
                         for name in ("before", "after"))  # fmt: skip
        given = wire.get("given", wire.get("after") if wire["event"] == "create" else None)
        wanted = RequestedChange(wire["event"], wire["id"], given, wire.get("version"))
        return cls(wanted, before, after)

    @property
    def is_done(self) -> bool:
        """Whether there is nothing to change: a record is deleted that is not there."""
        return self.wanted.kind == "delete" and self.before is None


# --------------------------------------------------------------------------- records


def record_of(wire: Mapping[str, Any]) -> Plain:
    """The record that has this form on the wire."""
    tags = wire.get("tags")
    return StoredMemoryRecord(
        wire["id"], wire["data"], wire["createdAt"], wire["updatedAt"],
        None if tags is None else tuple(tags), wire.get("meta"),
    )  # fmt: skip


def plain(codec: DataCodec[Any], record: StoredMemoryRecord[Any]) -> Plain:
    """A record of the store's as JSON, made of values of its own."""
    data, meta = decode(canonical_bytes([codec.encode(record.data), record.meta]))
    tags = None if record.tags is None else tuple(record.tags)
    return StoredMemoryRecord(record.id, data, record.created_at, record.updated_at, tags, meta)


def typed(codec: DataCodec[Any], record: Plain) -> StoredMemoryRecord[Any]:
    """A record as the handle has it, made of values of its own."""
    data, meta = decode(canonical_bytes([record.data, record.meta]))
    return replace(record, data=codec.decode(data), meta=meta)


def _is_same(record: Plain | None, other: Plain | None) -> bool:
    if record is None or other is None:
        return record is other
    return canonical_bytes(record.to_wire()) == canonical_bytes(other.to_wire())


# -------------------------------------------------------------------------- planning


def planned(
    codec: DataCodec[Any],
    wanted: Sequence[RequestedChange],
    found: Mapping[str, StoredMemoryRecord[Any] | None],
    now: int,
) -> list[Planned]:
    """What changes make of the records that are there, each on what those before it left.

    RecordExists, RecordNotFound or InvalidPatch where one of them can't be made.
    """
    newest = {id: None if record is None else plain(codec, record) for id, record in found.items()}
    plan = []
    for change in wanted:
        before = newest[change.id]
        after = newest[change.id] = _after(codec, change, before, now)
        plan.append(Planned(change, before, after))
    return plan


def _after(
    codec: DataCodec[Any], wanted: RequestedChange, before: Plain | None, now: int
) -> Plain | None:
    kind, id, given, _ = wanted
    if kind == "delete":
        return None
    if kind == "create":
        if before is not None:
            raise RecordExists(id)
        return record_of(given)
    if before is None:
        raise RecordNotFound(id)
    if kind == "update":
        edit = patching(codec, id, given)
    else:
        edit = annotating(id, given.get("tags", UNCHANGED), given.get("meta", UNCHANGED))
    meta = None if before.meta is None else canonical_bytes(dict(before.meta))
    content = Content(canonical_bytes(before.data), before.tags, meta)
    after = edit.apply(content)
    updated_at = max(before.updated_at, now)
    return replace(
        before, data=after.value, tags=after.tags, meta=after.meta_value, updated_at=updated_at
    )


# ---------------------------------------------------------------------- carrying out


async def carried_out(
    store: MemoryStore[Any], codec: DataCodec[Any], plan: Sequence[Planned], key: str
) -> str | None:
    """Do what is left of an approved plan; why it can't be done any more, if it can't.

    A single change of a store that is VERSIONED is made once, by its `key` and the version. All
    others are compared: between the comparison and the change another writer may come.
    """
    is_versioned = Capability.VERSIONED in store.capabilities
    is_single = len(plan) == 1 and plan[0].wanted.kind != "annotate"
    left = plan
    if not (is_versioned and is_single):
        found = {
            id: await store.get(id) for id in dict.fromkeys(change.wanted.id for change in plan)
        }
        now = {id: None if record is None else plain(codec, record) for id, record in found.items()}
        left = _left(plan, now)
        changed = _changed(left, now)
        if changed is not None:
            return f"the record {changed!r} was changed since it was proposed"
    try:
        if left:
            await _made(store, codec, left, key if is_versioned and is_single else None)
    except RecordError as refused:
        return str(refused)
    return None


def _left(plan: Sequence[Planned], now: Mapping[str, Plain | None]) -> list[Planned]:
    """What is not done yet; times aside that the store sets by itself."""
    last = {change.wanted.id: change for change in plan}
    done = set()
    for id, change in last.items():
        there, after = now[id], change.after
        if there is not None and after is not None and change.wanted.kind != "create":
            there = replace(there, updated_at=after.updated_at)
        if _is_same(there, after):
            done.add(id)
    return [change for change in plan if change.wanted.id not in done]


def _changed(left: Sequence[Planned], now: Mapping[str, Plain | None]) -> str | None:
    """A record that is not as it was when the change was planned."""
    first = {change.wanted.id: change for change in reversed(left)}
    return next((id for id, change in first.items() if not _is_same(now[id], change.before)), None)


async def _made(
    store: MemoryStore[Any], codec: DataCodec[Any], left: Sequence[Planned], key: str | None
) -> None:
    kind, id, given, version = left[0].wanted
    ids = [change.wanted.id for change in left]
    records = [_input(codec, change.after) for change in left if change.after is not None]
    options: dict[str, Any] = {} if key is None else {"idempotency_key": key}
    if key is not None and kind != "create":
        options["expected_version"] = version
    keyed = cast("Versioned[Any]", store)
    match kind, len(left):
        case "create", 1:
            await keyed.create(records[0], **options)
        case "create", _:
            await cast("CreatesMany[Any]", store).create_many(records)
        case "update", 1:
            await keyed.update(id, given, **options)
        case "update", _:
            updates = [MemoryUpdate(change.wanted.id, change.wanted.given) for change in left]
            await cast("UpdatesMany", store).update_many(updates)
        case "annotate", _:
            await cast("Annotated", store).annotate(id, **given)
        case _, 1:
            await keyed.delete(id, **options)
        case _ if Capability.DELETE_MANY in store.capabilities:
            await cast("DeletesMany", store).delete_many(ids)
        case _:
            for name in ids:
                await store.delete(name)


def _input(codec: DataCodec[Any], record: Plain) -> MemoryRecordInput[Any]:
    return MemoryRecordInput(**vars(typed(codec, record)))
