"""What is remembered, as it is shown: an object, read for people and programs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memoranda.identity import decode
from memoranda.journeys.govern.acts import Act, act_of
from memoranda.journeys.records.codec import DataCodec, read
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Result, members
from memoranda.ledger.entry import read_entry
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
from memoranda.ledger.time import parse_time
from memoranda.ledger.unit import Current, Past

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
    """An object as it is shown."""
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
