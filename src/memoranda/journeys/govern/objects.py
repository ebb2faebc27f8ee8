"""What callers see of memory: an object that is remembered, and the receipt of a write."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, TypeVar

from memoranda.identity import canonical_bytes, decode
from memoranda.journeys.govern.drafts import content_of
from memoranda.journeys.records.codec import DataCodec, read
from memoranda.journeys.records.notify import HookName, notify
from memoranda.kernel.errors import EntryDamaged, WorldErased
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Result, members
from memoranda.ledger.entry import read_entry
from memoranda.ledger.lifecycle import Act, act_of
from memoranda.ledger.object import (
    StatementType,
    Status,
    Trust,
    VerdictType,
    data_of,
    hash_name,
    integrity_digest,
    is_bytes,
    is_indexed,
    sealed,
    value_of,
)
from memoranda.ledger.port import Ledger
from memoranda.ledger.time import parse_time
from memoranda.ledger.unit import Committed, Current, Draft, EntryPlace, Past
from memoranda.ledger.walk import OBJECT_KINDS
from memoranda.records.model import StoredMemoryRecord
from memoranda.records.store import MemoryHooks

# ------------------------------------------------------------------------------------------------
# What is remembered, as it is shown: an object, read for people and programs.

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class Remembered(Result, Generic[T]):
    """One version of an object: what it says, and what is said of it."""

    id: str
    version: int
    data: T
    said: JsonValue
    """What `data` is on the wire and in the journal: as JSON, bytes as base64."""
    status: Status
    statement_type: StatementType
    verdict: VerdictType
    trust: Trust
    sources: tuple[Mapping[str, JsonValue], ...]
    created_at: int
    updated_at: int
    valid_from: int | None
    valid_to: int | None
    expires_at: int | None
    subject: str | None
    tags: tuple[str, ...]
    meta: Mapping[str, JsonValue]
    hash: str
    thread: str | None = None
    """The thread that it was said to be in; what is guessed from its sources is not here."""
    speaker: str | None = None
    said_at: int | None = None
    media_type: str | None = None
    is_indexed: bool = True
    """Whether it is found by its words and its meaning."""
    embed: tuple[str, ...] | None = None
    """The paths of what of it is embedded, each text for itself; None for all of it, as one."""
    seen_again: int | None = None
    """How often it was said again since, in messages that were learned from; only `get` knows."""
    last_seen_at: int | None = None
    """When that was learned for the last time."""

    def wire_members(self) -> Mapping[str, object]:
        """All fields, with the data as JSON."""
        shown = members(self)
        return shown | {"data": shown.pop("said")}

    def row(self) -> Mapping[str, object]:
        """Its id, its version and what it says."""
        return {"id": self.id, "version": self.version, "status": self.status, "data": self.said}

    def is_expired(self, at: int) -> bool:
        """Whether it is past its valid_to, or at its expiry or past it (GOV-TIME-1)."""
        return (self.valid_to is not None and at > self.valid_to) or (
            self.expires_at is not None and at >= self.expires_at
        )

    def is_current(self, at: int) -> bool:
        """Whether it may be used for what is so: active, not expired, not judged False."""
        return self.status == "active" and self.verdict != "False" and not self.is_expired(at)


@dataclass(frozen=True, slots=True, repr=False)
class Event(Result, Generic[T]):
    """One step in the life of an object: what happened, who did it, when, why, and what it left.

    `remembered` is None where the content was erased.
    """

    id: str
    version: int
    seq: int
    act: Act
    """What was done, as the verbs call it."""
    kind: str
    """The type of the event in the MemoryLog, which knows fewer."""
    at: int
    actor: str
    reason: str | None
    remembered: Remembered[T] | None

    def row(self) -> Mapping[str, object]:
        """What happened, and what was said then."""
        said = None if self.remembered is None else self.remembered.said
        return {**members(self), "remembered": said}


def remembered(current: Current, codec: DataCodec[T]) -> Remembered[T]:
    document: dict[str, Any] = decode(current.body)
    return Remembered(
        id=current.id,
        version=current.number,
        data=read(codec, value_of(document)),
        said=document["data"] if is_bytes(document) else data_of(document),
        status=document.get("status", "active"),
        statement_type=document["statement_type"],
        verdict=document["verdict_type"],
        trust=document["trust"],
        sources=tuple(document["source_refs"]),
        created_at=current.created_at,
        updated_at=current.updated_at,
        valid_from=current.valid_from,
        valid_to=current.valid_to,
        expires_at=current.expires_at,
        subject=current.subject,
        tags=tuple(document.get("tags") or ()),
        meta=document.get("meta") or {},
        hash=hash_name(integrity_digest(current.body)),
        thread=document.get("thread"),
        speaker=document.get("speaker"),
        said_at=None if (said := document.get("said_at")) is None else parse_time(said),
        media_type=document.get("media_type"),
        is_indexed=is_indexed(document),
        embed=None if (paths := document.get("embed")) is None else tuple(paths),
    )


def event(past: Past, before: Past | None, codec: DataCodec[T]) -> Event[T]:
    """A step in the life of an object, after the one before."""
    entry = read_entry(past.entry)
    shown, reason = None, None
    if past.body is not None:
        reason = decode(past.body).get("reason")
        if past.version.status != "erased":
            shown = remembered(Current(*past.version, past.body), codec)
    return Event(
        past.version.id,
        past.version.number,
        past.seq,
        act_of(past, before),
        entry.kind,
        entry.at,
        entry.actor,
        reason,
        shown,
    )


def sealed_object(body: bytes) -> dict[str, JsonValue]:
    """The object as seed 003 has it, with its integrity hash."""
    return sealed(decode(body))


# ------------------------------------------------------------------------------------------------
# What hooks are told of changes that have landed.


class Telling(Generic[T]):
    """Tells the hooks of one handle of changes that have landed."""

    def __init__(self, hooks: MemoryHooks[T] | None, codec: DataCodec[T]) -> None:
        self._hooks = hooks
        self._codec = codec
        self.is_heard: Final = hooks is not None

    async def tell(self, drafts: Sequence[Draft]) -> None:
        """Call the hook of each change of a record, in their order."""
        if self._hooks is None:
            return
        for draft in drafts:
            if draft.version is None:
                continue
            name, values = self._told(draft.replaces, Current(*draft.version, draft.body))
            if name is not None and getattr(self._hooks, name) is not None:
                await notify(self._hooks, name, draft.version.id, values)

    def _told(
        self, before: Current | None, after: Current
    ) -> tuple[HookName | None, Callable[[], Sequence[object]]]:
        """Which hook hears of a change, and what: a record is there while it is active."""
        if before is None or before.status != "active":
            is_there = after.status == "active"
            return ("on_created" if is_there else None), lambda: (self._record(after),)
        if after.status != "active":
            return "on_deleted", lambda: (before.id, self._record(before))
        return "on_updated", lambda: (
            before.id,
            self._record(before).data,
            self._record(after).data,
        )

    def _record(self, current: Current) -> StoredMemoryRecord[T]:
        content = content_of(decode(current.body))
        return StoredMemoryRecord(
            current.id,
            read(self._codec, content.value),
            current.created_at,
            current.updated_at,
            content.tags,
            content.meta_value,
        )


# ------------------------------------------------------------------------------------------------
# A receipt: what was written, and where it stands in the journal.


@dataclass(frozen=True, slots=True, repr=False)
class Receipt(Result):
    """Proof for whoever wrote: which version of what, and the entry that says so.

    Kept outside, `size` and `entry_hash` show later that the journal still begins so.
    """

    id: str
    version: int
    entry_hash: str
    size: int
    """How many entries the journal had with this one."""
    dropped_sources: int = 0
    """How many sources of what it replaces it has not: they were given with another statement."""
    created: bool = False
    """Whether nothing was there before, or no longer; else it is a next version."""

    def wire_members(self) -> Mapping[str, object]:
        """All fields; dropped sources only where there are some."""
        shown = members(self)
        if not self.dropped_sources:
            del shown["dropped_sources"]
        return shown

    @property
    def seq(self) -> int:
        """The number of the entry."""
        return self.size - 1


# --------------------------------------------------------------------------- retries


class Earlier(NamedTuple):
    """A version that was written earlier and is asked for again, and the one before it."""

    kind: str
    place: EntryPlace
    now: Past
    before: Past | None

    @property
    def id(self) -> str:
        return self.now.version.id

    @property
    def was_there(self) -> bool:
        return self.before is not None and self.before.version.status == "active"

    def receipt(self, *, creates: bool = False) -> Receipt:
        """Its receipt; `creates` says that it was asked to create what is not there."""
        return Receipt(
            self.id,
            self.now.version.number,
            self.place.entry_hash.hex(),
            self.place.seq + 1,
            dropped(None if self.before is None else self.before.body, self.now.body),
            created=self.before is None or (creates and not self.was_there),
        )


async def earlier_writes(ledger: Ledger, committed: Committed) -> list[Earlier]:
    """What a unit wrote that was committed earlier, for a retry of it, in order.

    WorldErased where something of it was erased since the retry was found, just now: the next one
    with its key is a new request.
    """
    stored = {
        one.seq: one for one in await ledger.entries_at([one.seq for one in committed.places])
    }
    versions: dict[str, dict[int, tuple[Past, Past | None]]] = {}
    found = []
    for place in committed.places:
        entry = stored[place.seq]
        kind = read_entry(entry.entry).kind
        if kind not in OBJECT_KINDS:  # facts of a proposal, beside what was approved
            continue
        if entry.body is None:
            raise WorldErased("entry", str(place.seq))
        id = str(decode(entry.body)["id"])
        if id not in versions:
            past = await ledger.versions(id)
            versions[id] = {
                now.seq: (now, past[number - 1] if number else None)
                for number, now in enumerate(past)
            }
        if place.seq not in versions[id]:
            raise EntryDamaged(place.seq, "row", "the row of its version is not there")
        now, before = versions[id][place.seq]
        found.append(Earlier(kind, place, now, before))
    return found


def dropped(before: bytes | None, after: bytes | None) -> int:
    """How many sources a statement has no more; a tombstone says nothing of those of its object."""
    if before is None or after is None:
        return 0
    left = decode(after)
    if left.get("status") == "erased":
        return 0
    kept = {canonical_bytes(value) for value in left["source_refs"]}
    return sum(canonical_bytes(value) not in kept for value in decode(before)["source_refs"])
